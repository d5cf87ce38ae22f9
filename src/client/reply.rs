//! What came back, and why there was no outcome.

use std::fmt;

use serde::Deserialize;

use crate::domain::answer::Answer;

/// The outcome of a command, as it came over the wire.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The outcome.
    pub answer: Answer,
    /// The very text that the answer was read from.
    pub body: String,
    /// `Idempotency-Replayed: true`: this answer was given before, under the same key.
    pub replayed: bool,
    /// `Location`.
    pub location: Option<String>,
    /// `ETag`.
    pub etag: Option<String>,
    /// `Server-Time`: when it was sent, which for a replay is later than when it was decided.
    pub server_time: Option<String>,
    /// The request's number in the desk's log.
    pub request_id: Option<String>,
    /// How often it had to be asked.
    pub attempts: u32,
}

/// A problem as the API describes it (RFC 9457).
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct Problem {
    /// The HTTP status.
    pub status: u16,
    /// What it is; the list is closed.
    pub code: String,
    /// One sentence.
    pub title: String,
    /// What exactly.
    #[serde(default)]
    pub detail: Option<String>,
    /// Where in the body, as a JSON pointer.
    #[serde(default)]
    pub pointer: Option<String>,
    /// Whether the command may have been done all the same.
    #[serde(default)]
    pub unknown: bool,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.status, self.code, self.title)?;
        self.pointer.iter().try_for_each(|pointer| write!(f, " ({pointer})"))?;
        self.detail.iter().try_for_each(|detail| write!(f, " {detail}"))
    }
}

/// Why there is no outcome.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The desk says why.
    #[error("{0}")]
    Problem(Problem),
    /// No reply, however often it was asked. A command may have been done: only its key can tell.
    #[error("no reply after {attempts} attempts: {cause}")]
    Lost {
        /// How often it was asked.
        attempts: u32,
        /// What went wrong the last time.
        cause: String,
    },
    /// A reply that the API does not promise.
    #[error("a reply that is none of the API's ({status}): {cause}")]
    Unreadable {
        /// The HTTP status.
        status: u16,
        /// What is wrong with it.
        cause: String,
    },
    /// The request can not be written.
    #[error("no request: {0}")]
    Request(String),
}

impl Error {
    /// The problem's code; `LOST`, `UNREADABLE` or `REQUEST` where the desk has said none.
    pub fn code(&self) -> &str {
        match self {
            Self::Problem(problem) => &problem.code,
            Self::Lost { .. } => "LOST",
            Self::Unreadable { .. } => "UNREADABLE",
            Self::Request(_) => "REQUEST",
        }
    }

    /// Whether a command may have been done all the same.
    pub const fn is_unknown(&self) -> bool {
        match self {
            Self::Problem(problem) => problem.unknown,
            Self::Lost { .. } | Self::Unreadable { .. } => true,
            Self::Request(_) => false,
        }
    }
}
