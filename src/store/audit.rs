//! The auditor's search: events and attempts by time, the latest first, as far as the reader may see them.
//!
//! A search walks. Of each table it goes through at most so many rows at a time and keeps those that are looked for, so
//! that no statement takes long, however few there are to find. Where a task, a rider or somebody who acted is given,
//! it walks along that index instead of along the time.
//!
//! An attempt belongs to the region of its task. What belongs to no region (changes of the whole desk, attempts on no
//! task) is seen by whoever may see any of it.

use sqlx::FromRow;

use super::{
    audit_sql::{
        ATTEMPT_STEP, ATTEMPT_STEP_BY, ATTEMPTS, ATTEMPTS_BY, ATTEMPTS_ON, EVENT_STEP,
        EVENT_STEP_ABOUT, EVENT_STEP_BY, EVENTS, EVENTS_ABOUT, EVENTS_BY, EVENTS_ON,
    },
    error::Result,
    lists::region_rows,
    read::Attempt,
    rows::LoggedEvent,
    tx::{Tx, fetch},
};
use crate::domain::{
    id::{RegionId, RiderId, TaskId, Timestamp},
    seal::Book,
};

/// How many rows of a table one look passes by, at most.
const LOOK: i64 = 5_000;
/// How many looks one search takes before it says how far it came.
const LOOKS: usize = 20;

/// What is looked for, and by whom.
#[derive(Clone, Debug)]
pub struct Search {
    /// The regions that the reader may see, or the one that is looked for.
    pub regions: Vec<RegionId>,
    /// Whether what belongs to no region counts.
    pub of_no_region: bool,
    /// Events, attempts, or both.
    pub books: Vec<Book>,
    /// Only what belongs to this task.
    pub task: Option<TaskId>,
    /// Only events that concern this rider, and attempts that this rider made.
    pub rider: Option<RiderId>,
    /// Only what such an actor did.
    pub actor_kind: Option<&'static str>,
    /// Only what the actor of this id did.
    pub actor_id: Option<String>,
    /// Only this action or verb, or attempts with this code.
    pub what: Option<String>,
    /// Not before this instant.
    pub from: Timestamp,
    /// Before this instant.
    pub until: Timestamp,
}

impl Search {
    /// By whom what is looked for in a table was done. What a rider tried is found by who acted.
    fn by(&self, book: Book) -> Option<(&'static str, String)> {
        match (book, self.rider, self.actor_kind, &self.actor_id) {
            (_, _, Some(kind), Some(id)) => Some((kind, id.clone())),
            (Book::Attempt, Some(rider), None | Some("rider"), None) => {
                Some(("rider", rider.0.to_string()))
            }
            _ => None,
        }
    }
}

/// A place in the order of the search: by time, then events before attempts, then by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// When, in epoch milliseconds.
    pub at: i64,
    /// In which table.
    pub book: Book,
    /// The number there.
    pub number: i64,
}

impl Place {
    /// Before everything of an instant.
    pub const fn start_of(at: Timestamp) -> Self {
        Self { at: at.0, book: Book::Event, number: i64::MIN }
    }

    /// The same place among the rows of one table alone.
    const fn among(self, book: Book) -> (i64, i64) {
        match (book, self.book) {
            (Book::Event, Book::Attempt) => (self.at.saturating_add(1), i64::MIN),
            (Book::Attempt, Book::Event) => (self.at, i64::MIN),
            (Book::Event, Book::Event) | (Book::Attempt, Book::Attempt) => (self.at, self.number),
        }
    }
}

/// One row of the log.
#[derive(Clone, Debug)]
pub enum Entry {
    /// An accepted change.
    Event(LoggedEvent),
    /// An attempt, with the region of its task.
    Attempt(Attempt, Option<i64>),
}

impl Entry {
    /// Where it stands.
    pub const fn place(&self) -> Place {
        match self {
            Self::Event(event) => {
                Place { at: event.occurred_at, book: Book::Event, number: event.number }
            }
            Self::Attempt(attempt, _) => {
                Place { at: attempt.at, book: Book::Attempt, number: attempt.number }
            }
        }
    }
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The latest first.
    pub entries: Vec<Entry>,
    /// Where to go on; `None` at the end. There may be nothing more to find beyond it.
    pub next: Option<Place>,
}

#[derive(Debug, FromRow)]
struct AttemptRow {
    #[sqlx(flatten)]
    attempt: Attempt,
    region_id: Option<i64>,
}

impl Tx {
    /// Looks for up to `limit` rows before the place `before`. It gives up after a bounded time, and says how far it
    /// came.
    pub async fn search(&mut self, search: &Search, before: Place, limit: usize) -> Result<Found> {
        let floor = Place::start_of(search.from);
        let (mut found, mut upper) = (Found::default(), before);
        for _ in 0..LOOKS {
            let mut lower = floor;
            for book in &search.books {
                lower = lower.max(self.step(search, *book, upper, floor).await?.unwrap_or(floor));
            }
            let left = limit.saturating_sub(found.entries.len());
            let mut more = Vec::new();
            for book in &search.books {
                more.extend(self.look(search, *book, (upper, lower), left).await?);
            }
            more.sort_by_key(|entry: &Entry| std::cmp::Reverse(entry.place()));
            let is_full = more.len() > left;
            more.truncate(left);
            found.entries.extend(more);
            if is_full {
                found.next = Some(found.entries.last().map_or(upper, Entry::place));
                return Ok(found);
            }
            if lower == floor {
                return Ok(found);
            }
            upper = lower;
        }
        found.next = Some(upper);
        Ok(found)
    }

    /// Where one look at a table ends; `None` if it reaches the end.
    async fn step(
        &mut self,
        search: &Search,
        book: Book,
        upper: Place,
        floor: Place,
    ) -> Result<Option<Place>> {
        let ((at, number), (from, first)) = (upper.among(book), floor.among(book));
        let by = search.by(book);
        let rider = search.rider.map(|rider| rider.0);
        let skip = LOOK - 1;
        let found = match (book, rider, by) {
            _ if search.task.is_some() => return Ok(None),
            (Book::Event, Some(rider), _) => {
                fetch!(self, (i64, i64), EVENT_STEP_ABOUT, at, number, from, first, skip, rider)
            }
            (_, _, Some((kind, id))) => {
                let sql = if book == Book::Event { EVENT_STEP_BY } else { ATTEMPT_STEP_BY };
                fetch!(self, (i64, i64), sql, at, number, from, first, skip, kind, id)
            }
            (_, _, None) => {
                let sql = if book == Book::Event { EVENT_STEP } else { ATTEMPT_STEP };
                fetch!(self, (i64, i64), sql, at, number, from, first, skip)
            }
        };
        Ok(found.first().map(|(at, number)| Place { at: *at, book, number: *number }))
    }

    /// What one look at a table finds: one more than `limit` if there is more.
    async fn look(
        &mut self,
        search: &Search,
        book: Book,
        (upper, lower): (Place, Place),
        limit: usize,
    ) -> Result<Vec<Entry>> {
        let regions = region_rows(&search.regions);
        let of_none = i64::from(search.of_no_region);
        let ((at, number), (from, first)) = (upper.among(book), lower.among(book));
        let task = search.task.map(|task| task.0);
        let rider = search.rider.map(|rider| rider.0);
        let by = search.by(book);
        let kind = by.as_ref().map(|(kind, _)| *kind).or(search.actor_kind);
        let id = by.as_ref().map(|(_, id)| id.as_str()).or(search.actor_id.as_deref());
        let what = search.what.as_deref();
        let limit = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
        let sql = match (book, task, rider, by.is_some()) {
            (Book::Event, Some(_), ..) => EVENTS_ON,
            (Book::Event, None, Some(_), _) => EVENTS_ABOUT,
            (Book::Event, None, None, true) => EVENTS_BY,
            (Book::Event, None, None, false) => EVENTS,
            (Book::Attempt, Some(_), ..) => ATTEMPTS_ON,
            (Book::Attempt, None, _, true) => ATTEMPTS_BY,
            (Book::Attempt, None, _, false) => ATTEMPTS,
        };
        macro_rules! found {
            ($row:ty) => {
                fetch!(
                    self, $row, sql, &regions, of_none, at, number, from, first, task, rider, kind,
                    &id, what, limit
                )
            };
        }
        Ok(match book {
            Book::Event => found!(LoggedEvent).into_iter().map(Entry::Event).collect(),
            Book::Attempt => {
                let attempts = found!(AttemptRow).into_iter();
                attempts.map(|row| Entry::Attempt(row.attempt, row.region_id)).collect()
            }
        })
    }
}
