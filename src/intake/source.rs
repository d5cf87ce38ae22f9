//! Where in a row a value stands: columns by name, JSON by pointer, and templates of them.

use std::{borrow::Cow, collections::HashMap};

use super::{
    json::Json,
    spec::Format,
    trouble::{FileError, MappingError},
};

/// A place in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A column, and which one if the header has several of the name (from 1).
    Column { name: String, nth: Option<usize> },
    /// The steps of a JSON pointer.
    Pointer { text: String, steps: Vec<Step> },
}

/// One step of a pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A member of a map, or an element of a list by its number.
    To(String),
    /// `[key=value]`: the first element of a list whose member `key` is `value`.
    Find { key: String, value: String },
}

impl Source {
    pub(super) fn parse(text: &str, format: Format) -> Result<Self, MappingError> {
        let wrong = |why: &str| Err(MappingError::field(text, why));
        if format == Format::Json {
            if !text.is_empty() && !text.starts_with('/') {
                return wrong("a JSON pointer starts with /");
            }
            let steps = text.split('/').skip(1).map(step).collect();
            return Ok(Self::Pointer { text: text.to_owned(), steps });
        }
        if text.trim().is_empty() {
            return wrong("a column has a name");
        }
        let numbered = text.rsplit_once('#').and_then(|(name, nth)| {
            Some((name, nth.parse::<usize>().ok().filter(|nth| *nth > 0)?))
        });
        let (name, nth) = numbered.map_or((text, None), |(name, nth)| (name, Some(nth)));
        Ok(Self::Column { name: name.to_owned(), nth })
    }

    /// As it is written.
    pub(super) fn label(&self) -> String {
        match self {
            Self::Column { name, nth: None } => name.clone(),
            Self::Column { name, nth: Some(nth) } => format!("{name}#{nth}"),
            Self::Pointer { text, .. } => text.clone(),
        }
    }
}

fn step(text: &str) -> Step {
    let find = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    match find.and_then(|rest| rest.split_once('=')) {
        Some((key, value)) => Step::Find { key: key.to_owned(), value: value.to_owned() },
        None => Step::To(text.replace("~1", "/").replace("~0", "~")),
    }
}

/// The header of a CSV file.
#[derive(Debug, Default)]
pub(super) struct Header {
    columns: HashMap<String, Vec<usize>>,
    pub(super) width: usize,
}

impl Header {
    pub(super) fn new(names: &[String]) -> Self {
        let mut columns: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, name) in names.iter().enumerate() {
            columns.entry(name.trim().to_owned()).or_default().push(at);
        }
        Self { columns, width: names.len() }
    }

    /// Where a column stands; `None` if nowhere.
    pub(super) fn find(&self, source: &Source) -> Result<Option<usize>, FileError> {
        let Source::Column { name, nth } = source else { return Ok(None) };
        let Some(all) = self.columns.get(name) else { return Ok(None) };
        match nth {
            Some(nth) => Ok(all.get(nth - 1).copied()),
            None if all.len() > 1 => {
                Err(FileError::AmbiguousColumn { name: name.clone(), times: all.len() })
            }
            None => Ok(all.first().copied()),
        }
    }
}

/// A row, as values are looked up in it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Row<'a> {
    Fields { header: &'a Header, fields: &'a [String] },
    Json(&'a Json),
}

impl<'a> Row<'a> {
    /// What stands there as text, without the spaces around it. Nothing, null and blank are none.
    pub(super) fn text(self, source: &Source) -> Option<Cow<'a, str>> {
        let text = match self {
            Self::Fields { header, fields } => {
                let at = header.find(source).ok().flatten()?;
                fields.get(at).map(String::as_str)?
            }
            Self::Json(_) => self.node(source)?.scalar()?,
        };
        let text = text.trim();
        (!text.is_empty()).then_some(Cow::Borrowed(text))
    }

    /// The JSON that stands there.
    pub(super) fn node(self, source: &Source) -> Option<&'a Json> {
        let (Self::Json(root), Source::Pointer { steps, .. }) = (self, source) else { return None };
        steps.iter().try_fold(root, |value, step| match (step, value) {
            (Step::To(key), Json::List(values)) => values.get(key.parse::<usize>().ok()?),
            (Step::To(key), value) => value.member(key),
            (Step::Find { key, value: wanted }, Json::List(values)) => {
                values.iter().find(|value| {
                    value.member(key).and_then(Json::scalar).is_some_and(|found| found == wanted)
                })
            }
            (Step::Find { .. }, _) => None,
        })
    }
}

/// A text with sources in braces: `{street}, {city}`. A bare source is a template of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    Source(Source),
}

impl Template {
    pub(super) fn parse(text: &str, format: Format) -> Result<Self, MappingError> {
        if !text.contains('{') {
            return Ok(Self { parts: vec![Part::Source(Source::parse(text, format)?)] });
        }
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let Some((name, next)) = after.split_once('}') else {
                return Err(MappingError::field(text, "a brace does not close"));
            };
            if !before.is_empty() {
                parts.push(Part::Literal(before.to_owned()));
            }
            parts.push(Part::Source(Source::parse(name, format)?));
            rest = next;
        }
        if !rest.is_empty() {
            parts.push(Part::Literal(rest.to_owned()));
        }
        Ok(Self { parts })
    }

    pub(super) fn sources(&self) -> impl Iterator<Item = &Source> {
        self.parts.iter().filter_map(|part| match part {
            Part::Source(source) => Some(source),
            Part::Literal(_) => None,
        })
    }

    /// The text for a row; none if all of it is empty. Where something is empty, of the words around it the longest
    /// stay: `{street} {number}, {city}` without a number is `street, city`.
    pub(super) fn fill(&self, row: Row<'_>) -> Option<String> {
        let (mut out, mut pending, mut filled) = (String::new(), "", false);
        for (at, part) in self.parts.iter().enumerate() {
            match part {
                Part::Literal(words) => {
                    pending = if words.len() > pending.len() { words } else { pending };
                }
                Part::Source(source) => {
                    let Some(text) = row.text(source) else { continue };
                    if filled || at == 1 {
                        out.push_str(pending);
                    }
                    out.push_str(&text);
                    (pending, filled) = ("", true);
                }
            }
        }
        if let Some(Part::Literal(words)) = self.parts.last() {
            out.push_str(words);
        }
        filled.then_some(out)
    }
}
