//! Commands, tasks and riders as the table knows them.

use serde::{Deserialize, Serialize};

use crate::{
    acceptance::words::{Standing, Who},
    domain::{
        command::Verb,
        task::{OfferAnswer, Stage, StateName, Vehicle},
    },
};

/// A command in a scenario's own words.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ask {
    /// Who gives it.
    pub who: Who,
    /// The command.
    pub command: Verb,
    /// About which task, by the scenario's name for it.
    pub task: String,
    /// The rider that it names.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rider: Option<String>,
    /// How long an offer waits, in seconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub seconds: Option<u32>,
    /// The revision that it names; none if it names none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub revision: Option<i64>,
    /// The scenario's name for its request key, if it has a key.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub key: Option<String>,
    /// Whether it has a key at all.
    pub has_key: bool,
    /// Whether the handover with the present owner is confirmed.
    pub confirmed: bool,
    /// For a creation: how long the task is held back, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub release_in_ms: Option<i64>,
    /// For a creation: what the task needs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub vehicle: Option<Vehicle>,
}

/// An offer of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// To whom.
    pub rider: String,
    /// The revision that it made.
    pub revision: i64,
    /// How it ended; none while it waits.
    pub was: Option<OfferAnswer>,
}

/// A task of the scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its state.
    pub state: StateName,
    /// How far the owner has come.
    pub stage: Option<Stage>,
    /// Who is invited, or owns it.
    pub holder: Option<String>,
    /// The number of its last change.
    pub revision: i64,
    /// Until when its offer waits, in milliseconds since the scenario began.
    pub deadline_ms: Option<i64>,
    /// From when on it may be taken, in milliseconds since the scenario began.
    pub release_at_ms: i64,
    /// What it needs.
    pub vehicle: Option<Vehicle>,
    /// Who changed it last; none if the system did.
    pub changed_by: Option<Who>,
    /// All its offers, oldest first.
    pub offers: Vec<Offer>,
}

impl Task {
    /// How it stands.
    pub fn standing(&self) -> Standing {
        Standing { state: self.state, stage: self.stage, rider: self.holder.clone() }
    }
}

/// What is known of a rider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RiderFacts {
    /// How many tasks and offers at once.
    pub capacity: u32,
    /// Whether on duty.
    pub on_duty: bool,
    /// Whether of another region.
    pub foreign: bool,
    /// What the rider goes with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vehicle: Option<Vehicle>,
}

impl Default for RiderFacts {
    fn default() -> Self {
        Self { capacity: 1, on_duty: true, foreign: false, vehicle: None }
    }
}
