//! When a line of answers fits.

use serde::Deserialize;

use super::{Table, task::Ask, world::World};
use crate::domain::{
    command::{Role, Verb},
    policy::RegionMode,
    task::{OfferAnswer, Stage, StateName},
};

/// Conditions: all that are given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct When {
    command: Vec<Verb>,
    state: Vec<StateName>,
    stage: Vec<Stage>,
    by: Vec<Role>,
    caller: Option<Caller>,
    actor: Option<Actor>,
    rider: Option<Rider>,
    key: Option<Key>,
    revision: Option<Named>,
    step: Option<Step>,
    allowance: Option<Allowance>,
    offer_was: Option<OfferAnswer>,
    mode: Option<RegionMode>,
    released: Option<bool>,
    confirmed: Option<bool>,
    lapsed_now: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
enum Caller {
    #[serde(rename = "not signed in")]
    NotSignedIn,
    #[serde(rename = "of another region")]
    OfAnotherRegion,
    #[serde(rename = "without the right")]
    WithoutTheRight,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
enum Actor {
    #[serde(rename = "the owner")]
    Owner,
    #[serde(rename = "not the owner")]
    NotOwner,
    #[serde(rename = "not invited")]
    NotInvited,
    #[serde(rename = "who changed it last")]
    ChangedItLast,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
enum Rider {
    #[serde(rename = "the owner")]
    Owner,
    #[serde(rename = "not eligible")]
    NotEligible,
    #[serde(rename = "at capacity")]
    AtCapacity,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
enum Key {
    #[serde(rename = "missing")]
    Missing,
    #[serde(rename = "used for another request")]
    UsedForAnother,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
enum Named {
    #[serde(rename = "missing")]
    Missing,
    #[serde(rename = "old")]
    Old,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
enum Step {
    #[serde(rename = "done before")]
    DoneBefore,
    #[serde(rename = "not the next one")]
    NotNext,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
enum Allowance {
    #[serde(rename = "used up")]
    UsedUp,
}

/// What a line is asked about: the command, and the task as it stands, its lapsed offer released.
pub(super) struct Case<'a> {
    pub(super) world: &'a World,
    pub(super) table: &'a Table,
    pub(super) ask: &'a Ask,
    /// The revision that counts as named: a lapsed offer's is moved to its release.
    pub(super) named: Option<i64>,
    /// The revision of the offer that was released in this very step.
    pub(super) lapsed: Option<i64>,
}

impl When {
    /// Whether the line fits.
    pub(super) fn fits(&self, case: &Case<'_>) -> bool {
        let Case { world, ask, table, .. } = case;
        let task = world.task(&ask.task);
        let in_list = |empty: bool, fits: bool| empty || fits;
        in_list(self.command.is_empty(), self.command.contains(&ask.command))
            && in_list(self.by.is_empty(), self.by.contains(&ask.who.role()))
            && in_list(
                self.state.is_empty(),
                task.is_some_and(|task| self.state.contains(&task.state)),
            )
            && in_list(
                self.stage.is_empty(),
                task.and_then(|task| task.stage).is_some_and(|stage| self.stage.contains(&stage)),
            )
            && self.caller.is_none_or(|caller| caller.fits(case))
            && self.actor.is_none_or(|actor| actor.fits(case))
            && self.rider.is_none_or(|rider| rider.fits(case))
            && self.key.is_none_or(|key| match key {
                Key::Missing => !ask.has_key && ask.command != Verb::Create,
                Key::UsedForAnother => world.key_was_used_for_another(ask),
            })
            && self.revision.is_none_or(|named| match (named, task) {
                (_, None) => false,
                // An order names no revision.
                (Named::Missing, Some(_)) => ask.revision.is_none() && ask.command != Verb::Create,
                (Named::Old, Some(_)) if ask.command == Verb::Create => false,
                (Named::Old, Some(task)) => case.named != Some(task.revision),
            })
            && self.step.is_none_or(|step| step.fits(case))
            && self.allowance.is_none_or(|Allowance::UsedUp| {
                world.hand_backs_left(ask.who.rider().unwrap_or_default()) == 0
            })
            && self.offer_was.is_none_or(|was| own_offer(case) == Some(was))
            && self.mode.is_none_or(|mode| table.mode == mode)
            && self.released.is_none_or(|released| {
                task.is_some_and(|task| (world.now_ms >= task.release_at_ms) == released)
            })
            && self.confirmed.is_none_or(|confirmed| ask.confirmed == confirmed)
            && self.lapsed_now.is_none_or(|now| {
                let just = case.lapsed.is_some() && case.named == task.map(|task| task.revision);
                just == now
            })
    }
}

impl Caller {
    fn fits(self, case: &Case<'_>) -> bool {
        let who = &case.ask.who;
        match self {
            Self::NotSignedIn => !who.is_signed_in(),
            Self::OfAnotherRegion => case.world.is_foreign(who),
            Self::WithoutTheRight => !case.table.may(who.role(), case.ask.command),
        }
    }
}

impl Actor {
    fn fits(self, case: &Case<'_>) -> bool {
        let Some(task) = case.world.task(&case.ask.task) else { return false };
        let holds = case.ask.who.rider().is_some_and(|me| task.holder.as_deref() == Some(me));
        let owns = holds && task.state == StateName::Assigned;
        match self {
            Self::Owner => owns,
            Self::NotOwner => !owns,
            Self::NotInvited => !(holds && task.state == StateName::Offered),
            Self::ChangedItLast => task.changed_by.as_ref() == Some(&case.ask.who),
        }
    }
}

impl Rider {
    fn fits(self, case: &Case<'_>) -> bool {
        let Case { world, ask, .. } = case;
        let Some(rider) = ask.rider.as_deref().or_else(|| ask.who.rider()) else { return false };
        match self {
            Self::Owner => world.task(&ask.task).is_some_and(|task| {
                task.state == StateName::Assigned && task.holder.as_deref() == Some(rider)
            }),
            Self::NotEligible => !world.is_eligible(rider, &ask.task),
            Self::AtCapacity => world.free_places(rider) == 0,
        }
    }
}

impl Step {
    fn fits(self, case: &Case<'_>) -> bool {
        let order = |command| match command {
            Verb::Arrive => Some((Stage::Waiting, Stage::AtPickup)),
            Verb::PickUp => Some((Stage::AtPickup, Stage::PickedUp)),
            Verb::Deliver => Some((Stage::PickedUp, Stage::Delivered)),
            _ => None,
        };
        let Some((from, to)) = order(case.ask.command) else { return false };
        let Some(stage) = case.world.task(&case.ask.task).and_then(|task| task.stage) else {
            return false;
        };
        match self {
            Self::DoneBefore => stage >= to,
            Self::NotNext => stage != from,
        }
    }
}

/// What became of the acting rider's offer that the command is about: the one that it names, else the last one, unless
/// one is still waiting.
fn own_offer(case: &Case<'_>) -> Option<OfferAnswer> {
    let task = case.world.task(&case.ask.task)?;
    let me = case.ask.who.rider()?;
    let waits = task.state == StateName::Offered && task.holder.as_deref() == Some(me);
    let mine = || task.offers.iter().filter(|offer| offer.rider == me && offer.was.is_some());
    let named = mine().rev().find(|offer| Some(offer.revision) == case.named);
    named.or_else(|| if waits { None } else { mine().next_back() })?.was
}
