//! Lines that are chained: each carries the hash of all before it, so a changed, missing or moved one is found.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::Line;
use crate::domain::fingerprint::hex;

/// One line as it is written.
#[derive(Serialize, Deserialize)]
struct Link<'a> {
    n: u64,
    chain: String,
    #[serde(borrow)]
    body: &'a RawValue,
}

/// Writes lines.
#[derive(Debug)]
pub struct Chain<W> {
    out: W,
    lines: u64,
    last: String,
}

impl<W: Write> Chain<W> {
    /// Starts with nothing written.
    pub const fn new(out: W) -> Self {
        Self { out, lines: 0, last: String::new() }
    }

    /// Writes the next line.
    ///
    /// # Errors
    /// If it can not be written.
    pub fn push(&mut self, line: &Line) -> io::Result<()> {
        let body = serde_json::value::to_raw_value(line)?;
        self.lines += 1;
        self.last = next(&self.last, self.lines, body.get());
        let link = Link { n: self.lines, chain: self.last.clone(), body: &body };
        serde_json::to_writer(&mut self.out, &link)?;
        self.out.write_all(b"\n")
    }

    /// Writes out what is still on its way.
    ///
    /// # Errors
    /// If it can not be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// The hash of all lines.
    pub fn head(&self) -> &str {
        &self.last
    }
}

fn next(last: &str, number: u64, body: &str) -> String {
    hex(&Sha256::digest(format!("{last}\n{number}\n{body}")))
}

/// Where a recording does not hold together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct Break {
    /// The first line that does not fit, from 1.
    pub line: usize,
    /// Why not.
    pub why: String,
}

/// Reads a recording: its lines, and where the chain breaks, if it does.
///
/// # Errors
/// [`Break`] if a line can not be read at all.
pub fn read(text: &str) -> Result<(Vec<Line>, Option<Break>), Break> {
    let (mut lines, mut last, mut broken) = (Vec::new(), String::new(), None);
    for (index, written) in text.lines().enumerate() {
        let number = index + 1;
        let unreadable = |error: serde_json::Error| Break { line: number, why: error.to_string() };
        let link: Link<'_> = serde_json::from_str(written).map_err(unreadable)?;
        let count = u64::try_from(number).unwrap_or(u64::MAX);
        last = next(&last, count, link.body.get());
        if broken.is_none() && (link.n != count || link.chain != last) {
            let why = "it was changed, or a line before it is missing or was moved".to_owned();
            broken = Some(Break { line: number, why });
        }
        lines.push(serde_json::from_str(link.body.get()).map_err(unreadable)?);
    }
    if broken.is_none() && !matches!(lines.last(), Some(Line::Over { .. })) {
        broken = Some(Break { line: lines.len() + 1, why: "the end is missing".to_owned() });
    }
    Ok((lines, broken))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::Timestamp;

    fn written() -> String {
        let mut chain = Chain::new(Vec::new());
        for round in 1..=3 {
            let line = Line::Broken { scenario: "s".to_owned(), round, why: "w".to_owned() };
            chain.push(&line).expect("a Vec takes it");
        }
        chain.push(&Line::Over { at: Timestamp(0) }).expect("a Vec takes it");
        String::from_utf8(chain.out).expect("JSON is UTF-8")
    }

    #[test]
    fn what_was_written_holds_together() {
        let (lines, broken) = read(&written()).expect("it can be read");
        assert_eq!((lines.len(), broken), (4, None));
    }

    #[test]
    fn a_changed_missing_or_moved_line_is_found() {
        let text = written();
        let lines: Vec<_> = text.lines().collect();
        let broken_at = |text: String| read(&text).expect("JSON").1.map(|broken| broken.line);
        assert_eq!(broken_at(text.replacen("\"round\":2", "\"round\":7", 1)), Some(2));
        assert_eq!(broken_at([lines[0], lines[2], lines[3]].join("\n")), Some(2));
        assert_eq!(broken_at([lines[1], lines[0], lines[2], lines[3]].join("\n")), Some(1));
        assert_eq!(broken_at(lines[..3].join("\n")), Some(4));
    }
}
