//! CSV, record by record, with the physical line on which each starts.
//!
//! Our own and not a library's, because blank lines must be seen and counted, and because the line number is what
//! people look for in their file.

use std::io::{BufRead, Read};

use super::trouble::FileError;

/// The largest single record: beyond it, a quotation mark has lost its twin.
pub(super) const MOST_BYTES: usize = 1024 * 1024;

/// Marks that may part the fields.
pub(super) const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// One record.
#[derive(Debug)]
pub(super) struct Record {
    /// The physical line on which it starts, from 1.
    pub(super) line: u64,
    /// Its fields, without quotes.
    pub(super) fields: Vec<Vec<u8>>,
    /// Whether every quotation mark has its twin.
    pub(super) closed: bool,
}

/// The records of a file.
#[derive(Debug)]
pub(super) struct Records<R> {
    input: R,
    separator: u8,
    line: u64,
}

impl<R: BufRead> Records<R> {
    pub(super) const fn new(input: R, separator: u8) -> Self {
        Self { input, separator, line: 0 }
    }

    /// The next record. An empty line is a record of one empty field.
    pub(super) fn next(&mut self) -> Result<Option<Record>, FileError> {
        let start = self.line + 1;
        let mut split = Split::new(self.separator);
        let (mut size, mut line) = (0, Vec::new());
        loop {
            line.clear();
            let room = u64::try_from(MOST_BYTES - size).unwrap_or_default() + 1;
            let read = self.input.by_ref().take(room).read_until(b'\n', &mut line)?;
            if read == 0 {
                return Ok((size > 0).then(|| split.record(start)));
            }
            self.line += 1;
            size += read;
            if size > MOST_BYTES {
                return Err(FileError::TooLarge { line: start, limit: MOST_BYTES });
            }
            let text = line.strip_suffix(b"\n").unwrap_or(&line);
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            split.feed(text);
            if !split.is_quoted() {
                return Ok(Some(split.record(start)));
            }
            // The line break belongs to the field, as it stands.
            split.field.extend_from_slice(&line[text.len()..]);
        }
    }
}

/// The fields of one line.
pub(super) fn fields(line: &[u8], separator: u8) -> Vec<Vec<u8>> {
    let mut split = Split::new(separator);
    split.feed(line);
    split.record(1).fields
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing but spaces so far.
    Start,
    Plain,
    Quoted,
    /// A quotation mark within quotes: the end, or the first of a pair.
    Mark,
}

#[derive(Debug)]
struct Split {
    separator: u8,
    state: State,
    field: Vec<u8>,
    fields: Vec<Vec<u8>>,
}

impl Split {
    const fn new(separator: u8) -> Self {
        Self { separator, state: State::Start, field: Vec::new(), fields: Vec::new() }
    }

    fn is_quoted(&self) -> bool {
        self.state == State::Quoted
    }

    fn feed(&mut self, text: &[u8]) {
        for &byte in text {
            match (self.state, byte) {
                (State::Quoted, b'"') => self.state = State::Mark,
                (State::Quoted, _) => self.field.push(byte),
                (State::Mark, b'"') => {
                    self.field.push(byte);
                    self.state = State::Quoted;
                }
                (_, byte) if byte == self.separator => {
                    self.fields.push(std::mem::take(&mut self.field));
                    self.state = State::Start;
                }
                (State::Start, b'"') => {
                    self.field.clear();
                    self.state = State::Quoted;
                }
                (state, byte) => {
                    self.field.push(byte);
                    let blank = state == State::Start && byte == b' ';
                    self.state = if blank { State::Start } else { State::Plain };
                }
            }
        }
    }

    fn record(mut self, line: u64) -> Record {
        let closed = !self.is_quoted();
        self.fields.push(self.field);
        Record { line, fields: self.fields, closed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(u64, Vec<String>)> {
        let mut records = Records::new(text.as_bytes(), b',');
        let mut all = Vec::new();
        while let Some(record) = records.next().expect("readable") {
            let fields = record.fields.into_iter().map(|field| String::from_utf8(field).unwrap());
            all.push((record.line, fields.collect()));
        }
        all
    }

    #[test]
    fn lines_are_counted_as_people_count_them() {
        let text = "a,b\r\n\r\n\"x\r\ny\",\"say \"\"hi\"\"\"\n ,\n5\" pipe, \"q,r\" \nlast,\"";
        let expected = [
            (1, vec!["a", "b"]),
            (2, vec![""]),
            (3, vec!["x\r\ny", "say \"hi\""]),
            (5, vec![" ", ""]),
            (6, vec!["5\" pipe", "q,r "]),
            (7, vec!["last", ""]),
        ];
        let expected = expected.map(|(line, fields)| {
            (line, fields.into_iter().map(str::to_owned).collect::<Vec<_>>())
        });
        assert_eq!(read(text), expected);
    }

    #[test]
    fn a_quote_without_its_twin_does_not_swallow_the_memory() {
        let endless = std::io::BufReader::new(std::io::repeat(b'x'));
        let mut records = Records::new(endless, b',');
        assert!(matches!(records.next(), Err(FileError::TooLarge { line: 1, .. })));
    }
}
