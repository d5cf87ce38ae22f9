//! Opening a file: what kind it is, and whether the mapping fits it.

use std::io::{self, BufRead, Read};

use super::{
    Given, form,
    mapping::Mapping,
    rows::{Kind, Rows, texts},
    source::{Header, Source},
    spec::Format,
    stream::Values,
    table::{self, Records},
    trouble::FileError,
};

/// How much of a file is looked at to see what it is.
const HEAD: u64 = 64 * 1024;

/// The rows of `input`, read by `mapping`.
///
/// # Errors
/// [`FileError`], if the file is of another kind than the mapping reads. What goes wrong later comes as an item, and
/// is the last one.
pub fn rows<'a, R: BufRead>(
    mut input: R,
    mapping: &'a Mapping,
    given: &'a Given,
) -> Result<Rows<'a, R>, FileError> {
    let mut head = Vec::new();
    input.by_ref().take(HEAD).read_to_end(&mut head)?;
    if head.starts_with(b"PK\x03\x04") {
        return Err(FileError::Workbook);
    }
    if head.starts_with(&[0xFF, 0xFE]) || head.starts_with(&[0xFE, 0xFF]) {
        return Err(FileError::NotUtf8);
    }
    if head.starts_with(&[0xEF, 0xBB, 0xBF]) {
        head.drain(..3);
    }
    let Some(first) = head.iter().copied().find(|byte| !byte.is_ascii_whitespace()) else {
        return Err(FileError::Empty);
    };
    let is_form = form::is_form(&head);
    let separator = mapping.separator.unwrap_or_else(|| separator(&head, mapping));
    let input = io::Cursor::new(head).chain(input);
    let kind = match mapping.format {
        _ if is_form && !mapping.form => return Err(FileError::FormBody),
        Format::Csv if matches!(first, b'{' | b'[') => return Err(FileError::JsonNotCsv),
        Format::Csv => {
            let mut records = Records::new(input, separator);
            let header = header(&mut records)?;
            mapping.fits(&header)?;
            Kind::Csv { records, header }
        }
        Format::Json if is_form => Kind::Form(Records::new(input, 0)),
        Format::Json => {
            let values = Values::new(input, mapping.rows.is_none());
            Kind::Json { values, nested: Vec::new().into_iter(), document: 0, at: 0 }
        }
    };
    let rows = Rows::new(mapping, given, kind)?;
    match (rows.is_empty(), mapping.format) {
        (true, Format::Csv) => Err(FileError::HeaderOnly),
        (true, Format::Json) => Err(FileError::Empty),
        (false, _) => Ok(rows),
    }
}

/// The separator under which the header has most of the mapping's columns, then most columns.
fn separator(head: &[u8], mapping: &Mapping) -> u8 {
    let line = head.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    let line = line.unwrap_or_default();
    let score = |separator: u8| {
        let fields = table::fields(line, separator);
        let names: Vec<_> = fields.iter().map(|field| String::from_utf8_lossy(field)).collect();
        let known = |source: &&Source| match source {
            Source::Column { name, .. } => names.iter().any(|found| found.trim() == name),
            Source::Pointer { .. } => false,
        };
        let needs = mapping.needs();
        (
            needs.iter().flat_map(|need| &need.sources).filter(|source| known(source)).count(),
            names.len(),
        )
    };
    // The first of equals wins, and `max_by_key` takes the last.
    table::SEPARATORS.into_iter().rev().max_by_key(|separator| score(*separator)).unwrap_or(b',')
}

fn header<R: BufRead>(records: &mut Records<R>) -> Result<Header, FileError> {
    while let Some(record) = records.next()? {
        let names = texts(record.fields).ok_or(FileError::NotUtf8)?;
        if names.iter().any(|name| !name.trim().is_empty()) {
            return Ok(Header::new(&names));
        }
    }
    Err(FileError::Empty)
}
