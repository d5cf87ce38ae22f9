//! The auditor's search, against every way of walking and every filter.

use dispatch_desk::{
    domain::{
        command::Act,
        id::{RegionId, RiderId, TaskId, Timestamp},
        seal::Book,
    },
    store::{Entry, Place, Search, Tx},
};

use super::raw::Raw;
use crate::harness::*;

fn all() -> Search {
    Search {
        regions: vec![NORTH],
        of_no_region: true,
        books: vec![Book::Event, Book::Attempt],
        task: None,
        rider: None,
        actor_kind: None,
        actor_id: None,
        what: None,
        from: Timestamp(0),
        until: Timestamp(i64::MAX),
    }
}

fn name(entry: &Entry) -> String {
    match entry {
        Entry::Event(event) => format!("e{}", event.number),
        Entry::Attempt(attempt, _) => format!("a{}", attempt.number),
    }
}

/// All that a search finds, in pages of three.
async fn found(tx: &mut Tx, search: &Search) -> String {
    let mut place = Place::start_of(search.until);
    let mut names = Vec::new();
    loop {
        let page = tx.search(search, place, 3).await.unwrap();
        assert!(page.entries.len() <= 3);
        names.extend(page.entries.iter().map(name));
        match page.next {
            Some(next) => assert!(std::mem::replace(&mut place, next) > next),
            None => return names.join(" "),
        }
    }
}

/// Two tasks of the north a second apart, one of the south, a change of the whole desk, an attempt on nothing.
async fn day(desk: &Desk) -> [TaskId; 2] {
    let one = desk.create().await;
    desk.advance_ms(1_000).await;
    desk.done(D1, one, 1, offer(7)).await;
    desk.done(rider(7), one, 2, Act::Accept).await;
    desk.advance_ms(1_000).await;
    let two = desk.create().await;
    desk.refused(rider(7), two, 9, GRAB, dispatch_desk::domain::refusal::Code::StaleRevision).await;
    desk.advance_ms(1_000).await;
    desk.done(D2, two, 1, CANCEL).await;
    let raw = Raw::of(desk).await;
    let at = NOON.0 + 3_000;
    raw.run(&format!(
        "INSERT INTO dispatch_event (number, event_id, kind, subject, region_id, action, actor_kind, actor_id, \
         rider_id, occurred_at, detail_version, detail) VALUES \
         (6, 'x', 'admin', 0, NULL, 'exported', 'staff', '6', NULL, {at}, 1, '{{}}'), \
         (7, 'y', 'rider', 901, 2, 'change', 'rider', '901', 901, {at}, 1, '{{}}')"
    ))
    .await
    .unwrap();
    raw.run(&format!(
        "INSERT INTO attempt (number, actor_kind, actor_id, task_id, verb, code, at) VALUES \
         (7, 'rider', '901', 77, 'grab', 'NOT_FOUND', {at})"
    ))
    .await
    .unwrap();
    [one, two]
}

for_each_database!(every_filter_finds_what_it_says_the_latest_first, |desk| async move {
    let [one, two] = day(&desk).await;
    let mut tx = desk.read().await;
    let tx = &mut tx;
    // By time; of one instant the attempts come first, then the larger numbers.
    let events = Search { books: vec![Book::Event], ..all() };
    let attempts = Search { books: vec![Book::Attempt], ..all() };
    let every = "a7 a6 e6 e5 a5 a4 e4 a3 a2 e3 e2 a1 e1";
    assert_eq!(found(tx, &all()).await, every);
    assert_eq!(found(tx, &events).await, "e6 e5 e4 e3 e2 e1");
    assert_eq!(found(tx, &attempts).await, "a7 a6 a5 a4 a3 a2 a1");
    // Regions: foreign ones are not there, those of none only if wanted. An attempt to create names what it made.
    let no_none = Search { of_no_region: false, ..all() };
    assert_eq!(found(tx, &no_none).await, "a6 e5 a5 a4 e4 a3 a2 e3 e2 a1 e1");
    let none = Search { regions: vec![], ..all() };
    assert_eq!(found(tx, &none).await, "a7 e6");
    let both = Search { regions: vec![NORTH, RegionId(2)], ..all() };
    assert_eq!(found(tx, &both).await, every.replace("e6", "e7 e6"));
    // A task.
    let of_task = |task| Search { task: Some(task), ..all() };
    assert_eq!(found(tx, &of_task(one)).await, "a3 a2 e3 e2 a1 e1");
    assert_eq!(found(tx, &of_task(two)).await, "a6 e5 a5 a4 e4");
    let foreign = Search { task: Some(one), regions: vec![RegionId(2)], ..all() };
    assert_eq!(found(tx, &foreign).await, "");
    // A rider: events about, attempts by.
    let rider_of = |rider| Search { rider: Some(RiderId(rider)), ..all() };
    assert_eq!(found(tx, &rider_of(7)).await, "a5 a3 e3 e2");
    assert_eq!(found(tx, &Search { task: Some(one), ..rider_of(7) }).await, "a3 e3 e2");
    assert_eq!(found(tx, &rider_of(901)).await, "a7", "the event is the south's");
    // Who acted.
    let by = |kind, id: Option<&str>| Search {
        actor_kind: Some(kind),
        actor_id: id.map(str::to_owned),
        ..all()
    };
    assert_eq!(found(tx, &by("staff", None)).await, "a6 e6 e5 a2 e2");
    assert_eq!(found(tx, &by("staff", Some("1"))).await, "a2 e2");
    assert_eq!(found(tx, &by("rider", Some("7"))).await, "a5 a3 e3");
    assert_eq!(found(tx, &by("intake", Some("shop"))).await, "a4 e4 a1 e1");
    assert_eq!(found(tx, &by("customer", None)).await, "");
    let about_by = Search { rider: Some(RiderId(7)), ..by("staff", Some("1")) };
    assert_eq!(found(tx, &about_by).await, "e2");
    let own = Search { rider: Some(RiderId(7)), ..by("rider", None) };
    assert_eq!(found(tx, &own).await, "a5 a3 e3");
    // What was done, or the code of the answer.
    let what = |what: &str| Search { what: Some(what.to_owned()), ..all() };
    assert_eq!(found(tx, &what("cancel")).await, "a6 e5");
    assert_eq!(found(tx, &what("STALE_REVISION")).await, "a5");
    assert_eq!(found(tx, &what("done")).await, "a6 a4 a3 a2 a1");
    assert_eq!(found(tx, &what("nothing")).await, "");
    // From an instant, and before one.
    let second = |second: i64| NOON.plus_ms(second * 1_000);
    let between = Search { from: second(1), until: second(3), ..all() };
    assert_eq!(found(tx, &between).await, "a5 a4 e4 a3 a2 e3 e2");
    let nothing = Search { from: second(3), until: second(1), ..all() };
    assert_eq!(found(tx, &nothing).await, "");
});

for_each_database!(what_was_done_to_a_task_is_found_with_its_steps, |desk| async move {
    let task = desk.create().await;
    let raw = Raw::of(&desk).await;
    let (at, task_number) = (NOON.0, task.0);
    // To the task; to a rider and to a region that happen to have its number.
    raw.run(&format!(
        "INSERT INTO dispatch_event (number, event_id, kind, subject, region_id, action, actor_kind, actor_id, \
         rider_id, occurred_at, detail_version, detail) VALUES \
         (2, 'r', 'admin', {task_number}, 1, 'revealed', 'staff', '6', NULL, {at}, 1, \
          '{{\"numbers\":\"pickup\",\"of\":\"task\"}}'), \
         (3, 's', 'admin', {task_number}, 1, 'rider-changed', 'staff', '6', {task_number}, {at}, 1, \
          '{{\"of\":\"rider\"}}'), \
         (4, 't', 'policy', {task_number}, 1, 'policy-added', 'staff', '6', NULL, {at}, 1, '{{\"of\":\"region\"}}')"
    ))
    .await
    .unwrap();
    let mut tx = desk.read().await;
    let about = Search { task: Some(task), ..all() };
    assert_eq!(found(&mut tx, &about).await, "a1 e2 e1");
    let shown = Search { what: Some("revealed".to_owned()), ..about.clone() };
    assert_eq!(found(&mut tx, &shown).await, "e2");
    let foreign = Search { regions: vec![RegionId(2)], ..about };
    assert_eq!(found(&mut tx, &foreign).await, "");
});

for_each_database!(a_rare_row_is_found_far_away_step_by_step, |desk| async move {
    let task = desk.create().await;
    desk.done(D1, task, 1, CANCEL).await;
    let raw = Raw::of(&desk).await;
    // 60,000 events that are not looked for stand before it, and as many attempts: one search gives up on the way.
    let rows = 110_000;
    raw.run(&format!(
        "INSERT INTO dispatch_event (number, event_id, kind, subject, region_id, action, actor_kind, occurred_at, \
         detail_version, detail) WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) \
         SELECT i, 'e', 'rider', 1, 1, 'change', 'system', {} + i, 1, '{{}}' FROM n",
        NOON.0
    ))
    .await
    .unwrap();
    let mut tx = desk.read().await;
    let search = Search { what: Some("cancel".to_owned()), ..all() };
    let first = tx.search(&search, Place::start_of(search.until), 3).await.unwrap();
    assert!(first.entries.is_empty(), "it has not come that far");
    let place = first.next.expect("it says where to go on");
    let second = tx.search(&search, place, 3).await.unwrap();
    assert_eq!(second.entries.iter().map(name).collect::<Vec<_>>(), ["a2", "e2"]);
    assert!(second.next.is_none());
});
