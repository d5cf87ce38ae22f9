//! What staff do on the console: offer, withdraw, reassign, assign, cancel, edit, create.

use dispatch_desk::domain::{
    command::{Act, Actor},
    id::{RiderId, TaskId},
    task::StateName,
};

use crate::{
    browser::{Browser, Form, Page},
    harness::{
        AUDITOR, D1, D2, Database, Desk, FOREIGN_DISPATCHER, GRAB, SUPERVISOR, Site, offer, rider,
    },
};

async fn page(browser: &mut Browser, task: TaskId) -> Page {
    browser.get(&format!("/tasks/{task}")).await
}

async fn form(browser: &mut Browser, task: TaskId, verb: &str) -> Form {
    page(browser, task).await.form(&format!("/tasks/{task}/{verb}"))
}

fn verbs(page: &Page) -> Vec<String> {
    let forms = page.forms().into_iter().map(|form| form.action);
    let verbs = forms.filter(|action| action.starts_with("/tasks/T"));
    // That a number is shown is no command.
    let verbs = verbs.filter(|action| !action.ends_with("/reveal"));
    verbs.map(|action| action.rsplit('/').next().unwrap().to_owned()).collect()
}

async fn story(desk: &Desk, task: TaskId) -> Vec<String> {
    desk.events(task).await.into_iter().map(|event| event.action).collect()
}

async fn a_dispatcher_works(site: Site) {
    let task = site.order(crate::harness::order()).await;
    let desk = &site.desk;
    let mut dora = Browser::enter(&site, &D1).await;
    let mut dan = Browser::enter(&site, &D2).await;

    let open = page(&mut dora, task).await;
    assert_eq!(verbs(&open), ["offer", "cancel", "detail", "start"]);
    let form_of_dan = form(&mut dan, task, "offer").await.with("rider", "R2").with("seconds", "20");
    let sent = dora.send(&open.form(&format!("/tasks/{task}/offer")).with("rider", "R1")).await;
    assert_eq!(sent.is(200).answer(), "done");
    sent.says("Nobody. It waits for rider 1 (R1)").says("An invitation is not ownership");
    let until = crate::harness::NOON.plus_ms(30_000);
    assert_eq!(desk.task(task).await.state.offer_until(), Some(until), "the policy's own time");

    // Dan was too late: he reads who was first, when, and what he can do; what he typed is there.
    desk.advance_ms(5_000).await;
    let refused = dan.send(&form_of_dan).await;
    assert_eq!(refused.is(200).answer(), "refused");
    refused.says("STALE_REVISION").says("staff 1 (D1): Offer (revision 1 → 2)").says("12:00:00");
    refused.says("Decided at 12:00:05").says("What you can still do: Withdraw · Cancel");
    // Once the rider has declined, he can offer it again, and his form is filled in.
    desk.done(rider(1), task, 2, crate::harness::DECLINE).await;
    let again = dan.get(&refused.path).await.form(&format!("/tasks/{task}/offer"));
    assert_eq!((again.value("rider"), again.value("seconds")), ("R2", "20"));
    assert_eq!(dan.send(&again).await.answer(), "done");

    let withdraw = form(&mut dora, task, "withdraw").await.with("reason", "wrong_rider");
    dora.send(&withdraw).await.says("Withdraw: done.").says("The wrong rider");
    desk.done(D1, task, 5, offer(3)).await;
    desk.done(rider(3), task, 6, Act::Accept).await;

    let reassign = form(&mut dora, task, "reassign").await;
    assert!(!reassign.choices("rider").iter().any(|id| id == "R3"), "not to the owner");
    let reassign = reassign.with("rider_number", "r4").with("seconds", "60").with("reason", "late");
    let refused = dora.send(&reassign).await;
    refused.says("HANDOVER_NOT_CONFIRMED");
    let again = refused.form(&format!("/tasks/{task}/reassign"));
    assert_eq!(again.value("rider_number"), "r4");
    assert_eq!((again.value("seconds"), again.value("reason")), ("60", "late"));
    assert!(!again.is_checked("handover_confirmed"));
    let done = dora.send(&again.with("handover_confirmed", "on")).await;
    assert_eq!(done.answer(), "done");
    let state = desk.task(task).await.state;
    let until = crate::harness::NOON.plus_ms(65_000);
    assert_eq!((state.rider(), state.offer_until()), (Some(RiderId(4)), Some(until)));

    let cancel = form(&mut dora, task, "cancel").await.with("reason", "duplicate");
    let over = dora.send(&cancel).await;
    over.says("Cancel: done.").says("There is nothing that you can do in your role now.");
    let tale = [
        "create", "offer", "decline", "offer", "withdraw", "offer", "accept", "reassign", "cancel",
    ];
    assert_eq!(story(desk, task).await, tale);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dispatcher_works_on_sqlite() {
    a_dispatcher_works(Site::open().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dispatcher_works_on_postgres() {
    a_dispatcher_works(Site::on(Desk::open(Database::Postgres).await).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_may_do_what_stands_on_the_page() {
    let site = Site::open().await;
    let task = site.desk.create().await;
    let all: [(Actor, &[&str]); 3] = [
        (D1, &["offer", "cancel", "detail", "start"]),
        (SUPERVISOR, &["offer", "assign", "cancel", "detail", "start"]),
        (AUDITOR, &[]),
    ];
    for (actor, expected) in all {
        let mut browser = Browser::enter(&site, &actor).await;
        assert_eq!(verbs(&page(&mut browser, task).await), expected, "{actor}");
        let board = browser.get("/board").await;
        let creates = board.html.contains("href=\"/tasks/new\"");
        assert_eq!(creates, actor != AUDITOR, "{actor} and new tasks");
    }
    // Nobody gets more by sending what no form of theirs asks for.
    let mut auditor = Browser::enter(&site, &AUDITOR).await;
    let mut south = Browser::enter(&site, &FOREIGN_DISPATCHER).await;
    let cancel = |who: &Browser, key: &str| {
        let form = Form::bare(&format!("/tasks/{task}/cancel")).forged("form", &who.word("desk"));
        form.forged("revision", "1").forged("key", key)
    };
    let forged = cancel(&auditor, "k1");
    auditor.send(&forged).await.is(403).says("Your role may not do this.");
    let forged = cancel(&south, "k2");
    south.send(&forged).await.is(404);
    page(&mut south, task).await.is(404).says("not in your region");
    for nothing in ["create", "expire", "edit", "explode"] {
        let mut dora = Browser::enter(&site, &D1).await;
        let form = Form::bare(&format!("/tasks/{task}/{nothing}"));
        let form = form.forged("form", &dora.word("desk"));
        dora.send(&form.forged("revision", "1").forged("key", "k")).await.is(404);
    }
    auditor.get("/tasks/new").await.is(403).says("Your role may not do this.");
    let new = Form::bare("/tasks/new").forged("form", &auditor.word("desk"));
    auditor.send(&new.forged("key", "k")).await.is(403);
    assert_eq!(site.desk.task(task).await.revision.0, 1);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_supervisor_assigns_directly_and_reads_why_not() {
    let site = Site::open().await;
    let task = site.desk.create().await;
    let mut sue = Browser::enter(&site, &SUPERVISOR).await;
    let assign = form(&mut sue, task, "assign").await;
    // The rider is gone between the page and the form.
    let change = dispatch_desk::store::RiderChange {
        duty: Some(dispatch_desk::domain::facts::Duty::Off),
        ..Default::default()
    };
    site.desk.executor.change_rider(&rider(5), RiderId(5), &change).await.unwrap();
    let refused = sue.send(&assign.with("rider", "R5").with("reason", "no_answer")).await;
    refused.says("RIDER_NOT_ELIGIBLE").says("off duty");
    let again = refused.form(&format!("/tasks/{task}/assign"));
    // R5 can not be chosen any more; the rest is as it was typed.
    assert_eq!((again.value("rider"), again.value("reason")), ("", "no_answer"));
    let done = sue.send(&again.with("rider", "R6")).await;
    done.says("rider 6 (R6)").says("assigned directly, without confirmation");
    assert_eq!(site.desk.task(task).await.state.name(), StateName::Assigned);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_can_not_be_used_is_said_and_what_was_typed_stays() {
    let site = Site::open().await;
    let task = site.desk.create().await;
    let mut dora = Browser::enter(&site, &D1).await;
    let path = format!("/tasks/{task}/offer");
    let cases = [
        ("", "", "45", "Choose a rider", "rider"),
        ("R1", "seventeen", "45", "Choose a rider", "rider"),
        ("R1", "", "4.5", "Write whole seconds.", "seconds"),
        ("R1", "", "-3", "Write whole seconds.", "seconds"),
    ];
    for (chosen, number, seconds, says, field) in cases {
        let form = form(&mut dora, task, "offer").await;
        let form = form.with("rider", chosen).with("rider_number", number).with("seconds", seconds);
        let page = dora.send(&form).await;
        page.is(422).says(says);
        let again = page.form(&path);
        assert_eq!(
            [again.value("rider"), again.value("rider_number"), again.value("seconds")],
            [chosen, number, seconds]
        );
        let marked = format!("[name={field}][aria-invalid=true][aria-describedby=offer-wrong]");
        let document = page.document();
        let marked = document.select(&crate::browser::select(&marked)).count();
        assert_eq!(marked, 1, "{field} is the one that is marked");
    }
    let form = form(&mut dora, task, "offer").await.with("rider", "R1").with("seconds", "601");
    let page = dora.send(&form).await;
    page.is(422).says("Allowed are 5 to 600 seconds.");
    assert_eq!(page.form(&path).value("seconds"), "601");
    // Only a script can leave these out.
    for (name, value) in [("key", ""), ("revision", "x"), ("reason", "because (")] {
        let action = format!("/tasks/{task}/cancel");
        let form = page.form(&action).forged(name, value);
        dora.send(&form).await.is(422);
    }
    assert_eq!(story(&site.desk, task).await, ["create"]);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_changes_what_was_changed_and_nothing_else() {
    let site = Site::open().await;
    let mut new = crate::harness::order();
    // As order systems send it: with line ends in an address, and one at the start of the note.
    new.pickup.address = "人民大道 100 号\n东门".to_owned();
    new.note = Some("\n放前台\n按铃".to_owned());
    new.due_at = Some(crate::harness::NOON.plus_ms(1_234_567));
    let task = site.order(new.clone()).await;
    let mut dora = Browser::enter(&site, &D1).await;
    let edit = form(&mut dora, task, "detail").await;
    assert_eq!(edit.value("note"), new.note.clone().unwrap());
    let page = dora.send(&edit).await;
    assert_eq!(page.answer(), "already", "nothing was changed");

    let mut dan = Browser::enter(&site, &D2).await;
    let late = form(&mut dan, task, "detail").await;
    let edit = form(&mut dora, task, "detail").await.with("priority", "7");
    let page = dora.send(&edit).await;
    assert_eq!(page.answer(), "done", "{}", page.text());
    let card = site.desk.read().await.card(task).await.unwrap().unwrap();
    assert_eq!(card.task.priority, 7);
    let stays = (&card.detail.pickup.address, &card.detail.note, card.detail.due_at);
    assert_eq!(stays, (&new.pickup.address, &new.note, new.due_at));

    // An edit on what has changed meanwhile is refused, and what was typed is not lost.
    let typed = late.with("note", "按铃两次\n谢谢").with("due_at", "2026-11-30T13:45");
    let refused = dan.send(&typed).await;
    assert_eq!(refused.answer(), "refused", "{}", refused.text());
    let again = refused.form(&format!("/tasks/{task}/detail"));
    assert_eq!(again.value("note"), "按铃两次\n谢谢");
    assert_eq!(again.value("due_at"), "2026-11-30T13:45");
    assert_eq!(dan.send(&again).await.answer(), "done");
    let card = site.desk.read().await.card(task).await.unwrap().unwrap();
    assert_eq!(card.detail.note.as_deref(), Some("按铃两次\r\n谢谢").map(|_| "按铃两次\n谢谢"));

    for (field, value, says) in [
        ("due_at", "tomorrow", "Write a date and a time."),
        ("priority", "high", "Write a whole number."),
        ("pickup_address", "  ", "It can not be empty."),
    ] {
        let edit = form(&mut dora, task, "detail").await.with(field, value);
        let page = dora.send(&edit).await;
        page.is(422).says(says);
    }
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_is_made_by_hand() {
    let site = Site::open().await;
    let mut dora = Browser::enter(&site, &D1).await;
    let blank = dora.get("/tasks/new").await.form("/tasks/new");
    assert_eq!(blank.choices("region"), ["1"], "her own regions alone");
    let filled = blank
        .with("pickup_address", "People's Square 100")
        .with("pickup_place", "31.2304，121.4737")
        .with("dropoff_address", "Century Avenue 1")
        .with("dropoff_place", " 31.2397 , 121.4998 ")
        .with("dropoff_name", "Ms Wang")
        .with("due_at", "2026-11-30T12:45")
        .with("vehicle", "bicycle")
        .with("fee", "8.5")
        .with("note", "Ring twice");
    for (field, value, says) in [
        ("pickup_place", "here", "Pickup position: Write latitude, longitude"),
        ("dropoff_place", "91, 0", "Drop-off position: Write latitude, longitude"),
        ("pickup_address", " ", "Pickup address: It can not be empty."),
        ("fee", "8,50", "Fee: Write an amount"),
        ("priority", "1.5", "Priority: Write a whole number."),
        ("due_at", "noon", "Due: Write a date and a time."),
    ] {
        let page = dora.send(&filled.clone().with(field, value)).await;
        page.is(422).says(says);
        let again = page.form("/tasks/new");
        assert_eq!(again.value(field).trim(), value.trim());
        assert_eq!(again.value("note"), "Ring twice");
        assert_eq!(again.value("key"), filled.value("key"), "it is still the same request");
    }
    for (field, value) in [("region", "2"), ("vehicle", "rocket"), ("key", "")] {
        dora.send(&filled.clone().forged(field, value)).await.is(422);
    }
    // Refused by the rules: that answer is kept under the key, so the next try has a new one.
    let page = dora.send(&filled.clone().with("pickup_place", "48.1, 11.5")).await;
    page.is(409).says("OUTSIDE_REGION");
    let again = page.form("/tasks/new");
    assert_ne!(again.value("key"), filled.value("key"));
    let done = dora.send(&again.with("pickup_place", "31.2304, 121.4737")).await;
    assert_eq!(done.answer(), "done", "{}", done.text());
    done.says("Ring twice").says("8.50").says("bicycle").says("12:45:00").says("Ms Wang");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_board_counts_lists_and_pages() {
    let site = Site::open().await;
    crate::gallery::mixed(&site).await;
    let mut dora = Browser::enter(&site, &D1).await;
    let board = dora.get("/board").await;
    let counts = board.text_of(".filters .num");
    assert_eq!(counts, "3 | 5 | 2 | 1 | 2 | 1 | 0 | 0 | 0");
    board.says("Late");
    dora.get("/board?show=nonsense").await.is(200).says("Open");
    dora.get("/board?beyond=x").await.is(400).says("QUERY_INVALID");
    assert!(board.headers.get("refresh").is_none());
    let quick = dora.get("/board?show=open&every=5").await;
    assert_eq!(quick.headers["refresh"], "5");
    assert!(dora.get("/board?every=4").await.headers.get("refresh").is_none());

    site.desk.create_many(100).await;
    let mut seen = Vec::new();
    let mut path = "/board?show=open".to_owned();
    for _ in 0..3 {
        let page = dora.get(&path).await;
        let document = page.document();
        let ids = crate::browser::select("td a.id");
        seen.extend(document.select(&ids).map(crate::browser::words_of));
        let next = document.select(&crate::browser::select("a[rel=next]")).next();
        let Some(next) = next else { break };
        path = next.attr("href").unwrap().to_owned();
    }
    let distinct: std::collections::BTreeSet<_> = seen.iter().collect();
    assert_eq!((seen.len(), distinct.len()), (103, 103));
    let task = site.desk.create().await;
    site.desk.done(rider(50), task, 1, GRAB).await;
    dora.get("/board?show=assigned").await.says("rider 50 (R50)");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn options_of_a_round_that_can_not_be_so_are_shown_as_typed_and_put_right() {
    let site = Site::open().await;
    let mut dora = Browser::enter(&site, &D1).await;
    let task = site.desk.create().await;
    let start = format!("/tasks/{task}/rounds/start");
    let form = page(&mut dora, task).await.form(&start);
    let form = form.forged("batch", "2").forged("seconds", "1").forged("radius_m", "9x");
    let shown = dora.send(&form).await;
    shown.is(422).says("The circle is a number from 50 to 100,000 m.");
    let typed: Vec<_> = ["radius_m", "batch", "seconds"]
        .map(|id| {
            shown
                .document()
                .select(&crate::browser::select(&format!("#{id}")))
                .next()
                .unwrap()
                .attr("value")
                .unwrap_or_default()
                .to_owned()
        })
        .to_vec();
    assert_eq!(typed, ["9x", "2", "1"]);
    assert!(site.desk.read().await.rounds_of(task).await.unwrap().is_empty(), "nothing was sent");
}
