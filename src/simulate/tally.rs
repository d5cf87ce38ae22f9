//! What happened, counted.

use std::{collections::BTreeMap, time::Duration};

use crate::domain::command::Verb;

/// What happened, as those who took part saw it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Commands that were sent.
    pub commands: u64,
    /// Commands that had been done before.
    pub already_done: u64,
    /// Offers that were ignored.
    pub ignored: u64,
    /// Positions that were sent.
    pub positions: u64,
    done: BTreeMap<Verb, u64>,
    logged: BTreeMap<Verb, u64>,
    refused: BTreeMap<(Verb, String), u64>,
    failed: BTreeMap<String, u64>,
}

impl Tally {
    pub(super) fn done(&mut self, verb: Verb) {
        *self.done.entry(verb).or_default() += 1;
    }

    pub(super) fn logged(&mut self, verb: Verb) {
        *self.logged.entry(verb).or_default() += 1;
    }

    pub(super) fn refused(&mut self, verb: Verb, code: &str) {
        *self.refused.entry((verb, code.to_owned())).or_default() += 1;
    }

    /// Counts a request without an outcome.
    pub fn failed(&mut self, code: &str) {
        *self.failed.entry(code.to_owned()).or_default() += 1;
    }

    /// How often these people did `verb`.
    pub fn count(&self, verb: Verb) -> u64 {
        self.done.get(&verb).copied().unwrap_or_default()
    }

    /// How often the log says `verb`, as far as the dispatchers have read it, whoever did it.
    pub fn in_log(&self, verb: Verb) -> u64 {
        self.logged.get(&verb).copied().unwrap_or_default()
    }

    /// How often `verb` was refused.
    pub fn refused_of(&self, verb: Verb) -> u64 {
        self.refused.iter().filter(|((of, _), _)| *of == verb).map(|(_, count)| count).sum()
    }

    /// Refusals by code.
    pub fn refusals(&self) -> BTreeMap<&str, u64> {
        let mut codes = BTreeMap::new();
        for ((_, code), count) in &self.refused {
            *codes.entry(code.as_str()).or_default() += count;
        }
        codes
    }

    /// Requests without an outcome, by the problem's code.
    pub const fn failures(&self) -> &BTreeMap<String, u64> {
        &self.failed
    }
}

/// How long commands took: counts by microseconds, of which the first three digits are kept.
#[derive(Clone, Debug, Default)]
pub struct Latencies {
    counts: BTreeMap<u64, u64>,
}

impl Latencies {
    /// Adds a command that took so long.
    pub fn add(&mut self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let mut unit = 1;
        while micros / unit >= 1_000 {
            unit *= 10;
        }
        *self.counts.entry(micros / unit * unit).or_default() += 1;
    }

    /// The time that `percent` of the commands did not exceed.
    pub fn percentile(&self, percent: u64) -> Duration {
        let total: u64 = self.counts.values().sum();
        let wanted = (total * percent).div_ceil(100);
        let mut seen = 0;
        for (micros, count) in &self.counts {
            seen += count;
            if seen >= wanted {
                return Duration::from_micros(*micros);
            }
        }
        Duration::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_all_that_was_added() {
        let mut latencies = Latencies::default();
        assert_eq!(latencies.percentile(99), Duration::ZERO);
        (1..=100).for_each(|ms| latencies.add(Duration::from_millis(ms)));
        assert_eq!(latencies.percentile(50), Duration::from_millis(50));
        assert_eq!(latencies.percentile(99), Duration::from_millis(99));
        assert_eq!(latencies.percentile(100), Duration::from_millis(100));
    }
}
