//! Texts that people, shops and attackers send: nothing of them runs, nothing of them is lost.

use dispatch_desk::domain::{
    command::{Act, NewTask},
    id::{RiderId, StaffId},
};

use crate::{
    browser::{Browser, Page, select},
    harness::{D1, GRAB, NORTH, Site, offer, order, rider},
};

/// Each would do harm in a page that pastes texts together.
const TEXTS: [&str; 7] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "</textarea></option></select><b>bold</b>",
    "\u{202e}drawkcab\u{202c} \u{2066}مرحبا\u{2069} \u{200f}",
    "👩🏽‍🚀🛵 𠮷野家 &amp; &lt; {{ 7*7 }} { $v }",
    "javascript:alert(1)//%0a\u{7f}",
];

/// Nothing in it runs: no element that no template of ours has.
fn is_harmless(page: &Page) {
    let document = page.document();
    for css in [
        "script:not([type=module])",
        "img",
        "b",
        "iframe",
        "[onerror]",
        "[onmouseover]",
        "a[href^=javascript]",
    ] {
        let found = document.select(&select(css)).count();
        assert_eq!(found, 0, "{css} on {}", page.path);
    }
}

async fn people(site: &Site, name: &str) {
    let mut tx = site.desk.db.begin().await.unwrap();
    tx.add_rider(RiderId(500), NORTH, name, 9, None).await.unwrap();
    let role = dispatch_desk::domain::command::Role::Dispatcher;
    tx.add_staff(StaffId(500), name, role, &[NORTH]).await.unwrap();
    tx.commit().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_texts_are_shown_as_they_are() {
    for text in TEXTS {
        let site = Site::open().await;
        people(&site, text).await;
        // The nearest is the first in the list of choices.
        site.fix(500, 31.2304, 121.4737).await;
        let staff = dispatch_desk::domain::command::Actor::Staff(StaffId(500));
        let mut new = order();
        for stop in [&mut new.pickup, &mut new.dropoff] {
            stop.address = text.to_owned();
            stop.name = Some(text.to_owned());
            stop.phone = Some(text.to_owned());
        }
        let note = format!("{text}\n\n  indented\n{text}");
        let new = NewTask { note: Some(note.clone()), ..new };
        let task = site.order(new).await;
        let (path, tracking) = (format!("/tasks/{task}"), site.tracking(task).await);
        let mut dora = Browser::enter(&site, &staff).await;
        let mut ron = Browser::enter(&site, &rider(500)).await;
        let mut carl = Browser::new(&site);
        let mut pages = vec![dora.get("/board").await, dora.get(&path).await];
        assert_eq!(pages[1].form(&format!("{path}/detail")).value("note"), note);
        let offer_form = pages[1].form(&format!("{path}/offer"));
        pages.push(dora.send(&offer_form.with("rider", "R500")).await);
        pages.push(ron.get("/rider").await);
        site.desk.done(rider(500), task, 2, Act::Accept).await;
        pages.push(ron.get("/rider").await);
        pages.push(dora.get(&path).await);
        pages.push(carl.get(&tracking).await);
        let shown: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for page in &pages {
            is_harmless(page);
            assert!(
                page.document().root_element().text().collect::<String>().contains(text)
                    || page.text().contains(&shown),
                "{text:?} is lost on {}: {}",
                page.path,
                page.text()
            );
        }
        // As a link signs in, as a form is refused: what was typed comes back as it was.
        let staff_link = site.link(&staff).await;
        let enter = Browser::new(&site).get(&staff_link).await;
        is_harmless(&enter);
        enter.says(&shown);
        let new = dora.get("/tasks/new").await.form("/tasks/new");
        let wrong = dora.send(&new.with("pickup_address", text).with("note", &note)).await;
        is_harmless(wrong.is(422));
        let again = wrong.form("/tasks/new");
        assert_eq!(again.value("pickup_address"), text);
        assert_eq!(again.value("note"), note);
        let form = Browser::new(&site).get("/sign-in").await.only_form();
        let failed =
            Browser::new(&site).send(&form.with("login", text).with("password", text)).await;
        is_harmless(failed.is(401));
        assert_eq!(failed.only_form().value("login"), text.trim());
        site.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_note_is_kept_to_its_last_character() {
    let site = Site::open().await;
    let task = site.desk.create().await;
    let mut dora = Browser::enter(&site, &D1).await;
    let path = format!("/tasks/{task}");
    let note: String = "好<&\"'\n".chars().cycle().take(10_000).collect();
    let edit = dora.get(&path).await.form(&format!("{path}/detail")).with("note", &note);
    let stale = dora.get(&path).await.form(&format!("{path}/detail"));
    assert_eq!(dora.send(&edit).await.answer(), "done");
    let card = site.desk.read().await.card(task).await.unwrap().unwrap();
    assert_eq!(card.detail.note.as_deref(), Some(&*note));
    let other: String = "短\n".chars().cycle().take(10_000).collect();
    let refused = dora.send(&stale.with("note", &other)).await;
    assert_eq!(refused.answer(), "refused");
    assert_eq!(refused.form(&format!("{path}/detail")).value("note"), other);
    site.desk.done(rider(1), task, 1, GRAB).await;
    let page = Browser::enter(&site, &rider(1)).await.get("/rider").await;
    let first: String = note.chars().take_while(|c| *c != '\n').collect();
    page.says(&first);
    site.desk.done(D1, task, 2, crate::harness::reassign(2)).await;
    let late = site.desk.ask(D1, task, 1, offer(3)).await;
    assert!(!late.is_success());
    site.close().await;
}
