//! The answer to a command, as scripts read it: one form for successes and refusals.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    command::{Actor, Role, Verb},
    decide::{Already, Verdict},
    event::Event,
    id::{Revision, RiderId, TaskId, Timestamp, rfc3339},
    refusal::{Ineligible, Lang},
    task::{Mode, Stage, State, StateName, Task},
    text_enum::text_enum,
};

text_enum! {
    /// What became of a command.
    pub enum Outcome {
        /// It was done now.
        Done = "done",
        /// This actor had done it before; nothing changed.
        AlreadyDone = "already_done",
        /// The rules say no.
        Refused = "refused",
    }
}

/// An answer. Success and refusal alike carry the revision that they saw (in `task`): this is what
/// makes a recorded run checkable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Answer {
    /// What became of it.
    pub outcome: Outcome,
    /// A refusal's [`Code`](super::refusal::Code), or `ALREADY_YOURS`, `ALREADY_DONE`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<String>,
    /// For `RIDER_NOT_ELIGIBLE`: why.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<Ineligible>,
    /// One sentence for people.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message: Option<String>,
    /// The task as the decision left it. None only if a creation was refused.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub task: Option<TaskView>,
    /// What was logged, if anything.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub event: Option<EventView>,
    /// Who was first, if the refusal is about that.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub beaten_by: Option<BeatenBy>,
    /// What this actor can still do.
    pub legal: Vec<Verb>,
    /// The store's time of the decision.
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    pub server_time: Timestamp,
}

impl Answer {
    /// Whether the command was a success.
    pub fn is_success(&self) -> bool {
        self.outcome != Outcome::Refused
    }

    /// The HTTP status that goes with it.
    pub fn status(&self) -> u16 {
        let created = self.event.as_ref().is_some_and(|event| event.action == Verb::Create);
        match self.outcome {
            Outcome::Done if created => 201,
            Outcome::Done | Outcome::AlreadyDone => 200,
            Outcome::Refused => 409,
        }
    }

    /// The revision that the answer saw.
    pub fn seen_revision(&self) -> Option<Revision> {
        self.task.as_ref().map(|task| task.revision)
    }
}

/// A task, as far as the reader may see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskView {
    /// Its number.
    pub id: TaskId,
    /// Its state.
    pub state: StateName,
    /// How far its owner has come.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stage: Option<Stage>,
    /// How its owner came by it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mode: Option<Mode>,
    /// The invited rider or the owner. A rider sees only him- or herself here, a customer no invited rider.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rider_id: Option<RiderId>,
    /// Its revision.
    pub revision: Revision,
    /// The offer's deadline.
    #[serde(with = "rfc3339::option", skip_serializing_if = "Option::is_none", default)]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub offer_until: Option<Timestamp>,
    /// Whether the deadline has passed and the release is due.
    pub expiring: bool,
    /// Nobody may take it before.
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    pub release_at: Timestamp,
}

impl TaskView {
    /// `task` as `reader` sees it at `now`.
    pub fn of(task: &Task, reader: &Actor, now: Timestamp) -> Self {
        Self {
            id: task.id,
            state: task.state.name(),
            stage: task.state.stage(),
            mode: task.state.mode(),
            rider_id: task.state.rider().filter(|rider| shows(*rider, reader, &task.state)),
            revision: task.revision,
            offer_until: task.state.offer_until(),
            expiring: task.is_expiring(now),
            release_at: task.release_at,
        }
    }
}

/// Whether `reader` may see which rider it is: riders see no others, customers nobody who was only asked.
fn shows(rider: RiderId, reader: &Actor, state: &State) -> bool {
    match reader {
        Actor::Rider(me) => *me == rider,
        Actor::Customer(_) => state.stage().is_some(),
        Actor::System | Actor::Intake(_) | Actor::Staff(_) => true,
    }
}

/// An event, as it stands in an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EventView {
    /// Its number in the log.
    pub number: i64,
    /// What was done.
    pub action: Verb,
    /// The revision before.
    pub from_revision: Revision,
    /// The revision after.
    pub to_revision: Revision,
    /// When.
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    pub occurred_at: Timestamp,
}

/// The change that was first: the one right after the revision that the refused command named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BeatenBy {
    /// What was done.
    pub action: Verb,
    /// Who did it. Riders are told "another rider" and customers "a rider", and no more.
    pub by: String,
    /// When.
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    pub occurred_at: Timestamp,
    /// The revision before.
    pub from_revision: Revision,
    /// The revision after.
    pub to_revision: Revision,
}

impl BeatenBy {
    /// `event` as the one who was refused may see it.
    pub fn of(event: &Event, reader: &Actor) -> Self {
        let by = match (event.actor.rider(), reader) {
            (Some(rider), Actor::Rider(me)) if rider != *me => "another rider".to_owned(),
            // Who has declined was only asked.
            (Some(_), Actor::Customer(_)) => "a rider".to_owned(),
            (Some(_) | None, _) => event.actor.to_string(),
        };
        Self {
            action: event.action,
            by,
            occurred_at: event.at,
            from_revision: event.from,
            to_revision: event.to,
        }
    }
}

/// The words of a verdict: outcome, code, reason and sentence.
pub fn wording<T>(
    verdict: &Verdict<T>,
    lang: Lang,
) -> (Outcome, Option<String>, Option<Ineligible>, Option<String>) {
    match verdict {
        Verdict::Apply(_) => (Outcome::Done, None, None, None),
        Verdict::Already(already) => {
            let sentence = match (already, lang) {
                (Already::Yours, Lang::Zh) => "任务已经是您的。",
                (Already::Yours, Lang::En) => "The task is already yours.",
                (Already::Done, Lang::Zh) => "此前已完成该操作，没有重复执行。",
                (Already::Done, Lang::En) => "You had done this before; nothing changed.",
            };
            let code = already.as_str().to_owned();
            (Outcome::AlreadyDone, Some(code), None, Some(sentence.to_owned()))
        }
        Verdict::Refused(refusal) => (
            Outcome::Refused,
            Some(refusal.code.as_str().to_owned()),
            refusal.ineligible,
            Some(refusal.code.sentence(lang).to_owned()),
        ),
    }
}

/// In what capacity an actor acts, given the staff member's role.
pub fn role(actor: &Actor, staff: Option<Role>) -> Role {
    match actor {
        Actor::System => Role::System,
        Actor::Intake(_) => Role::Intake,
        Actor::Customer(_) => Role::Customer,
        Actor::Rider(_) => Role::Rider,
        Actor::Staff(_) => staff.unwrap_or(Role::Auditor),
    }
}
