//! What there can be only one of.

use dispatch_desk::store::Error;

use super::{
    raw::Raw,
    rows::{
        ASSIGNED, ATTEMPT, CANDIDATE, DETAIL, EVENT, LINK, OFFER, OFFERED, OUTCOME, PASSWORD,
        ROUND, SESSION, TASK, TOKEN, insert,
    },
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
        // Two rounds of one task that run; two of the same step.
        (insert("round", ROUND, &[]), insert("round", ROUND, &[("id", "2"), ("step", "2")])),
        (
            String::new(),
            insert("round", ROUND, &[("id", "2"), ("status", "'passed'"), ("ended_at", "2")]),
        ),
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
        (insert("api_token", TOKEN, &[]), insert("api_token", TOKEN, &[])),
        // A second password of one member of staff; one name for two.
        (
            insert("staff_password", PASSWORD, &[]),
            insert("staff_password", PASSWORD, &[("login", "'li'")]),
        ),
        (String::new(), insert("staff_password", PASSWORD, &[("staff_id", "2")])),
        (insert("sign_in_link", LINK, &[]), insert("sign_in_link", LINK, &[])),
        (insert("web_session", SESSION, &[]), insert("web_session", SESSION, &[])),
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
        insert(
            "round",
            ROUND,
            &[("id", "2"), ("step", "2"), ("status", "'placed'"), ("ended_at", "2")],
        ),
        insert("command_outcome", OUTCOME, &[("principal", "'q'")]),
    ] {
        raw.run(&fine).await.unwrap_or_else(|error| panic!("{fine}: {error}"));
    }
    // One link for two customers; of old tasks, many have none.
    let other =
        |token| insert("task_detail", DETAIL, &[("task_id", "2"), ("tracking_token", token)]);
    raw.run(&insert("task_detail", DETAIL, &[])).await.unwrap();
    let came = raw.run(&other("'t'")).await;
    assert!(matches!(came, Err(Error::Moved(_))), "{came:?}");
    raw.run("UPDATE task_detail SET tracking_token = NULL").await.unwrap();
    raw.run(&other("NULL")).await.unwrap();
});
