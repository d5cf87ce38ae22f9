//! What a decision needs to know beside the task, loaded in the same transaction as the change.

use super::{
    command::Role,
    id::{RegionId, RiderId, StaffId, Timestamp},
    policy::Region,
    refusal::Ineligible,
    task::{OwnOffer, Slot, Task, Vehicle},
    text_enum::text_enum,
};

text_enum! {
    /// Whether a rider works now.
    pub enum Duty {
        /// Working.
        On = "on",
        /// On a break: gets no new tasks, may still answer an offer.
        Paused = "paused",
        /// Not working.
        Off = "off",
    }
}

/// A rider, as decisions see one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rider {
    /// Number.
    pub id: RiderId,
    /// Where the rider works.
    pub region: RegionId,
    /// How many tasks and offers the rider may hold at once.
    pub capacity: u32,
    /// The places that are taken.
    pub held: Vec<Slot>,
    /// Whether the rider works now.
    pub duty: Duty,
    /// Whether staff have shut the rider out.
    pub disabled: bool,
    /// What the rider drives.
    pub vehicle: Option<Vehicle>,
    /// Whether the region's risk policy keeps the rider from grabbing.
    pub risk_rejected: bool,
    /// When the last known position was taken.
    pub last_fix_at: Option<Timestamp>,
}

impl Rider {
    /// The same rider without that place, if it is one of his or hers.
    #[must_use]
    pub fn without(&self, place: Option<(RiderId, Slot)>) -> Self {
        let mut rider = self.clone();
        if let Some((_, slot)) = place.filter(|(holder, _)| *holder == self.id) {
            rider.held.retain(|held| *held != slot);
        }
        rider
    }

    /// The lowest free place, or `None` if as many are taken as the capacity allows.
    ///
    /// The capacity may have been lowered below what is held, so places are counted, not compared.
    pub fn free_slot(&self) -> Option<Slot> {
        let full = u32::try_from(self.held.len()).map_or(true, |held| held >= self.capacity);
        if full { None } else { (0..=self.capacity).find(|slot| !self.held.contains(slot)) }
    }

    /// Why this rider can not take `task`, if so.
    pub fn ineligible(&self, task: &Task, region: &Region, now: Timestamp) -> Option<Ineligible> {
        let stale = region.policy.position_max_age_ms.is_some_and(|limit_ms| {
            self.last_fix_at.is_none_or(|fix| now.ms_since(fix) > limit_ms)
        });
        if self.region != task.region {
            Some(Ineligible::OtherRegion)
        } else if self.disabled {
            Some(Ineligible::Disabled)
        } else if self.duty == Duty::Off {
            Some(Ineligible::OffDuty)
        } else if self.duty == Duty::Paused {
            Some(Ineligible::Paused)
        } else if task.vehicle.is_some() && task.vehicle != self.vehicle {
            Some(Ineligible::Vehicle)
        } else if stale {
            Some(Ineligible::StalePosition)
        } else {
            None
        }
    }
}

/// A member of staff, as decisions see one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Staff {
    /// Number.
    pub id: StaffId,
    /// In what capacity.
    pub role: Role,
    /// For which regions.
    pub regions: Vec<RegionId>,
    /// Whether the account is shut.
    pub disabled: bool,
}

/// Whether the grabbing rider needs a ticket, and holds one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningRound {
    /// The round.
    pub round: i64,
    /// Its members may grab before this instant.
    pub until: Timestamp,
    /// This rider's ticket; `None` if the round did not ask this rider.
    pub nonce: Option<String>,
}

/// All facts for one command.
#[derive(Clone, Debug)]
pub struct Facts<'a> {
    /// The acting member of staff; `None` if unknown, or if nobody of the staff acts.
    pub staff: Option<&'a Staff>,
    /// The acting rider; `None` if unknown, or if no rider acts.
    pub me: Option<&'a Rider>,
    /// The rider whom the command would put in charge: the acting one, or the one that it names.
    /// `None` if there is no such rider.
    pub rider: Option<&'a Rider>,
    /// The task's region with the rules in force.
    pub region: &'a Region,
    /// The acting rider's offers for this task, oldest first.
    pub own_offers: &'a [OwnOffer],
    /// The round that runs for this task.
    pub round: Option<&'a RunningRound>,
    /// The exclusive round that runs for this task and asks [`rider`](Self::rider) alone.
    pub alone: Option<i64>,
    /// How many tasks the acting rider has handed back on this day of the region's zone.
    pub hand_backs_today: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rider(capacity: u32, held: &[Slot]) -> Rider {
        Rider {
            id: RiderId(1),
            region: RegionId(1),
            capacity,
            held: held.to_vec(),
            duty: Duty::On,
            disabled: false,
            vehicle: None,
            risk_rejected: false,
            last_fix_at: None,
        }
    }

    #[test]
    fn the_lowest_free_place_is_taken() {
        assert_eq!(rider(3, &[]).free_slot(), Some(0));
        assert_eq!(rider(3, &[0, 2]).free_slot(), Some(1));
        assert_eq!(rider(3, &[0, 1, 2]).free_slot(), None);
    }

    #[test]
    fn a_lowered_capacity_counts_what_is_held() {
        assert_eq!(rider(1, &[2]).free_slot(), None);
        assert_eq!(rider(2, &[2]).free_slot(), Some(0));
        assert_eq!(rider(0, &[]).free_slot(), None);
    }
}
