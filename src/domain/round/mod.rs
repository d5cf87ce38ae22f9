//! Rounds: an open task is shown to a few riders at a time, each with a ticket, and to more if nobody takes it.
//!
//! ```text
//!            nobody took it                 nobody took it            nobody took it
//!  2 km ───────────────────► 5 km ───────────────────► … 20 km ─────────────────────┐
//!   │ grabbed with a ticket                                                         ▼
//!   ▼                                       exclusive offers, the best first ◄── auto offer?
//!  placed                                    │ none accepted                        │ no
//!                                            ▼                                      ▼
//!                                          manual pool ◄────────────────────────────┘
//! ```
//!
//! A round never reserves anything: the task stays open, and first commit wins (DESIGN §6). What is decided here is
//! only who is asked next, and when to stop asking.

mod note;
mod rules;
mod wish;

use serde::{Deserialize, Serialize};

pub use self::{
    note::{RoundAction, RoundDetail, RoundNote},
    rules::{AfterRounds, RoundRules, RoundStart},
    wish::{AS, Granted, Options, Standing, Wish, WishName, judge},
};
use super::text_enum::text_enum;

text_enum! {
    /// How a round asks.
    pub enum RoundKind {
        /// A ranked batch of riders may grab, each with a ticket.
        Broadcast = "broadcast",
        /// The best candidate gets an offer, for him or her alone.
        Exclusive = "exclusive",
    }
}

text_enum! {
    /// Where a round stands.
    pub enum RoundStatus {
        /// It waits for answers.
        Running = "running",
        /// One of those who were asked has the task.
        Placed = "placed",
        /// Nobody took it; the next round followed.
        Passed = "passed",
        /// Nobody took it, and it was the last one: the task is in the manual pool.
        Exhausted = "exhausted",
        /// A dispatcher ended it: stopped it, widened it, or placed the task by hand.
        Stopped = "stopped",
        /// The task was cancelled meanwhile.
        Void = "void",
    }
}

text_enum! {
    /// Why a task is in the manual pool.
    pub enum PoolReason {
        /// No rider who could take it was found within the widest circle.
        NobodyFound = "nobody_found",
        /// Riders were asked, and none answered.
        NobodyAnswered = "nobody_answered",
        /// All who were asked declined.
        AllDeclined = "all_declined",
        /// The automatic offers were declined or ran out.
        OffersSpent = "offers_spent",
        /// It was searched for too often: riders took it and gave it back.
        SearchedTooOften = "searched_too_often",
    }
}

text_enum! {
    /// What one who was asked answered. No answer is silence.
    pub enum RoundAnswer {
        /// Took the task with the ticket.
        Grabbed = "grabbed",
        /// Accepted the exclusive offer.
        Accepted = "accepted",
        /// Does not want it, and is not asked again for this task.
        Declined = "declined",
    }
}

/// What has been done for a task in the present search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Rounds that asked many.
    pub broadcasts: u32,
    /// The rung of the last one; the next one starts above it.
    pub last_rung: Option<u32>,
    /// Exclusive offers.
    pub offers: u32,
    /// How many riders were asked, over all rounds of the search.
    pub asked: u32,
    /// How many of them declined.
    pub declined: u32,
    /// How often the search has begun, this time included.
    pub searches: u32,
}

/// What comes next for a task that nobody has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Ask the best within the circle of this rung, or of the first one above it that has anybody.
    Ask {
        /// Place in the ladder.
        rung: u32,
    },
    /// Offer it to the best candidate alone.
    Offer,
    /// Nothing more happens by itself.
    Pool(PoolReason),
}

/// How often the automatic starts over for one task: a rider who hands back is replaced, but not for ever
/// (PRODUCT row 40).
pub const MOST_SEARCHES: u32 = 3;

/// What follows after `done`.
pub fn next(rules: &RoundRules, done: &Progress) -> Next {
    if done.searches > MOST_SEARCHES {
        return Next::Pool(PoolReason::SearchedTooOften);
    }
    let top = u32::try_from(rules.ladder_m.len().saturating_sub(1)).unwrap_or_default();
    let rung = done.last_rung.map_or(0, |rung| (rung + 1).min(top));
    if done.offers == 0 && done.broadcasts < rules.rounds {
        return Next::Ask { rung };
    }
    if rules.then == AfterRounds::AutoOffer && done.offers < rules.auto_offers {
        return Next::Offer;
    }
    Next::Pool(reason(done))
}

/// Why a task that nobody has goes to the manual pool.
pub const fn reason(done: &Progress) -> PoolReason {
    if done.asked == 0 && done.offers == 0 {
        PoolReason::NobodyFound
    } else if done.offers > 0 {
        PoolReason::OffersSpent
    } else if done.declined >= done.asked {
        PoolReason::AllDeclined
    } else {
        PoolReason::NobodyAnswered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> RoundRules {
        RoundRules { rounds: 3, ladder_m: vec![2_000, 5_000], ..RoundRules::default() }
    }

    #[test]
    fn the_ladder_is_climbed_and_its_last_rung_is_asked_again() {
        let rules = rules();
        let mut done = Progress { searches: 1, ..Progress::default() };
        let mut rungs = Vec::new();
        while let Next::Ask { rung } = next(&rules, &done) {
            rungs.push(rung);
            done.broadcasts += 1;
            done.asked += 4;
            done.last_rung = Some(rung);
        }
        assert_eq!(rungs, [0, 1, 1]);
        assert_eq!(next(&rules, &done), Next::Pool(PoolReason::NobodyAnswered));
    }

    #[test]
    fn automatic_offers_follow_where_the_region_wants_them_and_are_bounded() {
        let rules = RoundRules { then: AfterRounds::AutoOffer, auto_offers: 2, ..rules() };
        let done = |offers| Progress {
            broadcasts: 3,
            asked: 9,
            declined: 1,
            offers,
            searches: 1,
            last_rung: Some(1),
        };
        assert_eq!(next(&rules, &done(0)), Next::Offer);
        assert_eq!(next(&rules, &done(1)), Next::Offer);
        assert_eq!(next(&rules, &done(2)), Next::Pool(PoolReason::OffersSpent));
    }

    #[test]
    fn the_pool_says_why() {
        let of = |asked, declined, offers| {
            reason(&Progress { offers, asked, declined, ..Progress::default() })
        };
        assert_eq!(of(0, 0, 0), PoolReason::NobodyFound);
        assert_eq!(of(4, 4, 0), PoolReason::AllDeclined);
        assert_eq!(of(4, 3, 0), PoolReason::NobodyAnswered);
        assert_eq!(of(4, 4, 2), PoolReason::OffersSpent);
    }

    #[test]
    fn a_task_that_comes_back_again_and_again_is_left_to_people() {
        let done = Progress { searches: MOST_SEARCHES + 1, ..Progress::default() };
        assert_eq!(next(&rules(), &done), Next::Pool(PoolReason::SearchedTooOften));
    }
}
