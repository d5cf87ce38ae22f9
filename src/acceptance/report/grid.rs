//! The grid of commands and states, as the report shows it.

use super::{
    say,
    words::{grouped, words},
};
use crate::{
    acceptance::judge::{Cell, Coverage, Where},
    domain::{command::Verb, refusal::Lang},
};

/// The grid.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    pub(super) states: Vec<String>,
    pub(super) rows: Vec<GridRow>,
    /// How many of its cells were tested.
    pub(super) share: String,
    /// Those that were not, in words.
    pub(super) gaps: Vec<String>,
}

/// One command in every state.
#[derive(Clone, Debug)]
pub(super) struct GridRow {
    pub(super) command: String,
    pub(super) cells: Vec<GridCell>,
}

/// One command in one state. Its word says everything; class and shape only help to find it.
#[derive(Clone, Debug)]
pub(super) struct GridCell {
    pub(super) class: &'static str,
    pub(super) shape: &'static str,
    pub(super) word: String,
}

fn all() -> impl Iterator<Item = Where> {
    std::iter::once(Where::Nowhere).chain(Where::STATES)
}

fn cell(lang: Lang, command: Verb, at: Where, cell: Cell) -> GridCell {
    let given = grouped(cell.given);
    if cell.wrong > 0 {
        let wrong = grouped(cell.wrong);
        let values = [("given", given.as_str()), ("wrong", wrong.as_str())];
        return GridCell {
            class: "failed",
            shape: "✗",
            word: words(lang, "report-cell-wrong", &values),
        };
    }
    if cell.given > 0 {
        let word = words(lang, "report-cell-given", &[("v", &given)]);
        return GridCell { class: "passed", shape: "✓", word };
    }
    if Coverage::exists(command, at) {
        let word = words(lang, "report-cell-untested", &[]);
        return GridCell { class: "left", shape: "○", word };
    }
    GridCell { class: "never", shape: "", word: "—".to_owned() }
}

impl Grid {
    pub(super) fn of(lang: Lang, coverage: &Coverage) -> Self {
        let row = |command: &Verb| GridRow {
            command: say::verb(lang, *command),
            cells: all().map(|at| cell(lang, *command, at, coverage.cell(*command, at))).collect(),
        };
        let gaps = coverage.gaps();
        let possible: usize = coverage
            .commands
            .iter()
            .map(|command| all().filter(|at| Coverage::exists(*command, *at)).count())
            .sum();
        let tested = (possible - gaps.len().min(possible)).to_string();
        let values = [("tested", tested.as_str()), ("of", &possible.to_string())];
        let gap = |(command, at): &(Verb, Where)| {
            let (command, at) = (say::verb(lang, *command), say::place(lang, *at));
            words(lang, "report-gap", &[("command", &command), ("state", &at)])
        };
        Self {
            states: all().map(|at| say::place(lang, at)).collect(),
            rows: coverage.commands.iter().map(row).collect(),
            share: words(lang, "report-grid-share", &values),
            gaps: gaps.iter().map(gap).collect(),
        }
    }
}
