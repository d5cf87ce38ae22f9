//! Reads outside of a batch: one task, the log page by page, what is due, and all rows for a check.

use super::{
    error::Result,
    rows::{LoggedEvent, TaskRow, read},
    sql::Sql,
    tx::{Tx, fetch},
};
use crate::domain::{
    id::{Revision, RiderId, TaskId, Timestamp},
    task::{OfferAnswer, Task},
};

/// The columns of a task, as [`TaskRow`] reads them.
macro_rules! tasks {
    ($tail:literal) => {
        Sql::same(concat!(
            "SELECT id, region_id, source, state, rider_id, rider_slot, stage, mode, offer_until, revision, ",
            "release_at, vehicle, priority, changed_at, changed_by_kind, changed_by_id FROM task ",
            $tail
        ))
    };
}

/// The columns of an event, as [`LoggedEvent`] reads them.
macro_rules! events {
    ($tail:literal) => {
        Sql::same(concat!(
            "SELECT number, event_id, kind, subject, region_id, task_id, from_revision, to_revision, action, ",
            "actor_kind, actor_id, rider_id, mode, reason, key_hash, occurred_at, detail_version, detail ",
            "FROM dispatch_event ",
            $tail
        ))
    };
}

const TASK: Sql = tasks!("WHERE id = $1");
const TASKS_AFTER: Sql = tasks!("WHERE id > $1 ORDER BY id LIMIT $2");
const HELD_BY: Sql = tasks!("WHERE rider_id = $1 AND rider_slot IS NOT NULL ORDER BY id");
const EVENTS_AFTER: Sql = events!("WHERE number > $1 ORDER BY number LIMIT $2");
const EVENTS_OF: Sql = events!("WHERE task_id = $1 ORDER BY number");
const EVENTS_BETWEEN: Sql =
    events!("WHERE task_id > $1 AND task_id <= $2 ORDER BY task_id, number");
const HEAD: Sql = Sql::same("SELECT number, attempt FROM event_counter WHERE id = 1");
const COUNTS: Sql = Sql::same(
    "SELECT (SELECT COUNT(*) FROM dispatch_event), (SELECT COALESCE(MAX(number), 0) FROM dispatch_event), \
     (SELECT COUNT(*) FROM attempt), (SELECT COALESCE(MAX(number), 0) FROM attempt)",
);
const DUE: Sql = Sql::same(
    "SELECT id, revision, offer_until FROM task WHERE state = 'offered' AND offer_until <= $1 \
     AND (offer_until, id) > ($2, $3) ORDER BY offer_until, id LIMIT $4",
);
const NEXT_DEADLINE: Sql = Sql::same(
    "SELECT offer_until FROM task WHERE state = 'offered' AND offer_until > $1 ORDER BY offer_until LIMIT 1",
);
const OFFERS_BETWEEN: Sql = Sql::same(
    "SELECT task_id, revision, rider_id, offer_until, answer FROM offer WHERE task_id > $1 AND task_id <= $2 \
     ORDER BY task_id, revision",
);
const DETAIL_REVISION: Sql =
    Sql::same("SELECT detail_revision FROM task_detail WHERE task_id = $1");
const ATTEMPTS_OF: Sql = Sql::same(
    "SELECT number, actor_kind, actor_id, key_hash, task_id, verb, code, revision_seen, at FROM attempt \
     WHERE task_id = $1 ORDER BY number",
);
const NOTE: Sql = Sql::same("SELECT note FROM task_detail WHERE task_id = $1");
const OFFER_TOKEN: Sql = Sql::same("SELECT token FROM offer WHERE task_id = $1 AND revision = $2");

/// An offer whose deadline has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Due {
    /// The task that waits on it.
    pub task: TaskId,
    /// The offer's revision.
    pub revision: Revision,
    /// The deadline.
    pub until: Timestamp,
}

/// An offer as the ledger has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LedgerOffer {
    /// For which task.
    pub task: TaskId,
    /// The revision that it made.
    pub revision: Revision,
    /// To whom.
    pub rider: RiderId,
    /// The deadline.
    pub until: Timestamp,
    /// How it ended.
    pub answer: Option<OfferAnswer>,
}

/// An attempt as it was kept.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct Attempt {
    /// Its number.
    pub number: i64,
    /// Who tried: the kind of actor.
    pub actor_kind: String,
    /// Who tried: the id within the kind.
    pub actor_id: Option<String>,
    /// The hash of the request key.
    pub key_hash: Option<String>,
    /// On which task.
    pub task_id: Option<i64>,
    /// What was tried.
    pub verb: String,
    /// `done`, or the code of the answer.
    pub code: String,
    /// The revision that the answer saw.
    pub revision_seen: Option<i64>,
    /// When, in epoch milliseconds.
    pub at: i64,
}

/// How many rows the log holds, against the numbers it gave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct LogCounts {
    /// Rows of events.
    pub events: i64,
    /// The largest event number.
    pub last_event: i64,
    /// Rows of attempts.
    pub attempts: i64,
    /// The largest attempt number.
    pub last_attempt: i64,
}

impl Tx {
    /// One task.
    pub async fn task(&mut self, id: TaskId) -> Result<Option<Task>> {
        fetch!(self, TaskRow, TASK, id.0).pop().map(TaskRow::task).transpose()
    }

    /// Up to `limit` tasks with larger numbers than `after`. A row that means nothing is an error of its own.
    pub async fn tasks_after(
        &mut self,
        after: TaskId,
        limit: i64,
    ) -> Result<Vec<(TaskId, Result<Task>)>> {
        let found = fetch!(self, TaskRow, TASKS_AFTER, after.0, limit);
        Ok(found.into_iter().map(|row| (TaskId(row.id), row.task())).collect())
    }

    /// The tasks and offers that a rider holds.
    pub async fn held_by(&mut self, rider: RiderId) -> Result<Vec<Task>> {
        fetch!(self, TaskRow, HELD_BY, rider.0).into_iter().map(TaskRow::task).collect()
    }

    /// Up to `limit` events with larger numbers than `after`: a safe cursor, since numbers are given out in the
    /// order of the commits.
    pub async fn events_after(&mut self, after: i64, limit: i64) -> Result<Vec<LoggedEvent>> {
        Ok(fetch!(self, LoggedEvent, EVENTS_AFTER, after, limit))
    }

    /// All events of one task.
    pub async fn events_of(&mut self, task: TaskId) -> Result<Vec<LoggedEvent>> {
        Ok(fetch!(self, LoggedEvent, EVENTS_OF, task.0))
    }

    /// All events of the tasks `after < id <= through`.
    pub async fn events_between(
        &mut self,
        after: TaskId,
        through: TaskId,
    ) -> Result<Vec<LoggedEvent>> {
        Ok(fetch!(self, LoggedEvent, EVENTS_BETWEEN, after.0, through.0))
    }

    /// All offers of the tasks `after < id <= through`.
    pub async fn offers_between(
        &mut self,
        after: TaskId,
        through: TaskId,
    ) -> Result<Vec<LedgerOffer>> {
        let found =
            fetch!(self, (i64, i64, i64, i64, Option<String>), OFFERS_BETWEEN, after.0, through.0);
        let offer =
            |(task, revision, rider, until, answer): (i64, i64, i64, i64, Option<String>)| {
                Ok(LedgerOffer {
                    task: TaskId(task),
                    revision: Revision(revision),
                    rider: RiderId(rider),
                    until: Timestamp(until),
                    answer: answer
                        .map(|answer| read("offer", "answer", task, &answer, OfferAnswer::parse))
                        .transpose()?,
                })
            };
        found.into_iter().map(offer).collect()
    }

    /// All attempts on one task.
    pub async fn attempts_of(&mut self, task: TaskId) -> Result<Vec<Attempt>> {
        Ok(fetch!(self, Attempt, ATTEMPTS_OF, task.0))
    }

    /// The numbers of the last event and of the last attempt.
    pub async fn head(&mut self) -> Result<(i64, i64)> {
        Ok(fetch!(self, (i64, i64), HEAD).first().copied().unwrap_or_default())
    }

    /// How many rows the log holds.
    pub async fn log_counts(&mut self) -> Result<LogCounts> {
        let (events, last_event, attempts, last_attempt) =
            fetch!(self, (i64, i64, i64, i64), COUNTS).first().copied().unwrap_or_default();
        Ok(LogCounts { events, last_event, attempts, last_attempt })
    }

    /// Up to `limit` offers whose deadline is not after `now`, in the order of deadlines, beyond the place
    /// `after` in that order.
    pub async fn due(
        &mut self,
        now: Timestamp,
        after: (Timestamp, TaskId),
        limit: i64,
    ) -> Result<Vec<Due>> {
        let found = fetch!(self, (i64, i64, i64), DUE, now.0, after.0.0, after.1.0, limit);
        let due = |(task, revision, until)| Due {
            task: TaskId(task),
            revision: Revision(revision),
            until: Timestamp(until),
        };
        Ok(found.into_iter().map(due).collect())
    }

    /// The first deadline after `now`.
    pub async fn next_deadline(&mut self, now: Timestamp) -> Result<Option<Timestamp>> {
        Ok(fetch!(self, (i64,), NEXT_DEADLINE, now.0).first().map(|(until,)| Timestamp(*until)))
    }

    /// The detail revision of a task.
    pub async fn detail_revision(&mut self, task: TaskId) -> Result<Option<Revision>> {
        let found = fetch!(self, (i64,), DETAIL_REVISION, task.0);
        Ok(found.first().map(|(revision,)| Revision(*revision)))
    }

    /// The note on a task.
    pub async fn note(&mut self, task: TaskId) -> Result<Option<String>> {
        Ok(fetch!(self, (Option<String>,), NOTE, task.0).pop().and_then(|(note,)| note))
    }

    /// The token of the offer that made `revision`.
    pub async fn offer_token(
        &mut self,
        task: TaskId,
        revision: Revision,
    ) -> Result<Option<String>> {
        let mut found = fetch!(self, (String,), OFFER_TOKEN, task.0, revision.0);
        Ok(found.pop().map(|(token,)| token))
    }
}
