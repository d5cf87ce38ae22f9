//! What became of one row.

use crate::{
    domain::{
        id::{RiderId, TaskId},
        refusal::Lang,
    },
    engine::executor::{Error, Reply},
    intake::{Flag, Problem, Spot},
};

/// One row of the report.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Where it stands in the file.
    pub spot: Spot,
    /// What became of it.
    pub outcome: Outcome,
    /// What is odd about it.
    pub flags: Vec<Flag>,
}

/// What became of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// A task was created.
    Created(TaskId),
    /// The same row was imported before, and this is its task.
    Existing(TaskId),
    /// The rules of the desk say no.
    Refused {
        /// The refusal's code.
        code: String,
        /// The desk's sentence.
        sentence: String,
    },
    /// The row's key belongs to a task with other content: the row has changed since.
    KeyReused,
    /// The desk gave no answer, or could not store the task.
    Failed(Error),
    /// The position was taken.
    Position(RiderId),
    /// The label of a position means no rider of the region.
    RiderUnknown(String),
    /// The mapping makes nothing of it.
    Unread {
        /// The column or pointer.
        field: Option<String>,
        /// Why.
        problem: Problem,
    },
    /// Nothing was in it.
    Blank,
}

impl Outcome {
    pub(super) fn of(answer: Result<Reply, Error>) -> Self {
        let reply = match answer {
            Ok(reply) => reply,
            Err(Error::KeyReused) => return Self::KeyReused,
            Err(error) => return Self::Failed(error),
        };
        let Ok(answer) = reply.answer() else { return Self::Failed(Error::Faulty) };
        match &answer.task {
            Some(task) if answer.is_success() => {
                let first = !reply.replayed && answer.event.is_some();
                if first { Self::Created(task.id) } else { Self::Existing(task.id) }
            }
            _ => Self::Refused {
                code: answer.code.unwrap_or_default(),
                sentence: answer.message.unwrap_or_default(),
            },
        }
    }

    /// Whether somebody has to look at the row.
    pub const fn is_refusal(&self) -> bool {
        match self {
            Self::Created(_) | Self::Existing(_) | Self::Position(_) | Self::Blank => false,
            Self::Refused { .. }
            | Self::KeyReused
            | Self::Failed(_)
            | Self::RiderUnknown(_)
            | Self::Unread { .. } => true,
        }
    }

    /// The code of what keeps it from being a task or a position.
    pub fn code(&self) -> Option<String> {
        Some(match self {
            Self::Created(_) | Self::Existing(_) | Self::Position(_) | Self::Blank => return None,
            Self::Refused { code, .. } => code.clone(),
            Self::KeyReused => Error::KeyReused.to_string(),
            Self::Failed(error) => error.to_string(),
            Self::RiderUnknown(_) => "RIDER_UNKNOWN".to_owned(),
            Self::Unread { problem, .. } => problem.code().to_owned(),
        })
    }

    /// The column or pointer that it is about.
    pub fn field(&self) -> Option<&str> {
        match self {
            Self::Unread { field, .. } => field.as_deref(),
            _ => None,
        }
    }

    /// One sentence for people.
    pub fn sentence(&self, lang: Lang) -> String {
        let (zh, en) = match self {
            Self::Created(task) => (format!("已新建 {task}。"), format!("{task} was created.")),
            Self::Existing(task) => {
                (format!("此前已导入，任务为 {task}。"), format!("It was there already: {task}."))
            }
            Self::Refused { sentence, .. } => return sentence.clone(),
            Self::KeyReused => (
                "此单号已有任务，但内容不同；没有改动原任务。".to_owned(),
                "This key belongs to a task with other content; that task was left as it is."
                    .to_owned(),
            ),
            Self::Failed(Error::Unavailable { unknown: true }) => (
                "派单台没有答复，不确定是否已新建；请再次导入同一文件。".to_owned(),
                "The desk did not answer, so it may have been created; import the same file again."
                    .to_owned(),
            ),
            Self::Failed(error) => (
                format!("派单台无法接收（{error}），没有新建。"),
                format!("The desk could not take it ({error}); nothing was created."),
            ),
            Self::Position(rider) => {
                (format!("{rider} 的位置。"), format!("A position of {rider}."))
            }
            Self::RiderUnknown(label) => (
                format!("“{label}”不是本区域的骑手。"),
                format!("\"{label}\" is no rider of this region."),
            ),
            Self::Unread { problem, .. } => return problem.sentence(lang),
            Self::Blank => ("空行。".to_owned(), "A blank row.".to_owned()),
        };
        match lang {
            Lang::Zh => zh,
            Lang::En => en,
        }
    }
}
