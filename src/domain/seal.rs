//! Seals over the log: rows that were written once are bound into a chain, and the chain to a key.
//!
//! Each row has a digest over all of its columns but its number. A link of the chain is
//! `SHA-256(link before ‖ version ‖ table ‖ number ‖ digest)`, so the number, the order and the content count. A seal
//! closes a range of events and a range of attempts; its HMAC-SHA-256 needs a key that is not in the database. Whoever
//! can write to the database but has no key can change rows, and can not make a seal that fits them.
//!
//! What it can not show by itself is a cut tail: fewer rows with fewer seals are sound as well. So the head, number and
//! digest of the last seal, is noted elsewhere: [`Head`].

mod chain;
mod head;
mod key;

pub use chain::{Book, Chain, Column, Content, MARK, VERSION, canonical};
pub use head::Head;
pub use key::{Key, Keys, NoKeys};

use super::id::Timestamp;

/// Numbers without holes, from the first to the last; empty if the last is the one before the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first number.
    pub first: i64,
    /// The last number.
    pub last: i64,
}

impl Range {
    /// Nothing, before any number was given out.
    pub const NOTHING: Self = Self { first: 1, last: 0 };

    /// Nothing yet, right after this.
    #[must_use]
    pub const fn next(self) -> Self {
        Self { first: self.last.saturating_add(1), last: self.last }
    }

    /// How many numbers it has.
    pub fn count(self) -> u64 {
        u64::try_from(self.last.saturating_sub(self.first).saturating_add(1)).unwrap_or_default()
    }
}

/// A seal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seal {
    /// Its number: 1, 2, 3, …
    pub number: i64,
    /// The events that it closes.
    pub events: Range,
    /// The attempts that it closes.
    pub attempts: Range,
    /// Where the chain ends, in hexadecimal.
    pub digest: String,
    /// The digest of the seal before.
    pub prev: String,
    /// The marks of the rows: those of the events, then those of the attempts.
    pub marks: String,
    /// Which key made it.
    pub key_id: String,
    /// The HMAC-SHA-256 over all of the rest, in hexadecimal.
    pub mac: String,
    /// When, in epoch milliseconds.
    pub at: Timestamp,
}

impl Seal {
    /// What the key is asked to vouch for.
    fn vouched(&self) -> Vec<u8> {
        let int = |number| Column::Int(Some(number));
        let text = |text| Column::Text(Some(text));
        let columns = [
            int(self.number),
            int(self.events.first),
            int(self.events.last),
            int(self.attempts.first),
            int(self.attempts.last),
            text(&self.digest),
            text(&self.prev),
            text(&self.marks),
            text(&self.key_id),
            int(self.at.0),
        ];
        canonical(b's', &columns)
    }

    /// Whether `key` made it, as it is.
    pub fn is_made_by(&self, key: &Key) -> bool {
        key.id() == self.key_id && key.vouches(&self.vouched(), &self.mac)
    }

    /// How many rows it closes.
    pub fn rows(&self) -> u64 {
        self.events.count().saturating_add(self.attempts.count())
    }

    /// What is to be noted elsewhere.
    pub fn head(&self) -> Head {
        Head { number: self.number, digest: self.digest.clone() }
    }

    /// The mark of a row that it closes; `None` if it closes no such row.
    pub fn mark(&self, book: Book, number: i64) -> Option<&str> {
        let range = match book {
            Book::Event => self.events,
            Book::Attempt => self.attempts,
        };
        if number < range.first || number > range.last {
            return None;
        }
        let before = match book {
            Book::Event => 0,
            Book::Attempt => usize::try_from(self.events.count()).ok()?,
        };
        let at = before.checked_add(usize::try_from(number - range.first).ok()?)?;
        let from = at.checked_mul(MARK)?;
        self.marks.get(from..from.checked_add(MARK)?)
    }

    /// The row of the same table that was closed with this content; `None` if there is none, or nobody can say.
    pub fn closed_as(&self, book: Book, content: &Content) -> Option<i64> {
        let range = match book {
            Book::Event => self.events,
            Book::Attempt => self.attempts,
        };
        let mark = content.mark();
        (range.first..=range.last).find(|number| self.mark(book, *number) == Some(mark.as_str()))
    }
}

/// A seal that is being made: events first, then attempts, each in order.
#[derive(Clone, Debug)]
pub struct Sealing {
    number: i64,
    prev: String,
    chain: Chain,
    events: Range,
    attempts: Range,
    marks: String,
}

impl Sealing {
    /// The one that follows `last`; `None` if the digest of `last` is none.
    pub fn after(last: Option<&Seal>) -> Option<Self> {
        let chain = last.map_or(Some(Chain::START), |last| Chain::from_hex(&last.digest))?;
        Some(Self {
            number: last.map_or(1, |last| last.number.saturating_add(1)),
            prev: chain.digest(),
            chain,
            events: last.map_or(Range::NOTHING, |last| last.events.next()),
            attempts: last.map_or(Range::NOTHING, |last| last.attempts.next()),
            marks: String::new(),
        })
    }

    /// Which number it takes next.
    pub const fn next(&self, book: Book) -> i64 {
        match book {
            Book::Event => self.events.last.saturating_add(1),
            Book::Attempt => self.attempts.last.saturating_add(1),
        }
    }

    /// Takes the next row. Its number is [`Sealing::next`].
    pub fn take(&mut self, book: Book, columns: &[Column<'_>]) {
        let content = book.content(columns);
        let number = self.next(book);
        self.chain.add(book, number, &content);
        self.marks.push_str(&content.mark());
        match book {
            Book::Event => self.events.last = number,
            Book::Attempt => self.attempts.last = number,
        }
    }

    /// How many rows it has taken.
    pub fn count(&self) -> u64 {
        self.events.count() + self.attempts.count()
    }

    /// Seals it.
    pub fn seal(self, key: &Key, at: Timestamp) -> Seal {
        let mut seal = Seal {
            number: self.number,
            events: self.events,
            attempts: self.attempts,
            digest: self.chain.digest(),
            prev: self.prev,
            marks: self.marks,
            key_id: key.id().to_owned(),
            mac: String::new(),
            at,
        };
        seal.mac = key.mac(&seal.vouched());
        seal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_fits_its_rows_and_its_key_alone() {
        let keys = Keys::parse(format!("{}\n{}\n", "01".repeat(32), "02".repeat(32)).as_bytes());
        let keys = keys.expect("two keys");
        let mut sealing = Sealing::after(None).expect("the first");
        sealing.take(Book::Event, &[Column::Int(Some(7))]);
        sealing.take(Book::Attempt, &[Column::Int(Some(8))]);
        let seal = sealing.seal(keys.newest(), Timestamp(5));
        assert!(seal.is_made_by(keys.newest()));
        let of = |book: Book, value| book.content(&[Column::Int(Some(value))]).mark();
        assert_eq!(seal.mark(Book::Event, 1), Some(of(Book::Event, 7).as_str()));
        assert_eq!(seal.mark(Book::Attempt, 1), Some(of(Book::Attempt, 8).as_str()));
        assert_eq!(seal.mark(Book::Attempt, 2), None);
        let changes: [fn(&mut Seal); 9] = [
            |seal| seal.number += 1,
            |seal| seal.events.last += 1,
            |seal| seal.attempts.first += 1,
            |seal| seal.digest.replace_range(..1, "g"),
            |seal| seal.prev.replace_range(..1, "1"),
            |seal| seal.marks.push('0'),
            |seal| seal.at = Timestamp(6),
            |seal| seal.mac.replace_range(..2, "zz"),
            |seal| seal.mac.truncate(10),
        ];
        for (number, change) in changes.iter().enumerate() {
            let mut changed = seal.clone();
            change(&mut changed);
            assert!(!changed.is_made_by(keys.newest()), "change {number}");
        }
        let next = Sealing::after(Some(&seal)).expect("the next");
        assert_eq!((next.next(Book::Event), next.next(Book::Attempt)), (2, 2));
        assert_eq!(next.seal(keys.newest(), Timestamp(6)).prev, seal.digest);
    }
}
