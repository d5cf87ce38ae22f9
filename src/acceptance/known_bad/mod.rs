//! Small servers that are wrong on purpose: a suite that has never failed anything proves nothing.
//!
//! One small server is right: it speaks as much of the JSON API as the suite asks for, keeps everything in memory, and
//! takes its decisions from [`domain::decide`](crate::domain::decide). Each known-bad one is that server with **one**
//! fault, at one place that is marked `Fault::…`. What each must be failed for stands in `acceptance/known_bad.toml`.
//!
//! ```text
//!  http ──► desk ──► [a trip] read ──► plan ──► [a trip] write, if nothing has changed ──► answer
//!                       ▲                                  │ else once more
//!  clock ──► sweep ─────┘◄────────────────────────────────┘
//! ```
//!
//! | file | |
//! |---|---|
//! | `mod` | the faults, and what each must be failed for |
//! | `small` | a server: start, ask, stop |
//! | `http`, `looks` | the routes: commands, and what is read |
//! | `desk` | one command, from reading to writing |
//! | `plan`, `forced` | what is to be written; what a faulty server writes instead |
//! | `rows`, `draft` | the database in memory, and what is written into it |
//! | `sweep` | releases what lapses |
//! | `arrivals` | trips to the database; requests that come together meet there |
//! | `house` | who works there |

mod arrivals;
mod desk;
mod draft;
mod forced;
mod house;
mod http;
mod looks;
mod plan;
mod rows;
mod small;
mod sweep;

use std::collections::BTreeMap;

use serde::Deserialize;

pub use small::Small;

use super::{judge::Rule, table::Text};
use crate::domain::text_enum::text_enum;

text_enum! {
    /// What is wrong with a known-bad server.
    pub enum Fault {
        /// It reads the row, decides, and writes later without asking whether the row is still the same.
        SelectThenUpdate = "select-then-update",
        /// A lock that expires picks who gets a task; the database is not asked.
        LockWithExpiry = "lock-with-expiry",
        /// Accepting writes the owner, whoever was invited and whatever the task has become.
        OverwriteOnAccept = "overwrite-on-accept",
        /// The timer of an offer releases whatever it finds when it goes off.
        SweeperWithoutRecheck = "sweeper-without-recheck",
        /// A late acceptance brings a cancelled task back.
        CancelledRevived = "cancelled-revived",
        /// Request keys are taken and not looked at.
        KeyIgnored = "key-ignored",
        /// Request keys are everybody's.
        KeyGlobal = "key-global",
        /// Whoever grabs too late is told that it was done.
        LoserToldSuccess = "loser-told-success",
        /// A bulk reports every item as done.
        BulkAllDone = "bulk-all-done",
        /// The event is written after the change, and not at all if there is much to do.
        EventOutside = "event-outside",
        /// An offer makes the rider the owner at once, and is shown as his confirmation.
        AssignmentAsConfirmation = "assignment-as-confirmation",
    }
}

/// The name of the small server without a fault.
pub const CORRECT: &str = "correct";

/// The fault that a server of this name has; none for [`CORRECT`].
///
/// # Errors
/// [`NoSuchServer`].
pub fn named(name: &str) -> Result<Option<Fault>, NoSuchServer> {
    if name == CORRECT {
        return Ok(None);
    }
    Fault::parse(name).map(Some).ok_or_else(|| NoSuchServer(name.to_owned()))
}

/// There is no such small server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no small server {0}; `acceptance known-bad` lists them")]
pub struct NoSuchServer(String);

/// A known-bad server, and what it must be failed for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownBad {
    /// Its fault; by its name it is started.
    pub name: Fault,
    /// The fault, for people.
    pub title: Text,
    /// What is wrong, and where such a thing was seen.
    pub about: Text,
    /// Exactly the scenarios that must fail, each with the rule that says why.
    pub fails: BTreeMap<String, Rule>,
}

/// `acceptance/known_bad.toml` can not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("acceptance/known_bad.toml: {0}")]
pub struct BadList(String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    format: String,
    #[serde(rename = "server")]
    servers: Vec<KnownBad>,
}

/// All known-bad servers, in the order in which they are listed.
///
/// # Errors
/// [`BadList`].
pub fn all() -> Result<Vec<KnownBad>, BadList> {
    let text = include_str!("../../../acceptance/known_bad.toml");
    let list: List = toml::from_str(text).map_err(|error| BadList(error.to_string()))?;
    if list.format != "dispatch-known-bad/1" {
        return Err(BadList(format!("format {:?} is not known", list.format)));
    }
    Ok(list.servers)
}
