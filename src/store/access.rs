//! Who comes in: passwords of staff, and links of people. (Tokens of scripts: `tokens`. Sessions: `sessions`.)

use sha2::{Digest, Sha256};

use super::{
    error::Result,
    rows::read,
    sessions::PRUNE_SESSIONS,
    sql::Sql,
    tx::{Tx, execute, fetch},
};
use crate::domain::{
    command::Actor,
    fingerprint::hex,
    id::{StaffId, Timestamp},
    text_enum::text_enum,
};

const SET_PASSWORD: Sql = Sql::same(
    "INSERT INTO staff_password (staff_id, login, phc, set_at) VALUES ($1, $2, $3, $4) \
     ON CONFLICT (staff_id) DO UPDATE SET login = excluded.login, phc = excluded.phc, set_at = excluded.set_at",
);
const PASSWORD: Sql = Sql::same("SELECT staff_id, phc FROM staff_password WHERE login = $1");
const PASSWORD_OF: Sql = Sql::same("SELECT login, phc FROM staff_password WHERE staff_id = $1");
const ADD_LINK: Sql = Sql::same(
    "INSERT INTO sign_in_link (hash, actor_kind, actor_id, created_at, expires_at, uses_left, purpose) \
     VALUES ($1, $2, $3, $4, $5, $6, $7)",
);
const LINK: Sql = Sql::same(
    "SELECT actor_kind, actor_id, purpose FROM sign_in_link \
     WHERE hash = $1 AND uses_left > 0 AND expires_at > $2",
);
const USE_LINK: Sql = Sql::same(
    "UPDATE sign_in_link SET uses_left = uses_left - 1 \
     WHERE hash = $1 AND uses_left > 0 AND expires_at > $2 AND purpose = $3",
);
pub(super) const PRUNE_LINKS: Sql = Sql::same(
    "DELETE FROM sign_in_link WHERE hash IN (SELECT hash FROM sign_in_link WHERE expires_at < $1 LIMIT $2)",
);

/// What is kept of a token's secret, or of a link's: who reads the table can not come in with it.
pub fn token_hash(secret: &str) -> String {
    hex(&Sha256::digest(secret.as_bytes()))
}

text_enum! {
    /// What a link is for.
    pub enum LinkPurpose {
        /// To come in.
        Enter = "enter",
        /// To set one's own password.
        Password = "password",
        /// To set the desk up: for whoever started the program.
        SetUp = "setup",
    }
}

/// A link as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Whom it is for.
    pub actor: Actor,
    /// What it is for.
    pub purpose: LinkPurpose,
}

/// The columns of an actor who can come in. Nobody is the empty text: a session before its sign-in.
pub(super) fn columns(actor: Option<&Actor>) -> (&'static str, String) {
    actor.map_or(("", String::new()), |actor| (actor.kind(), actor.id().unwrap_or_default()))
}

pub(super) fn actor(table: &'static str, row: &str, kind: &str, id: &str) -> Result<Actor> {
    // The row's name is a hash or a public id, so it may be shown.
    Actor::from_columns(kind, Some(id)).ok_or_else(|| super::Error::Corrupt {
        table,
        column: "actor_kind",
        row: row.to_owned(),
        value: kind.to_owned(),
    })
}

impl Tx {
    /// Sets the sign-in name and the hashed password of a member of staff.
    ///
    /// # Errors
    /// [`Error::Moved`](super::Error::Moved) if somebody else has that name.
    pub async fn set_password(
        &mut self,
        staff: StaffId,
        login: &str,
        phc: &str,
        at: Timestamp,
    ) -> Result<()> {
        execute!(self, SET_PASSWORD, staff.0, login, phc, at.0);
        Ok(())
    }

    /// Who signs in under `login`, with the hashed password.
    pub async fn password(&mut self, login: &str) -> Result<Option<(StaffId, String)>> {
        let found = fetch!(self, (i64, String), PASSWORD, login).pop();
        Ok(found.map(|(staff, phc)| (StaffId(staff), phc)))
    }

    /// The sign-in name of a member of staff, with the hashed password.
    pub async fn password_of(&mut self, staff: StaffId) -> Result<Option<(String, String)>> {
        Ok(fetch!(self, (String, String), PASSWORD_OF, staff.0).pop())
    }

    /// Keeps a link that is good `uses` times until `until`.
    pub async fn add_link(
        &mut self,
        hash: &str,
        link: &Link,
        at: Timestamp,
        until: Timestamp,
        uses: u32,
    ) -> Result<()> {
        let (kind, of) = columns(Some(&link.actor));
        let purpose = link.purpose.as_str();
        execute!(self, ADD_LINK, hash, kind, &of, at.0, until.0, i64::from(uses), purpose);
        Ok(())
    }

    /// A link that is good at `now`.
    pub async fn link(&mut self, hash: &str, now: Timestamp) -> Result<Option<Link>> {
        let found = fetch!(self, (String, String, String), LINK, hash, now.0).pop();
        found
            .map(|(kind, of, purpose)| {
                let actor = actor("sign_in_link", hash, &kind, &of)?;
                let purpose = read("sign_in_link", "purpose", 0, &purpose, LinkPurpose::parse)?;
                Ok(Link { actor, purpose })
            })
            .transpose()
    }

    /// Uses a link up by one, for that purpose alone. `None` if it has no use left: of two who try at once, one gets in.
    pub async fn use_link(
        &mut self,
        hash: &str,
        purpose: LinkPurpose,
        now: Timestamp,
    ) -> Result<Option<Actor>> {
        let link = self.link(hash, now).await?;
        let used = execute!(self, USE_LINK, hash, now.0, purpose.as_str());
        Ok(link.filter(|_| used == 1).map(|link| link.actor))
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
