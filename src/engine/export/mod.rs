//! The log as a file: events and attempts that were searched for, the latest first, and the head of the seals.
//!
//! It is made piece by piece, so that it never stands in memory as a whole. The last line says the head and how many
//! rows there were: an export without it was cut.

mod csv;
mod line;

use std::fmt::Write;

use serde::Serialize;

pub use self::csv::{csv_number, csv_text};
use self::line::{Ending, HEADINGS, Line, local};
use crate::{
    domain::{
        id::{RegionId, Timestamp},
        seal::{Book, Seal},
    },
    store::{self, Db, Place, Search},
};

/// How many rows are read for one piece.
const PIECE: usize = 1_000;

/// The form of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A table for spreadsheets: UTF-8 with its mark, CRLF, all texts quoted, no formulas.
    Csv,
    /// A JSON object a line.
    Jsonl,
}

impl Form {
    /// What its files end with.
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
        }
    }
}

/// A search over the whole log, for somebody who may see these regions and what belongs to none.
pub fn everything(regions: Vec<RegionId>) -> Search {
    Search {
        regions,
        of_no_region: true,
        books: vec![Book::Event, Book::Attempt],
        task: None,
        rider: None,
        actor_kind: None,
        actor_id: None,
        what: None,
        from: Timestamp(i64::MIN),
        until: Timestamp(i64::MAX),
    }
}

/// An export under way.
#[derive(Debug)]
pub struct Export {
    db: Db,
    form: Form,
    search: Search,
    zone: chrono_tz::Tz,
    rows: u64,
    state: State,
}

#[derive(Debug)]
enum State {
    Beginning,
    Before(Place),
    End,
    Done,
}

impl Export {
    /// An export of what `search` finds, with times in `zone`.
    pub const fn new(db: Db, form: Form, search: Search, zone: chrono_tz::Tz) -> Self {
        Self { db, form, search, zone, rows: 0, state: State::Beginning }
    }

    /// The next piece, which may be empty; `None` once all was given.
    ///
    /// # Errors
    /// If the database can not be read. The export is not whole then, and has no last line.
    pub async fn next(&mut self) -> store::Result<Option<String>> {
        match self.state {
            State::Beginning => {
                self.state = State::Before(Place::start_of(self.search.until));
                Ok(Some(match self.form {
                    Form::Csv => format!("\u{feff}{}\r\n", HEADINGS.map(csv_text).join(",")),
                    Form::Jsonl => String::new(),
                }))
            }
            State::Before(place) => {
                let mut tx = self.db.read().await?;
                let found = tx.search(&self.search, place, PIECE).await?;
                tx.rollback().await?;
                self.state = found.next.map_or(State::End, State::Before);
                let mut piece = String::with_capacity(found.entries.len() * 400);
                for entry in &found.entries {
                    self.rows += 1;
                    self.push(&mut piece, &Line::of(entry, self.zone));
                }
                Ok(Some(piece))
            }
            State::End => {
                let mut tx = self.db.read().await?;
                let (last, now) = (tx.last_seal().await?, tx.now().await?);
                tx.rollback().await?;
                self.state = State::Done;
                let mut piece = String::new();
                self.push_head(&mut piece, last.as_ref(), now);
                Ok(Some(piece))
            }
            State::Done => Ok(None),
        }
    }

    fn push(&self, piece: &mut String, line: &Line<'_>) {
        match self.form {
            Form::Jsonl => push_json(piece, line),
            Form::Csv => {
                let _ = write!(piece, "{}\r\n", line.cells().join(","));
            }
        }
    }

    fn push_head(&self, piece: &mut String, last: Option<&Seal>, now: Timestamp) {
        let head = Ending {
            record: "head",
            head: last.map(|last| last.head().to_string()),
            mac: last.map(|last| last.mac.as_str()),
            key_id: last.map(|last| last.key_id.as_str()),
            last_event: last.map(|last| last.events.last),
            last_attempt: last.map(|last| last.attempts.last),
            rows: self.rows,
            at: local(now.0, self.zone),
        };
        match self.form {
            Form::Jsonl => push_json(piece, &head),
            Form::Csv => {
                let detail = serde_json::to_string(&head).expect("heads have only text keys");
                let mut cells = vec![String::new(); HEADINGS.len()];
                cells[0] = csv_text("head");
                cells[2] = csv_text(&head.at);
                cells[HEADINGS.len() - 1] = csv_text(&detail);
                let _ = write!(piece, "{}\r\n", cells.join(","));
            }
        }
    }
}

fn push_json(piece: &mut String, line: &impl Serialize) {
    piece.push_str(&serde_json::to_string(line).expect("lines have only text keys"));
    piece.push('\n');
}
