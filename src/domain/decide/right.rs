//! The right to command a task: role, region, and whose task it is.

use crate::domain::{
    command::{Act, Actor, Role, Verb},
    facts::{Facts, Staff},
    id::RegionId,
    table,
    task::Task,
};

/// Why a command is not decided at all. Nothing is stored under its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Denial {
    /// Nobody we know, or an account that is shut (401).
    NotSignedIn,
    /// Not in this capacity (403).
    Forbidden,
    /// No such task, or none that this actor may know of; the two look alike (404).
    NotFound,
    /// The offer's time lies outside the policy's limits, in seconds (422).
    OfferSeconds {
        /// The shortest that the policy allows.
        min: u32,
        /// The longest that the policy allows.
        max: u32,
    },
}

impl Denial {
    /// The code that scripts see.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotSignedIn => "NOT_SIGNED_IN",
            Self::Forbidden => "FORBIDDEN",
            Self::NotFound => "NOT_FOUND",
            Self::OfferSeconds { .. } => "OFFER_SECONDS",
        }
    }
}

/// Whether `actor` may ask for `verb` on `task`. Answered before anything else, replays included.
///
/// # Errors
/// The [`Denial`]. A foreign task and a missing one look alike, so the region is checked before the role.
pub fn right(
    task: Option<&Task>,
    actor: &Actor,
    verb: Verb,
    facts: &Facts<'_>,
) -> Result<(), Denial> {
    let task = task.ok_or(Denial::NotFound)?;
    let role = match actor {
        Actor::System => Role::System,
        Actor::Intake(source) => own(task.source == *source, Role::Intake)?,
        Actor::Customer(ordered) => own(task.id == *ordered, Role::Customer)?,
        Actor::Rider(me) => {
            let rider = facts.me.filter(|rider| !rider.disabled);
            let rider = rider.ok_or(Denial::NotSignedIn)?;
            // Who was moved to another region while holding a task still has to bring it.
            own(rider.region == task.region || task.state.is_held_by(*me), Role::Rider)?
        }
        Actor::Staff(_) => staff_role(facts.staff, task.region)?,
    };
    if table::who(verb).contains(&role) { Ok(()) } else { Err(Denial::Forbidden) }
}

/// The role in which a member of staff acts in `region`.
pub(super) fn staff_role(staff: Option<&Staff>, region: RegionId) -> Result<Role, Denial> {
    let staff = staff.filter(|staff| !staff.disabled).ok_or(Denial::NotSignedIn)?;
    own(staff.regions.contains(&region), staff.role)
}

fn own(is_own: bool, role: Role) -> Result<Role, Denial> {
    if is_own { Ok(role) } else { Err(Denial::NotFound) }
}

/// Whether the time that an offer names lies within the policy's limits.
///
/// # Errors
/// [`Denial::OfferSeconds`] with the limits.
pub fn offer_seconds(act: &Act, facts: &Facts<'_>) -> Result<(), Denial> {
    let (Act::Offer { seconds, .. } | Act::Reassign { seconds, .. }) = act else { return Ok(()) };
    let (min, max) = (facts.region.policy.offer_seconds_min, facts.region.policy.offer_seconds_max);
    match seconds {
        Some(seconds) if !(min..=max).contains(seconds) => Err(Denial::OfferSeconds { min, max }),
        Some(_) | None => Ok(()),
    }
}
