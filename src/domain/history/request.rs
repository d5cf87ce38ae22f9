//! Requests with one answer each: what the judge reads.

use std::fmt;

use super::{
    Finding,
    line::{Logged, READ, Start},
};
use crate::domain::{
    answer::TaskView,
    command::{Act, Actor, RequestKey, Verb},
    decide::Already,
    id::{Revision, RiderId, TaskId, Timestamp},
    refusal::Code,
    task::{Stage, StateName, Task},
};

/// What was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// A look at the task.
    Read,
    /// A new task.
    Create,
    /// A command on a task that exists.
    Change {
        /// The revision that it named.
        named: Revision,
        /// The command.
        act: Act,
    },
}

impl Call {
    /// The verb, if it is a command.
    pub const fn verb(&self) -> Option<Verb> {
        match self {
            Self::Read => None,
            Self::Create => Some(Verb::Create),
            Self::Change { act, .. } => Some(act.verb()),
        }
    }

    /// The name that stands in the recording.
    pub const fn name(&self) -> &'static str {
        match self.verb() {
            Some(verb) => verb.as_str(),
            None => READ,
        }
    }
}

/// What came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// What a look saw.
    Read,
    /// It was done; this made the revision that was seen.
    Done,
    /// It had been done before.
    Already(Already),
    /// The rules say no.
    Refused(Code),
}

/// A task, as an answer showed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// The state.
    pub state: StateName,
    /// How far the owner had come.
    pub stage: Option<Stage>,
    /// The invited rider or the owner, as far as the reader may see it.
    pub rider: Option<RiderId>,
    /// The deadline of the offer.
    pub offer_until: Option<Timestamp>,
}

impl View {
    /// All of `task` that an answer can show.
    pub const fn of(task: &Task) -> Self {
        let state = &task.state;
        Self {
            state: state.name(),
            stage: state.stage(),
            rider: state.rider(),
            offer_until: state.offer_until(),
        }
    }
}

impl From<&TaskView> for View {
    fn from(view: &TaskView) -> Self {
        let TaskView { state, stage, rider_id, offer_until, .. } = view;
        Self { state: *state, stage: *stage, rider: *rider_id, offer_until: *offer_until }
    }
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.state.fmt(f)?;
        if let Some(stage) = self.stage {
            write!(f, ", {stage}")?;
        }
        if let Some(rider) = self.rider {
            write!(f, ", {rider}")?;
        }
        if let Some(until) = self.offer_until {
            write!(f, ", until {until}")?;
        }
        Ok(())
    }
}

/// One request and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Op {
    /// The line on which it was asked.
    pub line: usize,
    /// The process that asked.
    pub process: u64,
    /// Who asked.
    pub actor: Actor,
    /// Under which key.
    pub key: Option<RequestKey>,
    /// About which task.
    pub task: TaskId,
    /// What for.
    pub call: Call,
    /// When it was asked, in nanoseconds of the recorder's clock.
    pub began_ns: u64,
    /// When its answer had arrived; [`u64::MAX`] if none did.
    pub ended_ns: u64,
    /// What came back.
    pub reply: Reply,
    /// The revision that the answer saw: for a success the one that it made.
    pub seen: Revision,
    /// What the answer showed.
    pub view: Option<View>,
}

/// A recorded run: every request with its answer, and the log of every task.
///
/// A request that was sent again under its key is one request here. One without an answer is a
/// success if its key stands in the log, and otherwise left out.
#[derive(Clone, Debug, Default)]
pub struct History {
    pub(super) ops: Vec<Op>,
    pub(super) log: Vec<Logged>,
    pub(super) starts: Vec<Start>,
    pub(super) disputes: Vec<Finding>,
    pub(super) without_effect: usize,
}

impl History {
    /// The requests, in the order of their answers.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// How many requests were left out because they had no effect and no answer from the rules.
    pub const fn without_effect(&self) -> usize {
        self.without_effect
    }
}
