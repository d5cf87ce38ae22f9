//! A task: who holds it, until when, and at which revision.

use serde::{Deserialize, Serialize};

use super::{
    command::{Actor, Verb},
    id::{RegionId, Revision, RiderId, TaskId, Timestamp},
    text_enum::text_enum,
};

text_enum! {
    /// The name of a task's state; [`State`] carries what belongs to it.
    pub enum StateName {
        /// Nobody holds it.
        Open = "open",
        /// Reserved for one rider until a deadline; an invitation, not ownership.
        Offered = "offered",
        /// One rider owns it.
        Assigned = "assigned",
        /// It will not be done; final.
        Cancelled = "cancelled",
    }
}

text_enum! {
    /// How far the owner of an assigned task has come. Kept apart from the ownership states.
    pub enum Stage {
        /// Not at the pickup yet.
        Waiting = "waiting",
        /// At the pickup, goods not in hand.
        AtPickup = "at_pickup",
        /// Goods in hand: no release rule applies any more.
        PickedUp = "picked_up",
        /// Done; final, the slot is free.
        Delivered = "delivered",
    }
}

text_enum! {
    /// How the owner came by the task.
    pub enum Mode {
        /// The rider took an open task.
        Grabbed = "grabbed",
        /// The rider accepted an offer.
        Confirmed = "confirmed",
        /// Staff set the owner without asking: a direct assign.
        Direct = "direct",
    }
}

text_enum! {
    /// What a rider drives, where a task asks for something.
    pub enum Vehicle {
        /// On foot.
        Foot = "foot",
        /// Bicycle.
        Bicycle = "bicycle",
        /// Motorcycle or scooter.
        Motorcycle = "motorcycle",
        /// Car.
        Car = "car",
        /// Van.
        Van = "van",
    }
}

/// One of a rider's places, `0 … capacity-1`. A rider holds at most one task or offer in each:
/// the database has a unique index on (rider, slot), so capacity is a constraint and not a count.
pub type Slot = u32;

/// Who holds a task, with all that belongs to it. No other combination can be written down.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Nobody holds it.
    Open,
    /// Reserved for `rider`, who may accept while `now < until`.
    Offered {
        /// The invited rider.
        rider: RiderId,
        /// The place that the offer holds.
        slot: Slot,
        /// The deadline; from this instant on the offer can only be released.
        until: Timestamp,
    },
    /// Owned by `rider`.
    Assigned {
        /// The owner.
        rider: RiderId,
        /// The place that the task holds; none once it is delivered.
        slot: Option<Slot>,
        /// How far the owner has come.
        stage: Stage,
        /// How the owner came by it.
        mode: Mode,
    },
    /// Final.
    Cancelled,
}

impl State {
    /// The state's name.
    pub const fn name(&self) -> StateName {
        match self {
            Self::Open => StateName::Open,
            Self::Offered { .. } => StateName::Offered,
            Self::Assigned { .. } => StateName::Assigned,
            Self::Cancelled => StateName::Cancelled,
        }
    }

    /// The rider who is invited or who owns the task.
    pub const fn rider(&self) -> Option<RiderId> {
        match self {
            Self::Offered { rider, .. } | Self::Assigned { rider, .. } => Some(*rider),
            Self::Open | Self::Cancelled => None,
        }
    }

    /// The place that the task takes at its rider.
    pub fn held(&self) -> Option<(RiderId, Slot)> {
        match self {
            Self::Offered { rider, slot, .. } => Some((*rider, *slot)),
            Self::Assigned { rider, slot, .. } => slot.map(|slot| (*rider, slot)),
            Self::Open | Self::Cancelled => None,
        }
    }

    /// How far the owner has come, if the task is assigned.
    pub const fn stage(&self) -> Option<Stage> {
        match self {
            Self::Assigned { stage, .. } => Some(*stage),
            Self::Open | Self::Offered { .. } | Self::Cancelled => None,
        }
    }

    /// How the owner came by the task, if it is assigned.
    pub const fn mode(&self) -> Option<Mode> {
        match self {
            Self::Assigned { mode, .. } => Some(*mode),
            Self::Open | Self::Offered { .. } | Self::Cancelled => None,
        }
    }

    /// The deadline of the running offer.
    pub const fn offer_until(&self) -> Option<Timestamp> {
        match self {
            Self::Offered { until, .. } => Some(*until),
            Self::Open | Self::Assigned { .. } | Self::Cancelled => None,
        }
    }

    /// Whether `rider` is the one who is invited or who owns the task.
    pub fn is_held_by(&self, rider: RiderId) -> bool {
        self.rider() == Some(rider)
    }
}

/// One task, as the decisions see it. Addresses and notes are details and live elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Task {
    /// Its number.
    pub id: TaskId,
    /// The region whose staff and policy decide on it; never changes.
    pub region: RegionId,
    /// Where it came from: the scope of its creation key; its intake may cancel it.
    pub source: String,
    /// Number of the last change of this row.
    pub revision: Revision,
    /// Who holds it.
    pub state: State,
    /// Nobody may take it before this instant.
    pub release_at: Timestamp,
    /// What the rider has to drive, if it matters.
    pub vehicle: Option<Vehicle>,
    /// Higher is more urgent.
    pub priority: i64,
    /// When the last event happened.
    pub changed_at: Timestamp,
    /// Who made the last event.
    pub changed_by: Actor,
}

impl Task {
    /// Whether it is cancelled or delivered: it stays so for ever.
    pub fn is_over(&self) -> bool {
        self.state == State::Cancelled || self.state.stage() == Some(Stage::Delivered)
    }

    /// Whether the running offer's deadline has passed, so that the next touch releases it.
    pub fn is_expiring(&self, now: Timestamp) -> bool {
        self.state.offer_until().is_some_and(|until| now >= until)
    }
}

/// One offer of a task to one rider, as the offer ledger keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OwnOffer {
    /// The revision that the offer made: the one that its rider names to accept it.
    pub revision: Revision,
    /// How it ended; `None` while it waits.
    pub answer: Option<OfferAnswer>,
}

text_enum! {
    /// How an offer ended.
    pub enum OfferAnswer {
        /// The rider accepted in time.
        Accepted = "accepted",
        /// The rider declined in time.
        Declined = "declined",
        /// Staff or the system took it back.
        Withdrawn = "withdrawn",
        /// The deadline passed.
        Expired = "expired",
        /// The task was cancelled meanwhile.
        Cancelled = "cancelled",
    }
}

impl OfferAnswer {
    /// How `action` ends a waiting offer, if it does.
    pub const fn by(action: Verb) -> Option<Self> {
        match action {
            Verb::Accept => Some(Self::Accepted),
            Verb::Decline => Some(Self::Declined),
            Verb::Withdraw => Some(Self::Withdrawn),
            Verb::Expire => Some(Self::Expired),
            Verb::Cancel => Some(Self::Cancelled),
            Verb::Create
            | Verb::Grab
            | Verb::Offer
            | Verb::Assign
            | Verb::Reassign
            | Verb::HandBack
            | Verb::Arrive
            | Verb::PickUp
            | Verb::Deliver
            | Verb::Edit => None,
        }
    }
}
