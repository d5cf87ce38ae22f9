//! Grabs that can only come second, across nodes: whose node has set the mark of a revision in Redis goes on as usual,
//! the others wait behind everything else.
//!
//! Only an optimisation. Whatever Redis says, or does not say, the database decides in the lane; an error or silence
//! means that nothing is known. It is kept short on purpose: an answer has [`PATIENCE`], after a failure nothing is asked
//! for [`BREAK`], and a mark that nobody takes away is gone after [`STAYS_MS`].

use std::{
    fmt,
    sync::{Arc, LazyLock, Mutex, PoisonError},
    time::Duration,
};

use redis::{
    Client, Script,
    aio::{ConnectionManager, ConnectionManagerConfig},
};
use tokio::{
    runtime::Handle,
    time::{Instant, timeout},
};

use crate::{
    clock::Entropy,
    domain::{
        fingerprint::hex,
        id::{Revision, TaskId},
    },
};

/// How long an answer may take. What it can save is a place in a queue, so a grab does not wait longer for it than for
/// a few commits.
const PATIENCE: Duration = Duration::from_millis(20);

/// For how long nothing is asked after a failure, so that a Redis that is away costs one grab in a while, not each. A new
/// connection has as long: it is made in the meantime.
const BREAK: Duration = Duration::from_secs(1);

/// How long a mark stays that nobody takes away, in milliseconds: for longer than a command waits for a task.
const STAYS_MS: u32 = 2_000;

static GIVE_BACK: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("give_back.lua")));

/// There is no such pre-trim.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("grabs can not be trimmed across nodes: {0}")]
pub struct NoPreTrim(pub String);

/// Tells grabs that can only come second, across nodes. Cheap to clone; all clones share a connection.
#[derive(Clone)]
pub struct PreTrim(Arc<Inner>);

struct Inner {
    connection: ConnectionManager,
    /// In braces, so that a cluster keeps all of it on one node.
    prefix: String,
    /// Nothing is asked before this instant.
    silent_until: Mutex<Option<Instant>>,
}

impl fmt::Debug for PreTrim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreTrim").field("prefix", &self.0.prefix).finish_non_exhaustive()
    }
}

/// What was learned of a grab.
#[derive(Debug)]
pub(in crate::engine::executor) enum Said {
    /// It is the first one of its revision.
    First(Held),
    /// Another one was before it.
    Second,
    /// Nothing: it was not asked, or not answered.
    Nothing,
}

impl PreTrim {
    /// One at `redis://…`, whose keys begin with `name`. It connects when it is asked. Must be called within a tokio
    /// runtime.
    ///
    /// # Errors
    /// If that is no address of a Redis.
    pub fn open(url: &str, name: &str) -> Result<Self, NoPreTrim> {
        let wrong = |error: redis::RedisError| NoPreTrim(error.to_string());
        let client = Client::open(url).map_err(wrong)?;
        let config = ConnectionManagerConfig::new()
            .set_number_of_retries(0)
            .set_connection_timeout(Some(BREAK))
            .set_response_timeout(Some(PATIENCE));
        let connection = ConnectionManager::new_lazy_with_config(client, config).map_err(wrong)?;
        let (prefix, silent_until) = (format!("{{{name}}}:first:"), Mutex::new(None));
        Ok(Self(Arc::new(Inner { connection, prefix, silent_until })))
    }

    /// Whether a grab of `task` that names `revision` is the first one.
    pub(in crate::engine::executor) async fn ask(
        &self,
        task: TaskId,
        revision: Revision,
        entropy: &dyn Entropy,
    ) -> Said {
        let mut token = [0; 16];
        // A token that others know would not do: they could take the mark away.
        if self.is_silent() || entropy.fill(&mut token).is_err() {
            return Said::Nothing;
        }
        let key = format!("{}{}:{revision}", self.0.prefix, task.0);
        let token = hex(&token);
        let mut set = redis::cmd("SET");
        set.arg(&key).arg(&token).arg("NX").arg("PX").arg(STAYS_MS);
        let mut connection = self.0.connection.clone();
        match timeout(PATIENCE, set.query_async::<Option<String>>(&mut connection)).await {
            Ok(Ok(Some(_))) => Said::First(Held(Some(Place { trim: self.clone(), key, token }))),
            Ok(Ok(None)) => Said::Second,
            Ok(Err(error)) => {
                self.fall_silent(&error);
                Said::Nothing
            }
            Err(late) => {
                self.fall_silent(&late);
                Said::Nothing
            }
        }
    }

    fn is_silent(&self) -> bool {
        let until = *self.0.silent_until.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| Instant::now() < until)
    }

    fn fall_silent(&self, error: &dyn fmt::Display) {
        let now = Instant::now();
        let mut until = self.0.silent_until.lock().unwrap_or_else(PoisonError::into_inner);
        // Many may have asked at the same time: one of them tells it.
        if until.replace(now + BREAK).is_none_or(|before| before <= now) {
            tracing::warn!(%error, "grabs are not trimmed across nodes for a moment");
        }
    }
}

/// A mark in Redis.
#[derive(Debug)]
struct Place {
    trim: PreTrim,
    key: String,
    token: String,
}

impl Place {
    /// Takes the mark away, if it is still its own.
    async fn give_back(self) {
        if self.trim.is_silent() {
            return;
        }
        let mut connection = self.trim.0.connection.clone();
        let mut script = GIVE_BACK.key(&self.key);
        script.arg(&self.token);
        match timeout(PATIENCE, script.invoke_async::<i64>(&mut connection)).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => self.trim.fall_silent(&error),
            Err(late) => self.trim.fall_silent(&late),
        }
    }
}

/// Holds the mark of a grab that is under way. Dropped, it takes the mark away, a moment later and if it is still its own.
#[derive(Debug)]
pub(in crate::engine::executor) struct Held(Option<Place>);

impl Held {
    /// Leaves the mark where it is: the grab was done.
    pub(in crate::engine::executor) fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let Some(place) = self.0.take() else { return };
        // Nobody waits for it; and if nobody can carry it out, the mark goes by itself.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(place.give_back());
        }
    }
}
