//! Seals, and what they are taken over.

use dispatch_desk::{
    domain::{
        id::Timestamp,
        seal::{Range, Seal},
    },
    store::{AttemptRow, Bounds, Error},
};

use super::raw::Raw;
use crate::harness::*;

fn seal(number: i64, events: Range, attempts: Range) -> Seal {
    Seal {
        number,
        events,
        attempts,
        digest: "d".to_owned(),
        prev: "p".to_owned(),
        marks: "m".repeat(160_000),
        key_id: "k".to_owned(),
        mac: "x".to_owned(),
        at: Timestamp(i64::MAX),
    }
}

for_each_database!(seals_come_back_as_they_were, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    assert_eq!(tx.last_seal().await.unwrap(), None);
    let one = seal(1, Range { first: 1, last: 10_000 }, Range::NOTHING);
    let two = seal(2, Range { first: 10_001, last: 10_000 }, Range { first: 1, last: i64::MAX });
    for seal in [&one, &two] {
        assert!(tx.insert_seal(seal).await.unwrap());
    }
    assert_eq!(tx.last_seal().await.unwrap().as_ref(), Some(&two));
    assert_eq!(tx.seals_after(0, 10).await.unwrap(), [one.clone(), two.clone()]);
    assert_eq!(tx.seals_after(0, 1).await.unwrap(), std::slice::from_ref(&one));
    assert_eq!(tx.seals_after(1, 10).await.unwrap(), [two]);
    assert_eq!(tx.seals_after(2, 10).await.unwrap(), []);
    // The same number, or the same first rows: what was kept stays, and that is no error.
    for other in [
        Seal { events: Range { first: 5, last: 6 }, ..one.clone() },
        Seal { number: 3, ..one.clone() },
    ] {
        assert!(!tx.insert_seal(&other).await.unwrap());
    }
    assert_eq!(tx.seals_after(0, 10).await.unwrap().len(), 2);
});

for_each_database!(a_seal_of_nothing_is_refused, |desk| async move {
    let nothing = Range { first: 5, last: 4 };
    for (number, events, attempts) in [
        (1, Range::NOTHING, Range::NOTHING),
        (1, nothing, nothing),
        (1, Range { first: 5, last: 3 }, Range { first: 1, last: 9 }),
        (1, Range { first: 0, last: 9 }, Range { first: 1, last: 9 }),
        (0, Range { first: 1, last: 9 }, Range { first: 1, last: 9 }),
    ] {
        let mut tx = desk.db.begin().await.unwrap();
        let refused = tx.insert_seal(&seal(number, events, attempts)).await;
        assert!(matches!(refused, Err(Error::Rejected(_))), "{number} {events:?}: {refused:?}");
    }
});

for_each_database!(attempts_follow_each_other_by_number, |desk| async move {
    let attempt = |number| AttemptRow {
        number,
        actor_kind: "system",
        actor_id: None,
        key_hash: None,
        task: Some(number),
        verb: "expire",
        code: "done".to_owned(),
        revision_seen: None,
        at: -number,
    };
    let mut tx = desk.db.begin().await.unwrap();
    let empty = Bounds { events: Range::NOTHING, attempts: Range::NOTHING, given: (0, 0) };
    assert_eq!(tx.bounds().await.unwrap(), empty);
    tx.insert_attempts(&[attempt(3), attempt(2), attempt(9)]).await.unwrap();
    let numbers = async |tx: &mut dispatch_desk::store::Tx, after, limit| {
        let found = tx.attempts_after(after, limit).await.unwrap();
        found.iter().map(|attempt| (attempt.number, attempt.at)).collect::<Vec<_>>()
    };
    assert_eq!(numbers(&mut tx, 0, 9).await, [(2, -2), (3, -3), (9, -9)]);
    assert_eq!(numbers(&mut tx, 2, 1).await, [(3, -3)]);
    assert_eq!(numbers(&mut tx, 9, 9).await, []);
    tx.take_numbers(4, 5).await.unwrap();
    let bounds = tx.bounds().await.unwrap();
    assert_eq!((bounds.attempts, bounds.given), (Range { first: 2, last: 9 }, (4, 5)));
});

for_each_database!(seals_can_not_be_changed, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    let one = seal(1, Range { first: 1, last: 1 }, Range { first: 1, last: 1 });
    assert!(tx.insert_seal(&one).await.unwrap());
    tx.commit().await.unwrap();
    let raw = Raw::of(&desk).await;
    let mut tries = vec![
        "UPDATE audit_seal SET digest = 'x'",
        "UPDATE audit_seal SET number = number",
        "DELETE FROM audit_seal",
    ];
    match raw.database() {
        Database::Sqlite => tries.push(
            "PRAGMA recursive_triggers = on; REPLACE INTO audit_seal SELECT * FROM audit_seal",
        ),
        Database::Postgres => tries.push("TRUNCATE audit_seal"),
    }
    for sql in tries {
        let refused = raw.run(sql).await;
        assert!(matches!(refused, Err(Error::Rejected(_))), "{sql}: {refused:?}");
    }
    assert_eq!(desk.read().await.last_seal().await.unwrap(), Some(one));
});
