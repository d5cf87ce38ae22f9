//! What a reader is told.

use std::sync::Arc;

use super::sight::{Batch, Item, Sight};
use crate::domain::id::{TaskId, Timestamp};

/// From where somebody wants to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// Beyond this number; none is from now on.
    pub after: Option<i64>,
    /// What was given can be no number.
    pub garbled: bool,
    /// The log that the number is of, as an earlier [`Told::Hello`] named it.
    pub epoch: Option<String>,
}

/// A heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pulse {
    /// The last number of the log.
    pub head: i64,
    /// The time of the server.
    pub at: Timestamp,
}

/// Why a reader has to read everything anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyReset {
    /// The cursor is no number that the log could have given out.
    Unknown,
    /// The log does not reach back so far.
    TooOld,
    /// The log is not as long: it was restored from a copy.
    Ahead,
    /// It is another log.
    OtherLog,
}

impl WhyReset {
    /// Its name in the stream.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::TooOld => "too_old",
            Self::Ahead => "ahead",
            Self::OtherLog => "other_log",
        }
    }
}

/// Why a stream ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The server stops.
    Stopping,
    /// The reader may not read any more, or may read something else now.
    Rights,
    /// The log can not be read at the moment.
    Away,
}

impl Why {
    /// Its name in the stream.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stopping => "stopping",
            Self::Rights => "rights",
            Self::Away => "away",
        }
    }
}

/// What a reader is told. The numbers make a chain: [`Event`](Self::Event) follows the number before it, and
/// [`Through`](Self::Through) and [`Changed`](Self::Changed) start from where the last one ended. A link that does not
/// fit would prove a gap.
#[derive(Clone, Debug)]
pub enum Told {
    /// The first word.
    Hello {
        /// Which log it is; none before anything has happened.
        epoch: Option<String>,
        /// The last number of the log.
        head: i64,
        /// From where it goes on.
        after: i64,
        /// The store's time.
        now: Timestamp,
    },
    /// Read everything anew; it goes on from `head`.
    Reset {
        /// Why.
        why: WhyReset,
        /// From where it goes on.
        head: i64,
    },
    /// An event.
    Event(Seen),
    /// Between these numbers is nothing that this reader may see.
    Through {
        /// Beyond which number.
        after: i64,
        /// Up to which number.
        through: i64,
    },
    /// Something changed between these numbers: for boards.
    Changed {
        /// Beyond which number.
        after: i64,
        /// Up to which number.
        through: i64,
        /// The tasks that changed; none of them if they are too many to be named.
        tasks: Option<Vec<TaskId>>,
        /// Whether something else changed: people, rules.
        others: bool,
        /// What was done, each once.
        actions: Vec<String>,
    },
    /// What this rider could grab is not the same any more.
    Pool,
    /// A heartbeat.
    Ping(Pulse),
    /// The last word.
    Bye(Why),
}

/// An event as one reader sees it.
#[derive(Clone, Debug)]
pub struct Seen {
    batch: Arc<Batch>,
    index: usize,
    /// How much of it they see.
    pub sight: Sight,
}

impl Seen {
    pub(super) const fn new(batch: Arc<Batch>, index: usize, sight: Sight) -> Self {
        Self { batch, index, sight }
    }

    /// The event.
    pub fn item(&self) -> &Item {
        &self.batch.items[self.index]
    }
}
