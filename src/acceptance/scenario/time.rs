//! The words for moments.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A moment in a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Moment {
    /// So many milliseconds before the deadline of the offer that waits; 0 is the deadline itself.
    BeforeDeadline(i64),
    /// So many milliseconds after it.
    AfterDeadline(i64),
    /// So many milliseconds from now.
    Later(i64),
}

/// Reads `250 ms` or `30 s`, in milliseconds.
pub(super) fn length_ms(text: &str) -> Option<i64> {
    let (number, unit) = text.split_once(' ')?;
    let number: i64 = number.parse().ok().filter(|number| (1..=86_400_000).contains(number))?;
    match unit {
        "ms" => Some(number),
        "s" => number.checked_mul(1_000),
        _ => None,
    }
}

/// How a kind of moment ends, and what it makes of its milliseconds.
type Kind = (&'static str, fn(i64) -> Moment);

impl Moment {
    /// Reads `at the deadline`, `1 ms before the deadline`, `5 s after the deadline`, `30 s later`.
    pub fn parse(text: &str) -> Option<Self> {
        if text == "at the deadline" {
            return Some(Self::BeforeDeadline(0));
        }
        let kinds: [Kind; 3] = [
            (" before the deadline", Self::BeforeDeadline),
            (" after the deadline", Self::AfterDeadline),
            (" later", Self::Later),
        ];
        kinds
            .into_iter()
            .find_map(|(words, make)| text.strip_suffix(words).and_then(length_ms).map(make))
    }

    /// When it is, given now and the deadline that is next, all in milliseconds since the scenario began. `None` if
    /// there is no deadline to go by.
    pub fn at_ms(self, now_ms: i64, deadline_ms: Option<i64>) -> Option<i64> {
        match self {
            Self::BeforeDeadline(ms) => deadline_ms.map(|deadline| deadline - ms),
            Self::AfterDeadline(ms) => deadline_ms.map(|deadline| deadline + ms),
            Self::Later(ms) => Some(now_ms + ms),
        }
    }
}

impl TryFrom<String> for Moment {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| format!("{text:?} is no moment"))
    }
}

impl From<Moment> for String {
    fn from(moment: Moment) -> Self {
        moment.to_string()
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = |ms: i64| {
            if ms % 1_000 == 0 { format!("{} s", ms / 1_000) } else { format!("{ms} ms") }
        };
        match self {
            Self::BeforeDeadline(0) => f.write_str("at the deadline"),
            Self::BeforeDeadline(ms) => write!(f, "{} before the deadline", length(*ms)),
            Self::AfterDeadline(ms) => write!(f, "{} after the deadline", length(*ms)),
            Self::Later(ms) => write!(f, "{} later", length(*ms)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_back_as_they_were_written() {
        for text in
            ["at the deadline", "1 ms before the deadline", "5 s after the deadline", "30 s later"]
        {
            assert_eq!(Moment::parse(text).map(|moment| moment.to_string()).as_deref(), Some(text));
        }
        for text in ["", "soon", "0 ms later", "-1 s later", "1 h later"] {
            assert_eq!(Moment::parse(text), None, "{text}");
        }
    }
}
