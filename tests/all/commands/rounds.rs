//! While a round runs, its members grab with their tickets, and nobody else.

use dispatch_desk::domain::{
    command::{Act, Ticket},
    id::TaskId,
    refusal::Code,
};

use crate::{contract::raw::Raw, harness::*};

fn with(round: i64, nonce: &str) -> Act {
    Act::Grab { ticket: Some(Ticket { round, nonce: nonce.to_owned() }) }
}

/// Starts a round of 20 s that asks R1 (ticket `a`) and R2 (ticket `b`).
async fn start(desk: &Desk, round: i64, task: TaskId) {
    let now = node::time_of(desk);
    let mut tx = desk.db.begin().await.unwrap();
    a_round(&mut tx, round, task, (now, now.plus_ms(20_000)), &[(1, "a"), (2, "b")]).await;
    tx.commit().await.unwrap();
}

/// The grab of a member with the ticket of a round that began at noon.
fn mine(round: i64, task: TaskId, number: i64, nonce: &str) -> Act {
    signed(task, round, NOON.plus_ms(20_000), number, nonce)
}

for_each_database!(a_grab_needs_the_ticket_of_the_round_that_runs, |desk| async move {
    let task = desk.create().await;
    start(&desk, 7, task).await;
    let invalid = [
        (1, GRAB),
        // What the ledger has is no ticket: it has to be signed, for this very rider and deadline.
        (1, with(7, "a")),
        (1, mine(7, task, 2, "b")),
        (1, signed(task, 7, NOON.plus_ms(20_001), 1, "a")),
        (1, with(7, "")),
        (1, with(8, "a")),
        (1, with(i64::MAX, "a")),
        // R3 was not asked: no ticket is R3's.
        (3, GRAB),
        (3, with(7, "a")),
        (3, with(7, "")),
    ];
    for (number, act) in invalid {
        desk.refused(rider(number), task, 1, act, Code::InvalidTicket).await;
    }
    // A ticket of a round before this one has had its time.
    desk.refused(rider(1), task, 1, with(6, "a"), Code::TicketExpired).await;
    desk.refused(rider(1), task, 1, with(-1, "a"), Code::TicketExpired).await;
    desk.advance_ms(19_999).await;
    desk.done(rider(2), task, 1, mine(7, task, 2, "b")).await;
    desk.refused(rider(1), task, 1, mine(7, task, 1, "a"), Code::TakenByOther).await;
    desk.check().await;
});

for_each_database!(a_ticket_is_good_until_the_end_of_its_round, |desk| async move {
    let task = desk.create().await;
    start(&desk, 1, task).await;
    desk.advance_ms(20_000).await;
    desk.refused(rider(1), task, 1, mine(1, task, 1, "a"), Code::TicketExpired).await;
    desk.refused(rider(1), task, 1, GRAB, Code::InvalidTicket).await;
    // When the round is closed, the task is free for all, and an old ticket does no harm.
    Raw::of(&desk)
        .await
        .run("UPDATE round SET status = 'exhausted', ended_at = until")
        .await
        .unwrap();
    desk.done(rider(1), task, 1, mine(1, task, 1, "a")).await;
    desk.check().await;
});

for_each_database!(a_round_does_not_bind_the_desk, |desk| async move {
    let (one, two) = (desk.create().await, desk.create().await);
    start(&desk, 1, one).await;
    start(&desk, 2, two).await;
    // Each task has a round of its own.
    desk.refused(rider(1), two, 1, mine(1, one, 1, "a"), Code::TicketExpired).await;
    desk.done(D1, one, 1, offer(3)).await;
    desk.done(rider(3), one, 2, Act::Accept).await;
    desk.done(SUPERVISOR, two, 1, assign(4)).await;
    desk.check().await;
});
