//! What can be wrong with a run, in sentences.

use std::fmt;

use super::request::{Op, Reply, View};
use crate::domain::{
    command::{Actor, Verb},
    decide::{Already, Denial},
    event::Event,
    id::{Revision, TaskId, Timestamp},
    refusal::Code,
};

/// One side of a violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Party {
    /// A request of the recording.
    Request {
        /// What it asked for: a verb or `read`.
        call: &'static str,
        /// Who asked.
        actor: Actor,
        /// The process that sent it.
        process: u64,
        /// The line of the recording on which it was sent.
        line: usize,
    },
    /// An entry of the log.
    Event {
        /// What was done.
        action: Verb,
        /// Who did it.
        actor: Actor,
        /// The revision that it made.
        to: Revision,
    },
    /// The look at the task when the recording began.
    Start,
}

impl From<&Op> for Party {
    fn from(op: &Op) -> Self {
        let Op { actor, process, line, call, .. } = op;
        Self::Request { call: call.name(), actor: actor.clone(), process: *process, line: *line }
    }
}

impl From<&Event> for Party {
    fn from(event: &Event) -> Self {
        Self::Event { action: event.action, actor: event.actor.clone(), to: event.to }
    }
}

impl fmt::Display for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request { call, actor, process, line } => {
                write!(f, "the {call} by {actor} (line {line}, process {process})")
            }
            Self::Event { action, actor, to } => write!(f, "event {to} ({action} by {actor})"),
            Self::Start => f.write_str("the look at the start"),
        }
    }
}

/// An answer, or what the rules say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// It is done.
    Done,
    /// It is done, with another effect on the row.
    DoneOtherwise,
    /// It had been done before.
    Already(Already),
    /// No.
    Refused(Code),
    /// Not to be asked by this actor.
    Denied(Denial),
}

impl From<Reply> for Said {
    fn from(reply: Reply) -> Self {
        match reply {
            Reply::Read | Reply::Done => Self::Done,
            Reply::Already(already) => Self::Already(already),
            Reply::Refused(code) => Self::Refused(code),
        }
    }
}

impl From<Denial> for Said {
    fn from(denial: Denial) -> Self {
        Self::Denied(denial)
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done => f.write_str("done"),
            Self::DoneOtherwise => f.write_str("done, with another effect"),
            Self::Already(already) => f.write_str(already.as_str()),
            Self::Refused(code) => f.write_str(code.as_str()),
            Self::Denied(denial) => f.write_str(denial.as_str()),
        }
    }
}

/// One way in which a run can be wrong, and between whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// The log leaves out a revision, has one twice, or has an entry that can not follow.
    BrokenLog {
        /// What came.
        event: Party,
    },
    /// An event is older than the one before it.
    ClockRanBack {
        /// The event.
        event: Party,
        /// When the one before happened.
        before: Timestamp,
        /// When it happened.
        at: Timestamp,
    },
    /// An offer was answered after its deadline, or released before it.
    WrongSideOfDeadline {
        /// What was done to the offer.
        event: Party,
        /// When.
        at: Timestamp,
        /// The deadline.
        until: Timestamp,
    },
    /// An offer waits for another time than its dispatcher asked for.
    WrongDeadline {
        /// The request.
        request: Party,
        /// The deadline in the log.
        until: Timestamp,
        /// The deadline that was asked for.
        asked: Timestamp,
    },
    /// An event for which nobody had asked.
    NoRequest {
        /// The event.
        event: Party,
    },
    /// An answer rests on a revision that the log does not have: it was lost, or never was.
    NotInLog {
        /// Who was answered.
        request: Party,
        /// The last revision in the log.
        last: Revision,
    },
    /// Two requests were told that they made the same revision.
    TwoWinners {
        /// The one that the log names.
        first: Party,
        /// The other.
        second: Party,
    },
    /// A request was told that it made a revision which the log gives to something else.
    OtherEvent {
        /// Who was told so.
        request: Party,
        /// What the log has there.
        event: Party,
    },
    /// An answer or an event that the rules do not give at that revision.
    AgainstRules {
        /// What was answered, or what happened.
        party: Party,
        /// The answer.
        was: Said,
        /// What the rules say.
        rules: Said,
    },
    /// An answer showed the task in another state than the log has at that revision.
    SawOtherState {
        /// Who saw it.
        request: Party,
        /// What was shown.
        saw: View,
        /// The task at that revision.
        was: View,
    },
    /// Two refused requests both released the same lapsed offer.
    TwoReleases {
        /// One.
        first: Party,
        /// The other.
        second: Party,
    },
    /// A revision was seen that stood only inside of another request's transaction.
    SeenInBetween {
        /// Who saw it.
        request: Party,
        /// Who released the offer and changed the task again in one step.
        within: Party,
    },
    /// No order of effects fits the times: someone still saw the past, or already the future.
    OutOfTime {
        /// Who shows that it came no earlier.
        late: Party,
        /// When this one began.
        not_before_ns: u64,
        /// Who shows that it came no later.
        early: Party,
        /// When this one had ended.
        by_ns: u64,
    },
    /// One request was answered in two ways.
    AnswersDiffer {
        /// The first answer's request.
        first: Party,
        /// The second answer's request.
        second: Party,
    },
    /// One key was good for two requests.
    KeyReused {
        /// The first request.
        first: Party,
        /// The second request.
        second: Party,
    },
}

/// A violation, with the task and the revision that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which task.
    pub task: TaskId,
    /// The revision: the one that was made or seen, or on which a decision was made.
    pub revision: Revision,
    /// What is wrong.
    pub violation: Violation,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, revision {}: {}", self.task, self.revision, self.violation)
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BrokenLog { event } => {
                write!(f, "the log goes on with {event}, which can not follow")
            }
            Self::ClockRanBack { event, before, at } => {
                write!(f, "{event} happened at {at}, before the one that it follows ({before})")
            }
            Self::WrongSideOfDeadline { event, at, until } => {
                write!(f, "{event} happened at {at}; the offer's deadline was {until}")
            }
            Self::WrongDeadline { request, until, asked } => {
                write!(f, "the offer waits until {until}; {request} asked for {asked}")
            }
            Self::NoRequest { event } => write!(f, "nobody asked for {event}"),
            Self::NotInLog { request, last } => {
                write!(f, "{request} was told of it, but the log ends with revision {last}")
            }
            Self::TwoWinners { first, second } => {
                write!(f, "two winners: {first} and {second} were both told that they made it")
            }
            Self::OtherEvent { request, event } => {
                write!(f, "{request} was told that it made it, but the log has {event}")
            }
            Self::AgainstRules { party, was, rules } => {
                write!(f, "{party} was {was}; the rules say {rules}")
            }
            Self::SawOtherState { request, saw, was } => {
                write!(f, "{request} was shown {saw}; the log has {was}")
            }
            Self::TwoReleases { first, second } => {
                write!(f, "{first} and {second} both released the lapsed offer")
            }
            Self::SeenInBetween { request, within } => {
                write!(f, "{request} saw it, though it stood only inside of the step of {within}")
            }
            Self::OutOfTime { late, not_before_ns, early, by_ns } => write!(
                f,
                "out of time: it was there at {by_ns} ns for {early}, and not yet at \
                 {not_before_ns} ns for {late}"
            ),
            Self::AnswersDiffer { first, second } => {
                write!(f, "one request, two answers: {first} and {second}")
            }
            Self::KeyReused { first, second } => {
                write!(f, "one key for two requests: {first} and {second}")
            }
        }
    }
}
