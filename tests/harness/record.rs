//! The record of a run: everything that was asked and answered, with times.

use std::sync::{
    Mutex,
    atomic::{AtomicU32, Ordering},
};

use dispatch_desk::{
    domain::{
        answer::Answer,
        command::{Command, RequestKey},
    },
    engine::executor::{Error, Reply},
};
use serde::{Deserialize, Serialize};

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Came {
    /// An answer.
    Back(Returned),
    /// An error, by its code.
    Error(String),
    /// Nothing: the process was killed, or the answer was given up.
    Nothing,
}

/// An answer with what goes beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Returned {
    pub status: u16,
    pub body: String,
    pub location: Option<String>,
    pub etag: Option<String>,
    pub replayed: bool,
}

impl Returned {
    pub fn answer(&self) -> Answer {
        serde_json::from_str(&self.body).expect("an answer is JSON")
    }
}

impl From<Reply> for Returned {
    fn from(reply: Reply) -> Self {
        let Reply { status, body, location, etag, replayed } = reply;
        Self { status, body: body.to_string(), location, etag, replayed }
    }
}

impl From<Result<Reply, Error>> for Came {
    fn from(result: Result<Reply, Error>) -> Self {
        match result {
            Ok(reply) => Self::Back(reply.into()),
            Err(error) => Self::Error(error.to_string()),
        }
    }
}

impl Came {
    /// The answer; panics if none came.
    #[track_caller]
    pub fn answer(&self) -> Answer {
        match self {
            Self::Back(returned) => returned.answer(),
            other => panic!("no answer but {other:?}"),
        }
    }

    /// Whether the command was done now or before.
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Back(returned) if returned.answer().is_success())
    }

    /// The code of a refusal, of a success without effect, or of an error; empty for a plain success.
    pub fn code(&self) -> String {
        match self {
            Self::Back(returned) => returned.answer().code.unwrap_or_default(),
            Self::Error(code) => code.clone(),
            Self::Nothing => "nothing".to_owned(),
        }
    }
}

/// One command with what came of it. Times are nanoseconds of the machine's clock: processes share it.
#[derive(Clone, Debug)]
pub struct Sent {
    pub process: u32,
    pub command: Command,
    pub invoked_ns: u64,
    pub returned_ns: u64,
    pub came: Came,
}

impl Sent {
    /// Whether the two were under way at the same time.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.invoked_ns <= other.returned_ns && other.invoked_ns <= self.returned_ns
    }
}

/// Nanoseconds since 1970, by the machine's clock.
#[expect(
    clippy::disallowed_methods,
    reason = "the record of a run needs the time that processes share"
)]
pub fn now_ns() -> u64 {
    let now = std::time::SystemTime::now();
    let since = now.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// Collects what is sent.
#[derive(Debug, Default)]
pub struct Recorder {
    sent: Mutex<Vec<Sent>>,
    processes: AtomicU32,
    keys: AtomicU32,
}

impl Recorder {
    /// Notes one command. Every command counts as a client of its own.
    pub fn note(&self, command: Command, invoked_ns: u64, returned_ns: u64, came: Came) -> Sent {
        let process = self.processes.fetch_add(1, Ordering::Relaxed);
        let sent = Sent { process, command, invoked_ns, returned_ns, came };
        self.sent.lock().expect("nobody panics while noting").push(sent.clone());
        sent
    }

    /// Everything so far.
    pub fn sent(&self) -> Vec<Sent> {
        self.sent.lock().expect("nobody panics while noting").clone()
    }

    /// Forgets everything so far.
    pub fn clear(&self) {
        self.sent.lock().expect("nobody panics while noting").clear();
    }

    /// A request key that was not used before in this record.
    pub fn fresh_key(&self) -> RequestKey {
        let number = self.keys.fetch_add(1, Ordering::Relaxed);
        let process = std::process::id();
        RequestKey::parse(&format!("k-{process}-{number}")).expect("plain ASCII")
    }
}
