//! Files of other systems, read row by row: what each row is, or why it is nothing.
//!
//! **Architecture invariant.** Pure, but for reading: it knows the domain's words and nobody else, and writes nothing.
//! Nothing is dropped silently: every row comes out as a task, a position, a refusal or a blank, in the order of the
//! file. A row's problem never stops the file. Memory does not grow with the file, but for the keys of rows that have
//! no id (16 bytes each).
//!
//! ```text
//!  bytes ─► CSV records │ JSON values ─► a mapping says where each field stands ─► TaskRow, PositionRow, Problem
//! ```
//!
//! | file | |
//! |---|---|
//! | `mapping`, `spec`, `source` | mappings: as written in TOML, and ready to be used |
//! | `open`, `rows` | what kind of file it is, and its rows |
//! | `table`, `stream`, `json`, `form` | CSV, JSON and form bodies, as they really come |
//! | `make`, `values` | one row, one value |
//! | `messages` | status messages, which are no orders |
//! | `problem`, `trouble` | what is told about a row, and about a whole file |
//!
//! # How to add a mapping
//! A file in `mappings/` with a comment that says what it maps and what it refuses, its line in `mapping::BUILT_IN`, and
//! a file of the source's shape in `tests/intake/shapes` with a test that says what becomes of it.

mod form;
mod json;
mod make;
mod mapping;
mod messages;
mod open;
mod problem;
mod rows;
mod source;
mod spec;
mod stream;
mod table;
mod trouble;
mod values;

use std::fmt;

use chrono::NaiveDate;

pub use mapping::Mapping;
pub use open::rows;
pub use problem::{Needed, Problem};
pub use rows::Rows;
pub use trouble::{FileError, MappingError};
pub use values::text::{ADDRESS_LIMIT, NAME_LIMIT, NOTE_LIMIT};

use crate::domain::{
    actor::RequestKey,
    geo::Place,
    id::{RegionId, Timestamp},
    order::{NewTask, Stop},
    refusal::Lang,
    text_enum::text_enum,
};

/// What whoever runs the import adds to what the file says.
#[derive(Clone, Debug)]
pub struct Given {
    /// The region of all tasks.
    pub region: RegionId,
    /// The zone of times that have none, where the mapping names none.
    pub zone: chrono_tz::Tz,
    /// The date of times without one; its year is the year of dates without one. Without it they are refused.
    pub base_date: Option<NaiveDate>,
    /// Where goods are fetched, for files of a shop that do not say it.
    pub pickup: Option<Stop>,
}

impl Given {
    /// For a region, without anything else.
    pub const fn new(region: RegionId, zone: chrono_tz::Tz) -> Self {
        Self { region, zone, base_date: None, pickup: None }
    }
}

/// Where in a file a row stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spot {
    /// CSV and forms: the physical line on which it starts. JSON: which value it is. Both count from 1.
    pub line: u64,
    /// JSON: where it lies within the file, as a pointer.
    pub pointer: Option<String>,
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.pointer {
            Some(pointer) => f.write_str(pointer),
            None => self.line.fmt(f),
        }
    }
}

/// A row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Where it stands.
    pub spot: Spot,
    /// What it is.
    pub what: RowKind,
}

/// What a row is.
#[derive(Clone, Debug, PartialEq)]
pub enum RowKind {
    /// A task to be created.
    Task(Box<TaskRow>),
    /// A position of a rider.
    Position(PositionRow),
    /// Neither.
    Refused {
        /// The column or pointer where the problem is, if it is in one.
        field: Option<String>,
        /// What it is.
        problem: Problem,
    },
    /// Nothing in it.
    Blank,
}

/// A task to be created.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskRow {
    /// The same row has the same key, whenever it is imported.
    pub key: RequestKey,
    /// When the customer ordered. The desk keeps no such time; flags and replays need it.
    pub placed_at: Option<Timestamp>,
    /// The task.
    pub new: NewTask,
    /// What is odd about it.
    pub flags: Vec<Flag>,
}

/// A position of a rider.
#[derive(Clone, Debug, PartialEq)]
pub struct PositionRow {
    /// What the file calls the rider.
    pub rider: String,
    /// Rises with each position of the rider.
    pub seq: i64,
    /// When.
    pub at: Timestamp,
    /// Where.
    pub place: Place,
    /// How exactly, in metres.
    pub accuracy_m: Option<f64>,
}

text_enum! {
    /// What is odd about a task and no reason to refuse it.
    pub enum Flag {
        /// Due before the goods are ready.
        DueBeforeReady = "due_before_ready",
        /// Due before it was ordered.
        DueBeforePlaced = "due_before_placed",
        /// Ready before it was ordered.
        ReadyBeforePlaced = "ready_before_placed",
        /// Due before anybody may take it.
        DueBeforeRelease = "due_before_release",
        /// Fetched and brought at one and the same place.
        SamePlace = "same_place",
    }
}

impl Flag {
    /// A few words for people.
    pub const fn words(self, lang: Lang) -> &'static str {
        let (zh, en) = match self {
            Self::DueBeforeReady => ("应送达早于备好", "due before ready"),
            Self::DueBeforePlaced => ("应送达早于下单", "due before it was ordered"),
            Self::ReadyBeforePlaced => ("备好早于下单", "ready before it was ordered"),
            Self::DueBeforeRelease => ("应送达早于放单", "due before its release"),
            Self::SamePlace => ("取送同一地点", "pickup and dropoff are one place"),
        };
        match lang {
            Lang::Zh => zh,
            Lang::En => en,
        }
    }
}
