//! Whoever can write to the database changes the log past its rules: the check names the first number that does not fit.

use super::{check, day, finding, seal, vandal};
use crate::harness::*;

/// Says what a check finds: it starts so, and holds all of these.
fn names(found: &str, start: &str, more: &[&str]) {
    let fits = found.starts_with(start) && more.iter().all(|more| found.contains(more));
    assert!(fits, "{found:?} is not {start:?} with {more:?}");
}

for_each_database!(one_changed_field_is_named_by_its_number, |desk| async move {
    day(&desk).await;
    let raw = vandal(&desk).await;
    let changes = [
        "event_id = 'x'",
        "kind = 'task', subject = 1",
        "region_id = 2",
        "region_id = NULL",
        "action = 'assign'",
        "actor_kind = 'system'",
        "actor_id = '2'",
        "rider_id = 9",
        "reason = 'other'",
        "key_hash = NULL",
        "occurred_at = occurred_at + 1",
        "detail_version = 2",
        "detail = '{}'",
    ];
    let task = raw.number("SELECT subject FROM dispatch_event WHERE number = 6").await;
    let back = raw.texts("SELECT COALESCE(detail, '') FROM dispatch_event WHERE number = 6").await;
    for change in changes {
        let before = raw.dump("dispatch_event").await;
        raw.run("CREATE TABLE kept AS SELECT * FROM dispatch_event WHERE number = 6")
            .await
            .unwrap();
        raw.run(&format!("UPDATE dispatch_event SET {change} WHERE number = 6")).await.unwrap();
        names(&finding(&desk).await, "event 6: it was changed", &["(seal 2)"]);
        raw.run(
            "DELETE FROM dispatch_event WHERE number = 6; \
             INSERT INTO dispatch_event SELECT * FROM kept; DROP TABLE kept",
        )
        .await
        .unwrap();
        assert_eq!(raw.dump("dispatch_event").await, before);
    }
    assert_eq!(finding(&desk).await, "intact", "task {task}, {back:?}");
});

for_each_database!(one_changed_attempt_is_named_by_its_number, |desk| async move {
    day(&desk).await;
    let raw = vandal(&desk).await;
    for change in ["code = 'done'", "at = at - 1", "actor_id = '9'", "revision_seen = NULL"] {
        raw.run("CREATE TABLE kept AS SELECT * FROM attempt WHERE number = 9").await.unwrap();
        raw.run(&format!("UPDATE attempt SET {change} WHERE number = 9")).await.unwrap();
        names(&finding(&desk).await, "attempt 9: it was changed", &["(seal 2)"]);
        raw.run(
            "DELETE FROM attempt WHERE number = 9; INSERT INTO attempt SELECT * FROM kept; \
             DROP TABLE kept",
        )
        .await
        .unwrap();
    }
    assert_eq!(finding(&desk).await, "intact");
});

for_each_database!(two_rows_that_changed_places_are_named, |desk| async move {
    day(&desk).await;
    let raw = vandal(&desk).await;
    raw.run(
        "UPDATE dispatch_event SET number = 99 WHERE number = 5; \
         UPDATE dispatch_event SET number = 5 WHERE number = 7; \
         UPDATE dispatch_event SET number = 7 WHERE number = 99",
    )
    .await
    .unwrap();
    names(&finding(&desk).await, "event 5: it holds what was sealed as event 7", &["(seal 2)"]);
});

for_each_database!(a_row_that_is_gone_is_named_wherever_it_was, |desk| async move {
    let seals = day(&desk).await;
    let head = seals[2].head();
    let raw = vandal(&desk).await;
    raw.run("CREATE TABLE kept AS SELECT * FROM dispatch_event").await.unwrap();
    for (gone, first) in [
        ("number = 1", 1),
        ("number = 6", 6),
        ("number = 4", 4),
        ("number > 9", 10),
        ("number = 12", 12),
        ("number > 0", 1),
    ] {
        raw.run(&format!("DELETE FROM dispatch_event WHERE {gone}")).await.unwrap();
        let found = check(&desk, std::slice::from_ref(&head)).await.finding.unwrap().to_string();
        names(&found, &format!("event {first}: missing"), &[]);
        raw.run("DELETE FROM dispatch_event; INSERT INTO dispatch_event SELECT * FROM kept")
            .await
            .unwrap();
    }
    assert_eq!(finding(&desk).await, "intact");
    raw.run("DELETE FROM attempt WHERE number = 8").await.unwrap();
    names(&finding(&desk).await, "attempt 8: missing: the next that is there is 9", &[]);
});

for_each_database!(a_tail_that_was_cut_with_its_seals_shows_by_the_counter, |desk| async move {
    day(&desk).await;
    let raw = vandal(&desk).await;
    raw.run(
        "DELETE FROM dispatch_event WHERE number > 8; DELETE FROM attempt WHERE number > 10; \
         DELETE FROM audit_seal WHERE number = 3",
    )
    .await
    .unwrap();
    names(&finding(&desk).await, "event 9: missing", &["the counter stands at 12"]);
});

for_each_database!(
    a_tail_that_was_cut_with_all_traces_shows_by_the_noted_head,
    |desk| async move {
        let seals = day(&desk).await;
        let raw = vandal(&desk).await;
        raw.run(
        "DELETE FROM dispatch_event WHERE number > 8; DELETE FROM attempt WHERE number > 10; \
         DELETE FROM audit_seal WHERE number = 3; UPDATE event_counter SET number = 8, attempt = 10",
    )
    .await
    .unwrap();
        assert_eq!(finding(&desk).await, "intact", "nothing in the database tells");
        let found = check(&desk, &[seals[2].head()]).await.finding.unwrap().to_string();
        names(&found, "seal 3: missing", &["ends at event 8 and attempt 10"]);
        // Then it grows again and is sealed anew, with the key: the sealer does not know.
        raw.run("UPDATE task SET revision = 2 WHERE revision > 2").await.unwrap();
        desk.create().await;
        assert_eq!(seal(&desk).await.number, 3);
        assert_eq!(finding(&desk).await, "intact");
        let found = check(&desk, &[seals[2].head()]).await.finding.unwrap().to_string();
        names(&found, "seal 3: its digest is", &["was noted", "cut and written anew"]);
    }
);

for_each_database!(the_whole_log_can_not_go_unnoticed, |desk| async move {
    let seals = day(&desk).await;
    let raw = vandal(&desk).await;
    raw.run("DELETE FROM dispatch_event; DELETE FROM attempt; DELETE FROM audit_seal")
        .await
        .unwrap();
    names(&finding(&desk).await, "event 1: missing", &["the counter stands at 12"]);
    raw.run("UPDATE event_counter SET number = 0, attempt = 0").await.unwrap();
    let found = check(&desk, &[seals[0].head()]).await.finding.unwrap().to_string();
    names(&found, "seal 1: missing", &["ends at event 0"]);
});

for_each_database!(a_row_that_was_put_in_is_named, |desk| async move {
    day(&desk).await;
    let raw = vandal(&desk).await;
    let row = |number: i64| {
        format!(
            "INSERT INTO dispatch_event (number, event_id, kind, subject, action, actor_kind, occurred_at, \
             detail_version, detail) VALUES ({number}, 'x', 'admin', 0, 'erased', 'system', 1, 1, '{{}}')"
        )
    };
    // At the end.
    raw.run(&row(13)).await.unwrap();
    names(&finding(&desk).await, "event 13: inserted", &["the counter stands at 12"]);
    raw.run("DELETE FROM dispatch_event WHERE number = 13").await.unwrap();
    // In the middle: what followed moves on, and the counter with it.
    raw.run("UPDATE dispatch_event SET number = number + 100 WHERE number >= 6").await.unwrap();
    raw.run("UPDATE dispatch_event SET number = number - 99 WHERE number >= 106").await.unwrap();
    raw.run(&row(6)).await.unwrap();
    raw.run("UPDATE event_counter SET number = 13").await.unwrap();
    names(&finding(&desk).await, "event 6: inserted", &["is event 7 now (seal 2)"]);
});

for_each_database!(a_row_that_was_left_out_and_closed_up_is_named, |desk| async move {
    day(&desk).await;
    let raw = vandal(&desk).await;
    raw.run("DELETE FROM dispatch_event WHERE number = 6").await.unwrap();
    raw.run("UPDATE dispatch_event SET number = number + 100 WHERE number > 6").await.unwrap();
    raw.run("UPDATE dispatch_event SET number = number - 101 WHERE number > 106").await.unwrap();
    raw.run("UPDATE event_counter SET number = 11").await.unwrap();
    names(&finding(&desk).await, "event 6: it holds what was sealed as event 7", &[]);
});

for_each_database!(a_changed_seal_is_named, |desk| async move {
    let seals = day(&desk).await;
    let raw = vandal(&desk).await;
    let zeros = "0".repeat(64);
    for change in [
        "last_event = last_event + 1".to_owned(),
        "first_attempt = first_attempt - 1".to_owned(),
        format!("digest = '{zeros}'"),
        format!("prev = '{zeros}'"),
        format!("marks = '{zeros}{zeros}{}'", &zeros[..16]),
        format!("mac = '{zeros}'"),
        "at = at + 1".to_owned(),
    ] {
        raw.run("CREATE TABLE kept AS SELECT * FROM audit_seal WHERE number = 2").await.unwrap();
        raw.run(&format!("UPDATE audit_seal SET {change} WHERE number = 2")).await.unwrap();
        names(&finding(&desk).await, "seal 2: its MAC is wrong", &["it closes events 5 to"]);
        raw.run(
            "DELETE FROM audit_seal WHERE number = 2; INSERT INTO audit_seal SELECT * FROM kept; \
             DROP TABLE kept",
        )
        .await
        .unwrap();
    }
    assert_eq!(finding(&desk).await, "intact");
    raw.run("DELETE FROM audit_seal WHERE number = 1").await.unwrap();
    names(&finding(&desk).await, "seal 1: missing: after it comes seal 2", &[]);
    // An old seal in the place of a newer one: its MAC is right, and it does not follow.
    raw.run("DELETE FROM audit_seal").await.unwrap();
    let mut tx = desk.db.begin().await.unwrap();
    assert!(tx.insert_seal(&seals[1]).await.unwrap());
    tx.commit().await.unwrap();
    names(&finding(&desk).await, "seal 1: missing", &[]);
});

for_each_database!(seals_that_were_made_anew_without_the_key_are_named, |desk| async move {
    use dispatch_desk::{
        domain::seal::{Key, Keys},
        engine::sealer::Sealer,
    };
    let seals = day(&desk).await;
    let raw = vandal(&desk).await;
    raw.run("UPDATE dispatch_event SET actor_id = '2' WHERE number = 6").await.unwrap();
    raw.run("DELETE FROM audit_seal WHERE number > 1").await.unwrap();
    let own = Keys::one(Key::new([66; 32]));
    Sealer::new(desk.db.clone(), own, 100).seal_all().await.unwrap();
    names(&finding(&desk).await, "seal 2: made with the key", &["not among those given"]);
    // And under the name of the true key.
    let id = &seals[1].key_id;
    raw.run(&format!("UPDATE audit_seal SET key_id = '{id}'")).await.unwrap();
    names(&finding(&desk).await, "seal 2: its MAC is wrong", &[]);
});

for_each_database!(a_counter_that_was_set_back_is_named, |desk| async move {
    day(&desk).await;
    Raw::of(&desk).await.run("UPDATE event_counter SET number = 10").await.unwrap();
    names(&finding(&desk).await, "event 11: the counter stands at 10", &["set back"]);
});

use crate::contract::raw::Raw;
