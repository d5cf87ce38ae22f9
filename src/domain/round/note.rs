//! What happens to rounds, as it stands in the log. It changes no task's row: who was asked, and what became of it.

use serde::Serialize;

use crate::domain::{
    actor::Actor,
    id::{RegionId, RiderId, TaskId},
    text_enum::text_enum,
};

text_enum! {
    /// What happened.
    pub enum RoundAction {
        /// Riders were asked.
        Started = "round-started",
        /// More of those who are asked see it: they are shown it one part after the other.
        Shown = "round-shown",
        /// It ended, and nobody took the task through it.
        Ended = "round-ended",
        /// A member does not want the task.
        Declined = "round-declined",
        /// The task went to the manual pool.
        Pooled = "pool-entered",
        /// A dispatcher took it out of there, to be found by riders again.
        Unpooled = "pool-left",
        /// A dispatcher had everybody asked again who had declined.
        DeclinesReset = "declines-reset",
        /// A dispatcher took over: nothing happens by itself any more.
        TakenOver = "search-stopped",
    }
}

/// One entry of the log about a round.
#[derive(Clone, Debug)]
pub struct RoundNote {
    /// What happened.
    pub action: RoundAction,
    /// The round; 0 if it is about none.
    pub round: i64,
    /// The task that somebody was looked for.
    pub task: TaskId,
    /// Its region.
    pub region: RegionId,
    /// Who did it.
    pub actor: Actor,
    /// Whom it concerns, if one rider.
    pub rider: Option<RiderId>,
    /// Why, as a code.
    pub reason: Option<String>,
    /// The hash of the request key, if somebody asked for it.
    pub key_hash: Option<String>,
    /// The figures.
    pub detail: RoundDetail,
}

/// The figures of a round, as the log keeps them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RoundDetail {
    /// The first, second … of the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// How it asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// Its circle, in metres.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radius_m: Option<u32>,
    /// Its deadline, in epoch milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
    /// Who was asked, the best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<i64>,
    /// Who was left out, by reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<(&'static str, u32)>,
    /// The policy that it goes by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_version: Option<i64>,
    /// How it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<&'static str>,
}
