//! Proof that a change was decided: values that only the decision can make.

use crate::domain::{
    command::{Actor, DetailChanges, NewTask, Reason, Verb},
    event::{Change, DetailEvent, Event, evolve},
    id::{RiderId, Timestamp},
    task::{State, Task},
};

/// A decided change of one task: its event and the row that it makes.
///
/// The fields are private and the constructors belong to [`decide`](super::decide): whoever holds one knows that
/// the table allowed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    event: Event,
    after: Task,
}

impl Transition {
    pub(super) fn make(
        before: &Task,
        action: Verb,
        actor: &Actor,
        at: Timestamp,
        reason: Option<Reason>,
        rider: Option<RiderId>,
        change: Change,
    ) -> Self {
        let event = Event {
            task: before.id,
            region: before.region,
            from: before.revision,
            to: before.revision.next(),
            action,
            actor: actor.clone(),
            at,
            reason,
            rider,
            change,
        };
        let after = evolve(Some(before), &event)
            .expect("the event was made for this very row, at its own revision");
        Self { event, after }
    }

    /// What happened.
    pub const fn event(&self) -> &Event {
        &self.event
    }

    /// The row that it makes.
    pub const fn after(&self) -> &Task {
        &self.after
    }

    /// Whether it ends a waiting offer, and for whom.
    pub fn ends_offer_of(&self, before: &Task) -> Option<RiderId> {
        match &before.state {
            State::Offered { rider, .. } => Some(*rider),
            State::Open | State::Assigned { .. } | State::Cancelled => None,
        }
    }
}

/// A decided creation: the event 0 → 1, its row and its details.
#[derive(Clone, Debug, PartialEq)]
pub struct Creation {
    event: Event,
    after: Task,
    details: NewTask,
}

impl Creation {
    pub(super) fn make(event: Event, details: NewTask) -> Self {
        let after = evolve(None, &event).expect("a creation follows nothing");
        Self { event, after, details }
    }

    /// What happened.
    pub const fn event(&self) -> &Event {
        &self.event
    }

    /// The row that it makes.
    pub const fn after(&self) -> &Task {
        &self.after
    }

    /// Addresses, contacts and the rest.
    pub const fn details(&self) -> &NewTask {
        &self.details
    }
}

/// A decided edit of details.
#[derive(Clone, Debug, PartialEq)]
pub struct DetailEdit {
    event: DetailEvent,
    changes: DetailChanges,
}

impl DetailEdit {
    pub(super) const fn make(event: DetailEvent, changes: DetailChanges) -> Self {
        Self { event, changes }
    }

    /// What happened.
    pub const fn event(&self) -> &DetailEvent {
        &self.event
    }

    /// The new values.
    pub const fn changes(&self) -> &DetailChanges {
        &self.changes
    }
}
