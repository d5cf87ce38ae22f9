//! What live readers ask for: whether they may still read, and whom the events of a batch concern.

use serde::Serialize;
use sqlx::FromRow;

use super::{
    access::actor,
    error::Result,
    load::ids,
    rows::{StaffRow, read},
    sql::{Sql, rows, setwise},
    tokens::{ApiToken, TokenRow},
    tx::{Tx, fetch},
};
use crate::domain::{
    command::{Actor, Verb},
    facts::Staff,
    id::{RegionId, Revision, RiderId, StaffId, TaskId, Timestamp},
};

const FIRST: Sql = Sql::same("SELECT number, event_id FROM dispatch_event ORDER BY number LIMIT 1");
const SESSIONS_ALIVE: Sql = setwise!(
    "SELECT w.hash, w.actor_kind, w.actor_id, w.created_at, w.seen_at FROM ",
    rows(text text),
    " CROSS JOIN web_session w WHERE w.hash = r.text AND w.actor_kind <> ''"
);
const TOKENS_ALIVE: Sql = setwise!(
    "SELECT t.id, t.secret_hash, t.label, t.actor_kind, t.actor_id, t.actions, t.regions, t.created_at, \
     t.expires_at, t.used_at, t.revoked_at FROM ",
    rows(text text),
    " CROSS JOIN api_token t WHERE t.id = r.text AND t.revoked_at IS NULL \
     AND (t.expires_at IS NULL OR t.expires_at > $2)"
);
const TRACKED: Sql = setwise!(
    "SELECT d.tracking_token, d.task_id FROM ",
    rows(text text),
    " CROSS JOIN task_detail d WHERE d.tracking_token = r.text"
);
const STAFF_ALIVE: Sql = setwise!(
    "SELECT s.id, s.role, s.disabled FROM ",
    rows(id int),
    " CROSS JOIN staff s WHERE s.id = r.id AND s.disabled = 0"
);
const STAFF_PLACES: Sql = setwise!(
    "SELECT s.staff_id, s.region_id FROM ",
    rows(id int),
    " CROSS JOIN staff_region s WHERE s.staff_id = r.id ORDER BY s.staff_id, s.region_id"
);
const RIDERS_ALIVE: Sql = setwise!(
    "SELECT d.id, d.region_id FROM ",
    rows(id int),
    " CROSS JOIN rider d WHERE d.id = r.id AND d.disabled = 0"
);
const BEFORE: Sql = setwise!(
    "SELECT e.task_id, e.to_revision, e.action, e.rider_id FROM ",
    rows(task int, revision int),
    " CROSS JOIN dispatch_event e WHERE e.task_id = r.task AND e.to_revision = r.revision \
     AND e.rider_id IS NOT NULL"
);
const HOLDERS: Sql = setwise!(
    "SELECT t.id, t.rider_id FROM ",
    rows(id int),
    " CROSS JOIN task t WHERE t.id = r.id AND t.rider_slot IS NOT NULL"
);
const ASKED: Sql = setwise!(
    "SELECT n.task_id, n.id, c.rider_id, c.sent_at FROM ",
    rows(id int),
    " CROSS JOIN round n JOIN round_candidate c ON c.round_id = n.id \
     WHERE n.task_id = r.id AND c.nonce IS NOT NULL ORDER BY n.task_id, n.id, c.sent_at, c.rider_id"
);
const IN_ROUND: Sql = setwise!(
    "SELECT r.id, r.at, MAX(CASE WHEN n.started_at < r.at THEN 1 ELSE 0 END), \
     MAX(CASE WHEN n.ended_at IS NULL OR n.ended_at > r.at THEN 1 ELSE 0 END) FROM ",
    rows(id int, at int),
    " CROSS JOIN round n WHERE n.task_id = r.id AND n.started_at <= r.at AND (n.ended_at IS NULL OR n.ended_at >= r.at) \
     GROUP BY r.id, r.at ORDER BY r.id, r.at"
);

/// A session that has an owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenSession {
    /// The hash of its id.
    pub hash: String,
    /// Whose it is.
    pub owner: Actor,
    /// When it began.
    pub created_at: Timestamp,
    /// When it was last used.
    pub seen_at: Timestamp,
}

/// What had been done before, to the rider whom it concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Before {
    /// The task.
    pub task: TaskId,
    /// The revision that it made.
    pub revision: Revision,
    /// What was done.
    pub action: Verb,
    /// Whom it concerned.
    pub rider: RiderId,
}

/// Somebody who was asked in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskedIn {
    /// For which task.
    pub task: TaskId,
    /// The round.
    pub round: i64,
    /// Who.
    pub rider: RiderId,
    /// From when on the rider sees it.
    pub sent_at: Timestamp,
}

/// Whether a round showed a task to a few around an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Around {
    /// The task.
    pub task: TaskId,
    /// The instant.
    pub at: Timestamp,
    /// One ran until then.
    pub before: bool,
    /// One ran from then on.
    pub after: bool,
}

#[derive(Debug, FromRow)]
struct SessionRow {
    hash: String,
    actor_kind: String,
    actor_id: String,
    created_at: i64,
    seen_at: i64,
}

#[derive(Debug, Serialize)]
struct Text<'a> {
    text: &'a str,
}

fn texts<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    rows(&texts.map(|text| Text { text }).collect::<Vec<_>>())
}

impl Tx {
    /// The number and the id of the first event that there is; none if nothing has happened.
    pub async fn first_event(&mut self) -> Result<Option<(i64, String)>> {
        Ok(fetch!(self, (i64, String), FIRST).pop())
    }

    /// Those of these sessions, by the hashes of their ids, that have not been ended. How old they are is for the
    /// caller to judge.
    pub async fn sessions_alive(&mut self, hashes: &[&str]) -> Result<Vec<OpenSession>> {
        let found = fetch!(self, SessionRow, SESSIONS_ALIVE, texts(hashes.iter().copied()));
        let session = |row: SessionRow| {
            Ok(OpenSession {
                owner: actor("web_session", &row.hash, &row.actor_kind, &row.actor_id)?,
                hash: row.hash,
                created_at: Timestamp(row.created_at),
                seen_at: Timestamp(row.seen_at),
            })
        };
        found.into_iter().map(session).collect()
    }

    /// Those of these tokens that are neither ended nor over at `now`.
    pub async fn tokens_alive(&mut self, ids: &[&str], now: Timestamp) -> Result<Vec<ApiToken>> {
        let found = fetch!(self, TokenRow, TOKENS_ALIVE, texts(ids.iter().copied()), now.0);
        found.into_iter().map(TokenRow::token).collect()
    }

    /// The tasks behind those of these customers' links that there are.
    pub async fn tracked(&mut self, tokens: &[&str]) -> Result<Vec<(String, TaskId)>> {
        let found = fetch!(self, (String, i64), TRACKED, texts(tokens.iter().copied()));
        Ok(found.into_iter().map(|(token, task)| (token, TaskId(task))).collect())
    }

    /// Those of these members of staff who are not shut out, with their regions in order.
    pub async fn staff_alive(&mut self, staff: &[StaffId]) -> Result<Vec<Staff>> {
        let wanted = ids(staff.iter().map(|staff| staff.0));
        let found = fetch!(self, StaffRow, STAFF_ALIVE, &wanted);
        let mut found = found.into_iter().map(StaffRow::staff).collect::<Result<Vec<_>>>()?;
        let places = fetch!(self, (i64, i64), STAFF_PLACES, &wanted);
        for staff in &mut found {
            let own = places.iter().filter(|(of, _)| *of == staff.id.0);
            staff.regions = own.map(|(_, region)| RegionId(*region)).collect();
        }
        Ok(found)
    }

    /// Those of these riders who are not shut out, with the region where they work.
    pub async fn riders_alive(&mut self, riders: &[RiderId]) -> Result<Vec<(RiderId, RegionId)>> {
        let wanted = ids(riders.iter().map(|rider| rider.0));
        let found = fetch!(self, (i64, i64), RIDERS_ALIVE, &wanted);
        Ok(found.into_iter().map(|(rider, region)| (RiderId(rider), RegionId(region))).collect())
    }

    /// What made these revisions of tasks, where it concerned a rider.
    pub async fn made(&mut self, revisions: &[(TaskId, Revision)]) -> Result<Vec<Before>> {
        #[derive(Serialize)]
        struct Row {
            task: i64,
            revision: i64,
        }
        let row =
            |(task, revision): &(TaskId, Revision)| Row { task: task.0, revision: revision.0 };
        let wanted = rows(&revisions.iter().map(row).collect::<Vec<_>>());
        let found = fetch!(self, (i64, i64, String, i64), BEFORE, wanted);
        let before = |(task, revision, action, rider): (i64, i64, String, i64)| {
            Ok(Before {
                task: TaskId(task),
                revision: Revision(revision),
                action: read("dispatch_event", "action", task, &action, Verb::parse)?,
                rider: RiderId(rider),
            })
        };
        found.into_iter().map(before).collect()
    }

    /// Who holds these tasks now.
    pub async fn holders(&mut self, tasks: &[TaskId]) -> Result<Vec<(TaskId, RiderId)>> {
        let found = fetch!(self, (i64, i64), HOLDERS, ids(tasks.iter().map(|task| task.0)));
        Ok(found.into_iter().map(|(task, rider)| (TaskId(task), RiderId(rider))).collect())
    }

    /// Who was asked in rounds for these tasks, whatever became of the rounds.
    pub async fn asked(&mut self, tasks: &[TaskId]) -> Result<Vec<AskedIn>> {
        let wanted = ids(tasks.iter().map(|task| task.0));
        let found = fetch!(self, (i64, i64, i64, i64), ASKED, wanted);
        let asked = |(task, round, rider, sent_at)| AskedIn {
            task: TaskId(task),
            round,
            rider: RiderId(rider),
            sent_at: Timestamp(sent_at),
        };
        Ok(found.into_iter().map(asked).collect())
    }

    /// Those of these tasks and instants around which a round showed the task to a few.
    pub async fn in_round(&mut self, moments: &[(TaskId, Timestamp)]) -> Result<Vec<Around>> {
        #[derive(Serialize)]
        struct Row {
            id: i64,
            at: i64,
        }
        let row = |(task, at): &(TaskId, Timestamp)| Row { id: task.0, at: at.0 };
        let wanted = rows(&moments.iter().map(row).collect::<Vec<_>>());
        let found = fetch!(self, (i64, i64, i32, i32), IN_ROUND, wanted);
        let around = |(task, at, before, after)| Around {
            task: TaskId(task),
            at: Timestamp(at),
            before: before != 0,
            after: after != 0,
        };
        Ok(found.into_iter().map(around).collect())
    }
}
