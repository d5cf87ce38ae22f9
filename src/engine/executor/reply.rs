//! The answers, as they are stored and sent.

use std::sync::Arc;

use crate::{
    domain::{
        answer::{Answer, BeatenBy, EventView, TaskView, wording},
        command::{Actor, Verb},
        decide::Verdict,
        event::Event,
        id::{Revision, TaskId, Timestamp},
        refusal::Lang,
        task::Task,
    },
    store::{StoredOutcome, etag},
};

/// The answer to a command: byte for byte what is stored under its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// The [`Answer`] as JSON.
    pub body: Arc<str>,
    /// Where the created task is.
    pub location: Option<String>,
    /// The task's revision after it, as an entity tag.
    pub etag: Option<String>,
    /// Whether the answer was given before, under the same key.
    pub replayed: bool,
}

impl Reply {
    /// The answer, read back from its bytes.
    ///
    /// # Errors
    /// If a stored answer is not one of ours.
    pub fn answer(&self) -> serde_json::Result<Answer> {
        serde_json::from_str(&self.body)
    }

    /// The revision that it saw, if a command on a task was done, now or before; none for a refusal, and for an answer
    /// that is only repeated.
    pub(super) fn done_at(&self) -> Option<Revision> {
        let tag = self.etag.as_deref().filter(|_| self.status == 200 && !self.replayed)?;
        tag.trim_matches('"').parse().ok().map(Revision)
    }

    pub(in crate::engine) fn stored(outcome: &StoredOutcome, replayed: bool) -> Self {
        Self {
            status: outcome.http_status(),
            body: outcome.body.as_str().into(),
            location: outcome.location.clone(),
            etag: outcome.etag.clone(),
            replayed,
        }
    }
}

/// An answer whose event has no number yet.
#[derive(Debug)]
pub(super) struct Draft {
    answer: Answer,
    /// What the attempt is logged as: `done`, or the code.
    pub(super) code: String,
    /// Where to look for the one who was first: the revision that the refused command named.
    pub(super) beaten_after: Option<(TaskId, Revision)>,
    reader: Actor,
}

impl Draft {
    /// The task that it is about, or that it made.
    pub(super) fn task(&self) -> Option<TaskId> {
        self.answer.task.as_ref().map(|task| task.id)
    }

    /// Words `verdict` for `reader`. `task` is as the decision left it.
    pub(super) fn new<T>(
        verdict: &Verdict<T>,
        task: Option<&Task>,
        named: Option<Revision>,
        legal: Vec<Verb>,
        reader: &Actor,
        lang: Lang,
        now: Timestamp,
    ) -> Self {
        let (outcome, code, reason, message) = wording(verdict, lang);
        let refused = matches!(verdict, Verdict::Refused(_));
        let beaten_after = task
            .zip(named)
            .filter(|(task, named)| refused && *named < task.revision)
            .map(|(task, named)| (task.id, named));
        Self {
            code: code.clone().unwrap_or_else(|| outcome.as_str().to_owned()),
            beaten_after,
            reader: reader.clone(),
            answer: Answer {
                outcome,
                code,
                reason,
                message,
                task: task.map(|task| TaskView::of(task, reader, now)),
                event: None,
                beaten_by: None,
                legal,
                server_time: now,
            },
        }
    }

    pub(super) const fn seen_revision(&self) -> Option<Revision> {
        match &self.answer.task {
            Some(task) => Some(task.revision),
            None => None,
        }
    }

    /// Says who was first.
    pub(super) fn beaten_by(&mut self, event: &Event) {
        self.answer.beaten_by = Some(BeatenBy::of(event, &self.reader));
    }

    /// The event, now that it has a number.
    pub(super) fn number(&mut self, event: EventView) {
        self.answer.event = Some(event);
    }

    /// The answer as it is stored and sent.
    pub(super) fn reply(&self) -> Reply {
        let status = self.answer.status();
        let task = self.answer.task.as_ref();
        let created = task.filter(|_| status == 201).map(|task| task.id);
        Reply {
            status,
            body: serde_json::to_string(&self.answer).expect("an answer has only text keys").into(),
            location: created.map(|task| format!("/api/v1/tasks/{}", task.0)),
            etag: task.map(|task| etag(task.revision)),
            replayed: false,
        }
    }
}
