//! Whether the log still fits its seals: everything is computed anew, and the first number that does not fit is named.
//!
//! It reads in chunks, each in a transaction of its own: what was committed does not change, or else it is found.
//! Whatever is committed after the beginning is left alone.

mod feed;
mod report;

use self::feed::Feed;
pub use self::report::{Finding, Part, Report};
use crate::{
    domain::seal::{Book, Chain, Content, Head, Keys, MARK, Range, Seal},
    store::{self, Attempt, Bounds, Db, LoggedEvent},
};

/// How many seals are read at a time. Each may have marks of 160 kB.
const SEALS: i64 = 64;
/// After how many rows the progress is told.
const TOLD_EVERY: u64 = 10_000;

enum Stop {
    Found(Finding),
    Failed(store::Error),
}

impl From<store::Error> for Stop {
    fn from(error: store::Error) -> Self {
        Self::Failed(error)
    }
}

fn found(part: impl Into<Part>, number: i64, why: impl Into<String>) -> Stop {
    Stop::Found(Finding { part: part.into(), number, why: why.into() })
}

/// Checks everything. `noted` are heads that were noted elsewhere; `progress` is told how far it has come.
///
/// # Errors
/// If the database can not be read.
pub async fn verify(
    db: &Db,
    keys: &Keys,
    noted: &[Head],
    progress: impl FnMut(&Report) + Send,
) -> store::Result<Report> {
    let mut walk = Walk {
        db,
        keys,
        noted,
        progress,
        report: Report::default(),
        chain: Chain::START,
        sealed: (Range::NOTHING, Range::NOTHING),
        events: Feed::default(),
        attempts: Feed::default(),
    };
    match walk.run().await {
        Ok(()) => {}
        Err(Stop::Found(finding)) => walk.report.finding = Some(finding),
        Err(Stop::Failed(error)) => return Err(error),
    }
    Ok(walk.report)
}

struct Walk<'a, P> {
    db: &'a Db,
    keys: &'a Keys,
    noted: &'a [Head],
    progress: P,
    report: Report,
    chain: Chain,
    /// What the last seal that fits has closed.
    sealed: (Range, Range),
    events: Feed<LoggedEvent>,
    attempts: Feed<Attempt>,
}

impl<P: FnMut(&Report) + Send> Walk<'_, P> {
    async fn run(&mut self) -> Result<(), Stop> {
        let mut tx = self.db.read().await?;
        let (bounds, last) = (tx.bounds().await?, tx.last_seal().await?);
        tx.rollback().await?;
        let last = last.map_or(0, |last| last.number);
        let first = self.seals_after(0).await?.first().map_or(1, |seal| seal.number);
        if first < 1 {
            return Err(found(Part::Seal, first, "inserted: numbers begin with 1"));
        }
        let mut checked = 0;
        while checked < last {
            for seal in self.seals_after(checked).await? {
                if checked == last {
                    break;
                }
                self.seal(checked + 1, &seal).await?;
                checked += 1;
            }
        }
        self.tail(&bounds).await?;
        self.heads(last)
    }

    async fn seals_after(&self, after: i64) -> Result<Vec<Seal>, Stop> {
        let mut tx = self.db.read().await?;
        // The first look is from the very beginning: there must be nothing below 1.
        let after = if after == 0 { i64::MIN } else { after };
        let seals = tx.seals_after(after, SEALS).await?;
        tx.rollback().await?;
        if seals.is_empty() && after > 0 {
            return Err(found(Part::Seal, after + 1, "missing: it was taken away just now"));
        }
        Ok(seals)
    }

    /// One seal and its rows.
    async fn seal(&mut self, number: i64, seal: &Seal) -> Result<(), Stop> {
        if seal.number != number {
            let why = format!("missing: after it comes seal {}", seal.number);
            return Err(found(Part::Seal, number, why));
        }
        let wrong = |why: String| Err(found(Part::Seal, number, why));
        let of =
            format!("it closes {} and {}", of(seal.events, "event"), of(seal.attempts, "attempt"));
        let Some(key) = self.keys.find(&seal.key_id) else {
            return wrong(format!(
                "made with the key {:?}, which is not among those given; {of}",
                seal.key_id
            ));
        };
        if !seal.is_made_by(key) {
            return wrong(format!(
                "its MAC is wrong: it was changed, or made by somebody without the key; {of}"
            ));
        }
        if let Some(noted) = self.noted.iter().find(|noted| noted.number == number)
            && noted.digest != seal.digest
        {
            return wrong(format!(
                "its digest is {}, but {} was noted: the log was cut and written anew; {of}",
                seal.digest, noted.digest
            ));
        }
        let follows = seal.prev == self.chain.digest()
            && seal.events.first == self.sealed.0.next().first
            && seal.attempts.first == self.sealed.1.next().first;
        if !follows {
            return wrong(format!("the chain is broken: it does not follow the seal before; {of}"));
        }
        if u64::try_from(seal.marks.len() / MARK) != Ok(seal.rows()) {
            return wrong(format!("its marks do not fit its rows; {of}"));
        }
        for number in seal.events.first..=seal.events.last {
            let row = self.events.take(self.db, number).await?;
            let content = row.map_err(|why| found(Book::Event, number, why))?;
            if !self.fits(seal, Book::Event, number, &content) {
                let after = self.events.peek(self.db).await?;
                return Err(explained(seal, Book::Event, number, &content, after));
            }
        }
        for number in seal.attempts.first..=seal.attempts.last {
            let row = self.attempts.take(self.db, number).await?;
            let content = row.map_err(|why| found(Book::Attempt, number, why))?;
            if !self.fits(seal, Book::Attempt, number, &content) {
                let after = self.attempts.peek(self.db).await?;
                return Err(explained(seal, Book::Attempt, number, &content, after));
            }
        }
        if self.chain.digest() != seal.digest {
            return wrong(format!("its rows give another digest; {of}"));
        }
        self.sealed = (seal.events, seal.attempts);
        self.report.seals += 1;
        self.report.head = Some(seal.head());
        Ok(())
    }

    /// Whether a row is what a seal has closed.
    fn fits(&mut self, seal: &Seal, book: Book, number: i64, content: &Content) -> bool {
        self.count(book);
        self.chain.add(book, number, content);
        seal.mark(book, number) == Some(content.mark().as_str())
    }

    fn count(&mut self, book: Book) {
        match book {
            Book::Event => self.report.events += 1,
            Book::Attempt => self.report.attempts += 1,
        }
        if (self.report.events + self.report.attempts).is_multiple_of(TOLD_EVERY) {
            (self.progress)(&self.report);
        }
    }

    /// What is not sealed: numbers without holes, up to what the counter says.
    async fn tail(&mut self, bounds: &Bounds) -> Result<(), Stop> {
        let books = [
            (Book::Event, bounds.events, bounds.given.0, self.sealed.0),
            (Book::Attempt, bounds.attempts, bounds.given.1, self.sealed.1),
        ];
        for (book, there, given, sealed) in books {
            if there.first < 1 {
                return Err(found(book, there.first, "inserted: numbers begin with 1"));
            }
            if given < sealed.last {
                let why = format!(
                    "the counter stands at {given}, but the seals go up to {}: it was set back",
                    sealed.last
                );
                return Err(found(book, given + 1, why));
            }
            for number in sealed.next().first..=given {
                let row = match book {
                    Book::Event => self.events.take(self.db, number).await?,
                    Book::Attempt => self.attempts.take(self.db, number).await?,
                };
                row.map_err(|why| {
                    found(book, number, format!("{why}; the counter stands at {given}"))
                })?;
                self.count(book);
                match book {
                    Book::Event => self.report.unsealed_events += 1,
                    Book::Attempt => self.report.unsealed_attempts += 1,
                }
            }
            if there.last > given {
                let why = format!("inserted: the counter stands at {given}");
                return Err(found(book, given + 1, why));
            }
        }
        Ok(())
    }

    /// Heads that were noted elsewhere, and are not here.
    fn heads(&self, last: i64) -> Result<(), Stop> {
        let Some(beyond) = self.noted.iter().map(|head| head.number).filter(|n| *n > last).max()
        else {
            return Ok(());
        };
        let (events, attempts) = (self.sealed.0.last, self.sealed.1.last);
        let why = format!(
            "missing: the head that was noted is seal {beyond}, and the last one here is seal {last}, which ends at \
             event {events} and attempt {attempts}; what was sealed after those was cut off"
        );
        Err(found(Part::Seal, last + 1, why))
    }
}

/// Why a row is not what a seal has closed; `after` is what the row after it holds.
fn explained(
    seal: &Seal,
    book: Book,
    number: i64,
    content: &Content,
    after: Option<Content>,
) -> Stop {
    let part = Part::from(book);
    let moved = |after: Content| seal.mark(book, number) == Some(after.mark().as_str());
    let why = if let Some(other) = seal.closed_as(book, content) {
        format!("it holds what was sealed as {part} {other}")
    } else if after.is_some_and(moved) {
        format!("inserted: what was sealed under this number is {part} {} now", number + 1)
    } else {
        "it was changed after it was sealed".to_owned()
    };
    found(book, number, format!("{why} (seal {})", seal.number))
}

/// A range in words.
fn of(range: Range, what: &str) -> String {
    match range.count() {
        0 => format!("no {what}"),
        1 => format!("{what} {}", range.first),
        _ => format!("{what}s {} to {}", range.first, range.last),
    }
}
