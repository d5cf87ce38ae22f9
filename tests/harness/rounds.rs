//! Rounds put into the ledger by hand, and the tickets that belong to them.

use dispatch_desk::{
    domain::{
        command::{Act, Ticket},
        id::{RiderId, TaskId, Timestamp},
        rank::Factors,
        round::{RoundKind, RoundStatus},
        ticket::{Seat, TicketKey},
    },
    store::{Asked, LedgerLine, Round, Tx},
};

use super::NORTH;

/// What the test desks sign their tickets with.
pub const fn key() -> TicketKey {
    TicketKey::new([7; 32])
}

/// The grab of a member whose line in the ledger has `nonce`.
pub fn signed(task: TaskId, round: i64, until: Timestamp, rider: i64, nonce: &str) -> Act {
    let seat = Seat { task, rider: RiderId(rider), round, until, nonce };
    Act::Grab { ticket: Some(Ticket { round, nonce: key().sign(&seat) }) }
}

/// Figures that say nothing.
pub const fn factors(distance_m: u32) -> Factors {
    Factors {
        distance_m: Some(distance_m),
        in_hand: 0,
        in_hand_m: 0,
        asked: 0,
        answered: 0,
        unanswered_m: 0,
        hand_backs: 0,
        hand_backs_m: 0,
        waiting_minutes: 0,
        waiting_m: 0,
        total_m: distance_m as i64,
    }
}

/// A running round of `task`.
pub const fn round(id: i64, task: TaskId, from: Timestamp, until: Timestamp) -> Round {
    Round {
        id,
        task,
        region: NORTH,
        step: 1,
        search: 1,
        kind: RoundKind::Broadcast,
        status: RoundStatus::Running,
        started_at: from,
        until,
        ended_at: None,
        rung: 0,
        radius_m: Some(2_000),
        farther: 0,
        fair_window_ms: 0,
        policy_version: 1,
    }
}

/// Riders who are asked in a round, in this order, each with what the ticket is made of.
pub fn members(round: &Round, members: &[(i64, &str)]) -> Vec<LedgerLine> {
    let line = |(rank, (rider, nonce)): (u32, &(i64, &str))| LedgerLine {
        round: round.id,
        rider: RiderId(*rider),
        distance_m: Some(100 * rank),
        asked: Ok(Asked {
            rank,
            factors: factors(100 * rank),
            nonce: (*nonce).to_owned(),
            sent_at: round.started_at,
            until: round.until,
            shown_at: None,
            answered: None,
        }),
    };
    (1..).zip(members).map(line).collect()
}

/// Starts a round that asks these riders.
pub async fn a_round(
    tx: &mut Tx,
    id: i64,
    task: TaskId,
    (from, until): (Timestamp, Timestamp),
    asked: &[(i64, &str)],
) {
    let round = round(id, task, from, until);
    tx.insert_round(&round, &members(&round, asked)).await.expect("a round");
}
