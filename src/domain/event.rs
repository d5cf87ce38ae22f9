//! What happened: one accepted change, and how it makes the next row.

use serde::{Deserialize, Serialize};

use super::{
    command::{Actor, Reason, Verb},
    id::{RegionId, Revision, RiderId, TaskId, Timestamp},
    task::{Mode, Slot, Stage, State, Task, Vehicle},
};

/// One accepted change of a task, `from → to`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// Which task.
    pub task: TaskId,
    /// Its region.
    pub region: RegionId,
    /// The revision before; 0 for the event that creates the task.
    pub from: Revision,
    /// The revision after, always `from + 1`.
    pub to: Revision,
    /// What was done.
    pub action: Verb,
    /// Who did it.
    pub actor: Actor,
    /// When: the store's time, never earlier than the event before.
    pub at: Timestamp,
    /// Why, as a code.
    pub reason: Option<Reason>,
    /// The rider whom it concerns: invited, released, or the owner.
    pub rider: Option<RiderId>,
    /// What the row becomes.
    pub change: Change,
}

/// What an event makes of the row: enough to fold the log back into it.
///
/// This is the versioned part of the log; [`Change::VERSION`] stands beside it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "to", rename_all = "snake_case")]
pub enum Change {
    /// The task came into being, open.
    Created {
        /// Where it came from.
        source: String,
        /// When it may be taken.
        release_at: Timestamp,
        /// What it needs.
        vehicle: Option<Vehicle>,
        /// How urgent it is.
        priority: i64,
    },
    /// Nobody holds it any more.
    Open,
    /// Reserved for the event's rider.
    Offered {
        /// The place that the offer holds.
        slot: Slot,
        /// The deadline.
        until: Timestamp,
        /// How much of it is grace, in milliseconds.
        grace_ms: i64,
        /// The policy that set it.
        policy_version: i64,
    },
    /// Owned by the event's rider.
    Assigned {
        /// The place that the task holds.
        slot: Slot,
        /// How the owner came by it.
        mode: Mode,
    },
    /// The owner has come further.
    Stage {
        /// How far.
        stage: Stage,
    },
    /// It will not be done.
    Cancelled,
}

impl Change {
    /// The version of the stored form.
    pub const VERSION: u32 = 1;
}

/// An event that does not fit the row before it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("event {to} ({action}) does not follow revision {present}")]
pub struct Misfit {
    /// The revision of the row before.
    pub present: Revision,
    /// The revision that the event makes.
    pub to: Revision,
    /// What it did.
    pub action: Verb,
}

/// The row after `event`, given the row before (`None`: the task did not exist).
///
/// # Errors
/// [`Misfit`] if the event can not follow that row: another revision, or a change that the row
/// can not undergo.
pub fn evolve(before: Option<&Task>, event: &Event) -> Result<Task, Misfit> {
    let present = before.map_or(Revision::NONE, |task| task.revision);
    let misfit = || Misfit { present, to: event.to, action: event.action };
    if event.from != present || event.to != present.next() {
        return Err(misfit());
    }
    let rider = || event.rider.ok_or_else(misfit);
    let held = before.map(|task| &task.state);
    let state = match &event.change {
        Change::Created { .. } | Change::Open => State::Open,
        Change::Offered { slot, until, .. } => {
            State::Offered { rider: rider()?, slot: *slot, until: *until }
        }
        Change::Assigned { slot, mode } => State::Assigned {
            rider: rider()?,
            slot: Some(*slot),
            stage: Stage::Waiting,
            mode: *mode,
        },
        Change::Stage { stage } => match held {
            Some(State::Assigned { rider, slot, mode, .. }) => State::Assigned {
                rider: *rider,
                slot: if *stage == Stage::Delivered { None } else { *slot },
                stage: *stage,
                mode: *mode,
            },
            None | Some(State::Open | State::Offered { .. } | State::Cancelled) => {
                return Err(misfit());
            }
        },
        Change::Cancelled => State::Cancelled,
    };
    let made = match (before, &event.change) {
        (None, Change::Created { source, release_at, vehicle, priority }) => {
            (source.clone(), *release_at, *vehicle, *priority)
        }
        (Some(task), change) if !matches!(change, Change::Created { .. }) => {
            (task.source.clone(), task.release_at, task.vehicle, task.priority)
        }
        (None | Some(_), _) => return Err(misfit()),
    };
    let (source, release_at, vehicle, priority) = made;
    Ok(Task {
        id: event.task,
        region: event.region,
        source,
        revision: event.to,
        state,
        release_at,
        vehicle,
        priority,
        changed_at: event.at,
        changed_by: event.actor.clone(),
    })
}

/// An accepted edit of a task's details. It has a revision line of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DetailEvent {
    /// Which task.
    pub task: TaskId,
    /// Its region.
    pub region: RegionId,
    /// The detail revision after the edit.
    pub to: Revision,
    /// Who edited.
    pub actor: Actor,
    /// When.
    pub at: Timestamp,
    /// What stands in the log: names of fields, and the values that decisions depend on.
    pub edited: Edited,
}

/// The logged part of an edit. Texts stay out of the log, so that they can be erased.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edited {
    /// Which fields changed.
    pub fields: Vec<String>,
    /// The new release time, if it changed.
    pub release_at: Option<Timestamp>,
    /// The new urgency, if it changed.
    pub priority: Option<i64>,
    /// The detail revision that this edit made.
    pub detail_revision: Revision,
}
