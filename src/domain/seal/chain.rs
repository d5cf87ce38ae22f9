//! Rows as bytes, and the chain over them.

use sha2::{Digest, Sha256};

use super::super::fingerprint::hex;

/// The version of the canonical bytes. It stands in front of all that is hashed.
pub const VERSION: u8 = 1;
/// How many characters of a seal's marks belong to one row.
pub const MARK: usize = 16;

/// Which numbered table a row belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Book {
    /// Accepted changes.
    Event,
    /// Every attempt, the losers' too.
    Attempt,
}

/// One column of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column<'a> {
    /// An integer, or nothing.
    Int(Option<i64>),
    /// A text, or nothing.
    Text(Option<&'a str>),
}

/// Columns as bytes: no two lists of columns have the same ones, since each column says its kind and a text its length.
pub fn canonical(tag: u8, columns: &[Column<'_>]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(512);
    bytes.extend([VERSION, tag]);
    bytes.extend(length(columns.len()));
    for column in columns {
        match column {
            Column::Int(None) => bytes.push(b'0'),
            Column::Text(None) => bytes.push(b'-'),
            Column::Int(Some(number)) => {
                bytes.push(b'i');
                bytes.extend(number.to_be_bytes());
            }
            Column::Text(Some(text)) => {
                bytes.push(b't');
                bytes.extend(length(text.len()));
                bytes.extend(text.as_bytes());
            }
        }
    }
    bytes
}

/// A length as it stands in front of what it counts. No length here comes near the end of 64 bits.
fn length(count: usize) -> [u8; 8] {
    u64::try_from(count).unwrap_or(u64::MAX).to_be_bytes()
}

impl Book {
    const fn tag(self) -> u8 {
        match self {
            Self::Event => b'e',
            Self::Attempt => b'a',
        }
    }

    /// The digest of a row's content: all columns but its number.
    pub fn content(self, columns: &[Column<'_>]) -> Content {
        Content(Sha256::digest(canonical(self.tag(), columns)).into())
    }
}

/// The digest of what a row says, its number aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content([u8; 32]);

impl Content {
    /// The part of it that a seal keeps for each row.
    pub fn mark(&self) -> String {
        hex(&self.0[..MARK / 2])
    }
}

/// The running chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain([u8; 32]);

impl Chain {
    /// Before the first row.
    pub const START: Self = Self([0; 32]);

    /// The chain that ended with `digest`; `None` if that is no digest.
    pub fn from_hex(digest: &str) -> Option<Self> {
        super::key::bytes_of(digest).map(Self)
    }

    /// Binds the next row.
    pub fn add(&mut self, book: Book, number: i64, content: &Content) {
        let mut hash = Sha256::new();
        hash.update(self.0);
        hash.update([VERSION, book.tag()]);
        hash.update(number.to_be_bytes());
        hash.update(content.0);
        self.0 = hash.finalize().into();
    }

    /// Its end, in hexadecimal.
    pub fn digest(&self) -> String {
        hex(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_rows_have_the_same_bytes() {
        use Column::{Int, Text};
        let rows: [&[Column<'_>]; 10] = [
            &[],
            &[Int(None)],
            &[Text(None)],
            &[Text(Some(""))],
            &[Int(Some(0))],
            &[Int(Some(-1))],
            &[Text(Some("ab")), Text(Some("c"))],
            &[Text(Some("a")), Text(Some("bc"))],
            &[Text(Some("abc"))],
            &[Text(Some("abc")), Text(None)],
        ];
        let bytes: std::collections::BTreeSet<_> =
            rows.iter().flat_map(|row| [canonical(b'e', row), canonical(b'a', row)]).collect();
        assert_eq!(bytes.len(), rows.len() * 2);
    }

    #[test]
    fn the_bytes_of_a_row_stay_what_they_are() {
        let row = [Column::Int(Some(258)), Column::Text(Some("好")), Column::Text(None)];
        assert_eq!(
            hex(&canonical(b'e', &row)),
            "0165000000000000000369000000000000010274000000000000000\
             3e5a5bd2d"
        );
    }

    #[test]
    fn number_order_and_content_make_the_chain() {
        let (one, two) = (
            Book::Event.content(&[Column::Int(Some(1))]),
            Book::Event.content(&[Column::Int(Some(2))]),
        );
        let chain = |rows: &[(Book, i64, &Content)]| {
            let mut chain = Chain::START;
            for (book, number, content) in rows {
                chain.add(*book, *number, content);
            }
            chain.digest()
        };
        let ends = std::collections::BTreeSet::from([
            chain(&[]),
            chain(&[(Book::Event, 1, &one)]),
            chain(&[(Book::Event, 2, &one)]),
            chain(&[(Book::Attempt, 1, &one)]),
            chain(&[(Book::Event, 1, &one), (Book::Event, 2, &two)]),
            chain(&[(Book::Event, 1, &two), (Book::Event, 2, &one)]),
            chain(&[(Book::Event, 2, &two), (Book::Event, 1, &one)]),
        ]);
        assert_eq!(ends.len(), 7);
        assert_eq!(Chain::from_hex(&Chain::START.digest()), Some(Chain::START));
        assert_eq!(Chain::from_hex("00"), None);
    }
}
