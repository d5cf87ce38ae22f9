//! What a check of the log says.

use std::fmt;

use crate::domain::seal::{Book, Head};

/// What a number belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// An event.
    Event,
    /// An attempt.
    Attempt,
    /// A seal.
    Seal,
}

impl From<Book> for Part {
    fn from(book: Book) -> Self {
        match book {
            Book::Event => Self::Event,
            Book::Attempt => Self::Attempt,
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Event => "event",
            Self::Attempt => "attempt",
            Self::Seal => "seal",
        })
    }
}

/// The first thing that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub part: Part,
    /// Its number.
    pub number: i64,
    /// What is wrong with it.
    pub why: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.part, self.number, self.why)
    }
}

/// What was checked and found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How many events were read.
    pub events: u64,
    /// How many attempts were read.
    pub attempts: u64,
    /// How many seals fit.
    pub seals: u64,
    /// How many of the events are not sealed yet.
    pub unsealed_events: u64,
    /// How many of the attempts are not sealed yet.
    pub unsealed_attempts: u64,
    /// The head of the seals that fit.
    pub head: Option<Head>,
    /// The first thing that does not fit; none if the log is intact.
    pub finding: Option<Finding>,
}
