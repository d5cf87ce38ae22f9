//! How a task stands.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Who, phrase};
use crate::domain::task::{Stage, StateName};

/// How a task stands: its state, and who is invited or owns it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Standing {
    /// The state.
    pub state: StateName,
    /// How far the owner has come.
    pub stage: Option<Stage>,
    /// Who is invited, or owns it; `the winner` before a race is over. None where the reader may not see it.
    pub rider: Option<String>,
}

phrase!(Standing, "state of a task");

/// Whoever wins a race.
pub const WINNER: &str = "the winner";

const STAGES: [(&str, Stage); 4] = [
    ("", Stage::Waiting),
    (", at the pickup", Stage::AtPickup),
    (", picked up", Stage::PickedUp),
    (", delivered", Stage::Delivered),
];

impl Standing {
    /// Reads `open`, `cancelled`, `offered`, `offered to R1`, `assigned to R1` and so on, an assigned one also with
    /// `, at the pickup`, `, picked up` or `, delivered`.
    pub fn parse(text: &str) -> Option<Self> {
        let plain = |state| Some(Self { state, stage: None, rider: None });
        match text {
            "open" => return plain(StateName::Open),
            "cancelled" => return plain(StateName::Cancelled),
            "offered" => return plain(StateName::Offered),
            _ => {}
        }
        let name = |text: &str| {
            let known = text == WINNER || Who::parse(text).is_some_and(|who| who.rider().is_some());
            known.then(|| text.to_owned())
        };
        if let Some(rider) = text.strip_prefix("offered to ") {
            return Some(Self {
                state: StateName::Offered,
                stage: None,
                rider: Some(name(rider)?),
            });
        }
        let rest = text.strip_prefix("assigned to ")?;
        let (words, stage) = STAGES.iter().rev().find(|(words, _)| rest.ends_with(words))?;
        let rider = name(rest.strip_suffix(words)?)?;
        Some(Self { state: StateName::Assigned, stage: Some(*stage), rider: Some(rider) })
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.state)?;
        if let Some(rider) = &self.rider {
            write!(f, " to {rider}")?;
        }
        let words = STAGES.iter().find(|(_, stage)| Some(*stage) == self.stage);
        words.map_or(Ok(()), |(words, _)| f.write_str(words))
    }
}
