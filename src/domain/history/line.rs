//! One line of a recorded run: a JSON object.
//!
//! | `type` | says |
//! |---|---|
//! | `start` | the task stood at `seen_rev` when the recording began; events up to there need no request |
//! | `invoke` | process `p` asks for `f`: a verb, or `read` |
//! | `ok` | it was done, or had been done before, or this is what was read |
//! | `fail` | it was not done: refused by the rules, or not decided at all |
//! | `info` | nobody knows: a time-out, a lost connection, a 5xx |
//! | `event` | an entry of the task's log, read after the run |
//!
//! Times are nanoseconds on the monotonic clock of the one recording process. A process has one
//! request at a time; after `info` it is gone and its client goes on under a new number.

use serde::{Deserialize, Serialize};

use crate::domain::{
    answer::{Answer, Outcome, TaskView},
    command::{Act, Actor, Command, RequestKey, What},
    event::Event,
    id::{Revision, RiderId, TaskId, Timestamp},
    task::{Stage, StateName},
};

/// What the recording calls a look at a task; commands go by their verb.
pub(super) const READ: &str = "read";

/// One line of a recorded run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Line {
    /// Where a task stood when the recording began.
    Start(Start),
    /// Somebody asks.
    Invoke(Box<Invoke>),
    /// A success, or what was read.
    Ok(Return),
    /// Not done.
    Fail(Return),
    /// Not known.
    Info(Return),
    /// An entry of a task's log.
    Event(Box<Logged>),
}

/// Where a task stood when the recording began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// The task.
    pub task: TaskId,
    /// Its revision.
    pub seen_rev: Revision,
    /// When it was looked at.
    pub t_ns: u64,
}

/// Somebody asks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Invoke {
    /// The process.
    pub p: u64,
    /// When, before anything was sent.
    pub t_ns: u64,
    /// What for: a verb or `read`.
    pub f: String,
    /// Who asks.
    pub actor: Actor,
    /// About which task; none for a creation.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub task: Option<TaskId>,
    /// The revision that it names.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rev: Option<Revision>,
    /// The rider whom it would put in charge, or who acts; for people who read the recording.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rider: Option<RiderId>,
    /// The request key.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub key: Option<RequestKey>,
    /// The command itself; none for a read or a creation.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub act: Option<Act>,
}

/// What came back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Return {
    /// The process.
    pub p: u64,
    /// When, after everything was received.
    pub t_ns: u64,
    /// What was asked for; repeated for people who read the recording.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub f: Option<String>,
    /// The task; for a creation this is where it gets its number.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub task: Option<TaskId>,
    /// The HTTP status, if it came by HTTP.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status: Option<u16>,
    /// What became of a decided command.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub outcome: Option<Outcome>,
    /// The code that came with it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<String>,
    /// The revision that the answer saw: for a success the one that it made.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub seen_rev: Option<Revision>,
    /// The state at that revision.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub state: Option<StateName>,
    /// How far the owner had come there.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stage: Option<Stage>,
    /// The invited rider or owner there, as far as the reader may see it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rider: Option<RiderId>,
    /// The deadline of the offer there, in epoch milliseconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub offer_until: Option<Timestamp>,
}

/// An entry of a task's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Logged {
    /// The event.
    pub event: Event,
    /// The hash of the request key that made it ([`key_hash`](crate::domain::fingerprint::key_hash));
    /// none if no request did, or if whoever read the log may not know.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub key_hash: Option<String>,
}

impl Line {
    /// The line for `command`, about to be sent by process `p`. `None` for an edit of details: they
    /// have a revision of their own and are no part of this.
    pub fn asked(p: u64, t_ns: u64, command: &Command) -> Option<Self> {
        let (task, rev, act) = match &command.what {
            What::Create(_) => (None, None, None),
            What::Change { task, revision, act } => (Some(*task), Some(*revision), Some(act)),
            What::Edit { .. } => return None,
        };
        Some(Self::Invoke(Box::new(Invoke {
            p,
            t_ns,
            f: command.what.verb().as_str().to_owned(),
            actor: command.actor.clone(),
            task,
            rev,
            rider: command.rider(),
            key: command.key.clone(),
            act: act.cloned(),
        })))
    }

    /// The line for a look at `task`, about to be taken by process `p` for `reader`.
    pub fn looks(p: u64, t_ns: u64, reader: Actor, task: TaskId) -> Self {
        Self::Invoke(Box::new(Invoke {
            p,
            t_ns,
            f: READ.to_owned(),
            rider: reader.rider(),
            actor: reader,
            task: Some(task),
            rev: None,
            key: None,
            act: None,
        }))
    }

    /// The line for a decided command's answer, just received by process `p`.
    pub fn answered(p: u64, t_ns: u64, answer: &Answer) -> Self {
        let told = Return {
            outcome: Some(answer.outcome),
            code: answer.code.clone(),
            status: Some(answer.status()),
            ..answer.task.as_ref().map_or_else(Return::default, of_view)
        };
        let told = Return { p, t_ns, ..told };
        if answer.is_success() { Self::Ok(told) } else { Self::Fail(told) }
    }

    /// The line for what process `p` has just read.
    pub fn saw(p: u64, t_ns: u64, view: &TaskView) -> Self {
        Self::Ok(Return { p, t_ns, ..of_view(view) })
    }

    /// The line for an answer that decided nothing: 400, 401, 403, 404, 409 (in progress), 422, 428, 429.
    pub fn turned_away(p: u64, t_ns: u64, status: u16, code: Option<String>) -> Self {
        Self::Fail(Return { p, t_ns, status: Some(status), code, ..Return::default() })
    }

    /// The line for a request of which nobody knows what became of it.
    pub fn unknown(p: u64, t_ns: u64, status: Option<u16>) -> Self {
        Self::Info(Return { p, t_ns, status, ..Return::default() })
    }

    /// The line for an entry of a task's log.
    pub fn logged(event: Event, key_hash: Option<String>) -> Self {
        Self::Event(Box::new(Logged { event, key_hash }))
    }

    /// The line for a task that was at `revision` when the recording began.
    pub const fn start(task: TaskId, revision: Revision, t_ns: u64) -> Self {
        Self::Start(Start { task, seen_rev: revision, t_ns })
    }
}

fn of_view(view: &TaskView) -> Return {
    Return {
        task: Some(view.id),
        seen_rev: Some(view.revision),
        state: Some(view.state),
        stage: view.stage,
        rider: view.rider_id,
        offer_until: view.offer_until,
        ..Return::default()
    }
}
