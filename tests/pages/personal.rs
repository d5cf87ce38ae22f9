//! Personal data on pages: masked everywhere, shown once with a reason that is kept, gone when it is erased.

use std::collections::{BTreeSet, VecDeque};

use dispatch_desk::{
    domain::{
        command::{Act, Actor},
        erase::EraseReason,
        id::{RiderId, TaskId},
        reveal::{RevealReason, Which},
    },
    store::{LoggedEvent, RiderChange},
};

use crate::{
    browser::{Browser, Form, Page, select},
    harness::{
        ADMIN, AUDITOR, CANCEL, D1, Database, Desk, FOREIGN_DISPATCHER, GRAB, SUPERVISOR, Site,
        offer, order, rider, site::PASSWORD,
    },
};

/// The number at both ends of every order of the tests, and how staff read it.
const NUMBER: &str = "13800001234";
const MASKED: &str = "138****1234";
/// The number of rider 1.
const RIDERS: &str = "13700005678";

/// Makes two tests of one, as `for_each_database!` does, with a server in front.
macro_rules! on_each_database {
    ($($name:ident),+) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name(super::Site::open().await).await;
            })+
        }
        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                let desk = super::Desk::open(super::Database::Postgres).await;
                super::$name(super::Site::on(desk).await).await;
            })+
        }
    };
}

on_each_database!(
    no_page_of_staff_has_a_whole_number,
    a_number_is_shown_once_and_who_looked_stands_in_the_story,
    a_task_of_elsewhere_is_like_none_and_a_denial_is_kept,
    what_is_erased_is_said_to_be_erased,
    an_admin_erases_with_the_password_and_a_reason,
    a_masked_number_is_never_written_back
);

async fn log_after(desk: &Desk, number: i64) -> Vec<LoggedEvent> {
    desk.read().await.events_after(number, 100).await.unwrap()
}

async fn head(desk: &Desk) -> i64 {
    desk.read().await.head().await.unwrap().0
}

async fn give_rider_a_number(desk: &Desk) {
    let change = RiderChange { phone: Some(RIDERS.to_owned()), ..RiderChange::default() };
    desk.executor.change_rider(&ADMIN, RiderId(1), &change).await.unwrap();
}

/// A task in every state, the first one owned by rider 1.
async fn tasks(site: &Site) -> Vec<TaskId> {
    let desk = &site.desk;
    let mut all = Vec::new();
    for (number, steps) in [(1, 0), (2, 1), (3, 2), (4, 3)] {
        let task = site.order(order()).await;
        desk.done(rider(number), task, 1, GRAB).await;
        let acts = [Act::Arrive, Act::PickUp, Act::Deliver];
        for (revision, act) in (2..).zip(&acts[..steps]) {
            desk.done(rider(number), task, revision, act.clone()).await;
        }
        all.push(task);
    }
    let (offered, cancelled) = (site.order(order()).await, site.order(order()).await);
    desk.done(D1, offered, 1, offer(1)).await;
    desk.done(D1, cancelled, 1, CANCEL).await;
    all.extend([offered, cancelled, site.order(order()).await]);
    all
}

/// Every page that links lead to from `start`, at most so many.
async fn walk(browser: &mut Browser, start: &str, most: usize) -> Vec<Page> {
    let mut known = BTreeSet::from([start.to_owned()]);
    let mut next = VecDeque::from([start.to_owned()]);
    let mut seen = Vec::new();
    while let Some(path) = next.pop_front() {
        let page = browser.get(&path).await;
        for link in page.document().select(&select("a[href]")) {
            let to = link.attr("href").unwrap_or_default();
            let to = to.split('#').next().unwrap_or_default();
            // Taste changes a cookie and leads back; a customer's page is no page of staff.
            let page =
                to.starts_with('/') && !["/taste", "/t/"].iter().any(|no| to.starts_with(no));
            if page && known.len() < most && known.insert(to.to_owned()) {
                next.push_back(to.to_owned());
            }
        }
        seen.push(page);
    }
    seen
}

async fn no_page_of_staff_has_a_whole_number(site: Site) {
    give_rider_a_number(&site.desk).await;
    let tasks = tasks(&site).await;
    for actor in [D1, SUPERVISOR, ADMIN, AUDITOR] {
        let mut browser = Browser::enter(&site, &actor).await;
        let mut pages = walk(&mut browser, "/board", 60).await;
        for tab in ["offered", "assigned", "picked_up", "delivered", "cancelled"] {
            pages.push(browser.get(&format!("/board?show={tab}")).await);
        }
        for task in &tasks {
            let page = browser.get(&format!("/tasks/{task}")).await;
            page.is(200).says(MASKED);
            pages.push(page);
        }
        if [ADMIN, AUDITOR].contains(&actor) {
            // The log as files, too.
            for show in ["events", "attempts"] {
                for file in ["csv", "jsonl"] {
                    let path = format!("/audit/export.{file}?show={show}");
                    let page = browser.get(&path).await;
                    assert!(page.html.contains("create"), "{path}: {}", page.html);
                    pages.push(page);
                }
            }
        }
        assert!(pages.len() > 15, "{actor}: {}", pages.len());
        for page in &pages {
            page.hides(NUMBER).hides(RIDERS);
            assert_eq!(page.headers["cache-control"], "no-store", "{}", page.path);
        }
        if actor == ADMIN {
            assert!(pages.iter().any(|page| page.path == "/admin/riders/R1"), "as far as riders");
        }
        // Whoever owns it is told apart by the end of the number.
        browser.get(&format!("/tasks/{}", tasks[0])).await.says("137****5678");
        browser.get(&format!("/tasks/{}", tasks[4])).await.says("137****5678");
    }
    // Whoever has to call sees it, before delivery; the invited one and the customer do not.
    let mut rui = Browser::enter(&site, &rider(1)).await;
    let home = rui.get("/rider").await;
    let called = home.html.matches(&format!("tel:{NUMBER}")).count();
    assert_eq!(called, 2, "both ends of the one task that is theirs, and not of the offer");
    Browser::enter(&site, &rider(4)).await.get("/rider").await.hides(NUMBER);
    for task in &tasks {
        let page = Browser::new(&site).get(&site.tracking(*task).await).await;
        page.is(200).hides(NUMBER).hides(RIDERS).hides("****");
    }
    site.close().await;
}

async fn a_number_is_shown_once_and_who_looked_stands_in_the_story(site: Site) {
    give_rider_a_number(&site.desk).await;
    let task = site.order(order()).await;
    let path = format!("/tasks/{task}");
    let mut dora = Browser::enter(&site, &D1).await;
    let before = head(&site.desk).await;
    let form = dora.get(&path).await.form(&format!("{path}/reveal"));
    assert_eq!(form.choices("which"), ["contacts", "pickup", "dropoff"], "nobody has it yet");
    assert_eq!(form.choices("reason").len(), 1 + RevealReason::ALL.len());

    // Without a reason there is nothing to see, and nothing is kept.
    let wrong = dora.send(&form.clone().with("which", "dropoff")).await;
    wrong.is(422).says("Say why you need it.").hides(NUMBER);
    let form = wrong.form(&format!("{path}/reveal"));
    assert_eq!(form.value("which"), "dropoff", "what was chosen is kept");
    for (which, reason) in [("staff", "delay"), ("", "delay"), ("pickup", "because")] {
        let forged = Form::bare(&format!("{path}/reveal")).forged("form", &dora.word("desk"));
        let forged = forged.forged("which", which).forged("reason", reason);
        dora.send(&forged).await.is(422).hides(NUMBER);
    }
    assert_eq!(head(&site.desk).await, before);

    site.desk.advance_ms(1_000).await;
    let shown = dora.send(&form.with("reason", "not_reached")).await;
    shown.is(200).says(NUMBER).says(MASKED).says("It is gone when you leave the page");
    assert_eq!(shown.html.matches(NUMBER).count(), 1, "one of the two ends");
    assert_eq!(shown.headers["cache-control"], "no-store");
    assert!(!shown.path.contains(NUMBER), "{}", shown.path);
    // The record of it is on that very page already.
    shown.says("staff 1 (D1) looked at a whole phone number").says("Somebody can not be reached");
    let [event] = log_after(&site.desk, before).await.try_into().unwrap();
    assert_eq!((event.action.as_str(), event.subject), ("revealed", task.0));
    assert!(!format!("{event:?}").contains(NUMBER), "{event:?}");

    // Once: the page as it is got shows none. Links of the page lead to it, not to where the form was sent.
    let again = dora.get(&path).await;
    again.is(200).hides(NUMBER).says("looked at a whole phone number");
    assert!(!shown.html.contains("back=%2Ftasks%2FT10001%2Freveal"), "{}", shown.html);
    // The auditor reads who looked, and can not look.
    let mut auditor = Browser::enter(&site, &AUDITOR).await;
    let read = auditor.get(&path).await;
    read.says("staff 1 (D1) looked at a whole phone number").hides("/reveal").hides(NUMBER);

    // The number of the one who holds it.
    site.desk.done(rider(1), task, 1, GRAB).await;
    let form = dora.get(&path).await.form(&format!("{path}/reveal"));
    let shown = dora.send(&form.with("which", "rider").with("reason", "delay")).await;
    shown.is(200).says(RIDERS).hides(NUMBER);
    site.close().await;
}

async fn a_task_of_elsewhere_is_like_none_and_a_denial_is_kept(site: Site) {
    let task = site.order(order()).await;
    let send = async |browser: &mut Browser, task: &str, reason: &str| {
        let form = Form::bare(&format!("/tasks/{task}/reveal"));
        let form = form.forged("form", &browser.word("desk"));
        browser.send(&form.forged("which", "contacts").forged("reason", reason)).await
    };
    let mut south = Browser::enter(&site, &FOREIGN_DISPATCHER).await;
    let before = head(&site.desk).await;
    for reason in ["delay", "because"] {
        let foreign = send(&mut south, &task.to_string(), reason).await;
        let missing = send(&mut south, "T99999", reason).await;
        assert_eq!(
            (foreign.status, missing.status),
            (reqwest::StatusCode::NOT_FOUND, foreign.status)
        );
        let same = |page: &Page| {
            let text = page.html.replace(&task.to_string(), "T99999");
            // The id of the request is another one each time.
            let id = page.headers["x-request-id"].to_str().unwrap();
            text.replace(id, "")
        };
        assert_eq!(same(&foreign), same(&missing), "byte for byte");
    }
    assert_eq!(
        head(&site.desk).await,
        before,
        "nothing is said in the log of what may not be known"
    );
    for (actor, id) in [(AUDITOR, "6"), (ADMIN, "5")] {
        let mut browser = Browser::enter(&site, &actor).await;
        let before = head(&site.desk).await;
        send(&mut browser, &task.to_string(), "delay").await.is(403).hides(NUMBER);
        let [event] = log_after(&site.desk, before).await.try_into().unwrap();
        let told = (event.action.as_str(), event.actor_id.as_deref());
        assert_eq!(told, ("denied", Some(id)));
        assert!(event.detail.contains("reveal"), "{}", event.detail);
    }
    // Whoever is not signed in is sent to the door.
    let mut nobody = Browser::new(&site);
    let page = send(&mut nobody, &task.to_string(), "delay").await;
    assert!(page.path.starts_with("/sign-in"), "{}", page.path);
    site.close().await;
}

async fn what_is_erased_is_said_to_be_erased(site: Site) {
    let task = site.order(order()).await;
    let (path, tracking) = (format!("/tasks/{task}"), site.tracking(task).await);
    let token = tracking.trim_start_matches("/t/").to_owned();
    let mut dora = Browser::enter(&site, &D1).await;
    let edit = dora.get(&path).await.form(&format!("{path}/detail"));
    let reason = RevealReason::CallBack;
    site.desk.executor.reveal(&D1, task, Which::Contacts, reason).await.unwrap();
    site.desk.done(D1, task, 1, CANCEL).await;
    // A draft of hers stands in her session from here on.
    let refused = dora.send(&edit.clone().with("note", "金丝雀的备注")).await;
    refused.says("CANCELLED");
    site.desk.advance_ms(60_000).await;
    assert!(site.desk.executor.erase_task(&ADMIN, task, EraseReason::Asked).await.unwrap());

    let page = dora.get(&path).await;
    page.is(200).says("Personal data erased on").says("12:01:00").says("Cancelled");
    page.says("staff 5 (D5) erased the personal data").says("looked at a whole phone number");
    page.hides("人民大道").hides("世纪大道").hides("王女士").hides("放前台").hides("****");
    page.hides("/reveal").hides(&token).says("31.23, 121.47");
    dora.get(&refused.path).await.is(200).hides("金丝雀的备注");
    dora.get("/board?show=cancelled").await.says("(erased) → (erased)").hides("人民大道");
    // The customer's link leads nowhere, for people and for scripts.
    let mut carl = Browser::new(&site);
    carl.get(&tracking).await.is(404);
    carl.get(&format!("/api/v1/track/{token}")).await.is(404);
    let cancel = Form::bare(&format!("{tracking}/cancel")).forged("revision", "2");
    carl.send(&cancel.forged("key", "k")).await.is(404);
    // A page from before is of no use any more.
    let late = dora.send(&edit.with("note", "金丝雀的备注").forged("key", "another")).await;
    late.says("CANCELLED").says("The task was cancelled");
    let card = site.desk.read().await.card(task).await.unwrap().unwrap();
    assert_eq!((card.detail.note, card.detail.pickup.address.as_str()), (None, ""));
    site.close().await;
}

async fn an_admin_erases_with_the_password_and_a_reason(site: Site) {
    let task = site.order(order()).await;
    site.password(5, "ada").await;
    let mut ada = Browser::enter(&site, &ADMIN).await;
    let page = ada.get(&format!("/admin/erase?of={task}")).await;
    let form = page.is(200).form("/admin/erase");
    assert_eq!(form.value("of"), task.to_string());
    let form = form.with("reason", "asked").with("present", PASSWORD);
    let before = head(&site.desk).await;
    // Half a form costs no try, and erases nothing.
    ada.send(&form.clone()).await.is(422).says("Tick that you know");
    let form = form.forged("sure", "on");
    ada.send(&form.clone().with("reason", "")).await.is(422).says("Say why");
    ada.send(&form.clone().with("of", "somebody")).await.is(422).says("Name a task");
    let wrong = ada.send(&form.clone().with("present", "not her password")).await;
    wrong.is(403).hides("not her password");
    ada.send(&form.clone()).await.is(409).says("Not yet");
    ada.send(&form.clone().with("of", "T99999")).await.is(404).says("There is no T99999");
    assert_eq!(head(&site.desk).await, before, "nothing was done");
    site.desk.done(D1, task, 1, CANCEL).await;
    let before = head(&site.desk).await;
    ada.send(&form.clone()).await.is(200).says("is erased").hides(PASSWORD);
    let [event] = log_after(&site.desk, before).await.try_into().unwrap();
    assert_eq!((event.action.as_str(), event.actor_id.as_deref()), ("erased", Some("5")));
    assert_eq!(event.detail, r#"{"of":"task","tasks":"1","reason":"asked"}"#);
    let card = site.desk.read().await.card(task).await.unwrap().unwrap();
    assert_eq!((card.detail.note, card.detail.pickup.address.as_str()), (None, ""));
    ada.send(&form.clone()).await.is(200).says("has no personal data left");
    // A rider who still rides, and one who is gone.
    let rider = form.with("of", "R1");
    ada.send(&rider.clone()).await.is(409).says("Not yet");
    let gone = ada.get("/admin/riders/R1").await.form("/admin/riders/R1").forged("disabled", "on");
    ada.send(&gone).await.is(200);
    ada.send(&rider).await.is(200).says("is erased");
    let found = site.desk.read().await.rider_account(RiderId(1)).await.unwrap();
    assert_eq!(found.expect("R1 stays").name, "R1");
    site.close().await;
}

async fn a_masked_number_is_never_written_back(site: Site) {
    give_rider_a_number(&site.desk).await;
    let task = site.order(order()).await;
    let path = format!("/tasks/{task}");
    let mut dora = Browser::enter(&site, &D1).await;
    let edit = dora.get(&path).await.form(&format!("{path}/detail"));
    assert!(!edit.sent().iter().any(|(_, value)| value.contains("****")), "{edit:?}");
    let forged = edit.with("note", "后门").forged("pickup_phone", MASKED).forged("phone", MASKED);
    assert_eq!(dora.send(&forged).await.answer(), "done");
    let card = site.desk.read().await.card(task).await.unwrap().unwrap();
    assert_eq!(card.detail.pickup.phone.as_deref(), Some(NUMBER));
    assert_eq!(card.detail.dropoff.phone.as_deref(), Some(NUMBER));

    // A rider's page: left as it is, the number stays; it is changed, or removed, when that is said.
    let one = "/admin/riders/R1";
    let number = async || {
        let found = site.desk.read().await.rider_account(RiderId(1)).await.unwrap();
        found.expect("R1 rides here").phone
    };
    let mut ada = Browser::enter(&site, &ADMIN).await;
    let form = async |ada: &mut Browser| ada.get(one).await.form(one);
    let page = ada.get(one).await;
    page.says("137****5678").hides(RIDERS);
    assert_eq!(page.form(one).value("phone"), "");
    ada.send(&page.form(one).with("capacity", "5")).await.is(200).says("Saved");
    assert_eq!(number().await.as_deref(), Some(RIDERS));
    let masked = form(&mut ada).await.with("phone", "137****5678");
    ada.send(&masked).await.is(422);
    assert_eq!(number().await.as_deref(), Some(RIDERS));
    let new = form(&mut ada).await.with("phone", "136 0000 0001");
    ada.send(&new).await.is(200).says("136****0001");
    assert_eq!(number().await.as_deref(), Some("13600000001"));
    let none = form(&mut ada).await.with("phone_removed", "on");
    ada.send(&none).await.is(200).hides("****");
    assert_eq!(number().await, None);
    let actors: [Actor; 2] = [D1, AUDITOR];
    for actor in actors {
        Browser::enter(&site, &actor).await.get("/admin/riders").await.hides(RIDERS);
    }
    site.close().await;
}
