//! A task's state at one glance: colour, shape and word, all three (UX §4.3).

use super::page::words;
use crate::domain::{
    id::Timestamp,
    refusal::Lang,
    task::{Stage, StateName, Task},
};

/// A state as pages show it.
#[derive(Clone, Debug)]
pub(super) struct Chip {
    /// The style's name of it.
    pub(super) class: &'static str,
    /// Its shape.
    pub(super) shape: &'static str,
    /// Its word.
    pub(super) word: String,
}

impl Chip {
    /// The state of `task` at `now`.
    pub(super) fn of(task: &Task, now: Timestamp, lang: Lang) -> Self {
        let (class, shape) = match (task.state.name(), task.state.stage()) {
            (StateName::Open, _) => ("open", "○"),
            (StateName::Offered, _) if task.is_expiring(now) => ("expiring", "◌"),
            (StateName::Offered, _) => ("offered", "◔"),
            (StateName::Cancelled, _) => ("cancelled", "✕"),
            (StateName::Assigned, Some(Stage::PickedUp)) => ("picked_up", "▲"),
            (StateName::Assigned, Some(Stage::Delivered)) => ("delivered", "✓"),
            (StateName::Assigned, Some(Stage::AtPickup)) => ("at_pickup", "◆"),
            (StateName::Assigned, Some(Stage::Waiting) | None) => ("assigned", "●"),
        };
        let word = words(lang, &format!("state-{class}"), &[]);
        let class = match class {
            "expiring" => "offered",
            "at_pickup" => "assigned",
            class => class,
        };
        Self { class, shape, word }
    }
}

/// Money in minor units, with two decimals and the thousands grouped.
pub(super) fn money(minor: i64) -> String {
    let (sign, minor) = (if minor < 0 { "-" } else { "" }, minor.unsigned_abs());
    let whole = (minor / 100).to_string();
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}.{:02}", minor % 100)
}

/// A distance in metres, for people.
pub(super) fn distance(metres: f64) -> String {
    if metres.round() < 0.0 {
        return format!("−{}", distance(-metres));
    }
    let metres = metres.max(0.0);
    if metres < 1_000.0 { format!("{metres:.0} m") } else { format!("{:.1} km", metres / 1_000.0) }
}

/// How long ago, or how long from now: minutes and seconds, then hours.
pub(super) fn span(ms: i64) -> String {
    let seconds = ms.max(0) / 1_000;
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds:02} s"),
        (hours, minutes, _) if hours < 48 => format!("{hours} h {minutes:02} min"),
        (hours, ..) => format!("{} d", hours / 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_written_for_people() {
        assert_eq!([money(850), money(-5), money(123_456_789)], ["8.50", "-0.05", "1,234,567.89"]);
        assert_eq!([distance(999.4), distance(1_550.0)], ["999 m", "1.6 km"]);
        assert_eq!(
            [distance(-0.3), distance(-40.0), distance(-2_000.0)],
            ["0 m", "−40 m", "−2.0 km"]
        );
        let spans = [0, 61_000, 3_600_000, 200_000_000].map(span);
        assert_eq!(spans, ["0 s", "1 min 01 s", "1 h 00 min", "2 d"]);
    }
}
