//! What riders do on their page: accept, decline, grab, arrive, pick up, deliver, hand back, duty.

use dispatch_desk::domain::{
    command::Act,
    facts::Duty,
    id::TaskId,
    task::{Stage, StateName},
};

use crate::{
    browser::{Browser, Form, Page, words_of},
    harness::{D1, GRAB, Site, WITHDRAW, offer, rider},
};

fn form(page: &Page, task: TaskId, verb: &str) -> Form {
    page.form(&format!("/rider/tasks/{task}/{verb}"))
}

fn duty(page: &Page, choice: &str) -> Form {
    let mut forms = page.forms().into_iter().filter(|form| form.action == "/rider/duty");
    forms.find(|form| form.value("duty") == choice).expect("a button for it")
}

/// The cards of a section, as they are read.
fn cards(page: &Page, section: &str) -> Vec<String> {
    let document = page.document();
    let css = format!("section[aria-labelledby={section}] article");
    document.select(&crate::browser::select(&css)).map(words_of).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_offer_is_accepted_and_brought_to_its_end() {
    let site = Site::open().await;
    let task = site.desk.create().await;
    let mut ron = Browser::enter(&site, &rider(1)).await;
    ron.get("/rider").await.says("No offer waits for you.").says("You have no task now.");
    site.desk.done(D1, task, 1, offer(1)).await;
    site.desk.advance_ms(4_000).await;
    let page = ron.get("/rider").await;
    let card = &cards(&page, "offers")[0];
    assert!(card.contains("12:00:30") && card.contains("26 s left"), "{card}");
    assert!(card.contains("人民大道 100 号") && card.contains("8.50"), "{card}");
    page.hides("王女士").hides("13800001234").hides("放前台");
    let done = ron.send(&form(&page, task, "accept")).await;
    assert_eq!(done.answer(), "done");
    done.says("Accept: done.");
    let mine = &cards(&done, "mine")[0];
    for known in ["王女士", "13800001234", "放前台", "Assigned"] {
        assert!(mine.contains(known), "the owner knows {known}: {mine}");
    }
    let document = done.document();
    let actions = crate::browser::select("section[aria-labelledby=mine] form");
    let first = document.select(&actions).next().and_then(|form| form.attr("action")).unwrap();
    assert!(first.ends_with("/arrive"), "the way on comes first: {first}");
    drop(document);
    let mut page = done;
    for (verb, word, stage) in [
        ("arrive", "At pickup", Stage::AtPickup),
        ("pick-up", "Picked up", Stage::PickedUp),
        ("deliver", "Deliver: done.", Stage::Delivered),
    ] {
        page = ron.send(&form(&page, task, verb)).await;
        page.says(word);
        assert_eq!(site.desk.task(task).await.state.stage(), Some(stage));
    }
    let after = ron.get("/rider").await;
    assert!(cards(&after, "mine").is_empty(), "what is delivered needs nothing more");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_offer_is_declined_lapses_or_is_withdrawn_and_that_is_said() {
    let site = Site::open().await;
    let mut ron = Browser::enter(&site, &rider(1)).await;
    let task = site.desk.create().await;
    site.desk.done(D1, task, 1, offer(1)).await;
    let page = ron.get("/rider").await;
    let decline = form(&page, task, "decline").with("reason", "too_far");
    ron.send(&decline).await.says("Decline: done.").says(&format!("{task} declined 12:00:00"));

    site.desk.done(D1, task, 3, offer(1)).await;
    let page = ron.get("/rider").await;
    site.desk.done(D1, task, 4, WITHDRAW).await;
    let refused = ron.send(&form(&page, task, "accept")).await;
    refused.says("OFFER_WITHDRAWN").says("staff 1 (D1): Withdraw (revision 4 → 5)");
    refused.says("What you can still do: Grab");

    site.desk.done(D1, task, 5, offer(1)).await;
    let page = ron.get("/rider").await;
    site.desk.advance_ms(30_000).await;
    let refused = ron.send(&form(&page, task, "accept")).await;
    refused.says("OFFER_EXPIRED").says("the system: Expire (revision 6 → 7) · 12:00:30");
    let again = form(&refused, task, "grab");
    assert_eq!(ron.send(&again).await.answer(), "done");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_grab_names_nobody() {
    let site = Site::open().await;
    let task = site.desk.create().await;
    let mut ron = Browser::enter(&site, &rider(1)).await;
    let mut rita = Browser::enter(&site, &rider(2)).await;
    let grab = form(&ron.get("/rider").await, task, "grab");
    let win = form(&rita.get("/rider").await, task, "grab");
    assert_eq!(rita.send(&win).await.answer(), "done");
    let lost = ron.send(&grab).await;
    assert_eq!(lost.answer(), "refused");
    lost.says("TAKEN_BY_OTHER").says("another rider: Grab (revision 1 → 2) · 12:00:00");
    lost.says("There is nothing that you can do with it now.");
    lost.hides("rider 2").hides("R2<").hides("(R2)");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_is_handed_back_with_a_reason_and_only_so_often() {
    let site = Site::open().await;
    let task = site.desk.create().await;
    let mut ron = Browser::enter(&site, &rider(1)).await;
    let mut revision = 1;
    for round in 0..4 {
        site.desk.done(rider(1), task, revision, GRAB).await;
        let page = ron.get("/rider").await;
        let back = form(&page, task, "hand-back").with("reason", "vehicle_trouble");
        let page = ron.send(&back).await;
        if round < 3 {
            assert_eq!(page.answer(), "done", "{}", page.text());
        } else {
            page.says("HAND_BACK_LIMIT");
        }
        revision += 2;
    }
    let wrong = form(&ron.get("/rider").await, task, "arrive");
    site.desk.done(rider(1), task, site.desk.task(task).await.revision.0, Act::Arrive).await;
    // Arriving twice is not a mistake.
    assert_eq!(ron.send(&wrong).await.answer(), "already");
    let forged = wrong.forged("key", "k-1").forged("revision", "x");
    ron.send(&forged).await.is(422).says("The form is not complete");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rider_goes_on_a_break_off_duty_and_back() {
    let site = Site::open().await;
    let task = site.desk.create().await;
    let mut ron = Browser::enter(&site, &rider(1)).await;
    let page = ron.get("/rider").await;
    let grab = form(&page, task, "grab");
    let page = ron.send(&duty(&page, "paused")).await;
    page.says("You are on a break").says("Go on duty to grab.");
    let refused = ron.send(&grab).await;
    refused.says("RIDER_NOT_ELIGIBLE").says("on a break");
    let page = ron.send(&duty(&page, "off")).await;
    page.says("You are off duty.");
    let page = ron.send(&duty(&page, "on")).await;
    assert_eq!(cards(&page, "pool").len(), 1);
    let mut tx = site.desk.read().await;
    let id = dispatch_desk::domain::id::RiderId(1);
    assert_eq!(tx.rider_account(id).await.unwrap().unwrap().rider.duty, Duty::On);
    drop(tx);
    ron.send(&duty(&page, "off").forged("duty", "asleep")).await.is(422);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_rider_is_told_so_and_the_pool_goes_on() {
    let site = Site::open().await;
    let tasks = site.desk.create_many(24).await;
    let mut ron = Browser::enter(&site, &rider(1)).await;
    let first = ron.get("/rider").await;
    assert_eq!(cards(&first, "pool").len(), 20);
    let document = first.document();
    let next = document.select(&crate::browser::select("a[rel=next]")).next().unwrap();
    let next = next.attr("href").unwrap().to_owned();
    assert_eq!(cards(&ron.get(&next).await, "pool").len(), 4);
    // Without JavaScript it comes anew by itself; with it, nothing that was typed may be lost.
    assert!(
        first.html.contains("<noscript><meta http-equiv=\"refresh\" content=\"15\"></noscript>")
    );
    assert!(!first.headers.contains_key("refresh"));

    let mut sorted = tasks.clone();
    sorted.sort();
    for task in &sorted[..2] {
        ron.send(&form(&first, *task, "grab")).await;
    }
    let refused = ron.send(&form(&first, sorted[2], "grab")).await;
    refused.says("RIDER_AT_CAPACITY").says("2 / 2");
    assert!(!refused.html.contains("http-equiv"), "an answer stays until it was read");
    assert_eq!(site.desk.task(sorted[2]).await.state.name(), StateName::Open);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rider_never_reads_of_another() {
    let site = Site::open().await;
    let desk = &site.desk;
    let mut ron = Browser::enter(&site, &rider(1)).await;
    let mut pages = Vec::new();
    // One that was mine and is offered to R7 now, one that R7 took from the pool, one that R7 was offered.
    let [mine, pool, offered] = desk.create_many(3).await[..] else { panic!("three") };
    desk.done(rider(1), mine, 1, GRAB).await;
    pages.push(ron.get("/rider").await);
    let grab = form(&pages[0], pool, "grab");
    let arrive = form(&pages[0], mine, "arrive");
    let second = form(&pages[0], offered, "grab");
    desk.done(D1, mine, 2, crate::harness::reassign(7)).await;
    desk.done(rider(7), pool, 1, GRAB).await;
    pages.push(ron.send(&arrive).await);
    pages.push(ron.send(&grab).await);
    desk.done(rider(7), mine, 3, Act::Accept).await;
    pages.push(ron.get("/rider").await);
    let full = ron.send(&second).await;
    assert_eq!(full.answer(), "done", "{}", full.text());
    pages.push(full);
    for page in pages {
        let clean = page.html.replace("rider 1", "");
        for secret in ["rider 7", "R7"] {
            assert!(!clean.contains(secret), "{secret} stands in {clean}");
        }
    }
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_tells_where_its_device_is() {
    let site = Site::open().await;
    let mut ron = Browser::enter(&site, &rider(1)).await;
    let word = ron.get("/rider").await.forms()[0].value("form").to_owned();
    let says = |lat: &str| {
        let fix = format!(
            r#"{{"seq":1,"at":"2026-03-02T04:00:00.000Z","lat":{lat},"lng":121.4,"accuracy_m":8}}"#
        );
        format!(r#"{{"fixes":[{fix}],"device":"d-1","sent_at":"2026-03-02T04:00:01.000Z"}}"#)
    };
    let tell =
        |body: String| Form::bare("/rider/location").forged("form", &word).forged("body", &body);
    let told = ron.submit(&tell(says("31.25"))).await;
    told.is(200);
    let told: serde_json::Value = serde_json::from_str(&told.html).unwrap();
    assert_eq!((&told["kept"], &told["fixes"][0]["taken"]), (&true.into(), &true.into()));
    let locator = site.desk.executor.positions().locator().clone();
    let fix = locator.of(dispatch_desk::domain::id::RiderId(1)).await.unwrap().unwrap();
    assert!((fix.place.lat - 31.25).abs() < 1e-9);
    // Sent again it is known; what is no place, or no message, is not taken.
    let again = ron.submit(&tell(says("31.25"))).await;
    again.is(200);
    assert!(again.html.contains(r#""why":"older""#), "{}", again.html);
    for wrong in [says("91"), "{}".to_owned(), String::new(), "x".to_owned()] {
        let refused = ron.submit(&tell(wrong.clone())).await;
        assert!([400, 422].contains(&refused.status.as_u16()), "{wrong}: {}", refused.status);
    }
    let unsigned = Form::bare("/rider/location").forged("body", &says("31.3"));
    assert_eq!(ron.submit(&unsigned).await.status, 403);
}
