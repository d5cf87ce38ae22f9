//! One waiting command.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
    time::Instant,
};

use tokio::sync::oneshot;

use super::{Error, hot::Passes, reply::Reply};
use crate::{
    domain::{
        command::{Act, Command, What},
        fingerprint::{Fingerprint, key_hash},
        id::{Revision, TaskId},
    },
    engine::meters::Meters,
};

/// One waiting command.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) command: Command,
    pub(super) principal: String,
    pub(super) fingerprint: Fingerprint,
    pub(super) key_hash: Option<String>,
    pub(super) since: Instant,
    pub(super) meters: Arc<Meters>,
    /// Whether it is a grab that can only come second, and waits behind everything else.
    pub(super) late: bool,
    /// What it holds as the first grab of a revision.
    pub(super) pass: Passes,
    /// Whether the last transaction was to store an answer for it.
    pub(super) fresh: bool,
    /// Whether a commit with it in it failed in a way that may have counted.
    pub(super) doubt: bool,
    pub(super) answer: oneshot::Sender<Result<Reply, Error>>,
}

impl Job {
    pub(super) fn new(
        command: Command,
        meters: Arc<Meters>,
        answer: oneshot::Sender<Result<Reply, Error>>,
    ) -> Self {
        let principal = command.actor.principal();
        let hash = command.key.as_ref().map(|key| key_hash(&principal, key));
        Self {
            fingerprint: Fingerprint::of(&command.what),
            principal,
            key_hash: hash,
            since: Instant::now(),
            meters,
            late: false,
            pass: Passes::default(),
            fresh: false,
            doubt: false,
            command,
            answer,
        }
    }

    /// The scope and the key; none for the system's own commands.
    pub(super) fn key(&self) -> Option<(&str, &str)> {
        self.command.key.as_ref().map(|key| (self.principal.as_str(), key.as_str()))
    }

    /// The task and the revision that a rider's grab names; none for everything else.
    pub(super) fn grabbed(&self) -> Option<(TaskId, Revision)> {
        match &self.command.what {
            What::Change { task, revision, act: Act::Grab { .. } } => {
                self.command.actor.rider().map(|_| (*task, *revision))
            }
            What::Create(_) | What::Change { .. } | What::Edit { .. } => None,
        }
    }

    /// Its lane: all commands on one task share a lane, so they are decided in the order of arrival, but for grabs that
    /// can only come second.
    pub(super) fn lane(&self, lanes: usize) -> usize {
        let mut hasher = DefaultHasher::new();
        match self.command.what.task() {
            Some(task) => task.hash(&mut hasher),
            None => self.key().hash(&mut hasher),
        }
        let lanes = u64::try_from(lanes.max(1)).unwrap_or(1);
        usize::try_from(hasher.finish() % lanes).unwrap_or_default()
    }
}
