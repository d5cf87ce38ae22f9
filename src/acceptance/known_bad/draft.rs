//! What is to be written: changes with their events, and the words of the answer.

use std::sync::Arc;

use crate::domain::{
    answer::{Answer, BeatenBy, EventView, Outcome, TaskView},
    command::{Actor, Command, Verb, What},
    decide::{Creation, Transition},
    event::Event,
    fingerprint::Fingerprint,
    id::{Revision, Timestamp},
    refusal::Ineligible,
    task::Task,
};

/// A change of a row with its event.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) event: Event,
    pub(super) after: Task,
}

impl From<&Transition> for Change {
    fn from(decided: &Transition) -> Self {
        Self { event: decided.event().clone(), after: decided.after().clone() }
    }
}

impl From<&Creation> for Change {
    fn from(decided: &Creation) -> Self {
        Self { event: decided.event().clone(), after: decided.after().clone() }
    }
}

/// What is said about a command.
pub(super) type Words = (Outcome, Option<String>, Option<Ineligible>, Option<String>);

/// It was done.
pub(super) const DONE: Words = (Outcome::Done, None, None, None);

/// The key of a request, with whose it is and what was asked under it.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) whose: String,
    pub(super) key: String,
    pub(super) fingerprint: Fingerprint,
}

/// All that a command leads to, before it is written.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    /// In the order of the log: the release of a lapsed offer, and the change that was asked for.
    pub(super) changes: Vec<Change>,
    pub(super) words: Words,
    /// The task as the decision leaves it.
    pub(super) task: Option<Task>,
    pub(super) legal: Vec<Verb>,
    pub(super) now: Timestamp,
    /// Where the answer is kept.
    pub(super) slot: Option<Slot>,
    /// Whether the write asks if the row is still the one that was read.
    pub(super) guarded: bool,
    /// Whether the events are written as well.
    pub(super) logged: bool,
}

impl Draft {
    /// `done`, or the code.
    pub(super) fn code(&self) -> String {
        let (outcome, code, ..) = &self.words;
        code.clone().unwrap_or_else(|| outcome.as_str().to_owned())
    }

    /// The answer to `command`. `number` is that of its event, `first` the event that came first.
    pub(super) fn answer(
        &self,
        command: &Command,
        number: Option<i64>,
        first: Option<&Event>,
    ) -> Answer {
        let (outcome, code, reason, message) = self.words.clone();
        let reader = &command.actor;
        let made = self.changes.last().filter(|_| outcome == Outcome::Done).zip(number);
        Answer {
            outcome,
            code,
            reason,
            message,
            task: self.task.as_ref().map(|task| TaskView::of(task, reader, self.now)),
            event: made.map(|(change, number)| EventView {
                number,
                action: change.event.action,
                from_revision: change.event.from,
                to_revision: change.event.to,
                occurred_at: change.event.at,
            }),
            beaten_by: first
                .filter(|_| outcome == Outcome::Refused)
                .map(|event| BeatenBy::of(event, reader)),
            legal: self.legal.clone(),
            server_time: self.now,
        }
    }
}

/// An answer as it is stored and sent.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) body: Arc<str>,
    pub(super) replayed: bool,
}

impl Reply {
    pub(super) fn of(answer: &Answer) -> Self {
        let body = serde_json::to_string(answer).expect("an answer has only text keys");
        Self { status: answer.status(), body: body.into(), replayed: false }
    }
}

/// A command that was not decided: nothing is stored for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TurnedAway {
    pub(super) status: u16,
    pub(super) code: &'static str,
}

/// What a command does, and the revision that it names.
pub(super) fn verb_and_named(command: &Command) -> (Verb, Option<Revision>) {
    match &command.what {
        What::Create(_) => (Verb::Create, None),
        What::Change { revision, act, .. } => (act.verb(), Some(*revision)),
        What::Edit { .. } => (Verb::Edit, None),
    }
}

/// The kind and the id of whoever acts, as the log keeps them.
pub(super) fn who(actor: &Actor) -> serde_json::Value {
    let mut who = serde_json::Map::new();
    who.insert("kind".to_owned(), actor.kind().into());
    if let Some(id) = actor.id() {
        who.insert("id".to_owned(), id.into());
    }
    who.into()
}
