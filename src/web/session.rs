//! Sessions of browsers, kept in our own tables: the hash of the id, whose it is, when it began, when it was seen.

use std::collections::HashMap;

use async_trait::async_trait;
use axum::http::request::Parts;
use sha2::{Digest, Sha256};
use tower_sessions::{
    SessionStore,
    session::{Id, Record},
    session_store,
};

use crate::{
    domain::{command::Actor, fingerprint::hex, id::Timestamp},
    store::{self, Db},
};

/// Where a session keeps whose it is.
pub(super) const OWNER: &str = "owner";
/// Where a session keeps by what its owner knows it.
pub(super) const DEVICE: &str = "device";

/// Where a session keeps how much of it had been erased when it was read.
const ERASURES: &str = "erasures";

/// The header of what pages fetch by themselves.
const BY_ITSELF: &str = "x-by-itself";

/// Whether a page asks by itself, with nobody there: a stream, or what it makes the page fetch. That keeps no session alive.
pub(super) fn is_by_itself(parts: &Parts) -> bool {
    parts.uri.path().ends_with("/stream") || parts.headers.contains_key(BY_ITSELF)
}

/// How long sessions live.
#[derive(Clone, Copy, Debug)]
pub struct Lifetime {
    /// Without any request, in milliseconds.
    pub idle_ms: i64,
    /// In all, in milliseconds.
    pub most_ms: i64,
}

impl Lifetime {
    /// Staff: an hour without a request, half a day in all (DESIGN §5).
    pub const STAFF: Self = Self { idle_ms: 60 * 60_000, most_ms: 12 * 3_600_000 };
    /// Riders: a device is remembered for 30 days.
    pub const RIDER: Self = Self { idle_ms: 30 * 86_400_000, most_ms: 30 * 86_400_000 };
}

/// Sessions in the database. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Sessions {
    db: Db,
    lifetime: Lifetime,
}

impl Sessions {
    /// Sessions of one kind of people.
    pub const fn new(db: Db, lifetime: Lifetime) -> Self {
        Self { db, lifetime }
    }

    fn is_over(&self, created: Timestamp, seen: Timestamp, now: Timestamp) -> bool {
        let Lifetime { idle_ms, most_ms } = self.lifetime;
        now.ms_since(seen) >= idle_ms || now.ms_since(created) >= most_ms
    }
}

/// What is kept of a session's id: who reads the table can not sign in with it.
pub(super) fn id_hash(id: Id) -> String {
    hex(&Sha256::digest(id.0.to_be_bytes()))
}

fn failed(error: &store::Error) -> session_store::Error {
    tracing::error!(%error, "a session can not be read or kept");
    session_store::Error::Backend("the sessions can not be reached".to_owned())
}

fn owner(record: &Record) -> Option<Actor> {
    record.data.get(OWNER).and_then(|owner| serde_json::from_value(owner.clone()).ok())
}

fn device(record: &Record) -> &str {
    record.data.get(DEVICE).and_then(|device| device.as_str()).unwrap_or_default()
}

/// What is kept of it, with how much had been erased when it was read.
fn data(record: &Record) -> session_store::Result<(String, i64)> {
    let mut data = record.data.clone();
    let erasures = data.remove(ERASURES).and_then(|count| count.as_i64()).unwrap_or_default();
    serde_json::to_string(&data)
        .map(|data| (data, erasures))
        .map_err(|error| session_store::Error::Encode(error.to_string()))
}

#[async_trait]
impl SessionStore for Sessions {
    async fn create(&self, record: &mut Record) -> session_store::Result<()> {
        let ((data, _), owner) = (data(record)?, owner(record));
        loop {
            let mut tx = self.db.begin().await.map_err(|error| failed(&error))?;
            let now = tx.now().await.map_err(|error| failed(&error))?;
            let hash = id_hash(record.id);
            match tx.add_session(&hash, owner.as_ref(), &data, device(record), now).await {
                Ok(()) => return tx.commit().await.map_err(|error| failed(&error)),
                Err(store::Error::Moved(_)) => record.id = Id::default(),
                Err(error) => return Err(failed(&error)),
            }
        }
    }

    async fn save(&self, record: &Record) -> session_store::Result<()> {
        let ((data, erasures), owner) = (data(record)?, owner(record));
        let mut tx = self.db.begin().await.map_err(|error| failed(&error))?;
        let now = tx.now().await.map_err(|error| failed(&error))?;
        // A session that was ended meanwhile stays ended.
        let (hash, device) = (id_hash(record.id), device(record));
        let saved = tx.save_session(&hash, owner.as_ref(), (&data, erasures), device, now).await;
        saved.map_err(|error| failed(&error))?;
        tx.commit().await.map_err(|error| failed(&error))
    }

    async fn load(&self, id: &Id) -> session_store::Result<Option<Record>> {
        let mut tx = self.db.read().await.map_err(|error| failed(&error))?;
        let found = tx.session(&id_hash(*id)).await.map_err(|error| failed(&error))?;
        let Some(found) = found else { return Ok(None) };
        let now = tx.now().await.map_err(|error| failed(&error))?;
        if self.is_over(found.created_at, found.seen_at, now) {
            return Ok(None);
        }
        let mut data: HashMap<String, serde_json::Value> = serde_json::from_str(&found.data)
            .map_err(|error| session_store::Error::Decode(error.to_string()))?;
        data.insert(ERASURES.to_owned(), found.erasures.into());
        // Our own clock has said that it lives; the layer's need not say it again.
        let expiry_date = time::OffsetDateTime::UNIX_EPOCH + time::Duration::days(365 * 200);
        Ok(Some(Record { id: *id, data, expiry_date }))
    }

    async fn delete(&self, id: &Id) -> session_store::Result<()> {
        let mut tx = self.db.begin().await.map_err(|error| failed(&error))?;
        tx.end_session(&id_hash(*id)).await.map_err(|error| failed(&error))?;
        tx.commit().await.map_err(|error| failed(&error))
    }
}
