//! Who and what: identifiers, revisions and instants.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Declares an identifier: a 64-bit integer in the database, a letter and digits on screens.
macro_rules! id {
    ($(#[$meta:meta])* $name:ident, $letter:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl $name {
            /// Reads the screen form (`
            #[doc = $letter]
            /// 17`) or bare digits; `None` if it is neither or not a positive 64-bit integer.
            pub fn parse(text: &str) -> Option<Self> {
                let digits = text.strip_prefix($letter).unwrap_or(text);
                let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
                let number = digits.parse::<i64>().ok().filter(|number| plain && *number > 0)?;
                Some(Self(number))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}{}", $letter, self.0)
            }
        }
    };
}

id!(
    /// One delivery or drive to be done.
    TaskId,
    "T"
);
id!(
    /// Who carries a task out.
    RiderId,
    "R"
);
id!(
    /// A dispatcher, supervisor, admin or auditor.
    StaffId,
    "D"
);
id!(
    /// A scope of authority and of policy.
    RegionId,
    "G"
);

/// The number of the last change to a task's row. It starts at 1 and rises by one with each event.
///
/// It counts changes of ownership and is no time: two clients who hold the same revision can
/// not both change the task.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(transparent)]
pub struct Revision(pub i64);

impl Revision {
    /// The revision of a task that does not exist yet: event 0 → 1 makes it.
    pub const NONE: Self = Self(0);

    /// The revision after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An instant: milliseconds since 1970-01-01T00:00Z.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// This instant moved by `ms` milliseconds, which may be negative.
    #[must_use]
    pub const fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Whether it lies in the years 1970 to 9999, so that its written form can be read back.
    pub const fn is_writable(self) -> bool {
        0 <= self.0 && self.0 <= 253_402_300_799_999
    }

    /// Milliseconds from `earlier` to this instant; negative if `earlier` is later.
    pub const fn ms_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Timestamp {
    /// RFC 3339 in UTC with milliseconds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match chrono::DateTime::from_timestamp_millis(self.0) {
            Some(time) => f.write_str(&time.to_rfc3339_opts(chrono::SecondsFormat::Millis, true)),
            None => write!(f, "{} ms", self.0),
        }
    }
}

/// Serialises a [`Timestamp`] as RFC 3339 text, the form that people and scripts read.
pub mod rfc3339 {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use super::Timestamp;

    /// Writes the instant as text.
    pub fn serialize<S: Serializer>(at: &Timestamp, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(at)
    }

    /// The instant that a text means; `None` if it is none.
    pub fn parse(text: &str) -> Option<Timestamp> {
        read(text).ok()
    }

    fn read(text: &str) -> chrono::ParseResult<Timestamp> {
        let time = chrono::DateTime::parse_from_rfc3339(text)?;
        Ok(Timestamp(time.timestamp_millis()))
    }

    /// Reads the instant from text.
    pub fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Timestamp, D::Error> {
        read(&String::deserialize(input)?).map_err(D::Error::custom)
    }

    /// The same for a time that may be missing.
    pub mod option {
        use serde::{Deserialize, Deserializer, Serializer};

        use super::Timestamp;

        /// Writes the instant as text, or nothing.
        pub fn serialize<S: Serializer>(at: &Option<Timestamp>, out: S) -> Result<S::Ok, S::Error> {
            match at {
                Some(at) => out.collect_str(at),
                None => out.serialize_none(),
            }
        }

        /// Reads the instant from text, if there is one.
        pub fn deserialize<'de, D: Deserializer<'de>>(
            input: D,
        ) -> Result<Option<Timestamp>, D::Error> {
            #[derive(Deserialize)]
            struct Wrapped(#[serde(with = "super")] Timestamp);
            Ok(Option::<Wrapped>::deserialize(input)?.map(|wrapped| wrapped.0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_in_both_forms_and_only_when_positive() {
        assert_eq!(TaskId::parse("T10233"), Some(TaskId(10233)));
        assert_eq!(TaskId::parse("9007199254740993"), Some(TaskId(9_007_199_254_740_993)));
        assert_eq!(TaskId::parse("9223372036854775807"), Some(TaskId(i64::MAX)));
        for bad in ["", "T", "0", "-1", "+1", "9223372036854775808", "R1", "1.0", "１", " 1"] {
            assert_eq!(TaskId::parse(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn instants_are_shown_in_utc() {
        assert_eq!(Timestamp(1_796_000_000_123).to_string(), "2026-11-30T00:53:20.123Z");
    }
}
