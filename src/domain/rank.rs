//! Who is asked first, and why not the others: factors that everybody can see, added up in one unit.
//!
//! Each factor counts in **metres of way**: a rider who has a task in hand counts as 400 m farther away than one who
//! has none. So the sum can be read aloud, checked by hand, and argued about. Less is better; equal sums go by
//! distance, then by the rider's number, so the same facts always give the same order.

use serde::{Deserialize, Serialize};

use super::{
    facts::Rider,
    id::{RiderId, Timestamp},
    policy::Region,
    refusal::Ineligible,
    task::Task,
    text_enum::text_enum,
};

/// What each task in hand counts.
const TASK_IN_HAND_M: i64 = 400;
/// What it counts at most that a rider lets requests pass: all of them.
const UNANSWERED_M: i64 = 600;
/// Requests of the last week below this number say nothing about a rider.
const FEW_REQUESTS: u32 = 4;
/// What each minute without work counts in a rider's favour, and for how many minutes.
const MINUTE_WITHOUT_WORK_M: i64 = 20;
const MOST_MINUTES: i64 = 30;
/// Where a rider is whose position is not known: behind everybody whose is.
const UNKNOWN_DISTANCE_M: i64 = 100_000;

text_enum! {
    /// Why a rider is not asked.
    pub enum LeftOut {
        /// Not on duty.
        OffDuty = "off_duty",
        /// On a break.
        Paused = "paused",
        /// Shut out by staff.
        Disabled = "disabled",
        /// Works in another region.
        OtherRegion = "other_region",
        /// Drives something else than the task needs.
        Vehicle = "vehicle",
        /// The last known position is older than the region allows, or there is none.
        StalePosition = "stale_position",
        /// All places are taken.
        AtCapacity = "at_capacity",
        /// Declined this task before.
        Declined = "declined",
        /// Had this task and gave it back.
        HandedBack = "handed_back",
        /// The region's risk policy keeps the rider from grabbing.
        RiskRejected = "risk_rejected",
        /// Outside of the circle.
        TooFar = "too_far",
        /// Could be asked, but others come first.
        NotAmongTheFirst = "not_among_the_first",
    }
}

impl LeftOut {
    /// Whether a dispatcher may offer the task to such a rider all the same: nothing keeps the rider from taking it.
    pub const fn may_be_asked_by_hand(self) -> bool {
        matches!(
            self,
            Self::Declined
                | Self::HandedBack
                | Self::RiskRejected
                | Self::TooFar
                | Self::NotAmongTheFirst
        )
    }
}

impl From<Ineligible> for LeftOut {
    fn from(reason: Ineligible) -> Self {
        match reason {
            Ineligible::OffDuty => Self::OffDuty,
            Ineligible::Paused => Self::Paused,
            Ineligible::Disabled => Self::Disabled,
            Ineligible::OtherRegion => Self::OtherRegion,
            Ineligible::Vehicle => Self::Vehicle,
            Ineligible::StalePosition => Self::StalePosition,
        }
    }
}

/// What is known of a rider when a task looks for one.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The rider as decisions see one.
    pub rider: Rider,
    /// Metres from the last known position to the pickup; none if there is no position.
    pub distance_m: Option<u32>,
    /// When the rider last had to do with any task; none if never.
    pub last_work_at: Option<Timestamp>,
    /// How many requests the rider got in the last week, offers and rounds.
    pub asked: u32,
    /// How many of them the rider answered, with yes or no.
    pub answered: u32,
    /// How many tasks the rider took and gave back in the last week.
    pub hand_backs: u32,
    /// What became of this very task with this rider before.
    pub before: Option<Before>,
}

/// What a rider has had to do with a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// Declined it.
    Declined,
    /// Had it and gave it back.
    HandedBack,
}

/// What the rank rests on. Metres count against the rider, except `waiting_m`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default)]
pub struct Factors {
    /// Metres from the last known position to the pickup; none if it is not known.
    pub distance_m: Option<u32>,
    /// Tasks and offers in hand.
    pub in_hand: u32,
    /// What they count.
    pub in_hand_m: i64,
    /// Requests of the last week, and how many of them were answered.
    pub asked: u32,
    /// See `asked`.
    pub answered: u32,
    /// What the unanswered ones count.
    pub unanswered_m: i64,
    /// Tasks that were taken and given back in the last week.
    pub hand_backs: u32,
    /// What they count.
    pub hand_backs_m: i64,
    /// Minutes without work, as far as they count.
    pub waiting_minutes: i64,
    /// What they count in the rider's favour.
    pub waiting_m: i64,
    /// All of it: the rank goes by this, the least first.
    pub total_m: i64,
}

/// A rider who can be asked, with the reasons for the place in the order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Who.
    pub rider: RiderId,
    /// First, second …
    pub rank: u32,
    /// Why.
    pub factors: Factors,
}

/// Who is asked, in order, and who is not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranking {
    /// Those who are asked, the best first.
    pub candidates: Vec<Candidate>,
    /// The others who were looked at, each with the reason, the nearest first.
    pub left_out: Vec<(RiderId, LeftOut, Option<u32>)>,
}

/// Who looks for whom.
#[derive(Clone, Copy, Debug)]
pub struct Search<'a> {
    /// The task.
    pub task: &'a Task,
    /// Its region with the rules in force.
    pub region: &'a Region,
    /// How far from the pickup; none: any distance will do.
    pub radius_m: Option<u32>,
    /// How many at most.
    pub batch: u32,
    /// The store's instant.
    pub now: Timestamp,
}

/// Puts those who can be asked into order and says of everybody else why not.
pub fn rank(search: &Search<'_>, seen: &[Seen]) -> Ranking {
    let mut fit = Vec::new();
    let mut left_out = Vec::new();
    for seen in seen {
        match left_out_for(search, seen) {
            Some(reason) => left_out.push((seen.rider.id, reason, seen.distance_m)),
            None => fit.push((seen.rider.id, factors(search, seen))),
        }
    }
    let far = |distance: Option<u32>| distance.map_or(UNKNOWN_DISTANCE_M, i64::from);
    fit.sort_by_key(|(rider, factors)| (factors.total_m, far(factors.distance_m), *rider));
    let batch = usize::try_from(search.batch).unwrap_or(usize::MAX);
    let later = fit.split_off(fit.len().min(batch));
    let later =
        later.into_iter().map(|(rider, f)| (rider, LeftOut::NotAmongTheFirst, f.distance_m));
    left_out.extend(later);
    left_out.sort_by_key(|(rider, _, distance)| (far(*distance), *rider));
    let candidates =
        (1..).zip(fit).map(|(rank, (rider, factors))| Candidate { rider, rank, factors }).collect();
    Ranking { candidates, left_out }
}

/// Why a rider is not asked, if so. What lies with the rider comes before what lies with the place.
pub fn left_out_for(search: &Search<'_>, seen: &Seen) -> Option<LeftOut> {
    let Search { task, region, radius_m, now, .. } = *search;
    if let Some(reason) = seen.rider.ineligible(task, region, now) {
        return Some(reason.into());
    }
    if seen.rider.risk_rejected {
        return Some(LeftOut::RiskRejected);
    }
    match seen.before {
        Some(Before::Declined) => return Some(LeftOut::Declined),
        Some(Before::HandedBack) => return Some(LeftOut::HandedBack),
        None => {}
    }
    if seen.rider.free_slot().is_none() {
        return Some(LeftOut::AtCapacity);
    }
    match (radius_m, seen.distance_m) {
        (Some(radius), Some(distance)) if distance > radius => Some(LeftOut::TooFar),
        // Where distance matters, who has no position can not be found.
        (Some(_), None) => Some(LeftOut::StalePosition),
        (Some(_) | None, _) => None,
    }
}

/// What the rank of a rider rests on.
fn factors(search: &Search<'_>, seen: &Seen) -> Factors {
    let in_hand = u32::try_from(seen.rider.held.len()).unwrap_or(u32::MAX);
    let in_hand_m = i64::from(in_hand) * TASK_IN_HAND_M;
    let unanswered = seen.asked.saturating_sub(seen.answered);
    let unanswered_m = if seen.asked < FEW_REQUESTS {
        0
    } else {
        i64::from(unanswered) * UNANSWERED_M / i64::from(seen.asked)
    };
    let hand_backs_m =
        i64::from(seen.hand_backs) * i64::from(search.region.policy.rounds.hand_back_m);
    let minutes = |since: Timestamp| search.now.ms_since(since) / 60_000;
    let waiting_minutes = seen.last_work_at.map_or(MOST_MINUTES, minutes).clamp(0, MOST_MINUTES);
    // Who has a task in hand does not wait for one.
    let waiting_minutes = if in_hand > 0 { 0 } else { waiting_minutes };
    let waiting_m = waiting_minutes * MINUTE_WITHOUT_WORK_M;
    let distance = seen.distance_m.map_or(UNKNOWN_DISTANCE_M, i64::from);
    Factors {
        distance_m: seen.distance_m,
        in_hand,
        in_hand_m,
        asked: seen.asked,
        answered: seen.answered,
        unanswered_m,
        hand_backs: seen.hand_backs,
        hand_backs_m,
        waiting_minutes,
        waiting_m,
        total_m: distance + in_hand_m + unanswered_m + hand_backs_m - waiting_m,
    }
}

#[cfg(test)]
mod tests;
