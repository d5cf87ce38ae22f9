//! The declared transition table: what each command does, for whom, and what is said when it can not be done.
//!
//! It is data (`acceptance/tables/*.toml`), so that a product can be held to its own table. The suite computes from it
//! what each step must return and where each task must stand. It shares nothing with the desk's own decision but the
//! names of states and commands; a test compares the two case by case.
//!
//! | file | |
//! |---|---|
//! | `mod` | the form of the file |
//! | `task` | commands, tasks and riders as it knows them |
//! | `when` | when a line of refusals fits |
//! | `world` | tasks and riders of one scenario, moved by the table |

mod task;
mod when;
mod world;

use serde::{Deserialize, Serialize};

pub use task::{Ask, Offer, RiderFacts, Task};
pub use when::When;
pub use world::{Decided, NoAnswer, World};

use crate::domain::{
    command::{Role, Verb},
    policy::RegionMode,
    task::{Stage, StateName},
};

/// The same text in both languages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Text {
    /// Chinese.
    pub zh: String,
    /// English.
    pub en: String,
}

/// A declared transition table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// `dispatch-table/1`.
    pub format: String,
    /// Its short name.
    pub name: String,
    /// Where its rules come from.
    pub source: String,
    /// Its name for people.
    pub title: Text,
    /// What it means for whoever buys such a product.
    pub about: Text,
    /// The command that scenarios mean by an offer; a product without offers assigns at once.
    #[serde(default = "offer")]
    pub offer_is: Verb,
    /// How the region dispatches.
    #[serde(default = "reserve")]
    pub mode: RegionMode,
    /// What a passed deadline does; none in a product without offers.
    #[serde(default)]
    pub lapse: Option<Lapse>,
    /// What may happen.
    #[serde(rename = "row")]
    pub rows: Vec<Row>,
    /// What is said when it can not be done; the first line that fits.
    #[serde(rename = "answer")]
    pub answers: Vec<Answer>,
}

const fn offer() -> Verb {
    Verb::Offer
}

const fn reserve() -> RegionMode {
    RegionMode::Reserve
}

/// What a passed deadline does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lapse {
    /// In which state there is a deadline.
    pub from: StateName,
    /// Where the release leads.
    pub to: StateName,
}

/// Who holds the task after a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Holder {
    /// Nobody.
    #[serde(rename = "none")]
    Nobody,
    /// Whoever held it before.
    #[serde(rename = "stays")]
    Stays,
    /// Who acts.
    #[serde(rename = "the actor")]
    Actor,
    /// Who is named in the command.
    #[serde(rename = "the named rider")]
    Named,
}

/// One row: what a command does.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The command.
    pub command: Verb,
    /// Who may give it.
    pub by: Vec<Role>,
    /// In which states; none for a creation.
    #[serde(default)]
    pub from: Vec<StateName>,
    /// The state that it leads to.
    pub to: StateName,
    /// Who holds the task then.
    pub holder: Holder,
    /// How far the owner has come then.
    #[serde(default)]
    pub stage: Option<Stage>,
}

/// What kind of answer a line gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Gives {
    /// Nothing was decided about the task.
    #[serde(rename = "turned away")]
    TurnedAway,
    /// A success without a new event.
    #[serde(rename = "already")]
    Already,
    /// The rules say no.
    #[serde(rename = "refused")]
    Refused,
}

/// One line of answers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// When it is given: all of these hold.
    pub when: When,
    /// What kind of answer.
    pub gives: Gives,
    /// Its code.
    pub code: String,
}

/// A table that can not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("table {name}: {why}")]
pub struct BadTable {
    /// Which one.
    pub name: String,
    /// What is wrong with it.
    pub why: String,
}

/// The tables that come with the program: name and text.
pub const TABLES: [(&str, &str); 2] = [
    ("reserve_then_confirm", include_str!("../../../acceptance/tables/reserve_then_confirm.toml")),
    ("immediate", include_str!("../../../acceptance/tables/immediate.toml")),
];

impl Table {
    /// Reads a table.
    ///
    /// # Errors
    /// [`BadTable`] if it is no TOML of this form, or can not mean anything.
    pub fn parse(name: &str, text: &str) -> Result<Self, BadTable> {
        let bad = |why: String| BadTable { name: name.to_owned(), why };
        let table: Self = toml::from_str(text).map_err(|error| bad(error.to_string()))?;
        if table.format != "dispatch-table/1" {
            return Err(bad(format!("format {:?} is not known", table.format)));
        }
        for row in &table.rows {
            if row.by.is_empty() || (row.from.is_empty() != (row.command == Verb::Create)) {
                let why = "says neither by whom nor in which states";
                return Err(bad(format!("the row of {} {why}", row.command)));
            }
        }
        if !table.has(table.offer_is) {
            return Err(bad(format!("no row for {}, its way to dispatch", table.offer_is)));
        }
        Ok(table)
    }

    /// Whether there is such a command in it.
    pub fn has(&self, command: Verb) -> bool {
        self.rows.iter().any(|row| row.command == command)
    }

    /// The command that is really given when a scenario says `command`; `None` if the table has none.
    pub fn means(&self, command: Verb) -> Option<Verb> {
        let meant = if command == Verb::Offer { self.offer_is } else { command };
        self.has(meant).then_some(meant)
    }

    /// The row of `command` in `state`.
    pub(super) fn row(&self, command: Verb, state: Option<StateName>) -> Option<&Row> {
        self.rows.iter().find(|row| {
            row.command == command
                && match state {
                    None => row.from.is_empty(),
                    Some(state) => row.from.contains(&state),
                }
        })
    }

    /// Whether `role` may give `command` in any state.
    pub(super) fn may(&self, role: Role, command: Verb) -> bool {
        self.rows.iter().any(|row| row.command == command && row.by.contains(&role))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_that_come_along_can_be_read() {
        for (name, text) in TABLES {
            let table = Table::parse(name, text).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(table.name, name);
        }
    }

    #[test]
    fn an_offer_means_what_the_table_says() {
        let means = |index: usize, command| {
            let (name, text) = TABLES[index];
            Table::parse(name, text).ok().and_then(|table| table.means(command))
        };
        assert_eq!(means(0, Verb::Offer), Some(Verb::Offer));
        assert_eq!(means(1, Verb::Offer), Some(Verb::Assign));
        assert_eq!(means(1, Verb::Accept), None);
    }

    #[test]
    fn what_can_mean_nothing_is_refused() {
        let (_, text) = TABLES[0];
        for (from, to) in [
            ("dispatch-table/1", "dispatch-table/9"),
            ("command = \"grab\"", "command = \"fly\""),
            ("from = [\"open\"]", ""),
            ("[lapse]", "[laps]"),
            ("name = \"reserve_then_confirm\"", "name = \"x\"\noffer_is = \"edit\""),
        ] {
            let spoilt = text.replacen(from, to, 1);
            assert_ne!(spoilt, text, "{from}");
            assert!(Table::parse("spoilt", &spoilt).is_err(), "{to}");
        }
    }
}
