//! The log as a file: events and attempts that were searched for, the latest first, and the head of the seals.
//!
//! It is made piece by piece, so that it never stands in memory as a whole. The last line says the head and how many
//! rows there were: an export without it was cut.

mod csv;

use std::fmt::Write;

use chrono::{DateTime, SecondsFormat};
use serde::Serialize;

pub use self::csv::{csv_number, csv_text};
use crate::{
    domain::{
        id::{RegionId, RiderId, TaskId, Timestamp},
        seal::{Book, Seal},
    },
    store::{self, Db, Entry, Place, Search},
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
        let head = Last {
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

/// An instant in a zone, by RFC 3339.
fn local(at: i64, zone: chrono_tz::Tz) -> String {
    let at_utc = DateTime::from_timestamp_millis(at);
    at_utc.map_or_else(String::new, |at| {
        at.with_timezone(&zone).to_rfc3339_opts(SecondsFormat::Millis, false)
    })
}

const HEADINGS: [&str; 21] = [
    "record",
    "number",
    "at",
    "at_ms",
    "region",
    "task",
    "kind",
    "subject",
    "action",
    "code",
    "actor_kind",
    "actor_id",
    "rider",
    "from_revision",
    "to_revision",
    "revision_seen",
    "mode",
    "reason",
    "key_hash",
    "event_id",
    "detail",
];

/// One row of the log.
#[derive(Debug, Default, Serialize)]
struct Line<'a> {
    record: &'static str,
    number: i64,
    at: String,
    at_ms: i64,
    region: Option<String>,
    task: Option<String>,
    kind: Option<&'a str>,
    subject: Option<i64>,
    action: &'a str,
    code: Option<&'a str>,
    actor_kind: &'a str,
    actor_id: Option<&'a str>,
    rider: Option<String>,
    from_revision: Option<i64>,
    to_revision: Option<i64>,
    revision_seen: Option<i64>,
    mode: Option<&'a str>,
    reason: Option<&'a str>,
    key_hash: Option<&'a str>,
    event_id: Option<&'a str>,
    detail: Option<&'a str>,
}

/// The last line.
#[derive(Debug, Serialize)]
struct Last<'a> {
    record: &'static str,
    /// Number and digest of the last seal, for `dispatch-desk audit verify --head-file`.
    head: Option<String>,
    mac: Option<&'a str>,
    key_id: Option<&'a str>,
    last_event: Option<i64>,
    last_attempt: Option<i64>,
    rows: u64,
    at: String,
}

impl<'a> Line<'a> {
    fn of(entry: &'a Entry, zone: chrono_tz::Tz) -> Self {
        let region = |region: i64| RegionId(region).to_string();
        let task = |task: i64| TaskId(task).to_string();
        match entry {
            Entry::Event(event) => Self {
                record: "event",
                number: event.number,
                at: local(event.occurred_at, zone),
                at_ms: event.occurred_at,
                region: event.region_id.map(region),
                task: event.task_id.map(task),
                kind: Some(&event.kind),
                subject: Some(event.subject),
                action: &event.action,
                actor_kind: &event.actor_kind,
                actor_id: event.actor_id.as_deref(),
                rider: event.rider_id.map(|rider| RiderId(rider).to_string()),
                from_revision: event.from_revision,
                to_revision: event.to_revision,
                mode: event.mode.as_deref(),
                reason: event.reason.as_deref(),
                key_hash: event.key_hash.as_deref(),
                event_id: Some(&event.event_id),
                detail: Some(&event.detail),
                ..Self::default()
            },
            Entry::Attempt(attempt, of) => Self {
                record: "attempt",
                number: attempt.number,
                at: local(attempt.at, zone),
                at_ms: attempt.at,
                region: of.map(region),
                task: attempt.task_id.map(task),
                action: &attempt.verb,
                code: Some(&attempt.code),
                actor_kind: &attempt.actor_kind,
                actor_id: attempt.actor_id.as_deref(),
                revision_seen: attempt.revision_seen,
                key_hash: attempt.key_hash.as_deref(),
                ..Self::default()
            },
        }
    }

    /// The cells, in the order of the headings.
    fn cells(&self) -> [String; 21] {
        let text = |text: Option<&str>| text.map_or_else(String::new, csv_text);
        let number = |number: Option<i64>| number.map_or_else(String::new, csv_number);
        [
            csv_text(self.record),
            csv_number(self.number),
            csv_text(&self.at),
            csv_number(self.at_ms),
            text(self.region.as_deref()),
            text(self.task.as_deref()),
            text(self.kind),
            number(self.subject),
            csv_text(self.action),
            text(self.code),
            csv_text(self.actor_kind),
            text(self.actor_id),
            text(self.rider.as_deref()),
            number(self.from_revision),
            number(self.to_revision),
            number(self.revision_seen),
            text(self.mode),
            text(self.reason),
            text(self.key_hash),
            text(self.event_id),
            text(self.detail),
        ]
    }
}
