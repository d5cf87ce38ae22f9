//! Seals over the log: what they are taken over, and where they are kept.

use sqlx::FromRow;

use super::{
    error::Result,
    read::Attempt,
    rows::LoggedEvent,
    sql::Sql,
    tx::{Tx, execute, fetch},
};
use crate::domain::{
    id::Timestamp,
    seal::{Column, Range, Seal},
};

const LAST_SEAL: Sql = Sql::same(
    "SELECT number, first_event, last_event, first_attempt, last_attempt, digest, prev, marks, key_id, mac, at \
     FROM audit_seal ORDER BY number DESC LIMIT 1",
);
const SEALS_AFTER: Sql = Sql::same(
    "SELECT number, first_event, last_event, first_attempt, last_attempt, digest, prev, marks, key_id, mac, at \
     FROM audit_seal WHERE number > $1 ORDER BY number LIMIT $2",
);
/// Whoever comes second with the same number or the same first row inserts nothing.
const INSERT_SEAL: Sql = Sql::same(
    "INSERT INTO audit_seal (number, first_event, last_event, first_attempt, last_attempt, digest, prev, marks, \
     key_id, mac, at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING",
);
const ATTEMPTS_AFTER: Sql = Sql::same(
    "SELECT number, actor_kind, actor_id, key_hash, task_id, verb, code, revision_seen, at FROM attempt \
     WHERE number > $1 ORDER BY number LIMIT $2",
);
const BOUNDS: Sql = Sql::same(
    "SELECT (SELECT COALESCE(MIN(number), 1) FROM dispatch_event), \
     (SELECT COALESCE(MAX(number), 0) FROM dispatch_event), \
     (SELECT COALESCE(MIN(number), 1) FROM attempt), (SELECT COALESCE(MAX(number), 0) FROM attempt)",
);

#[derive(Debug, FromRow)]
struct SealRow {
    number: i64,
    first_event: i64,
    last_event: i64,
    first_attempt: i64,
    last_attempt: i64,
    digest: String,
    prev: String,
    marks: String,
    key_id: String,
    mac: String,
    at: i64,
}

impl From<SealRow> for Seal {
    fn from(row: SealRow) -> Self {
        Self {
            number: row.number,
            events: Range { first: row.first_event, last: row.last_event },
            attempts: Range { first: row.first_attempt, last: row.last_attempt },
            digest: row.digest,
            prev: row.prev,
            marks: row.marks,
            key_id: row.key_id,
            mac: row.mac,
            at: Timestamp(row.at),
        }
    }
}

/// The smallest and the largest numbers that there are, and the last ones that were given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Of the events. Nothing is 1 to 0.
    pub events: Range,
    /// Of the attempts.
    pub attempts: Range,
    /// What the counter says: the last event and the last attempt.
    pub given: (i64, i64),
}

impl LoggedEvent {
    /// The columns that a seal is taken over beside the number: all of them, in the order of the table.
    pub const SEALED: [&str; 17] = [
        "event_id",
        "kind",
        "subject",
        "region_id",
        "task_id",
        "from_revision",
        "to_revision",
        "action",
        "actor_kind",
        "actor_id",
        "rider_id",
        "mode",
        "reason",
        "key_hash",
        "occurred_at",
        "detail_version",
        "detail",
    ];

    /// What stands in these columns.
    pub fn sealed(&self) -> [Column<'_>; 17] {
        [
            Column::Text(Some(&self.event_id)),
            Column::Text(Some(&self.kind)),
            Column::Int(Some(self.subject)),
            Column::Int(self.region_id),
            Column::Int(self.task_id),
            Column::Int(self.from_revision),
            Column::Int(self.to_revision),
            Column::Text(Some(&self.action)),
            Column::Text(Some(&self.actor_kind)),
            Column::Text(self.actor_id.as_deref()),
            Column::Int(self.rider_id),
            Column::Text(self.mode.as_deref()),
            Column::Text(self.reason.as_deref()),
            Column::Text(self.key_hash.as_deref()),
            Column::Int(Some(self.occurred_at)),
            Column::Int(Some(self.detail_version)),
            Column::Text(Some(&self.detail)),
        ]
    }
}

impl Attempt {
    /// The columns that a seal is taken over beside the number: all of them, in the order of the table.
    pub const SEALED: [&str; 8] =
        ["actor_kind", "actor_id", "key_hash", "task_id", "verb", "code", "revision_seen", "at"];

    /// What stands in these columns.
    pub fn sealed(&self) -> [Column<'_>; 8] {
        [
            Column::Text(Some(&self.actor_kind)),
            Column::Text(self.actor_id.as_deref()),
            Column::Text(self.key_hash.as_deref()),
            Column::Int(self.task_id),
            Column::Text(Some(&self.verb)),
            Column::Text(Some(&self.code)),
            Column::Int(self.revision_seen),
            Column::Int(Some(self.at)),
        ]
    }
}

impl Tx {
    /// The last seal, if there is any.
    pub async fn last_seal(&mut self) -> Result<Option<Seal>> {
        Ok(fetch!(self, SealRow, LAST_SEAL).pop().map(Seal::from))
    }

    /// Up to `limit` seals with larger numbers than `after`, in order.
    pub async fn seals_after(&mut self, after: i64, limit: i64) -> Result<Vec<Seal>> {
        let found = fetch!(self, SealRow, SEALS_AFTER, after, limit);
        Ok(found.into_iter().map(Seal::from).collect())
    }

    /// Keeps a seal, unless another one with its number or its first rows is there. Returns whether it was kept.
    pub async fn insert_seal(&mut self, seal: &Seal) -> Result<bool> {
        let kept = execute!(
            self,
            INSERT_SEAL,
            seal.number,
            seal.events.first,
            seal.events.last,
            seal.attempts.first,
            seal.attempts.last,
            &seal.digest,
            &seal.prev,
            &seal.marks,
            &seal.key_id,
            &seal.mac,
            seal.at.0,
        );
        Ok(kept == 1)
    }

    /// Up to `limit` attempts with larger numbers than `after`, in order: a safe cursor, like that of the events.
    pub async fn attempts_after(&mut self, after: i64, limit: i64) -> Result<Vec<Attempt>> {
        Ok(fetch!(self, Attempt, ATTEMPTS_AFTER, after, limit))
    }

    /// Which numbers there are, against those that were given out. Use it in a reading transaction: both must be of one
    /// moment.
    pub async fn bounds(&mut self) -> Result<Bounds> {
        let found = fetch!(self, (i64, i64, i64, i64), BOUNDS).pop();
        let (first_event, last_event, first_attempt, last_attempt) = found.unwrap_or((1, 0, 1, 0));
        Ok(Bounds {
            events: Range { first: first_event, last: last_event },
            attempts: Range { first: first_attempt, last: last_attempt },
            given: self.head().await?,
        })
    }
}
