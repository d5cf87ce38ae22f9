//! Single values: texts, times, places, money and keys, each read strictly and never guessed.

mod form;
pub(super) mod key;
pub(super) mod money;
pub(super) mod place;
pub(super) mod text;
pub(super) mod time;

use super::problem::Problem;

/// What keeps a value from being read, and where it stands in the file.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) field: Option<String>,
    pub(super) problem: Problem,
}

impl Fault {
    pub(super) fn at(field: impl Into<String>, problem: Problem) -> Self {
        Self { field: Some(field.into()), problem }
    }
}
