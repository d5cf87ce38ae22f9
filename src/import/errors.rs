//! The rows that somebody has to look at, as CSV for a spreadsheet.

use std::io::Write;

use super::outcome::{Line, Outcome};
use crate::{
    domain::refusal::Lang,
    intake::{Row, RowKind},
};

/// Writes refused rows: line, field, code, reason.
#[derive(Debug)]
pub struct Errors<W: Write> {
    out: csv::Writer<W>,
    lang: Lang,
}

impl<W: Write> Errors<W> {
    /// Starts a list with its header.
    ///
    /// # Errors
    /// If `out` can not be written to.
    pub fn new(out: W, lang: Lang) -> csv::Result<Self> {
        let mut out = csv::Writer::from_writer(out);
        out.write_record(["line", "field", "code", "reason"])?;
        Ok(Self { out, lang })
    }

    /// Writes a row, if it was refused.
    ///
    /// # Errors
    /// If it can not be written.
    pub fn note(&mut self, line: &Line) -> csv::Result<()> {
        let Some(code) = line.outcome.code() else { return Ok(()) };
        let field = line.outcome.field().unwrap_or_default();
        let reason = line.outcome.sentence(self.lang);
        self.out.write_record([&line.spot.to_string(), field, &code, &reason].map(safe))
    }

    /// The same for a row that no desk was asked about.
    ///
    /// # Errors
    /// If it can not be written.
    pub fn note_row(&mut self, row: &Row) -> csv::Result<()> {
        let RowKind::Refused { field, problem } = &row.what else { return Ok(()) };
        let outcome = Outcome::Unread { field: field.clone(), problem: problem.clone() };
        self.note(&Line { spot: row.spot.clone(), outcome, flags: Vec::new() })
    }

    /// Makes sure that all is written.
    ///
    /// # Errors
    /// If it is not.
    pub fn finish(mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

/// A cell that a spreadsheet does not take for a formula.
fn safe(cell: &str) -> String {
    let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if formula { format!("'{cell}") } else { cell.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intake::{Problem, Spot};

    #[test]
    fn no_cell_is_a_formula() {
        let mut out = Vec::new();
        let mut errors = Errors::new(&mut out, Lang::En).expect("a header");
        let problem = Problem::BadNumber("x".to_owned());
        let outcome = Outcome::Unread { field: Some("=1+1".to_owned()), problem };
        let spot = Spot { line: 7, pointer: None };
        errors.note(&Line { spot, outcome, flags: Vec::new() }).expect("a row");
        errors.finish().expect("written");
        assert_eq!(
            String::from_utf8_lossy(&out),
            "line,field,code,reason\n7,'=1+1,BAD_NUMBER,\"\"\"x\"\" is not a number.\"\n"
        );
    }
}
