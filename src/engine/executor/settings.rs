//! How an executor works.

use std::{sync::Arc, time::Duration};

use super::hot::PreTrim;
use crate::{
    clock::{Entropy, SystemEntropy},
    domain::ticket::TicketKey,
    locate::Locator,
};

/// How an executor works. The defaults are for production.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many commands share a transaction at most.
    pub batch: usize,
    /// How many commands may wait in a lane; more are turned away. As many grabs that can only come second may wait
    /// beside them.
    pub queue: usize,
    /// Of how many tasks it is remembered that they are over, about: grabs of them wait behind everything else. 0 lets
    /// all grabs wait with everybody else.
    pub hot: usize,
    /// Tells which grabs of a task that is not over come second, across nodes; without it nobody does.
    pub pre_trim: Option<PreTrim>,
    /// How many batches may run at once; SQLite has one writer and runs one.
    pub lanes: usize,
    /// How long a command waits for a task that another node holds, or for a database that is away.
    pub patience: Duration,
    /// Where unguessable tokens come from.
    pub entropy: Arc<dyn Entropy>,
    /// Where riders are looked up: in this process, if not said otherwise.
    pub locator: Locator,
    /// What tickets are signed with. All nodes on one database have the same.
    pub ticket_key: TicketKey,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            batch: 256,
            queue: 8192,
            hot: 10_000,
            pre_trim: None,
            lanes: 4,
            patience: Duration::from_secs(2),
            entropy: Arc::new(SystemEntropy),
            locator: Locator::default(),
            ticket_key: random_key(&SystemEntropy),
        }
    }
}

/// A key of tickets that nobody knows: good for one node alone, until it stops.
fn random_key(entropy: &dyn Entropy) -> TicketKey {
    let mut bytes = [0; 32];
    // Guessable tickets would be worse than none at all.
    entropy.fill(&mut bytes).expect("the system has randomness to give");
    TicketKey::new(bytes)
}
