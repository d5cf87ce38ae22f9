//! The seals over the log: made while it grows, by one of several sealers, and what a check of them finds.

mod intact;
mod tampered;

use dispatch_desk::{
    domain::seal::{Head, Key, Keys, Seal},
    engine::{
        sealer::{Sealer, Step},
        verify::{Report, verify},
    },
};

use crate::{contract::raw::Raw, harness::*};

/// The key of these tests.
fn keys() -> Keys {
    Keys::one(Key::new([7; 32]))
}

fn sealer(desk: &Desk) -> Sealer {
    Sealer::new(desk.db.clone(), keys(), 10_000)
}

/// Seals all there is. The last seal.
async fn seal(desk: &Desk) -> Seal {
    let sealer = sealer(desk);
    assert_ne!(sealer.seal_all().await.unwrap(), Step::Beaten);
    desk.read().await.last_seal().await.unwrap().expect("a seal")
}

async fn check(desk: &Desk, noted: &[Head]) -> Report {
    verify(&desk.db, &keys(), noted, |_| ()).await.unwrap()
}

/// What a check says first, without any noted head.
async fn finding(desk: &Desk) -> String {
    let found = check(desk, &[]).await.finding;
    found.map_or_else(|| "intact".to_owned(), |found| found.to_string())
}

/// A day in three seals: 12 events and 12 attempts or more.
async fn day(desk: &Desk) -> Vec<Seal> {
    let mut seals = Vec::new();
    for number in 1..4 {
        let task = desk.create().await;
        desk.done(D1, task, 1, offer(number)).await;
        desk.done(rider(number), task, 2, dispatch_desk::domain::command::Act::Accept).await;
        desk.refused(
            rider(number + 3),
            task,
            3,
            GRAB,
            dispatch_desk::domain::refusal::Code::TakenByOther,
        )
        .await;
        desk.done(D1, task, 3, CANCEL).await;
        seals.push(seal(desk).await);
    }
    assert_eq!(seals.last().unwrap().events.last, 12);
    assert_eq!(seals.last().unwrap().attempts.last, 15);
    seals
}

/// A connection past the rules of the database: whoever owns it can drop them.
async fn vandal(desk: &Desk) -> Raw {
    let raw = Raw::of(desk).await;
    let drop = match raw.database() {
        Database::Sqlite => {
            "PRAGMA foreign_keys = off; DROP TRIGGER dispatch_event_no_update; DROP TRIGGER dispatch_event_no_delete; \
             DROP TRIGGER attempt_no_update; DROP TRIGGER attempt_no_delete; \
             DROP TRIGGER audit_seal_no_update; DROP TRIGGER audit_seal_no_delete"
        }
        Database::Postgres => {
            "DROP TRIGGER dispatch_event_no_change ON dispatch_event; DROP TRIGGER attempt_no_change ON attempt; \
             DROP TRIGGER audit_seal_no_change ON audit_seal"
        }
    };
    raw.run(drop).await.unwrap();
    raw
}
