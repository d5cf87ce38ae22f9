//! Texts, and numbers as people of other scripts write them.

use super::Fault;
use crate::intake::{
    mapping::Need,
    problem::Problem,
    source::{Row, Source, Template},
    spec::{Format, TextSpec},
    trouble::MappingError,
};

/// The most characters of a note.
pub const NOTE_LIMIT: usize = 10_000;
/// The most characters of an address.
pub const ADDRESS_LIMIT: usize = 1_000;
/// The most characters of a name or a phone number.
pub const NAME_LIMIT: usize = 200;

/// Where a text comes from.
#[derive(Debug)]
pub(in crate::intake) struct Text {
    from: Vec<Template>,
    default: Option<String>,
    optional: bool,
    none: Vec<String>,
    replace: Vec<(String, String)>,
}

impl Text {
    pub(in crate::intake) fn new(spec: &TextSpec, format: Format) -> Result<Self, MappingError> {
        let from = spec.from.iter().map(|text| Template::parse(text, format));
        Ok(Self {
            from: from.collect::<Result<_, _>>()?,
            default: spec.default.clone(),
            optional: spec.optional || spec.default.is_some(),
            none: spec.none.clone(),
            replace: spec.replace.clone(),
        })
    }

    /// Where it is looked for first, as the mapping writes it.
    pub(in crate::intake) fn label(&self) -> String {
        let first = self.from.first().and_then(|template| template.sources().next());
        first.map(Source::label).unwrap_or_default()
    }

    pub(in crate::intake) fn need(&self) -> Option<Need<'_>> {
        let sources: Vec<_> = self.from.iter().flat_map(Template::sources).collect();
        (!sources.is_empty()).then_some(Need { sources, optional: self.optional })
    }

    /// The first source, for values that are no text.
    pub(in crate::intake) fn sources(&self) -> impl Iterator<Item = &Source> {
        self.from.iter().flat_map(Template::sources)
    }

    /// The first of its sources that says something, or the default.
    pub(in crate::intake) fn read(&self, row: Row<'_>) -> Option<String> {
        let says = |text: &String| !self.none.contains(text);
        let found = self.from.iter().find_map(|template| template.fill(row).filter(says));
        let mut text = found.or_else(|| self.default.clone())?;
        for (old, new) in &self.replace {
            text = text.replace(old, new);
        }
        Some(text)
    }

    /// The same, within the limits of a task.
    pub(in crate::intake) fn within(
        &self,
        row: Row<'_>,
        limit: usize,
    ) -> Result<Option<String>, Fault> {
        let Some(text) = self.read(row) else { return Ok(None) };
        if text.contains('\0') {
            return Err(Fault::at(self.label(), Problem::NulInText));
        }
        if text.chars().nth(limit).is_some() {
            return Err(Fault::at(self.label(), Problem::TooLong { limit }));
        }
        Ok(Some(text))
    }
}

/// A number's text with the digits and marks of other scripts written in ASCII.
pub(in crate::intake) fn ascii_digits(text: &str) -> String {
    const ZEROS: [u32; 4] = [0x0660, 0x06F0, 0x0966, 0xFF10];
    let ascii = |c: char| {
        let code = u32::from(c);
        let digit =
            ZEROS.iter().find_map(|zero| code.checked_sub(*zero).filter(|digit| *digit < 10));
        match (digit, c) {
            (Some(digit), _) => char::from_digit(digit, 10).unwrap_or(c),
            (None, '٫' | '．') => '.',
            (None, '٬' | '，') => ',',
            (None, '－' | '−') => '-',
            (None, '：') => ':',
            (None, c) => c,
        }
    };
    // Marks of direction are no part of a number.
    let mark = |c: &char| !matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}');
    text.chars().filter(mark).map(ascii).collect()
}

/// Whether a text is one of the words that mean "no number".
pub(in crate::intake) fn means_none(text: &str) -> bool {
    ["nan", "null", "none", "n/a", "-"].iter().any(|word| text.eq_ignore_ascii_case(word))
}
