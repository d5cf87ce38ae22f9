//! Rounds as scripts and pages read them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    domain::{
        answer::{Outcome, TaskView},
        id::{Timestamp, rfc3339},
        round::{RoundAnswer, RoundKind, RoundStatus},
    },
    store::{self, LedgerLine, Round},
};

/// A round as scripts and pages read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RoundView {
    /// Its number.
    pub id: i64,
    /// The first, second … of the task.
    pub step: u32,
    /// How it asks.
    pub kind: RoundKind,
    /// Where it stands.
    pub status: RoundStatus,
    /// Its circle in metres; none where distance did not count.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub radius_m: Option<u32>,
    /// When it began.
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Timestamp,
    /// Its deadline.
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    pub until: Timestamp,
    /// When it ended.
    #[serde(with = "rfc3339::option", skip_serializing_if = "Option::is_none", default)]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Timestamp>,
    /// How many riders were asked.
    pub asked: u32,
    /// How many of them declined.
    pub declined: u32,
    /// The policy that it goes by.
    pub policy_version: i64,
}

impl RoundView {
    /// A round with what its ledger says.
    pub fn of(round: &Round, ledger: &[LedgerLine]) -> Self {
        let members = || {
            ledger
                .iter()
                .filter(|line| line.round == round.id)
                .filter_map(|l| l.asked.as_ref().ok())
        };
        let declined =
            |asked: &&store::Asked| matches!(asked.answered, Some((RoundAnswer::Declined, _)));
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self {
            id: round.id,
            step: round.step,
            kind: round.kind,
            status: round.status,
            radius_m: round.radius_m,
            started_at: round.started_at,
            until: round.until,
            ended_at: round.ended_at,
            asked: count(members().count()),
            declined: count(members().filter(declined).count()),
            policy_version: round.policy_version,
        }
    }
}

/// The answer to a wish.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RoundReply {
    /// What became of it.
    pub outcome: Outcome,
    /// A refusal's code, or `ALREADY_DONE`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<String>,
    /// One sentence for people.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message: Option<String>,
    /// The task as it was seen.
    pub task: TaskView,
    /// The last round of the task, after it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub round: Option<RoundView>,
    /// The store's time of the decision.
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    pub server_time: Timestamp,
}
