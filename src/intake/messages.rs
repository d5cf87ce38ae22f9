//! Messages about deliveries that are easily taken for orders: known by their members, whatever the mapping.

use std::sync::LazyLock;

use serde::Deserialize;

use super::{
    source::{Row, Source},
    spec::Format,
};

const KNOWN: &str = include_str!("mappings/status-messages.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    message: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    of: String,
    has: Vec<String>,
}

static MESSAGES: LazyLock<Vec<(String, Vec<Source>)>> = LazyLock::new(|| {
    let list: List = toml::from_str(KNOWN).expect("our own list is right: a test reads it");
    let sources = |has: &[String]| {
        has.iter().filter_map(|text| Source::parse(text, Format::Json).ok()).collect()
    };
    list.message.iter().map(|entry| (entry.of.clone(), sources(&entry.has))).collect()
});

/// Whose status message a row is, if it is one.
pub(super) fn whose(row: Row<'_>) -> Option<&'static str> {
    let is = |has: &[Source]| has.iter().all(|source| row.node(source).is_some());
    MESSAGES.iter().find(|(_, has)| is(has)).map(|(of, _)| of.as_str())
}
