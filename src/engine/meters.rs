//! What a node counts while it runs: commands by what came of them, how long their answers took, and how often a
//! transaction had to be done again. What stands in the log is counted there ([`Tx::measures`](crate::store::Tx::measures));
//! here is only what no table has. It begins anew with each start, and each node has its own.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use super::executor::{Error, Reply};
use crate::domain::command::Verb;

/// The upper ends of the steps in which latencies are counted, in milliseconds; one more counts what took longer.
pub const STEPS_MS: [u64; 12] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000];

/// The meters of one node.
#[derive(Debug, Default)]
pub struct Meters {
    commands: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
    steps: [AtomicU64; STEPS_MS.len() + 1],
    sum_us: AtomicU64,
    transactions: AtomicU64,
    again: AtomicU64,
    second: AtomicU64,
}

/// What they show at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readings {
    /// Commands by verb and by what came of them: done, refused, replayed, or the code of an error.
    pub commands: Vec<(&'static str, &'static str, u64)>,
    /// How many answers took as long as each of [`STEPS_MS`] at most, and longer than the one before.
    pub steps: [u64; STEPS_MS.len() + 1],
    /// How long all answers took together, in microseconds.
    pub sum_us: u64,
    /// Transactions that carried commands.
    pub transactions: u64,
    /// Of these, the ones that had to be done again: a row had moved, or another one was in the way.
    pub again: u64,
    /// Grabs that could only come second, and were sent behind everything else.
    pub second: u64,
}

fn outcome(answer: &Result<Reply, Error>) -> &'static str {
    match answer {
        Ok(reply) if reply.replayed => "replayed",
        Ok(reply) if reply.status < 300 => "done",
        Ok(_) => "refused",
        Err(Error::Denied(_)) => "denied",
        Err(Error::KeyReused) => "key_reused",
        Err(Error::KeyMissing | Error::Malformed(_)) => "malformed",
        Err(Error::Busy) => "busy",
        Err(Error::RecordChanged) => "record_changed",
        Err(Error::Unavailable { .. }) => "unavailable",
        Err(Error::Faulty) => "faulty",
    }
}

impl Meters {
    /// Counts an answer, and how long it took from the command's arrival.
    pub(super) fn answered(&self, verb: Verb, answer: &Result<Reply, Error>, took: Duration) {
        let key = (verb.as_str(), outcome(answer));
        let mut commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        *commands.entry(key).or_default() += 1;
        drop(commands);
        let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let step = STEPS_MS.iter().position(|ms| us <= ms * 1_000).unwrap_or(STEPS_MS.len());
        self.steps[step].fetch_add(1, Ordering::Relaxed);
        self.sum_us.fetch_add(us, Ordering::Relaxed);
    }

    /// Counts a transaction, and whether it has to be done again.
    pub(super) fn tried(&self, again: bool) {
        self.transactions.fetch_add(1, Ordering::Relaxed);
        self.again.fetch_add(u64::from(again), Ordering::Relaxed);
    }

    /// Counts a grab that can only come second.
    pub(super) fn second(&self) {
        self.second.fetch_add(1, Ordering::Relaxed);
    }

    /// What they show now.
    pub fn read(&self) -> Readings {
        let commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Readings {
            commands: commands.iter().map(|((verb, came), count)| (*verb, *came, *count)).collect(),
            steps: std::array::from_fn(|step| get(&self.steps[step])),
            sum_us: get(&self.sum_us),
            transactions: get(&self.transactions),
            again: get(&self.again),
            second: get(&self.second),
        }
    }
}

impl Readings {
    /// How many answers there were.
    pub fn answers(&self) -> u64 {
        self.steps.iter().sum()
    }

    /// The step within which so many per cent of the answers came, by its upper end in milliseconds. The inner option is
    /// none if it is the last step, which has no end; the outer one if there was no answer.
    pub fn percentile_ms(&self, per_cent: u64) -> Option<Option<u64>> {
        let wanted = (self.answers() * per_cent).div_ceil(100).max(1);
        let mut seen = 0;
        let step = self.steps.iter().position(|count| {
            seen += count;
            seen >= wanted
        });
        step.map(|step| STEPS_MS.get(step).copied())
    }

    /// How many commands came to this, whatever their verb.
    pub fn came_to(&self, outcome: &str) -> u64 {
        self.commands.iter().filter(|(_, came, _)| *came == outcome).map(|(.., count)| count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_the_steps_that_hold_them() {
        let meters = Meters::default();
        assert_eq!(meters.read().percentile_ms(50), None);
        let busy = Err(Error::Busy);
        for ms in [1, 1, 4, 4, 4, 4, 4, 4, 90, 9_000] {
            meters.answered(Verb::Grab, &busy, Duration::from_millis(ms));
        }
        let read = meters.read();
        assert_eq!(read.answers(), 10);
        assert_eq!(read.percentile_ms(20), Some(Some(1)));
        assert_eq!(read.percentile_ms(50), Some(Some(5)));
        assert_eq!(read.percentile_ms(90), Some(Some(100)));
        assert_eq!(read.percentile_ms(99), Some(None));
        assert_eq!(
            (read.commands.as_slice(), read.came_to("busy")),
            (&[("grab", "busy", 10)][..], 10)
        );
    }
}
