//! Tokens of scripts: for whom they speak, what they may do, and where.

use super::{
    access::{actor, columns, token_hash},
    error::Result,
    rows::read,
    sql::Sql,
    tx::{Tx, execute, fetch},
};
use crate::domain::{
    command::Actor,
    id::{RegionId, Timestamp},
    scope::{Actions, Scope},
};

/// The columns of a token, as [`TokenRow`] reads them.
macro_rules! tokens {
    ($tail:literal) => {
        Sql::same(concat!(
            "SELECT id, secret_hash, label, actor_kind, actor_id, actions, regions, created_at, expires_at, ",
            "used_at, revoked_at FROM api_token ",
            $tail
        ))
    };
}

const ADD_TOKEN: Sql = Sql::same(
    "INSERT INTO api_token (id, secret_hash, label, actor_kind, actor_id, created_at, actions, regions, expires_at) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
);
const TOKEN: Sql =
    tokens!("WHERE id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)");
const TOKENS_OF: Sql = tokens!(
    "WHERE actor_kind = $1 AND actor_id = $2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $3) ORDER BY id"
);
const TOKENS: Sql = tokens!("ORDER BY created_at DESC, id LIMIT $1");
const REVOKE_TOKEN: Sql =
    Sql::same("UPDATE api_token SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL");
const TOKEN_USED: Sql = Sql::same(
    "UPDATE api_token SET used_at = $2 WHERE id = $1 AND (used_at IS NULL OR used_at < $2 - 60000)",
);

/// A script's token as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiToken {
    /// The part of it that is no secret.
    pub id: String,
    /// SHA-256 of the secret, in hexadecimal.
    pub secret_hash: String,
    /// What it is for.
    pub label: String,
    /// For whom it speaks.
    pub actor: Actor,
    /// What it may do, and where.
    pub scope: Scope,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it is over by itself.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, to the minute.
    pub used_at: Option<Timestamp>,
    /// When it was ended.
    pub revoked_at: Option<Timestamp>,
}

impl ApiToken {
    /// A new token that may whatever its account may, for as long as nobody ends it.
    pub fn new(id: &str, secret: &str, label: &str, actor: &Actor, created_at: Timestamp) -> Self {
        Self {
            id: id.to_owned(),
            secret_hash: token_hash(secret),
            label: label.to_owned(),
            actor: actor.clone(),
            scope: Scope::ALL,
            created_at,
            expires_at: None,
            used_at: None,
            revoked_at: None,
        }
    }
}

#[derive(Debug, sqlx::FromRow)]
pub(super) struct TokenRow {
    id: String,
    secret_hash: String,
    label: String,
    actor_kind: String,
    actor_id: String,
    actions: String,
    regions: Option<String>,
    created_at: i64,
    expires_at: Option<i64>,
    used_at: Option<i64>,
    revoked_at: Option<i64>,
}

impl TokenRow {
    pub(super) fn token(self) -> Result<ApiToken> {
        let actions = read("api_token", "actions", 0, &self.actions, Actions::parse)?;
        let regions = |text: &String| {
            read("api_token", "regions", 0, text, |text| {
                text.split(',').map(|id| id.parse().ok().map(RegionId)).collect()
            })
        };
        Ok(ApiToken {
            actor: actor("api_token", &self.id, &self.actor_kind, &self.actor_id)?,
            scope: Scope { actions, regions: self.regions.as_ref().map(regions).transpose()? },
            id: self.id,
            secret_hash: self.secret_hash,
            label: self.label,
            created_at: Timestamp(self.created_at),
            expires_at: self.expires_at.map(Timestamp),
            used_at: self.used_at.map(Timestamp),
            revoked_at: self.revoked_at.map(Timestamp),
        })
    }
}

impl Tx {
    /// The tokens that scripts speak for `of` with at `now`.
    pub async fn tokens_of(&mut self, of: &Actor, now: Timestamp) -> Result<Vec<ApiToken>> {
        let (kind, id) = (of.kind(), of.id().unwrap_or_default());
        let found = fetch!(self, TokenRow, TOKENS_OF, kind, &id, now.0);
        found.into_iter().map(TokenRow::token).collect()
    }

    /// Keeps a script's token, new and unused.
    ///
    /// # Errors
    /// [`Error::Moved`](super::Error::Moved) if the id is taken.
    pub async fn add_token(&mut self, token: &ApiToken) -> Result<()> {
        let (kind, of) = columns(Some(&token.actor));
        let regions = token.scope.regions.as_ref().map(|regions| {
            regions.iter().map(|region| region.0.to_string()).collect::<Vec<_>>().join(",")
        });
        execute!(
            self,
            ADD_TOKEN,
            token.id.as_str(),
            token.secret_hash.as_str(),
            token.label.as_str(),
            kind,
            &of,
            token.created_at.0,
            token.scope.actions.to_string(),
            &regions,
            token.expires_at.map(|at| at.0)
        );
        Ok(())
    }

    /// A token that is neither ended nor over at `now`.
    pub async fn token(&mut self, id: &str, now: Timestamp) -> Result<Option<ApiToken>> {
        fetch!(self, TokenRow, TOKEN, id, now.0).pop().map(TokenRow::token).transpose()
    }

    /// Up to `limit` tokens, the latest first, those that are over too.
    pub async fn tokens(&mut self, limit: i64) -> Result<Vec<ApiToken>> {
        fetch!(self, TokenRow, TOKENS, limit).into_iter().map(TokenRow::token).collect()
    }

    /// Ends a token. Returns 0 if there is none.
    pub async fn revoke_token(&mut self, id: &str, at: Timestamp) -> Result<u64> {
        Ok(execute!(self, REVOKE_TOKEN, id, at.0))
    }

    /// Notes that a token was used: once a minute, for each note is a write.
    pub async fn token_used(&mut self, id: &str, at: Timestamp) -> Result<u64> {
        Ok(execute!(self, TOKEN_USED, id, at.0))
    }
}
