//! Sessions of browsers: the hash of the id, whose it is, when it began, when it was seen.

use super::{
    access::{actor, columns},
    error::Result,
    sql::Sql,
    tx::{Tx, execute, fetch},
};
use crate::domain::{command::Actor, id::Timestamp};

const ADD_SESSION: Sql = Sql::same(
    "INSERT INTO web_session (hash, actor_kind, actor_id, data, created_at, seen_at, device) \
     VALUES ($1, $2, $3, $4, $5, $5, $6)",
);
// What was typed before an erasure, and read into a request before it, is not brought back.
const SAVE_SESSION: Sql = Sql::same(
    "UPDATE web_session SET actor_kind = $2, actor_id = $3, seen_at = $5, device = $6, \
     data = CASE WHEN erasures = $7 THEN $4 ELSE $8 END WHERE hash = $1",
);
const SESSION: Sql = Sql::same(
    "SELECT hash, actor_kind, actor_id, data, created_at, seen_at, device, erasures FROM web_session WHERE hash = $1",
);
const SESSIONS_OF: Sql = Sql::same(
    "SELECT hash, actor_kind, actor_id, data, created_at, seen_at, device, erasures FROM web_session \
     WHERE actor_kind = $1 AND actor_id = $2 ORDER BY seen_at DESC LIMIT $3",
);
const END_SESSION: Sql = Sql::same("DELETE FROM web_session WHERE hash = $1");
const END_SESSION_OF: Sql =
    Sql::same("DELETE FROM web_session WHERE hash = $1 AND actor_kind = $2 AND actor_id = $3");
pub(super) const END_SESSIONS_OF: Sql =
    Sql::same("DELETE FROM web_session WHERE actor_kind = $1 AND actor_id = $2");
const END_OTHERS_OF: Sql =
    Sql::same("DELETE FROM web_session WHERE actor_kind = $1 AND actor_id = $2 AND hash <> $3");
pub(super) const PRUNE_SESSIONS: Sql = Sql::same(
    // Looked at twice: one that is saved meanwhile is not old any more.
    "DELETE FROM web_session WHERE hash IN (SELECT hash FROM web_session WHERE seen_at < $1 LIMIT $2) \
     AND seen_at < $1",
);

/// A browser's session as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebSession {
    /// The hash of its id: no secret, for nobody can come in with it.
    pub hash: String,
    /// Whose it is; `None` before anyone has signed in.
    pub owner: Option<Actor>,
    /// What the pages keep in it, as JSON.
    pub data: String,
    /// When it began.
    pub created_at: Timestamp,
    /// When it was last saved.
    pub seen_at: Timestamp,
    /// By what its owner knows it: the browser.
    pub device: String,
    /// How often what was typed in it has been erased.
    pub erasures: i64,
}

#[derive(Debug, sqlx::FromRow)]
struct SessionRow {
    hash: String,
    actor_kind: String,
    actor_id: String,
    data: String,
    created_at: i64,
    seen_at: i64,
    device: String,
    erasures: i64,
}

/// What is kept in a session without what was typed. (Not in SQL: PostgreSQL can not take apart what holds a NUL.)
pub(super) fn without_drafts(data: &str) -> String {
    match serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(data) {
        Ok(mut kept) => {
            kept.remove("drafts");
            serde_json::Value::Object(kept).to_string()
        }
        Err(_) => data.to_owned(),
    }
}

impl SessionRow {
    fn session(self) -> Result<WebSession> {
        let owner = match self.actor_kind.as_str() {
            "" => None,
            kind => Some(actor("web_session", &self.hash, kind, &self.actor_id)?),
        };
        Ok(WebSession {
            hash: self.hash,
            owner,
            data: self.data,
            created_at: Timestamp(self.created_at),
            seen_at: Timestamp(self.seen_at),
            device: self.device,
            erasures: self.erasures,
        })
    }
}

impl Tx {
    /// Keeps a new session.
    ///
    /// # Errors
    /// [`Error::Moved`](super::Error::Moved) if there is one of that hash.
    pub async fn add_session(
        &mut self,
        hash: &str,
        owner: Option<&Actor>,
        data: &str,
        device: &str,
        at: Timestamp,
    ) -> Result<()> {
        let (kind, of) = columns(owner);
        execute!(self, ADD_SESSION, hash, kind, &of, data, at.0, device);
        Ok(())
    }

    /// Keeps what changed in a session that was read when so much of it had been erased ([`WebSession::erasures`]): if more
    /// has been since then, what was typed goes. Returns 0 if it has ended meanwhile: an ended one is never made anew.
    pub async fn save_session(
        &mut self,
        hash: &str,
        owner: Option<&Actor>,
        (data, erasures): (&str, i64),
        device: &str,
        at: Timestamp,
    ) -> Result<u64> {
        let (kind, of) = columns(owner);
        let bare = without_drafts(data);
        Ok(execute!(self, SAVE_SESSION, hash, kind, &of, data, at.0, device, erasures, &bare))
    }

    /// A session, whatever its age.
    pub async fn session(&mut self, hash: &str) -> Result<Option<WebSession>> {
        fetch!(self, SessionRow, SESSION, hash).pop().map(SessionRow::session).transpose()
    }

    /// Up to `limit` sessions of `owner`, the last used first, whatever their age.
    pub async fn sessions_of(&mut self, owner: &Actor, limit: i64) -> Result<Vec<WebSession>> {
        let (kind, of) = columns(Some(owner));
        let found = fetch!(self, SessionRow, SESSIONS_OF, kind, &of, limit);
        found.into_iter().map(SessionRow::session).collect()
    }

    /// Ends a session.
    pub async fn end_session(&mut self, hash: &str) -> Result<u64> {
        Ok(execute!(self, END_SESSION, hash))
    }

    /// Ends a session, if it is one of `owner`.
    pub async fn end_session_of(&mut self, owner: &Actor, hash: &str) -> Result<u64> {
        let (kind, of) = columns(Some(owner));
        Ok(execute!(self, END_SESSION_OF, hash, kind, &of))
    }

    /// Ends all sessions of `owner`.
    pub async fn end_sessions_of(&mut self, owner: &Actor) -> Result<u64> {
        let (kind, of) = columns(Some(owner));
        Ok(execute!(self, END_SESSIONS_OF, kind, &of))
    }

    /// Ends all sessions of `owner` but the one of that hash.
    pub async fn end_others_of(&mut self, owner: &Actor, hash: &str) -> Result<u64> {
        let (kind, of) = columns(Some(owner));
        Ok(execute!(self, END_OTHERS_OF, kind, &of, hash))
    }
}
