//! How dispatching goes in a window, over a scripted hour.

use dispatch_desk::{
    domain::{
        command::{Act, NewTask},
        refusal::Code,
    },
    store::{Measures, Share, Spread, StepRounds, Window},
};

use super::raw::Raw;
use crate::harness::*;

/// Two tasks of the north and one of the south, with all that can happen to them.
async fn hour(desk: &Desk) {
    let one = desk.create().await;
    desk.advance_ms(4_000).await;
    desk.done(rider(1), one, 1, GRAB).await;
    desk.refused(rider(2), one, 1, GRAB, Code::TakenByOther).await;
    desk.done(D1, one, 2, reassign(3)).await;
    desk.done(rider(3), one, 3, Act::Accept).await;
    let two = desk.create().await;
    desk.done(D1, two, 1, offer(4)).await;
    desk.done(rider(4), two, 2, DECLINE).await;
    desk.create_with(NewTask { region: SOUTH, ..order() }).await;
    let (at, until) = (NOON.0 + 4_000, NOON.0 + 34_000);
    let raw = Raw::of(desk).await;
    for (id, task, step, status, ended) in [
        (1, one.0, 1, "passed", "1796011234000"),
        (2, one.0, 2, "placed", "1796011234000"),
        (3, two.0, 1, "exhausted", "1796011234000"),
    ] {
        raw.run(&format!(
            "INSERT INTO round (id, task_id, region_id, step, search, kind, status, started_at, until, ended_at, rung, \
             policy_version) VALUES ({id}, {task}, 1, {step}, 1, 'broadcast', '{status}', {at}, {until}, {ended}, 0, 1)"
        ))
        .await
        .unwrap();
    }
    // An offer to one alone is counted as the offer that it is, not as a ticket as well.
    raw.run(&format!(
        "INSERT INTO round (id, task_id, region_id, step, search, kind, status, started_at, until, ended_at, rung, \
         policy_version) VALUES (4, {}, 1, 3, 1, 'exclusive', 'passed', {at}, {until}, {until}, 0, 1)",
        one.0
    ))
    .await
    .unwrap();
    // The first round asked two, of whom one declined and saw it; the third found nobody but one who was left out.
    raw.run(&format!(
        "INSERT INTO round_candidate (round_id, rider_id, rank, excluded_reason, nonce, sent_at, until, shown_at, \
         answered_at, answer) VALUES (1, 1, 1, NULL, 'n', {at}, {until}, {at}, {at}, 'declined'), \
         (1, 2, 2, NULL, 'm', {at}, {until}, NULL, NULL, NULL), (2, 1, 1, NULL, 'o', {at}, {until}, {at}, NULL, NULL), \
         (4, 3, 1, NULL, 'p', {at}, {until}, NULL, NULL, NULL), (3, 5, NULL, 'off_duty', NULL, NULL, NULL, NULL, NULL, NULL)"
    ))
    .await
    .unwrap();
}

fn did(pairs: &[(&str, i64)]) -> Vec<(String, i64)> {
    pairs.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
}

for_each_database!(an_hour_is_measured_exactly, |desk| async move {
    hour(&desk).await;
    let window = Window { region: NORTH, from: NOON, until: NOON.plus_ms(4_001) };
    let found = desk.read().await.measures(window).await.unwrap();
    let events =
        [("accept", 1), ("create", 2), ("decline", 1), ("grab", 1), ("offer", 1), ("reassign", 1)];
    assert_eq!(found.did, did(&events));
    let grabs: Vec<_> = found.tried.iter().filter(|(verb, ..)| verb == "grab").collect();
    assert_eq!(grabs.len(), 2, "{grabs:?}");
    assert!(found.tried.contains(&("grab".to_owned(), "TAKEN_BY_OTHER".to_owned(), 1)));
    assert_eq!(found.contended, Spread { tasks: 1, sum: 2, most: 2 });
    assert_eq!(found.reassigned, Spread { tasks: 1, sum: 1, most: 1 });
    let step = |step, rounds, placed, empty| StepRounds { step, rounds, placed, empty };
    assert_eq!(found.rounds, [step(1, 2, 0, 1), step(2, 1, 1, 0)]);
    assert_eq!(found.first_batch, Share { sent: 2, hit: 1 });
    // Three tickets, two of them seen; two offers, seen by nobody.
    assert_eq!(found.shown, Share { sent: 5, hit: 2 });
    assert_eq!(found.waited_ms, [None, Some(4_000)]);

    // The window begins with its first instant and ends before its last one.
    let before = Window { until: NOON.plus_ms(4_000), ..window };
    let found = desk.read().await.measures(before).await.unwrap();
    assert_eq!((found.did, found.rounds), (did(&[("create", 1)]), vec![]));
    let after = Window { from: NOON.plus_ms(4_001), until: NOON.plus_ms(9_000), ..window };
    assert_eq!(desk.read().await.measures(after).await.unwrap(), Measures::default());
    let south = Window { region: SOUTH, ..window };
    let found = desk.read().await.measures(south).await.unwrap();
    assert_eq!((found.did, found.waited_ms), (did(&[("create", 1)]), vec![None]));
});
