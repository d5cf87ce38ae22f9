//! The rows of a file, one after the other: what each is.

use std::io::{self, BufRead};

use super::{
    Given, Row, RowKind, Spot, form,
    json::{Bad, Json},
    make::{self, Made},
    mapping::Mapping,
    problem::Problem,
    source::{Header, Row as Looked, Source, Step},
    stream::Values,
    table::Records,
    trouble::FileError,
    values::{Fault, key::ContentKeys},
};

/// The start of the file, which was looked at, and the rest.
pub(super) type Input<R> = io::Chain<io::Cursor<Vec<u8>>, R>;

/// The rows of a file, in its order. After an error there are none.
#[derive(Debug)]
pub struct Rows<'a, R> {
    mapping: &'a Mapping,
    given: &'a Given,
    kind: Kind<R>,
    keys: ContentKeys,
    first: Option<Row>,
    /// How many rows of JSON there were.
    line: u64,
    ended: bool,
}

#[derive(Debug)]
pub(super) enum Kind<R> {
    Csv {
        records: Records<Input<R>>,
        header: Header,
    },
    Form(Records<Input<R>>),
    Json {
        values: Values<Input<R>>,
        /// What is left of the array within the present value.
        nested: std::vec::IntoIter<Json>,
        /// How many values there were, and how many of the array's elements.
        document: u64,
        at: u64,
    },
}

impl<R: BufRead> Iterator for Rows<'_, R> {
    type Item = Result<Row, FileError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(first) = self.first.take() {
            return Some(Ok(first));
        }
        if self.ended {
            return None;
        }
        let next = self.advance();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}

impl<'a, R: BufRead> Rows<'a, R> {
    pub(super) fn new(
        mapping: &'a Mapping,
        given: &'a Given,
        kind: Kind<R>,
    ) -> Result<Self, FileError> {
        let keys = ContentKeys::default();
        let mut rows = Self { mapping, given, kind, keys, first: None, line: 0, ended: false };
        // A whole-file problem is told at once, and not as the first row.
        rows.first = rows.advance().transpose()?;
        Ok(rows)
    }

    /// Whether there is no row at all.
    pub(super) const fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    fn advance(&mut self) -> Option<Result<Row, FileError>> {
        let next = match &mut self.kind {
            Kind::Csv { .. } => self.record(),
            Kind::Form(_) => self.form(),
            Kind::Json { .. } => self.value(),
        };
        next.transpose()
    }

    fn record(&mut self) -> Result<Option<Row>, FileError> {
        let Kind::Csv { records, header } = &mut self.kind else { return Ok(None) };
        let Some(record) = records.next()? else { return Ok(None) };
        let spot = Spot { line: record.line, pointer: None };
        if !record.closed {
            return Ok(Some(refused(spot, Problem::UnclosedQuote)));
        }
        if record.fields.iter().all(|field| field.trim_ascii().is_empty()) {
            return Ok(Some(Row { spot, what: RowKind::Blank }));
        }
        let found = record.fields.len();
        let Some(mut fields) = texts(record.fields) else {
            return Ok(Some(refused(spot, Problem::NotUtf8)));
        };
        // Empty fields beyond the header say nothing; anything else there, or a field less, shifts the columns.
        while fields.len() > header.width
            && fields.last().is_some_and(|last| last.trim().is_empty())
        {
            fields.pop();
        }
        if fields.len() != header.width {
            return Ok(Some(refused(spot, Problem::Ragged { expected: header.width, found })));
        }
        let row = Looked::Fields { header, fields: &fields };
        let keys = &mut self.keys;
        let content = || keys.key(fields.iter().map(String::as_bytes));
        let made = make::read(row, self.mapping, self.given, content);
        Ok(Some(kept(spot, made)))
    }

    fn form(&mut self) -> Result<Option<Row>, FileError> {
        let Kind::Form(records) = &mut self.kind else { return Ok(None) };
        let Some(record) = records.next()? else { return Ok(None) };
        let spot = Spot { line: record.line, pointer: None };
        let line = record.fields.concat();
        if line.trim_ascii().is_empty() {
            return Ok(Some(Row { spot, what: RowKind::Blank }));
        }
        let Some(form) = form::fields(line.trim_ascii()) else {
            return Ok(Some(refused(spot, Problem::NotUtf8)));
        };
        Ok(Some(self.of_json(spot, form)))
    }

    fn value(&mut self) -> Result<Option<Row>, FileError> {
        loop {
            let Kind::Json { values, nested, document, at } = &mut self.kind else {
                return Ok(None);
            };
            self.line += 1;
            if let Some(element) = nested.next() {
                let pointer =
                    self.mapping.rows.as_ref().map(|rows| format!("{}/{at}", rows.label()));
                *at += 1;
                return Ok(Some(self.of_json(Spot { line: self.line, pointer }, element)));
            }
            let Some(bytes) = values.next()? else { return Ok(None) };
            *document += 1;
            let pointer = values.in_array().then(|| format!("/{}", *document - 1));
            let spot = Spot { line: self.line, pointer };
            let Ok(text) = String::from_utf8(bytes) else {
                return Ok(Some(refused(spot, Problem::NotUtf8)));
            };
            let value = match Json::parse(&text) {
                Ok(value) => value,
                Err(Bad::UnquotedKey) => return Err(FileError::UnquotedKeys),
                Err(Bad::Other(why)) => return Ok(Some(refused(spot, Problem::NotJson(why)))),
            };
            let Some(rows) = &self.mapping.rows else { return Ok(Some(self.of_json(spot, value))) };
            match take(value, rows) {
                Ok(list) => (*nested, *at) = (list.into_iter(), 0),
                // A status message among batches has no rows, and is told as what it is.
                Err(value) => {
                    let row = self.of_json(spot, value);
                    let whose = matches!(
                        row.what,
                        RowKind::Refused { problem: Problem::StatusMessage(_), .. }
                    );
                    let pointer = rows.label();
                    return if whose { Ok(Some(row)) } else { Err(FileError::NoRows { pointer }) };
                }
            }
            self.line -= 1;
        }
    }

    fn of_json(&mut self, spot: Spot, mut value: Json) -> Row {
        for source in &self.mapping.decode {
            if let Err(why) = decode(&mut value, source) {
                let field = Some(source.label());
                return Row {
                    spot,
                    what: RowKind::Refused { field, problem: Problem::NotJson(why) },
                };
            }
        }
        let keys = &mut self.keys;
        let content = || keys.key(std::iter::once(value.to_string().as_bytes()));
        kept(spot, make::read(Looked::Json(&value), self.mapping, self.given, content))
    }
}

/// Fields as text, if they all are.
pub(super) fn texts(fields: Vec<Vec<u8>>) -> Option<Vec<String>> {
    fields.into_iter().map(|field| String::from_utf8(field).ok()).collect()
}

fn refused(spot: Spot, problem: Problem) -> Row {
    Row { spot, what: RowKind::Refused { field: None, problem } }
}

fn kept(spot: Spot, made: Result<Made, Fault>) -> Row {
    let what = match made {
        Ok(Made::Task(task)) => RowKind::Task(task),
        Ok(Made::Position(position)) => RowKind::Position(position),
        Err(Fault { field, problem }) => RowKind::Refused { field, problem },
    };
    Row { spot, what }
}

/// Takes the list out of a value, or gives the value back.
fn take(mut value: Json, source: &Source) -> Result<Vec<Json>, Json> {
    match member_mut(&mut value, source) {
        Some(Json::List(list)) => Ok(std::mem::take(list)),
        _ => Err(value),
    }
}

/// Opens a text that is JSON itself. A row without it is left to its mapping.
fn decode(value: &mut Json, source: &Source) -> Result<(), String> {
    let Some(place) = member_mut(value, source) else { return Ok(()) };
    let Json::Text(text) = place else { return Ok(()) };
    match Json::parse(text) {
        Ok(opened) => {
            *place = opened;
            Ok(())
        }
        Err(Bad::UnquotedKey) => Err("a key has no quotation marks".to_owned()),
        Err(Bad::Other(why)) => Err(why),
    }
}

fn member_mut<'a>(value: &'a mut Json, source: &Source) -> Option<&'a mut Json> {
    let Source::Pointer { steps, .. } = source else { return None };
    steps.iter().try_fold(value, |value, step| match step {
        Step::To(key) => value.member_mut(key),
        Step::Find { .. } => None,
    })
}
