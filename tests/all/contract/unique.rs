//! What there can be only one of.

use dispatch_desk::store::Error;

use super::{
    raw::Raw,
    rows::{ASSIGNED, ATTEMPT, CANDIDATE, EVENT, OFFER, OFFERED, OUTCOME, ROUND, TASK, insert},
};
use crate::harness::*;

for_each_database!(what_there_can_be_one_of_is_there_once, |desk| async move {
    let raw = Raw::of(&desk).await;
    let second: &[(&str, &str)] = &[("id", "2"), ("request_key", "'k2'")];
    let with = |columns: &[(&'static str, &'static str)]| [second, columns].concat();
    let expired = [("answer", "'expired'"), ("answered_at", "3")];
    let cases = [
        // Two tasks at one place of one rider, in whatever state.
        (insert("task", TASK, OFFERED), insert("task", TASK, &with(OFFERED))),
        (String::new(), insert("task", TASK, &with(ASSIGNED))),
        // A second task under one creation key.
        (String::new(), insert("task", TASK, &[("id", "3")])),
        // Two offers that wait on one task; one token for two.
        (
            insert("offer", OFFER, &[]),
            insert("offer", OFFER, &[("revision", "4"), ("token", "'t2'")]),
        ),
        (String::new(), insert("offer", OFFER, &[&[("revision", "4")][..], &expired].concat())),
        (insert("round", ROUND, &[]), insert("round", ROUND, &[("id", "2")])),
        (insert("round_candidate", CANDIDATE, &[]), insert("round_candidate", CANDIDATE, &[])),
        // A second event that makes the same revision; a second one of the same number.
        (insert("dispatch_event", EVENT, &[]), insert("dispatch_event", EVENT, &[("number", "2")])),
        (
            String::new(),
            insert("dispatch_event", EVENT, &[("from_revision", "2"), ("to_revision", "3")]),
        ),
        (insert("attempt", ATTEMPT, &[]), insert("attempt", ATTEMPT, &[])),
        (insert("command_outcome", OUTCOME, &[]), insert("command_outcome", OUTCOME, &[])),
        (
            String::new(),
            "INSERT INTO event_counter (id, number, attempt) VALUES (1, 0, 0)".to_owned(),
        ),
        (String::new(), "INSERT INTO task_counter (id, number) VALUES (1, 0)".to_owned()),
    ];
    for (first, twin) in cases {
        if !first.is_empty() {
            raw.run(&first).await.unwrap_or_else(|error| panic!("{first}: {error}"));
        }
        let came = raw.run(&twin).await;
        assert!(matches!(came, Err(Error::Moved(_))), "{twin}: {came:?}");
    }
    // Beside them: another place, another rider, an offer that is over, a round that is over.
    for fine in [
        insert("task", TASK, &with(&[OFFERED, &[("rider_slot", "1")]].concat())),
        insert("offer", OFFER, &[&[("revision", "4"), ("token", "'t2'")][..], &expired].concat()),
        insert("round", ROUND, &[("id", "2"), ("status", "'placed'")]),
        insert("command_outcome", OUTCOME, &[("principal", "'q'")]),
    ] {
        raw.run(&fine).await.unwrap_or_else(|error| panic!("{fine}: {error}"));
    }
});
