//! What can be wrong, and what is.

use serde::{Deserialize, Serialize};

/// What kind of thing is wrong. The list is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// An answer is not the one that the table gives.
    WrongAnswer,
    /// An answer showed the task in another state or at another revision.
    WrongState,
    /// More were told that they had won than can have.
    TwoWinners,
    /// Nobody was told that he had won where somebody must.
    NoWinner,
    /// No order of a race's commands gives these answers by the table.
    NoOrder,
    /// The same request under the same key had another answer.
    AnswerChanged,
    /// A client showed something else at the end.
    WrongEnd,
    /// The three clients disagree about who owns the task.
    EndsDisagree,
    /// No order of effects explains the answers and the log.
    History,
    /// An event is not in the log, or in it and never told.
    WrongLog,
    /// An event names somebody else than who acted.
    WrongActor,
    /// An attempt was not kept.
    AttemptMissing,
    /// The numbers of the log have holes, repeat or run backwards.
    Numbers,
    /// There was no answer, or one that is none.
    NoAnswer,
    /// The scenario's own expectation is not what the table gives.
    NotAsWritten,
    /// The declared table has neither a row nor an answer.
    TableSilent,
    /// The record does not go with its scenario.
    RecordDiffers,
    /// No round of a race was one.
    NoOverlap,
    /// The scenario could not be played to its end.
    CutShort,
}

impl Rule {
    /// Its name in files.
    pub fn name(self) -> String {
        let value = serde_json::to_value(self).unwrap_or_default();
        value.as_str().unwrap_or_default().to_owned()
    }
}

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What kind.
    pub rule: Rule,
    /// In which step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
    /// About whom or what.
    pub about: String,
    /// What had to be.
    pub expected: String,
    /// What was.
    pub found: String,
}
