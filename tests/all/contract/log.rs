//! Numbers, events, attempts, stored answers and new tasks.

use dispatch_desk::{
    domain::{
        event::Change,
        id::{RiderId, TaskId, Timestamp},
    },
    store::{AttemptRow, Created, Error, EventRow, OutcomeRow, etag},
};

use super::{
    raw::Raw,
    steps::{creation, edited, holding, north, step, write_tasks},
};
use crate::harness::*;

for_each_database!(numbers_are_given_out_without_holes, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    assert_eq!(tx.head().await.unwrap(), (0, 0));
    assert_eq!(tx.take_numbers(3, 2).await.unwrap(), (1, 1));
    assert_eq!(tx.take_numbers(0, 1).await.unwrap(), (4, 3));
    assert_eq!(tx.take_numbers(1, 0).await.unwrap(), (4, 4));
    assert_eq!(tx.take_task_numbers(5).await.unwrap(), 10_001);
    tx.commit().await.unwrap();
    // What is rolled back was never given out.
    let mut tx = desk.db.begin().await.unwrap();
    assert_eq!(tx.take_numbers(10, 10).await.unwrap(), (5, 4));
    assert_eq!(tx.take_task_numbers(1).await.unwrap(), 10_006);
    tx.rollback().await.unwrap();
    let mut tx = desk.db.begin().await.unwrap();
    assert_eq!(tx.take_numbers(1, 1).await.unwrap(), (5, 4));
    assert_eq!(tx.take_task_numbers(1).await.unwrap(), 10_006);
    assert_eq!(tx.head().await.unwrap(), (5, 4));
});

for_each_database!(a_missing_counter_is_named, |desk| async move {
    let raw = Raw::of(&desk).await;
    raw.run("DELETE FROM event_counter; DELETE FROM task_counter").await.unwrap();
    let mut tx = desk.db.begin().await.unwrap();
    let error = tx.take_numbers(1, 1).await.expect_err("no counter");
    assert_eq!(error.to_string(), "event_counter row 1: id holds \"no row\"");
    let error = tx.take_task_numbers(1).await.expect_err("no counter");
    assert_eq!(error.to_string(), "task_counter row 1: id holds \"no row\"");
});

for_each_database!(events_of_every_kind_come_back_as_they_were, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    let region = north(&mut tx).await;
    let created = creation(&region, i64::MAX, &order());
    let key = [Created {
        creation: &created,
        request_key: "k",
        fingerprint: "f",
        tracking_token: "k".into(),
    }];
    tx.insert_tasks(&key).await.unwrap();
    let one = holding(&mut tx, 1, &[]).await;
    let grabbed = step(&region, &rider(1), created.after(), &GRAB, &one);
    let changes = dispatch_desk::domain::command::DetailChanges {
        note: Some("never in the log".to_owned()),
        priority: Some(i64::MIN),
        ..Default::default()
    };
    let edit = edited(grabbed.after(), 1, &changes);
    let hash = Some("h".to_owned());
    let rider_id = RiderId(i64::MAX);
    let rows = [
        EventRow::of_task(1, "e1".into(), created.event(), hash.clone()),
        EventRow::of_task(2, "e2".into(), grabbed.event(), None),
        EventRow::of_detail(3, "e3".into(), edit.event(), hash.clone()),
        EventRow::of_rider(
            i64::MAX,
            "e4".into(),
            rider_id,
            None,
            &ADMIN,
            NOON,
            r#"{"a":"'"}"#.into(),
        ),
    ];
    tx.insert_events(&rows).await.unwrap();
    tx.commit().await.unwrap();

    let mut tx = desk.read().await;
    let found = tx.events_after(0, 10).await.unwrap();
    assert_eq!(found.iter().map(|event| event.number).collect::<Vec<_>>(), [1, 2, 3, i64::MAX]);
    assert_eq!(found[0].task_event().unwrap().as_ref(), Some(created.event()));
    assert_eq!(found[1].task_event().unwrap().as_ref(), Some(grabbed.event()));
    assert_eq!(found[2].detail_event().unwrap().as_ref(), Some(edit.event()));
    assert!(!found[2].detail.contains("never in the log"));
    assert!(found[3].task_event().unwrap().is_none() && found[3].detail_event().unwrap().is_none());
    let rider_event = &found[3];
    assert_eq!((rider_event.kind.as_str(), rider_event.subject), ("rider", i64::MAX));
    assert_eq!(
        (rider_event.rider_id, rider_event.detail.as_str()),
        (Some(i64::MAX), r#"{"a":"'"}"#)
    );
    assert_eq!(
        found.iter().map(|event| event.event_id.as_str()).collect::<Vec<_>>(),
        ["e1", "e2", "e3", "e4"]
    );
    assert_eq!((&found[0].key_hash, &found[1].key_hash), (&hash, &None));
    assert_eq!(found[1].mode.as_deref(), Some("grabbed"));
    assert_eq!(found[0].detail_version, i64::from(Change::VERSION));
    let counts = tx.log_counts().await.unwrap();
    assert_eq!((counts.events, counts.last_event), (4, i64::MAX));
    assert_eq!((counts.attempts, counts.last_attempt), (0, 0));
});

for_each_database!(attempts_come_back_in_order, |desk| async move {
    let attempt = |number, task: Option<i64>, revision_seen| AttemptRow {
        number,
        actor_kind: "rider",
        actor_id: Some("17".to_owned()),
        key_hash: task.map(|task| format!("h{task}")),
        task,
        verb: "grab",
        code: "TAKEN_BY_OTHER".to_owned(),
        revision_seen,
        at: NOON.0,
    };
    let mut tx = desk.db.begin().await.unwrap();
    // The task need not exist: an attempt on nothing is an attempt.
    let rows = [
        attempt(3, Some(i64::MAX), Some(i64::MAX)),
        attempt(1, Some(i64::MAX), None),
        attempt(2, None, None),
    ];
    tx.insert_attempts(&rows).await.unwrap();
    let found = tx.attempts_of(TaskId(i64::MAX)).await.unwrap();
    assert_eq!(found.iter().map(|found| found.number).collect::<Vec<_>>(), [1, 3]);
    assert_eq!(found[1].revision_seen, Some(i64::MAX));
    assert_eq!((found[0].revision_seen, found[0].actor_id.as_deref()), (None, Some("17")));
    assert_eq!((found[0].verb.as_str(), found[0].code.as_str()), ("grab", "TAKEN_BY_OTHER"));
    assert_eq!(tx.attempts_of(TaskId(5)).await.unwrap(), []);
    assert_eq!(tx.log_counts().await.unwrap().attempts, 3);
    let again = tx.insert_attempts(&rows[..1]).await;
    assert!(matches!(again, Err(Error::Moved(_))), "{again:?}");
});

fn outcome<'a>(principal: &'a str, key: &'a str, body: &'a str, at: i64) -> OutcomeRow<'a> {
    OutcomeRow {
        principal,
        request_key: key,
        fingerprint: "f",
        status: 409,
        location: None,
        etag: Some("\"7\""),
        body,
        at,
    }
}

for_each_database!(an_answer_is_found_by_its_scope_and_key, |desk| async move {
    let body = "{\"message\":\"任务已取消。\u{1}\u{2028}\\\"🛵\"}";
    let mut tx = desk.db.begin().await.unwrap();
    let rows = [outcome("rider:1", "k", body, 1), outcome("rider:2", "k", "{}", 1)];
    tx.insert_outcomes(&rows).await.unwrap();
    let wanted = [("rider:1", "k"), ("rider:1", "K"), ("rider:3", "k"), ("rider:1", "k ")];
    let found = tx.outcomes(&wanted).await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].principal.as_str(), found[0].body.as_str()), ("rider:1", body));
    assert_eq!((found[0].http_status(), found[0].etag.as_deref()), (409, Some("\"7\"")));
    assert_eq!((found[0].location.as_deref(), found[0].fingerprint.as_str()), (None, "f"));
    assert_eq!(tx.outcomes(&[]).await.unwrap(), []);
    let again = tx.insert_outcomes(&[outcome("rider:1", "k", "other", 2)]).await;
    assert!(matches!(again, Err(Error::Moved(_))), "a key has one answer: {again:?}");
    assert_eq!(etag(dispatch_desk::domain::id::Revision(7)), "\"7\"");
});

for_each_database!(only_old_answers_are_deleted_and_not_too_many_at_once, |desk| async move {
    let keys: Vec<_> = (0..10).map(|key| format!("k{key}")).collect();
    let rows: Vec<_> =
        (0..).zip(&keys).map(|(at, key)| outcome("rider:1", key, "{}", at)).collect();
    let mut tx = desk.db.begin().await.unwrap();
    tx.insert_outcomes(&rows).await.unwrap();
    let mut deleted = Vec::new();
    for (before, limit) in [(0, 100), (6, 4), (6, 4), (6, 4), (6, 0)] {
        deleted.push(tx.prune_outcomes(Timestamp(before), limit).await.unwrap());
    }
    assert_eq!(deleted, [0, 4, 2, 0, 0]);
    let wanted: Vec<_> = keys.iter().map(|key| ("rider:1", key.as_str())).collect();
    let mut left: Vec<_> =
        tx.outcomes(&wanted).await.unwrap().into_iter().map(|found| found.request_key).collect();
    left.sort();
    assert_eq!(left, ["k6", "k7", "k8", "k9"]);
});

for_each_database!(a_task_is_found_by_the_key_that_created_it, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    write_tasks(&mut tx, &[1, 9_007_199_254_740_993]).await;
    let wanted = [
        ("shop".to_owned(), "key-9007199254740993"),
        ("shop".to_owned(), "key-9007199254740992"),
        ("Shop".to_owned(), "key-1"),
    ];
    let found = tx.created(&wanted).await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].id, found[0].source.as_str()), (9_007_199_254_740_993, "shop"));
    assert_eq!(found[0].request_key, "key-9007199254740993");
    assert_eq!(found[0].fingerprint, "f");
    assert_eq!(tx.created(&[]).await.unwrap().len(), 0);
    let region = north(&mut tx).await;
    let twin = creation(&region, 2, &order());
    let twin = [Created {
        creation: &twin,
        request_key: "key-1",
        fingerprint: "f",
        tracking_token: "twin".into(),
    }];
    let twice = tx.insert_tasks(&twin).await;
    assert!(matches!(twice, Err(Error::Moved(_))), "one task a key: {twice:?}");
});
