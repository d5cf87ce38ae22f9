//! Who comes in: tokens of scripts, passwords and links of people, sessions of browsers.

use sha2::{Digest, Sha256};

use super::{
    error::Result,
    sql::Sql,
    tx::{Tx, execute, fetch},
};
use crate::domain::{
    command::Actor,
    fingerprint::hex,
    id::{StaffId, Timestamp},
};

const ADD_TOKEN: Sql = Sql::same(
    "INSERT INTO api_token (id, secret_hash, label, actor_kind, actor_id, created_at) \
     VALUES ($1, $2, $3, $4, $5, $6)",
);
const TOKEN: Sql = Sql::same(
    "SELECT secret_hash, actor_kind, actor_id FROM api_token WHERE id = $1 AND revoked_at IS NULL",
);
const REVOKE_TOKEN: Sql =
    Sql::same("UPDATE api_token SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL");
const SET_PASSWORD: Sql = Sql::same(
    "INSERT INTO staff_password (staff_id, login, phc) VALUES ($1, $2, $3) \
     ON CONFLICT (staff_id) DO UPDATE SET login = excluded.login, phc = excluded.phc",
);
const PASSWORD: Sql = Sql::same("SELECT staff_id, phc FROM staff_password WHERE login = $1");
const ADD_LINK: Sql = Sql::same(
    "INSERT INTO sign_in_link (hash, actor_kind, actor_id, created_at, expires_at, uses_left) \
     VALUES ($1, $2, $3, $4, $5, $6)",
);
const LINK: Sql = Sql::same(
    "SELECT actor_kind, actor_id FROM sign_in_link WHERE hash = $1 AND uses_left > 0 AND expires_at > $2",
);
const USE_LINK: Sql = Sql::same(
    "UPDATE sign_in_link SET uses_left = uses_left - 1 WHERE hash = $1 AND uses_left > 0 AND expires_at > $2",
);
const ADD_SESSION: Sql = Sql::same(
    "INSERT INTO web_session (hash, actor_kind, actor_id, data, created_at, seen_at) \
     VALUES ($1, $2, $3, $4, $5, $5)",
);
const SAVE_SESSION: Sql = Sql::same(
    "UPDATE web_session SET actor_kind = $2, actor_id = $3, data = $4, seen_at = $5 WHERE hash = $1",
);
const SESSION: Sql = Sql::same(
    "SELECT actor_kind, actor_id, data, created_at, seen_at FROM web_session WHERE hash = $1",
);
const END_SESSION: Sql = Sql::same("DELETE FROM web_session WHERE hash = $1");
pub(super) const END_SESSIONS_OF: Sql =
    Sql::same("DELETE FROM web_session WHERE actor_kind = $1 AND actor_id = $2");
pub(super) const PRUNE_SESSIONS: Sql = Sql::same(
    // Looked at twice: one that is saved meanwhile is not old any more.
    "DELETE FROM web_session WHERE hash IN (SELECT hash FROM web_session WHERE seen_at < $1 LIMIT $2) \
     AND seen_at < $1",
);
pub(super) const PRUNE_LINKS: Sql = Sql::same(
    "DELETE FROM sign_in_link WHERE hash IN (SELECT hash FROM sign_in_link WHERE expires_at < $1 LIMIT $2)",
);

/// What is kept of a token's secret, or of a link's: who reads the table can not come in with it.
pub fn token_hash(secret: &str) -> String {
    hex(&Sha256::digest(secret.as_bytes()))
}

/// A script's token as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiToken {
    /// SHA-256 of the secret, in hexadecimal.
    pub secret_hash: String,
    /// For whom it speaks.
    pub actor: Actor,
}

/// A browser's session as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebSession {
    /// Whose it is; `None` before anyone has signed in.
    pub owner: Option<Actor>,
    /// What the pages keep in it, as JSON.
    pub data: String,
    /// When it began.
    pub created_at: Timestamp,
    /// When it was last saved.
    pub seen_at: Timestamp,
}

/// The columns of an actor who can come in. Nobody is the empty text: a session before its sign-in.
fn columns(actor: Option<&Actor>) -> (&'static str, String) {
    actor.map_or(("", String::new()), |actor| (actor.kind(), actor.id().unwrap_or_default()))
}

fn actor(table: &'static str, row: &str, kind: &str, id: &str) -> Result<Actor> {
    // The row's name is a hash or a public id, so it may be shown.
    Actor::from_columns(kind, Some(id)).ok_or_else(|| super::Error::Corrupt {
        table,
        column: "actor_kind",
        row: row.to_owned(),
        value: kind.to_owned(),
    })
}

impl Tx {
    /// Keeps a script's token that speaks for `actor`.
    ///
    /// # Errors
    /// [`Error::Moved`](super::Error::Moved) if the id is taken.
    pub async fn add_token(
        &mut self,
        id: &str,
        secret_hash: &str,
        label: &str,
        actor: &Actor,
        at: Timestamp,
    ) -> Result<()> {
        let (kind, of) = columns(Some(actor));
        execute!(self, ADD_TOKEN, id, secret_hash, label, kind, of, at.0);
        Ok(())
    }

    /// A token that was not revoked.
    pub async fn token(&mut self, id: &str) -> Result<Option<ApiToken>> {
        let found = fetch!(self, (String, String, String), TOKEN, id).pop();
        found
            .map(|(secret_hash, kind, of)| {
                Ok(ApiToken { secret_hash, actor: actor("api_token", id, &kind, &of)? })
            })
            .transpose()
    }

    /// Ends a token. Returns 0 if there is none.
    pub async fn revoke_token(&mut self, id: &str, at: Timestamp) -> Result<u64> {
        Ok(execute!(self, REVOKE_TOKEN, id, at.0))
    }

    /// Sets the sign-in name and the hashed password of a member of staff.
    ///
    /// # Errors
    /// [`Error::Moved`](super::Error::Moved) if somebody else has that name.
    pub async fn set_password(&mut self, staff: StaffId, login: &str, phc: &str) -> Result<()> {
        execute!(self, SET_PASSWORD, staff.0, login, phc);
        Ok(())
    }

    /// Who signs in under `login`, with the hashed password.
    pub async fn password(&mut self, login: &str) -> Result<Option<(StaffId, String)>> {
        let found = fetch!(self, (i64, String), PASSWORD, login).pop();
        Ok(found.map(|(staff, phc)| (StaffId(staff), phc)))
    }

    /// Keeps a link that signs `actor` in `uses` times until `until`.
    pub async fn add_link(
        &mut self,
        hash: &str,
        actor: &Actor,
        at: Timestamp,
        until: Timestamp,
        uses: u32,
    ) -> Result<()> {
        let (kind, of) = columns(Some(actor));
        execute!(self, ADD_LINK, hash, kind, of, at.0, until.0, i64::from(uses));
        Ok(())
    }

    /// Whom a link would sign in at `now`.
    pub async fn link(&mut self, hash: &str, now: Timestamp) -> Result<Option<Actor>> {
        let found = fetch!(self, (String, String), LINK, hash, now.0).pop();
        found.map(|(kind, of)| actor("sign_in_link", hash, &kind, &of)).transpose()
    }

    /// Uses a link up by one. `None` if it has no use left: of two who try at once, one gets in.
    pub async fn use_link(&mut self, hash: &str, now: Timestamp) -> Result<Option<Actor>> {
        let actor = self.link(hash, now).await?;
        let used = execute!(self, USE_LINK, hash, now.0);
        Ok(actor.filter(|_| used == 1))
    }

    /// Keeps a new session.
    ///
    /// # Errors
    /// [`Error::Moved`](super::Error::Moved) if there is one of that hash.
    pub async fn add_session(
        &mut self,
        hash: &str,
        owner: Option<&Actor>,
        data: &str,
        at: Timestamp,
    ) -> Result<()> {
        let (kind, of) = columns(owner);
        execute!(self, ADD_SESSION, hash, kind, of, data, at.0);
        Ok(())
    }

    /// Keeps what changed in a session. Returns 0 if it has ended meanwhile: an ended one is never made anew.
    pub async fn save_session(
        &mut self,
        hash: &str,
        owner: Option<&Actor>,
        data: &str,
        at: Timestamp,
    ) -> Result<u64> {
        let (kind, of) = columns(owner);
        Ok(execute!(self, SAVE_SESSION, hash, kind, of, data, at.0))
    }

    /// A session, whatever its age.
    pub async fn session(&mut self, hash: &str) -> Result<Option<WebSession>> {
        let found = fetch!(self, (String, String, String, i64, i64), SESSION, hash).pop();
        found
            .map(|(kind, of, data, created_at, seen_at)| {
                let owner = match kind.as_str() {
                    "" => None,
                    kind => Some(actor("web_session", hash, kind, &of)?),
                };
                Ok(WebSession {
                    owner,
                    data,
                    created_at: Timestamp(created_at),
                    seen_at: Timestamp(seen_at),
                })
            })
            .transpose()
    }

    /// Ends a session.
    pub async fn end_session(&mut self, hash: &str) -> Result<u64> {
        Ok(execute!(self, END_SESSION, hash))
    }

    /// Ends all sessions of `owner`.
    pub async fn end_sessions_of(&mut self, owner: &Actor) -> Result<u64> {
        let (kind, of) = columns(Some(owner));
        Ok(execute!(self, END_SESSIONS_OF, kind, of))
    }

    /// Deletes up to `limit` sessions that were last seen before `before`, and as many links that are over.
    pub async fn prune_access(
        &mut self,
        before: Timestamp,
        now: Timestamp,
        limit: i64,
    ) -> Result<u64> {
        let sessions = execute!(self, PRUNE_SESSIONS, before.0, limit);
        Ok(sessions + execute!(self, PRUNE_LINKS, now.0, limit))
    }
}
