//! What is asked, by whom, and on which revision it was based.

use serde::{Deserialize, Serialize};

pub use super::{
    act::{Act, Reason, Ticket, Verb},
    actor::{Actor, RequestKey, Role},
    order::{DetailChanges, NewTask, Stop},
};
use super::{
    id::{Revision, RiderId, TaskId},
    refusal::Lang,
};

/// What a command does to what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// Brings a task into being.
    Create(Box<NewTask>),
    /// Changes who holds a task, or how far its owner has come.
    Change {
        /// Which task.
        task: TaskId,
        /// The revision that the decision was based on; never assumed.
        revision: Revision,
        /// What to do.
        act: Act,
    },
    /// Edits a task's details; ownership and its revision stay.
    Edit {
        /// Which task.
        task: TaskId,
        /// The detail revision that the edit was based on.
        detail_revision: Revision,
        /// The new values.
        changes: Box<DetailChanges>,
    },
}

impl What {
    /// The verb's name.
    pub const fn verb(&self) -> Verb {
        match self {
            Self::Create(_) => Verb::Create,
            Self::Change { act, .. } => act.verb(),
            Self::Edit { .. } => Verb::Edit,
        }
    }

    /// The task that it is about; none for a creation.
    pub const fn task(&self) -> Option<TaskId> {
        match self {
            Self::Create(_) => None,
            Self::Change { task, .. } | Self::Edit { task, .. } => Some(*task),
        }
    }
}

/// One request: everything that a decision needs to know about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Command {
    /// Who acts.
    pub actor: Actor,
    /// The client's number for this request. Only the system's own commands have none.
    pub key: Option<RequestKey>,
    /// The language of the answer's sentence.
    pub lang: Lang,
    /// What to do.
    pub what: What,
}

impl Command {
    /// A change of a task by `actor`, based on `revision`.
    pub fn change(
        actor: Actor,
        key: RequestKey,
        task: TaskId,
        revision: Revision,
        act: Act,
    ) -> Self {
        Self { actor, key: Some(key), lang: Lang::En, what: What::Change { task, revision, act } }
    }

    /// The rider whom the command puts in charge or asks: the actor, or the one it names.
    pub fn rider(&self) -> Option<RiderId> {
        match &self.what {
            What::Change { act, .. } => act.named_rider().or_else(|| self.actor.rider()),
            What::Create(_) | What::Edit { .. } => self.actor.rider(),
        }
    }

    /// What keeps the command from being stored as it is, on one database or the other.
    pub fn malformed(&self) -> Option<Malformed> {
        let actor = matches!(&self.actor, Actor::Intake(source) if source.contains('\0'));
        let (text, times, on_earth) = match &self.what {
            What::Create(new) => (
                new.texts().any(|text| text.contains('\0')),
                [new.release_at, new.ready_at, new.due_at],
                new.pickup.place().is_on_earth() && new.dropoff.place().is_on_earth(),
            ),
            What::Edit { changes, .. } => {
                let text = changes.texts().any(|text| text.contains('\0'));
                (text, [changes.due_at, changes.release_at, None], true)
            }
            What::Change { act: Act::Grab { ticket: Some(ticket) }, .. } => {
                (ticket.nonce.contains('\0'), [None; 3], true)
            }
            What::Change { .. } => (false, [None; 3], true),
        };
        if actor || text {
            Some(Malformed::NulInText)
        } else if times.into_iter().flatten().any(|time| !time.is_writable()) {
            Some(Malformed::TimeOutOfRange)
        } else if !on_earth {
            Some(Malformed::NotOnEarth)
        } else {
            None
        }
    }
}

/// Why a command can not be stored as it is (400).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Malformed {
    /// A text holds U+0000, which PostgreSQL can not store and SQLite cuts at.
    NulInText,
    /// A time lies outside of the years 1970 to 9999, which its written form can hold.
    TimeOutOfRange,
    /// A place has a latitude beyond ±90 or a longitude beyond ±180, or none at all.
    NotOnEarth,
}

impl Malformed {
    /// The code that scripts see.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NulInText => "NUL_IN_TEXT",
            Self::TimeOutOfRange => "TIME_OUT_OF_RANGE",
            Self::NotOnEarth => "NOT_ON_EARTH",
        }
    }
}
