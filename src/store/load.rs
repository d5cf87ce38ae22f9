//! Locking and loading what a batch of decisions needs, each kind by one statement.
//!
//! The lock order, everywhere: staff and regions shared, then riders, then tasks, each sorted by id; facts
//! are read only after that. On SQLite the one writer has locked everything already.

use serde::Serialize;

use super::{
    error::Result,
    rows::{LoggedEvent, TaskRow, read},
    sql::{Sql, rows, setwise},
    tx::{Tx, fetch},
};
use crate::{
    domain::{
        facts::RunningRound,
        id::{Revision, RiderId, TaskId, Timestamp},
        task::{OfferAnswer, OwnOffer, Task},
        ticket::{Seat, TicketKey},
    },
    fault::{Fault, planted},
};

const TASKS: Sql = setwise!(
    "SELECT t.id, t.region_id, t.source, t.state, t.rider_id, t.rider_slot, t.stage, t.mode, t.offer_until, \
     t.revision, t.release_at, t.vehicle, t.priority, t.changed_at, t.changed_by_kind, t.changed_by_id FROM ",
    rows(id int),
    " CROSS JOIN task t WHERE t.id = r.id ORDER BY t.id",
    lock " FOR NO KEY UPDATE OF t SKIP LOCKED"
);

const EXISTING: Sql =
    setwise!("SELECT t.id FROM ", rows(id int), " CROSS JOIN task t WHERE t.id = r.id");

const DETAIL_REVISIONS: Sql = setwise!(
    "SELECT d.task_id, d.detail_revision FROM ",
    rows(id int),
    " CROSS JOIN task_detail d WHERE d.task_id = r.id"
);

const OUTCOMES: Sql = setwise!(
    "SELECT o.principal, o.request_key, o.fingerprint, o.status, o.location, o.etag, o.body FROM ",
    rows(principal text, request_key text),
    " CROSS JOIN command_outcome o WHERE o.principal = r.principal AND o.request_key = r.request_key"
);

const CREATED: Sql = setwise!(
    "SELECT t.id, t.source, t.request_key, t.fingerprint FROM ",
    rows(source text, request_key text),
    " CROSS JOIN task t WHERE t.source = r.source AND t.request_key = r.request_key"
);

const OWN_OFFERS: Sql = setwise!(
    "SELECT o.task_id, o.rider_id, o.revision, o.answer FROM ",
    rows(task int, rider int),
    " CROSS JOIN offer o WHERE o.task_id = r.task AND o.rider_id = r.rider ORDER BY o.task_id, o.revision"
);

const ROUNDS: Sql = setwise!(
    "SELECT r.task, r.rider, n.id, n.until, c.nonce, c.sent_at FROM ",
    rows(task int, rider int),
    " CROSS JOIN round n LEFT JOIN round_candidate c ON c.round_id = n.id AND c.rider_id = r.rider \
     AND (c.answer IS NULL OR c.answer <> 'declined') WHERE n.task_id = r.task AND n.status = 'running' AND n.kind = 'broadcast'"
);
const EXCLUSIVE: Sql = setwise!(
    "SELECT r.task, r.rider, n.id FROM ",
    rows(task int, rider int),
    " CROSS JOIN round n JOIN round_candidate c ON c.round_id = n.id AND c.rider_id = r.rider \
     AND c.nonce IS NOT NULL WHERE n.task_id = r.task AND n.status = 'running' AND n.kind = 'exclusive'"
);

const HAND_BACKS: Sql = setwise!(
    "SELECT r.rider, COUNT(*) FROM ",
    rows(rider int, since int),
    " CROSS JOIN dispatch_event e WHERE e.rider_id = r.rider AND e.action = 'hand-back' \
     AND e.occurred_at >= r.since GROUP BY r.rider"
);

const FOLLOWING: Sql = setwise!(
    "SELECT e.number, e.event_id, e.kind, e.subject, e.region_id, e.task_id, e.from_revision, e.to_revision, \
     e.action, e.actor_kind, e.actor_id, e.rider_id, e.mode, e.reason, e.key_hash, e.occurred_at, \
     e.detail_version, e.detail FROM ",
    rows(task int, revision int),
    " CROSS JOIN dispatch_event e WHERE e.task_id = r.task AND e.to_revision = r.revision + 1"
);

#[derive(Serialize)]
struct Id {
    id: i64,
}

pub(super) fn ids(ids: impl Iterator<Item = i64>) -> String {
    rows(&ids.map(|id| Id { id }).collect::<Vec<_>>())
}

#[derive(Serialize)]
struct TaskRider {
    task: i64,
    rider: i64,
}

fn pairs(pairs: &[(TaskId, RiderId)]) -> String {
    rows(
        &pairs
            .iter()
            .map(|(task, rider)| TaskRider { task: task.0, rider: rider.0 })
            .collect::<Vec<_>>(),
    )
}

/// An answer that was given under a request key.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct StoredOutcome {
    /// The scope of the key.
    pub principal: String,
    /// The key.
    pub request_key: String,
    /// What was asked.
    pub fingerprint: String,
    /// HTTP status.
    pub status: i64,
    /// Where the created task is.
    pub location: Option<String>,
    /// The task's revision after it, as an entity tag.
    pub etag: Option<String>,
    /// The answer, byte for byte.
    pub body: String,
}

/// A rider of whom is asked whether he or she is a member of a task's running round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The task.
    pub task: TaskId,
    /// The rider.
    pub rider: RiderId,
    /// The running round.
    pub round: i64,
    /// Its deadline.
    pub until: Timestamp,
    /// What the rider's ticket is made of, and from when on it is good; none if the rider was not asked.
    pub nonce: Option<(String, Timestamp)>,
}

impl Member {
    /// The same as decisions see it: with the rider's ticket, once it is good.
    pub fn running(&self, key: &TicketKey, now: Timestamp) -> RunningRound {
        let Self { task, rider, round, until, .. } = *self;
        let good = self.nonce.as_ref().filter(|(_, visible)| *visible <= now);
        let ticket = good.map(|(nonce, _)| key.sign(&Seat { task, rider, round, until, nonce }));
        RunningRound { round, until, nonce: ticket }
    }
}

/// A task that exists under a creation key.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct CreatedTask {
    /// The task.
    pub id: i64,
    /// Scope of the key.
    pub source: String,
    /// The key.
    pub request_key: String,
    /// What was asked for.
    pub fingerprint: String,
}

impl Tx {
    /// Locks tasks and loads them. Tasks that another transaction holds are left out, not waited for.
    pub async fn lock_tasks(&mut self, tasks: &[TaskId]) -> Result<Vec<Task>> {
        if tasks.is_empty() {
            return Ok(Vec::new());
        }
        let sql = TASKS.unlocked_if(planted(Fault::LoadWithoutLock));
        let found = fetch!(self, TaskRow, sql, ids(tasks.iter().map(|task| task.0)));
        found.into_iter().map(TaskRow::task).collect()
    }

    /// Which of `tasks` exist, locked by others or not.
    pub async fn existing(&mut self, tasks: &[TaskId]) -> Result<Vec<TaskId>> {
        let found = fetch!(self, (i64,), EXISTING, ids(tasks.iter().map(|task| task.0)));
        Ok(found.into_iter().map(|(task,)| TaskId(task)).collect())
    }

    /// The detail revisions of locked tasks.
    pub async fn detail_revisions(&mut self, tasks: &[TaskId]) -> Result<Vec<(TaskId, Revision)>> {
        let wanted = ids(tasks.iter().map(|task| task.0));
        let found = fetch!(self, (i64, i64), DETAIL_REVISIONS, &wanted);
        Ok(found.into_iter().map(|(task, revision)| (TaskId(task), Revision(revision))).collect())
    }

    /// The answers that were given under these (principal, key) pairs.
    pub async fn outcomes(&mut self, keys: &[(&str, &str)]) -> Result<Vec<StoredOutcome>> {
        #[derive(Serialize)]
        struct Row<'a> {
            principal: &'a str,
            request_key: &'a str,
        }
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let wanted: Vec<_> =
            keys.iter().map(|(principal, key)| Row { principal, request_key: key }).collect();
        Ok(fetch!(self, StoredOutcome, OUTCOMES, rows(&wanted)))
    }

    /// The tasks that were created under these (source, key) pairs.
    pub async fn created(&mut self, keys: &[(String, &str)]) -> Result<Vec<CreatedTask>> {
        #[derive(Serialize)]
        struct Row<'a> {
            source: &'a str,
            request_key: &'a str,
        }
        let wanted: Vec<_> =
            keys.iter().map(|(source, key)| Row { source, request_key: key }).collect();
        Ok(fetch!(self, CreatedTask, CREATED, rows(&wanted)))
    }

    /// What became of riders' offers for tasks, oldest first.
    pub async fn own_offers(
        &mut self,
        of: &[(TaskId, RiderId)],
    ) -> Result<Vec<(TaskId, RiderId, OwnOffer)>> {
        let found = fetch!(self, (i64, i64, i64, Option<String>), OWN_OFFERS, pairs(of));
        let offer = |(task, rider, revision, answer): (i64, i64, i64, Option<String>)| {
            let answer = answer
                .map(|answer| read("offer", "answer", task, &answer, OfferAnswer::parse))
                .transpose()?;
            Ok((TaskId(task), RiderId(rider), OwnOffer { revision: Revision(revision), answer }))
        };
        found.into_iter().map(offer).collect()
    }

    /// The rounds that run for tasks, each with what the rider's ticket is made of.
    pub async fn running_rounds(&mut self, of: &[(TaskId, RiderId)]) -> Result<Vec<Member>> {
        type Row = (i64, i64, i64, i64, Option<String>, Option<i64>);
        let member = |(task, rider, round, until, nonce, visible): Row| Member {
            task: TaskId(task),
            rider: RiderId(rider),
            round,
            until: Timestamp(until),
            nonce: nonce.zip(visible.map(Timestamp)),
        };
        Ok(fetch!(self, Row, ROUNDS, pairs(of)).into_iter().map(member).collect())
    }

    /// Those of these tasks and riders for which an exclusive round runs, with its number.
    pub async fn exclusive_rounds(
        &mut self,
        of: &[(TaskId, RiderId)],
    ) -> Result<Vec<(TaskId, RiderId, i64)>> {
        let found = fetch!(self, (i64, i64, i64), EXCLUSIVE, pairs(of));
        let round = |(task, rider, round)| (TaskId(task), RiderId(rider), round);
        Ok(found.into_iter().map(round).collect())
    }

    /// How many tasks riders have handed back since an instant of their own.
    pub async fn hand_backs(&mut self, of: &[(RiderId, Timestamp)]) -> Result<Vec<(RiderId, u32)>> {
        #[derive(Serialize)]
        struct Row {
            rider: i64,
            since: i64,
        }
        let wanted: Vec<_> =
            of.iter().map(|(rider, since)| Row { rider: rider.0, since: since.0 }).collect();
        let found = fetch!(self, (i64, i64), HAND_BACKS, rows(&wanted));
        let count = |count: i64| u32::try_from(count).unwrap_or(u32::MAX);
        Ok(found.into_iter().map(|(rider, backs)| (RiderId(rider), count(backs))).collect())
    }

    /// The events that followed revisions of tasks: who was first.
    pub async fn following(&mut self, of: &[(TaskId, Revision)]) -> Result<Vec<LoggedEvent>> {
        #[derive(Serialize)]
        struct Row {
            task: i64,
            revision: i64,
        }
        // One past the largest number is no revision, and no number on either database.
        let wanted: Vec<_> = of
            .iter()
            .filter(|(_, revision)| revision.0 < i64::MAX)
            .map(|(task, revision)| Row { task: task.0, revision: revision.0 })
            .collect();
        Ok(fetch!(self, LoggedEvent, FOLLOWING, rows(&wanted)))
    }
}
