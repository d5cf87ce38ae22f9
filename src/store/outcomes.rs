//! The answers given under request keys.

use serde::Serialize;

use super::{
    error::Result,
    load::StoredOutcome,
    sql::{Sql, rows, setwise},
    tx::{Tx, execute},
};
use crate::domain::id::{Revision, Timestamp};

const INSERT_OUTCOMES: Sql = setwise!(
    "INSERT INTO command_outcome (principal, request_key, fingerprint, status, location, etag, body, created_at) \
     SELECT r.principal, r.request_key, r.fingerprint, r.status, r.location, r.etag, r.body, r.at FROM ",
    rows(principal text, request_key text, fingerprint text, status int, location text, etag text, body text,
         at int),
    " WHERE true"
);

/// The same where a used key is no conflict. Only for the planted fault of ignored keys.
const INSERT_OUTCOMES_LAX: Sql = setwise!(
    "INSERT INTO command_outcome (principal, request_key, fingerprint, status, location, etag, body, created_at) \
     SELECT r.principal, r.request_key, r.fingerprint, r.status, r.location, r.etag, r.body, r.at FROM ",
    rows(principal text, request_key text, fingerprint text, status int, location text, etag text, body text,
         at int),
    " WHERE true ON CONFLICT DO NOTHING"
);

const PRUNE_OUTCOMES: Sql = Sql {
    sqlite: "DELETE FROM command_outcome WHERE rowid IN \
             (SELECT rowid FROM command_outcome ORDER BY rowid LIMIT $2) AND created_at < $1",
    postgres: "DELETE FROM command_outcome WHERE ctid IN \
               (SELECT ctid FROM command_outcome WHERE created_at < $1 LIMIT $2)",
};

/// A row for `command_outcome`.
#[derive(Debug, Serialize)]
pub struct OutcomeRow<'a> {
    /// Scope of the key.
    pub principal: &'a str,
    /// The key.
    pub request_key: &'a str,
    /// What was asked.
    pub fingerprint: &'a str,
    /// HTTP status.
    pub status: u16,
    /// Where the created task is.
    pub location: Option<&'a str>,
    /// The task's revision after it, as an entity tag.
    pub etag: Option<&'a str>,
    /// The answer, byte for byte.
    pub body: &'a str,
    /// When, in epoch milliseconds.
    pub at: i64,
}

impl StoredOutcome {
    /// The answer's status as HTTP has it.
    pub fn http_status(&self) -> u16 {
        u16::try_from(self.status).unwrap_or(500)
    }
}
impl Tx {
    /// Stores answers under their request keys.
    ///
    /// # Errors
    /// [`Error::Moved`](super::Error::Moved) if another transaction has used one of the keys meanwhile.
    pub async fn insert_outcomes(&mut self, outcomes: &[OutcomeRow<'_>]) -> Result<()> {
        if !outcomes.is_empty() {
            let lax = crate::fault::planted(crate::fault::Fault::KeyIgnored);
            let sql = if lax { INSERT_OUTCOMES_LAX } else { INSERT_OUTCOMES };
            execute!(self, sql, rows(outcomes));
        }
        Ok(())
    }

    /// Deletes up to `limit` of the oldest stored answers that were given before `before`. What they answered
    /// stays in the log, and the revision still protects.
    pub async fn prune_outcomes(&mut self, before: Timestamp, limit: i64) -> Result<u64> {
        Ok(execute!(self, PRUNE_OUTCOMES, before.0, limit))
    }
}

/// The revision as an entity tag.
pub fn etag(revision: Revision) -> String {
    format!("\"{revision}\"")
}
