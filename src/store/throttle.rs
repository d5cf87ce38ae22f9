//! How often signing in failed lately, by account and by peer: in the database, because there may be several nodes.

use super::{
    error::Result,
    sql::Sql,
    tx::{Tx, execute, fetch},
};
use crate::domain::id::Timestamp;

const FAILURES: Sql =
    Sql::same("SELECT failures, since, last_at FROM sign_in_attempt WHERE bucket = $1");
/// Many who try at once are looked at one after another: SQLite has one writer, PostgreSQL locks the row, and is told to
/// make it first.
const HOLD_BUCKET: Sql = Sql::same(
    "INSERT INTO sign_in_attempt (bucket, failures, since, last_at) VALUES ($1, 0, $2, $2) \
     ON CONFLICT (bucket) DO UPDATE SET failures = sign_in_attempt.failures",
);
const NOTE_FAILURE: Sql = Sql::same(
    "INSERT INTO sign_in_attempt (bucket, failures, since, last_at) VALUES ($1, 1, $2, $2) \
     ON CONFLICT (bucket) DO UPDATE SET \
     failures = CASE WHEN sign_in_attempt.last_at < $3 THEN 1 ELSE sign_in_attempt.failures + 1 END, \
     since = CASE WHEN sign_in_attempt.last_at < $3 THEN excluded.since ELSE sign_in_attempt.since END, \
     last_at = excluded.last_at",
);
const FORGET_FAILURES: Sql = Sql::same("DELETE FROM sign_in_attempt WHERE bucket = $1");
const PRUNE_FAILURES: Sql = Sql::same(
    "DELETE FROM sign_in_attempt WHERE bucket IN \
     (SELECT bucket FROM sign_in_attempt WHERE last_at < $1 LIMIT $2) AND last_at < $1",
);

/// Failures of one account or peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Failures {
    /// How many in a row.
    pub count: i64,
    /// When the first of them was.
    pub since: Timestamp,
    /// When the last of them was.
    pub last_at: Timestamp,
}

impl Tx {
    /// The failures of a bucket; none is a count of 0.
    pub async fn failures(&mut self, bucket: &str) -> Result<Failures> {
        let found = fetch!(self, (i64, i64, i64), FAILURES, bucket).pop();
        Ok(found.map_or_else(Failures::default, |(count, since, last_at)| Failures {
            count,
            since: Timestamp(since),
            last_at: Timestamp(last_at),
        }))
    }

    /// Keeps everybody else from looking at a bucket until this transaction ends.
    pub async fn hold_bucket(&mut self, bucket: &str, at: Timestamp) -> Result<()> {
        execute!(self, HOLD_BUCKET, bucket, at.0);
        Ok(())
    }

    /// Counts one failure. Those whose last was before `forgotten` do not count any more.
    pub async fn note_failure(
        &mut self,
        bucket: &str,
        at: Timestamp,
        forgotten: Timestamp,
    ) -> Result<()> {
        execute!(self, NOTE_FAILURE, bucket, at.0, forgotten.0);
        Ok(())
    }

    /// Forgets the failures of a bucket: it came in.
    pub async fn forget_failures(&mut self, bucket: &str) -> Result<u64> {
        Ok(execute!(self, FORGET_FAILURES, bucket))
    }

    /// Deletes up to `limit` buckets whose last failure was before `before`.
    pub async fn prune_failures(&mut self, before: Timestamp, limit: i64) -> Result<u64> {
        Ok(execute!(self, PRUNE_FAILURES, before.0, limit))
    }
}
