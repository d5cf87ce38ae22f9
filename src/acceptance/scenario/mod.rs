//! Scenarios: who does what in which order, what must come back, and who owns the task on all three ends afterwards.
//!
//! A scenario is a file that a buyer can read aloud (`acceptance/scenarios/*.toml`).
//!
//! | file | |
//! |---|---|
//! | `mod` | what a scenario is |
//! | `file` | how it is written |
//! | `time` | the words for moments |
//! | `load` | the scenarios that come along, and those of a folder |

mod file;
mod load;
mod time;

use std::collections::BTreeMap;

pub use load::{built_in, from_folder, from_text};
pub use time::Moment;

use super::{
    table::{Ask, RiderFacts, Text},
    words::{Returns, RiderSees, Standing, Who},
};
use crate::domain::command::Verb;

/// A scenario that can not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("scenario {file}: {why}")]
pub struct BadScenario {
    /// Which file.
    pub file: String,
    /// What is wrong with it.
    pub why: String,
}

/// One scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its short name; the file's name without `.toml`.
    pub id: String,
    /// Its name for people.
    pub title: Text,
    /// What it shows, and why a buyer should care.
    pub purpose: Text,
    /// Where it comes from: a seed, or a public case.
    pub source: String,
    /// Riders that are not like the others; everybody else has one place, is on duty and works here.
    pub riders: BTreeMap<String, RiderFacts>,
    /// What happens.
    pub steps: Vec<Step>,
    /// Who must see what at the end, for each task.
    pub ends: Vec<End>,
    /// The text of the file.
    pub text: String,
}

/// What happens in one step.
#[derive(Clone, Debug)]
pub struct Step {
    /// What.
    pub what: What,
    /// How the task, or each of them, must stand afterwards; none leaves it as it is.
    pub then: Vec<(String, Standing)>,
    /// A remark for readers.
    pub note: Option<Text>,
}

/// What a step is.
#[derive(Clone, Debug)]
pub enum What {
    /// One command.
    Ask(Asked),
    /// One request with a command for each of several tasks.
    Bulk(Vec<Asked>),
    /// The time goes on.
    Clock(Moment),
    /// Somebody looks at a task.
    Look {
        /// Who.
        who: Who,
        /// At which one.
        task: String,
    },
    /// Several at once: all requests are written but for their last byte, and let go together.
    Race(Race),
}

/// A command with what it must return.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The command.
    pub ask: Ask,
    /// What it must return; in a race, one of these.
    pub returns: Vec<Returns>,
    /// Which revision it names.
    pub named: Named,
    /// Whether the answer is kept from the client, as by a bad network: the client does not know what became of it.
    pub lost: bool,
}

/// Which revision a command names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// The present one, as whoever has just looked knows it.
    Present,
    /// This one.
    Revision(i64),
    /// None at all.
    Missing,
}

/// A race.
#[derive(Clone, Debug)]
pub struct Race {
    /// Who takes part.
    pub racers: Vec<Racer>,
    /// How many must be told that it was done.
    pub wins: Wins,
    /// Where the task, or each of them, may stand afterwards.
    pub ends: Vec<(String, Standing)>,
}

/// One who takes part in a race.
#[derive(Clone, Debug)]
pub enum Racer {
    /// Somebody with a command.
    Asks(Asked),
    /// The clock: a deadline passes.
    Clock(Moment),
}

/// How many of a race must be told that it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wins {
    /// One, and no more.
    ExactlyOne,
    /// One or none.
    AtMostOne,
    /// All of them; they do not stand in each other's way.
    All,
}

impl Wins {
    /// Whether `done` of `all` is right.
    pub const fn fits(self, done: usize, all: usize) -> bool {
        match self {
            Self::ExactlyOne => done == 1,
            Self::AtMostOne => done <= 1,
            Self::All => done == all,
        }
    }

    /// As it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ExactlyOne => "exactly one",
            Self::AtMostOne => "at most one",
            Self::All => "all",
        }
    }
}

/// Who must see what at the end.
#[derive(Clone, Debug)]
pub struct End {
    /// Of which task.
    pub task: String,
    /// What the dispatcher's client shows.
    pub dispatcher: Standing,
    /// What the customer's client shows.
    pub customer: Standing,
    /// What the riders' clients show; in a race also of `the winner` and `the others`.
    pub riders: BTreeMap<String, RiderSees>,
}

impl Scenario {
    /// Whether it needs time to pass.
    pub fn needs_time(&self) -> bool {
        self.steps.iter().any(|step| match &step.what {
            What::Clock(_) => true,
            What::Race(race) => race.racers.iter().any(|racer| matches!(racer, Racer::Clock(_))),
            What::Ask(_) | What::Bulk(_) | What::Look { .. } => false,
        })
    }

    /// Whether it has a race in it, so that more rounds of it say more.
    pub fn has_race(&self) -> bool {
        self.steps.iter().any(|step| matches!(step.what, What::Race(_)))
    }

    /// Every command in it, in order.
    pub fn commands(&self) -> impl Iterator<Item = &Asked> {
        self.steps.iter().flat_map(|step| match &step.what {
            What::Ask(asked) => vec![asked],
            What::Bulk(items) => items.iter().collect(),
            What::Race(race) => race
                .racers
                .iter()
                .filter_map(|racer| match racer {
                    Racer::Asks(asked) => Some(asked),
                    Racer::Clock(_) => None,
                })
                .collect(),
            What::Clock(_) | What::Look { .. } => Vec::new(),
        })
    }

    /// The riders who take part or are named, in the order of their names' numbers.
    pub fn cast(&self) -> Vec<String> {
        let mut names: Vec<String> = self.riders.keys().cloned().collect();
        let mut add = |name: &str| {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        };
        for asked in self.commands() {
            asked.ask.who.rider().map(&mut add);
            asked.ask.rider.as_deref().map(&mut add);
        }
        for step in &self.steps {
            if let What::Look { who, .. } = &step.what {
                who.rider().map(&mut add);
            }
        }
        for name in self.ends.iter().flat_map(|end| end.riders.keys()) {
            if Who::parse(name).is_some() {
                add(name);
            }
        }
        names.sort_by_key(|name| (name.len(), name.clone()));
        names
    }

    /// The tasks that are created, in the order of their creation.
    pub fn tasks(&self) -> Vec<String> {
        let mut tasks: Vec<String> = Vec::new();
        for asked in self.commands().filter(|asked| asked.ask.command == Verb::Create) {
            if !tasks.contains(&asked.ask.task) {
                tasks.push(asked.ask.task.clone());
            }
        }
        tasks
    }
}
