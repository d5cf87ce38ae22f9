//! What is recorded: every request with its answer, in lines that are chained to each other.
//!
//! The verdict is computed from these lines and from nothing else, at the end of a run as well as years later
//! (`acceptance rejudge`). So the table and the scenarios stand in them too.
//!
//! | file | |
//! |---|---|
//! | `mod` | the lines |
//! | `chain` | how they are written, and how a changed one is found |

mod chain;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use chain::{Break, Chain, read};

use super::{
    table::{Ask, Text},
    words::Who,
};
use crate::domain::id::{RiderId, Timestamp, rfc3339};

/// One line of a recorded run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum Line {
    /// What was run, and how.
    Run(Box<RunLine>),
    /// A scenario begins, or one round of it.
    Scenario(Box<ScenarioLine>),
    /// A request with its answer.
    Exchange(Box<Exchange>),
    /// The clock was set.
    Clock(ClockLine),
    /// A scenario was not played.
    NotPlayed {
        /// Which one.
        scenario: String,
        /// Its file.
        text: String,
        /// Why not.
        why: NotPlayed,
    },
    /// The run could not go on.
    Broken {
        /// In which scenario.
        scenario: String,
        /// In which round.
        round: u32,
        /// Why.
        why: String,
    },
    /// The run is over.
    Over {
        /// When, by the clock of the machine that ran the suite.
        #[serde(with = "rfc3339")]
        at: Timestamp,
    },
}

/// Why a scenario was not played. It is reported apart, and never counts as passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotPlayed {
    /// The declared table has no such command.
    NoSuchCommand,
    /// Its moments are too fine for a clock that can not be set.
    NeedsClock,
    /// There are not enough riders of the kind that it needs.
    NoRiders,
}

/// What was run, and how.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunLine {
    /// `dispatch-history/1`.
    pub format: String,
    /// The program that recorded it, with its version.
    pub recorder: String,
    /// When it began, by the clock of the machine that ran the suite.
    #[serde(with = "rfc3339")]
    pub began_at: Timestamp,
    /// What was asked: a private server, or an address.
    pub target: String,
    /// Whether nobody else used the server meanwhile, so that its whole log can be checked.
    pub private: bool,
    /// The product's own words about its version, if it has any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub product: Option<String>,
    /// The database, of a private server.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub database: Option<String>,
    /// Whether the clock could be set.
    pub manual_clock: bool,
    /// How often each race was run.
    pub rounds: u32,
    /// Where all chance came from.
    pub seed: u64,
    /// The table's name.
    pub table: String,
    /// The table's text.
    pub table_text: String,
}

/// A scenario begins.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ScenarioLine {
    /// Which one.
    pub scenario: String,
    /// Which round, from 1.
    pub round: u32,
    /// Its file.
    pub text: String,
    /// Who plays the riders: the product's numbers and names for the scenario's names.
    pub cast: BTreeMap<String, Player>,
    /// The product's time.
    #[serde(with = "rfc3339")]
    pub began_at: Timestamp,
}

/// Who plays a rider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Player {
    /// The product's number.
    pub id: RiderId,
    /// The product's name, as a customer sees it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
}

/// The clock was set.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClockLine {
    /// In which scenario.
    pub scenario: String,
    /// In which round.
    pub round: u32,
    /// In which step, from 1.
    pub step: usize,
    /// To when.
    #[serde(with = "rfc3339")]
    pub to: Timestamp,
    /// When the setting began, in nanoseconds since the run began.
    pub began_ns: u64,
    /// When it had ended.
    pub ended_ns: u64,
}

/// Why something was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// To prepare a scenario; it is not judged.
    Prepare,
    /// A step of a scenario.
    Step,
    /// One of a race, by its place in it, from 0.
    Racer(usize),
    /// To wait until the system has released what lapsed.
    Settle,
    /// How a task stands at the end, as one of the three clients sees it.
    End(String),
    /// The log of a task.
    Log(String),
    /// The attempts on a task.
    Attempts(String),
    /// To leave nothing behind.
    TidyUp,
    /// How far the whole log goes before anything is played.
    Beginning,
    /// A page of the whole log.
    Numbers,
}

/// A request with its answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Exchange {
    /// In which scenario; none for the log of the whole run.
    pub scenario: String,
    /// In which round.
    pub round: u32,
    /// In which step, from 1; 0 outside of the steps.
    pub step: usize,
    /// What for.
    pub purpose: Purpose,
    /// Who.
    pub who: Who,
    /// The commands in it, as they were really given: one, or several in a bulk; none in a look.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub asks: Vec<Ask>,
    /// `GET` or `POST`.
    pub method: String,
    /// The path; unguessable names in it are left out.
    pub path: String,
    /// The request key.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub key: Option<String>,
    /// The body that was sent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sent: Option<String>,
    /// What came back; none if nothing did.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reply: Option<Received>,
    /// Why nothing came back.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failed: Option<String>,
    /// Whether the answer was kept from the client.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub lost: bool,
    /// When the last of the request was sent, in nanoseconds since the run began.
    pub began_ns: u64,
    /// When the answer was complete.
    pub ended_ns: u64,
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Received {
    /// The HTTP status.
    pub status: u16,
    /// Whether the product says that it gave this answer before.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub replayed: bool,
    /// When it was sent, by the product's clock.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub server_time: Option<String>,
    /// The number of the request in the product's own log.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub request_id: Option<String>,
    /// The body.
    pub body: String,
}

impl Exchange {
    /// Whether the two were under way at the same time.
    pub const fn overlaps(&self, other: &Self) -> bool {
        self.began_ns < other.ended_ns && other.began_ns < self.ended_ns
    }
}

/// A text in both languages, for reports of what was not played.
impl NotPlayed {
    /// Why, for people.
    pub fn words(self) -> Text {
        let (zh, en) = match self {
            Self::NoSuchCommand => {
                ("所声明的转换表没有该命令", "the declared table has no such command")
            }
            Self::NeedsClock => (
                "需要可设置的时钟，被测系统的时钟不能设置",
                "it needs a clock that can be set; the product's can not",
            ),
            Self::NoRiders => {
                ("没有足够的符合条件的骑手", "there are not enough riders of the kind")
            }
        };
        Text { zh: zh.to_owned(), en: en.to_owned() }
    }
}
