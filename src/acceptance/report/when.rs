//! Instants, as the report writes them. It has no zone of its own: all of them are UTC, and say so.

use super::words::words;
use crate::domain::{id::Timestamp, refusal::Lang};

/// An instant for machines and for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct When {
    pub(super) machine: String,
    pub(super) people: String,
}

/// With its day: `2026-11-30 19:58:46 UTC`.
pub(super) fn full(at: Timestamp) -> When {
    let machine = at.to_string();
    let people = match machine.split_once('T') {
        Some((day, time)) => format!("{day} {} UTC", time.get(..8).unwrap_or(time)),
        None => machine.clone(),
    };
    When { machine, people }
}

/// The time of day to the millisecond: `19:58:46.537`.
pub(super) fn day_time(at: Timestamp) -> When {
    let machine = at.to_string();
    let time = machine.split_once('T').map_or(machine.as_str(), |(_, time)| time);
    let people = time.trim_end_matches('Z').to_owned();
    When { machine, people }
}

/// From one to another, in seconds.
pub(super) fn between(lang: Lang, from: Timestamp, to: Timestamp) -> String {
    let ms = to.ms_since(from).max(0);
    let seconds = format!("{}.{}", ms / 1_000, ms % 1_000 / 100);
    words(lang, "report-seconds", &[("v", &seconds)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_written_in_utc() {
        let at = Timestamp(1_796_000_000_123);
        assert_eq!(full(at).people, "2026-11-30 00:53:20 UTC");
        assert_eq!(day_time(at).people, "00:53:20.123");
        assert_eq!(day_time(at).machine, "2026-11-30T00:53:20.123Z");
        assert!(between(Lang::En, at, at.plus_ms(24_339)).starts_with("24.3 "));
    }
}
