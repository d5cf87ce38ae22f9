//! What the judge says: of a run, of each scenario, of each step and each end.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{coverage::Coverage, finding::Finding};
use crate::{
    acceptance::{
        record::{NotPlayed, Player},
        table::Text,
    },
    domain::id::{Timestamp, rfc3339},
};

/// What the judge says of a whole run.
#[derive(Clone, Debug, Serialize)]
pub struct RunVerdict {
    /// The verdict.
    pub outcome: Outcome,
    /// What was run, and how.
    pub run: About,
    /// Each scenario.
    pub scenarios: Vec<ScenarioVerdict>,
    /// What is wrong with the log as a whole.
    pub log: LogVerdict,
    /// Which commands were given in which states.
    pub coverage: Coverage,
}

/// The verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Everything that was played came out as the table says.
    Passed,
    /// Something did not.
    Failed,
    /// It was not played, for a reason that is given; it counts neither way.
    NotPlayed,
}

/// What was run, and how.
#[derive(Clone, Debug, Serialize)]
pub struct About {
    /// The program that recorded it.
    pub recorder: String,
    /// When it began, by the clock of the machine that ran the suite.
    #[serde(with = "rfc3339")]
    pub began_at: Timestamp,
    /// When it was over.
    #[serde(with = "rfc3339::option", skip_serializing_if = "Option::is_none")]
    pub over_at: Option<Timestamp>,
    /// What was asked.
    pub target: String,
    /// Its version, if it tells.
    pub product: Option<String>,
    /// Its database, if that is known.
    pub database: Option<String>,
    /// Whether its clock could be set.
    pub manual_clock: bool,
    /// How often each race was run.
    pub rounds: u32,
    /// Where all chance came from.
    pub seed: u64,
    /// The declared table's short name.
    pub table: String,
    /// Its name for people.
    pub table_title: Text,
    /// What it means for whoever buys such a product.
    pub table_about: Text,
}

/// What the judge says of a scenario.
#[derive(Clone, Debug, Serialize)]
pub struct ScenarioVerdict {
    /// Which one.
    pub id: String,
    /// Its name for people.
    pub title: Text,
    /// What it shows.
    pub purpose: Text,
    /// Where it comes from.
    pub source: String,
    /// The verdict.
    pub outcome: Outcome,
    /// Why it was not played.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_played: Option<NotPlayed>,
    /// For a race: how many rounds were one, and of how many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlapped: Option<Share>,
    /// Each round.
    pub rounds: Vec<RoundVerdict>,
}

/// So many of so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Share {
    /// So many.
    pub counted: usize,
    /// Of so many.
    pub of: usize,
}

/// What the judge says of one round of a scenario.
#[derive(Clone, Debug, Serialize)]
pub struct RoundVerdict {
    /// Which one, from 1.
    pub round: u32,
    /// Whether it counts: a race in which no two requests met shows nothing.
    pub counts: bool,
    /// Who played the riders.
    pub cast: BTreeMap<String, Player>,
    /// Each step.
    pub steps: Vec<StepVerdict>,
    /// Each task at the end.
    pub ends: Vec<EndVerdict>,
    /// All that is wrong.
    pub findings: Vec<Finding>,
}

/// What the judge says of one step, or of all racers of one kind in it.
#[derive(Clone, Debug, Serialize)]
pub struct StepVerdict {
    /// Which one, from 1.
    pub step: usize,
    /// What was done.
    pub did: Did,
    /// What had to come back, each with how many times if several were asked.
    pub expected: Vec<String>,
    /// What came back.
    pub returned: Vec<String>,
    /// How the task had to stand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub should_stand: Option<String>,
    /// How the answer showed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stands: Option<String>,
    /// The revision that the answer saw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<i64>,
    /// The number of the event that was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<i64>,
    /// The product's time.
    #[serde(with = "rfc3339::option", skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The HTTP status of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// How long the answer took, in milliseconds; in a race the longest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<f64>,
    /// A remark of the scenario.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<Text>,
    /// Whether it came out as it should.
    pub fits: bool,
}

impl StepVerdict {
    /// A step of which nothing more is said.
    pub(super) const fn of(step: usize, did: Did) -> Self {
        Self {
            step,
            did,
            expected: Vec::new(),
            returned: Vec::new(),
            should_stand: None,
            stands: None,
            revision: None,
            event: None,
            at: None,
            status: None,
            took_ms: None,
            note: None,
            fits: true,
        }
    }
}

/// What was done in a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Did {
    /// A command was given.
    Command {
        /// By whom: one, or so many riders.
        who: String,
        /// How many gave it at once; 0 if it was no race.
        racers: usize,
        /// The command.
        command: String,
        /// About which task.
        task: String,
        /// The rider that it named.
        rider: Option<String>,
        /// How long an offer waits, in seconds.
        seconds: Option<u32>,
        /// The revision that it named.
        named: Option<i64>,
        /// Whether the key was one of an earlier step, or missing.
        key: Key,
        /// Whether the answer was kept from the client.
        lost: bool,
    },
    /// The clock moved.
    Clock {
        /// To which moment, in the scenario's words.
        moment: String,
        /// Whether in a race.
        racing: bool,
    },
    /// Somebody looked.
    Look {
        /// Who.
        who: String,
        /// At which task.
        task: String,
    },
}

/// What is special about a request key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Key {
    /// A new one.
    Fresh,
    /// One with a name, which several steps may share.
    Named(String),
    /// None.
    Missing,
}

/// What the judge says of a task at the end.
#[derive(Clone, Debug, Serialize)]
pub struct EndVerdict {
    /// Which one.
    pub task: String,
    /// What each client showed.
    pub views: Vec<EndView>,
    /// Whether the three kinds of client agree.
    pub agree: bool,
}

/// What one client showed at the end.
#[derive(Clone, Debug, Serialize)]
pub struct EndView {
    /// Whose.
    pub who: String,
    /// What it had to show.
    pub expected: String,
    /// What it showed.
    pub seen: String,
    /// Whether that is so.
    pub fits: bool,
}

/// What the judge says of the log as a whole.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LogVerdict {
    /// How many entries were read.
    pub entries: usize,
    /// The number of the last one.
    pub head: i64,
    /// Whether every number from the first to the last must be there: nobody else used the product.
    pub whole: bool,
    /// What is wrong.
    pub findings: Vec<Finding>,
}

impl RunVerdict {
    /// How many scenarios have this outcome.
    pub fn count(&self, outcome: Outcome) -> usize {
        self.scenarios.iter().filter(|scenario| scenario.outcome == outcome).count()
    }

    /// All findings, with the scenario that each belongs to; none for the log as a whole.
    pub fn findings(&self) -> impl Iterator<Item = (Option<&str>, &Finding)> {
        let of_scenarios = self.scenarios.iter().flat_map(|scenario| {
            let findings = scenario.rounds.iter().flat_map(|round| &round.findings);
            findings.map(|finding| (Some(scenario.id.as_str()), finding))
        });
        of_scenarios.chain(self.log.findings.iter().map(|finding| (None, finding)))
    }
}
