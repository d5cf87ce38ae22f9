//! The ledger of a new round: who is asked, each with a number used once; and the nearest of those who are not.

use std::collections::BTreeSet;

use super::Rounds;
use crate::{
    domain::{id::Timestamp, rank::Ranking},
    store::{self, Asked, LedgerLine},
};

/// Of those who are left out, the ledger keeps as many as a dispatcher would read, the nearest first; the log keeps how
/// many there were, by reason.
const KEPT_LEFT_OUT: usize = 64;
/// The lines of a round, each rider's ticket good from `visible(place in the order)` until `until`.
pub(super) fn of(
    rounds: &Rounds,
    round: i64,
    ranking: &Ranking,
    until: Timestamp,
    visible: &dyn Fn(usize) -> Timestamp,
) -> store::Result<Vec<LedgerLine>> {
    let mut ledger = Vec::new();
    for (place, candidate) in ranking.candidates.iter().enumerate() {
        ledger.push(LedgerLine {
            round,
            rider: candidate.rider,
            distance_m: candidate.factors.distance_m,
            asked: Ok(Asked {
                rank: candidate.rank,
                factors: candidate.factors,
                nonce: rounds.nonce()?,
                sent_at: visible(place),
                until,
                shown_at: None,
                answered: None,
            }),
        });
    }
    let asked: BTreeSet<_> = ledger.iter().map(|line| line.rider).collect();
    let left_out = ranking.left_out.iter().filter(|(rider, ..)| !asked.contains(rider));
    ledger.extend(left_out.take(KEPT_LEFT_OUT).map(|(rider, reason, distance_m)| LedgerLine {
        round,
        rider: *rider,
        distance_m: *distance_m,
        asked: Err(*reason),
    }));
    Ok(ledger)
}
