//! Tasks and events as scripts read them, and what whom may see of them.

use serde::Serialize;
use utoipa::ToSchema;

use super::super::{
    mask::{Contact, masked},
    who::{Caller, Relation},
};
use crate::{
    domain::{
        answer::TaskView,
        command::Verb,
        id::{RegionId, Revision, RiderId, TaskId, Timestamp, rfc3339},
        legal::legal,
        order::Stop,
        policy::RegionMode,
        task::Vehicle,
    },
    engine::rounds::TicketOf,
    store::{Attempt, Card, LoggedEvent},
};

/// One end of a task. Who is to be called is for the desk and the owner alone.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct StopView {
    /// Degrees, WGS-84.
    lat: f64,
    /// Degrees, WGS-84.
    lng: f64,
    /// Street and number.
    address: String,
    /// Whom to ask for.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Whom to call. Whole for the owner of the task until it is delivered; masked, `138****1234`, for its desk and for
    /// whoever ordered it; nobody else has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    phone: Option<String>,
}

impl StopView {
    fn of(stop: &Stop, contact: Contact) -> Self {
        let (name, phone) = match contact {
            Contact::Hidden => (None, None),
            Contact::Masked => (stop.name.clone(), stop.phone.as_deref().map(masked)),
            Contact::Whole => (stop.name.clone(), stop.phone.clone()),
        };
        Self { lat: stop.lat, lng: stop.lng, address: stop.address.clone(), name, phone }
    }
}

/// What is written on a task.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct DetailView {
    /// Number of the last edit: an edit names it.
    detail_revision: Revision,
    /// Where from.
    pickup: StopView,
    /// Where to.
    dropoff: StopView,
    /// When the goods are ready.
    #[serde(with = "rfc3339::option", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    ready_at: Option<Timestamp>,
    /// When it should have arrived.
    #[serde(with = "rfc3339::option", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    due_at: Option<Timestamp>,
    /// What the rider gets, in minor units.
    #[serde(skip_serializing_if = "Option::is_none")]
    fee: Option<i64>,
    /// A note for whoever carries it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// When addresses, names, phones and the note were erased. There are none from then on, and the places are rounded to
    /// about a kilometre.
    #[serde(with = "rfc3339::option", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    erased_at: Option<Timestamp>,
}

/// A task as its reader may see it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct TaskItem {
    /// State, owner, revision.
    task: TaskView,
    /// Its region.
    region: RegionId,
    /// What it needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    vehicle: Option<Vehicle>,
    /// How urgent it is; more is more.
    priority: i64,
    /// What is written on it, as far as the reader may see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<DetailView>,
    /// The path of the customer's page; for the desk and for whoever ordered it.
    #[serde(skip_serializing_if = "Option::is_none")]
    tracking: Option<String>,
    /// A round asks the reader to take it: a grab names this ticket.
    #[serde(skip_serializing_if = "Option::is_none")]
    ticket: Option<TicketOf>,
    /// What the reader can do with it now.
    legal: Vec<Verb>,
}

impl TaskItem {
    /// `card` as `caller` may see it at `now`; `None` if they may not know of it.
    pub(super) fn of(
        card: &Card,
        caller: &Caller,
        mode: RegionMode,
        now: Timestamp,
    ) -> Option<Self> {
        let relation = caller.relation(&card.task)?;
        let contact = Contact::of(relation, card.task.state.stage());
        let of_desk = relation == Relation::Desk;
        let detail = (relation != Relation::Bystander).then(|| DetailView {
            detail_revision: card.detail.revision,
            pickup: StopView::of(&card.detail.pickup, contact),
            dropoff: StopView::of(&card.detail.dropoff, contact),
            ready_at: card.detail.ready_at,
            due_at: card.detail.due_at,
            fee: card.detail.fee,
            note: card.detail.note.clone().filter(|_| contact != Contact::Hidden),
            erased_at: card.detail.erased_at,
        });
        // Whoever has the customer's link can cancel by it: who may not cancel does not get it.
        let may_cancel = of_desk && crate::domain::table::who(Verb::Cancel).contains(&caller.role);
        let tracking = card.detail.tracking_token.as_ref().filter(|_| may_cancel);
        Some(Self {
            task: TaskView::of(&card.task, &caller.actor, now),
            region: card.task.region,
            vehicle: card.task.vehicle,
            priority: card.task.priority,
            detail,
            tracking: tracking.map(|token| format!("/t/{token}")),
            ticket: None,
            legal: legal(&card.task, &caller.actor, caller.role, mode, now),
        })
    }

    /// The same for a rider who could grab it, were it not that others are asked now.
    pub(super) fn for_bystanders(self) -> Self {
        let legal = self.legal.into_iter().filter(|verb| *verb != Verb::Grab).collect();
        Self { detail: None, legal, ..self }
    }

    /// The same with the reader's ticket.
    pub(super) fn with(self, ticket: TicketOf) -> Self {
        Self { ticket: Some(ticket), ..self }
    }
}

/// One task, read.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct TaskAnswer {
    #[serde(flatten)]
    pub(super) item: TaskItem,
    /// The number of the last event of all, in the same snapshot.
    pub(super) head: i64,
    /// The store's time of the reading.
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    pub(super) server_time: Timestamp,
}

/// A page of tasks.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct TaskPage {
    /// In the order of their numbers.
    pub(super) items: Vec<TaskItem>,
    /// Ask for the page beyond it with `cursor`; missing on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_cursor: Option<TaskId>,
    /// The number of the last event of all, in the same snapshot.
    pub(super) head: i64,
    /// The store's time of the reading.
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    pub(super) server_time: Timestamp,
}

/// Who did something.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct ActorView {
    /// `system`, `intake`, `customer`, `rider` or `staff`.
    kind: String,
    /// Which one, within the kind. Riders see no other rider's.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
}

/// One event of the log.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(in crate::web) struct EventItem {
    /// Its number: dense over all regions, in the order of the commits.
    number: i64,
    /// Unguessable, never used twice.
    event_id: String,
    /// `task`, `detail`, `rider`, `round`, `policy` or `admin`.
    kind: String,
    /// Its region.
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<RegionId>,
    /// The task that it changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<TaskId>,
    /// The revision before.
    #[serde(skip_serializing_if = "Option::is_none")]
    from_revision: Option<Revision>,
    /// The revision after.
    #[serde(skip_serializing_if = "Option::is_none")]
    to_revision: Option<Revision>,
    /// What was done.
    action: String,
    /// Who did it.
    actor: ActorView,
    /// The rider whom it concerns.
    #[serde(skip_serializing_if = "Option::is_none")]
    rider_id: Option<RiderId>,
    /// How the owner came by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<String>,
    /// Why, as a code.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// When.
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    occurred_at: Timestamp,
}

impl EventItem {
    /// `event` as staff see it, or as the rider `me` does, who is told of no other.
    pub(in crate::web) fn of(event: &LoggedEvent, me: Option<i64>) -> Self {
        let other = |rider: i64| me.is_some_and(|me| me != rider);
        let by_other = event.actor_kind == "rider"
            && event.actor_id.as_ref().and_then(|id| id.parse().ok()).is_some_and(other);
        Self {
            number: event.number,
            event_id: event.event_id.clone(),
            kind: event.kind.clone(),
            region: event.region_id.map(RegionId),
            task_id: event.task_id.map(TaskId),
            from_revision: event.from_revision.map(Revision),
            to_revision: event.to_revision.map(Revision),
            action: event.action.clone(),
            actor: ActorView {
                kind: event.actor_kind.clone(),
                id: event.actor_id.clone().filter(|_| !by_other),
            },
            rider_id: event.rider_id.filter(|rider| !other(*rider)).map(RiderId),
            mode: event.mode.clone(),
            reason: event.reason.clone(),
            occurred_at: Timestamp(event.occurred_at),
        }
    }
}

/// One attempt on a task: a command with its answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct AttemptItem {
    /// Its number: dense over all tasks.
    number: i64,
    /// Who tried.
    actor: ActorView,
    /// What was tried.
    verb: String,
    /// `done`, or the code of the answer.
    code: String,
    /// The revision that the answer saw.
    #[serde(skip_serializing_if = "Option::is_none")]
    revision_seen: Option<Revision>,
    /// When.
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
}

impl AttemptItem {
    /// An attempt, for the desk of its task.
    pub(super) fn of(attempt: &Attempt) -> Self {
        Self {
            number: attempt.number,
            actor: ActorView { kind: attempt.actor_kind.clone(), id: attempt.actor_id.clone() },
            verb: attempt.verb.clone(),
            code: attempt.code.clone(),
            revision_seen: attempt.revision_seen.map(Revision),
            at: Timestamp(attempt.at),
        }
    }
}
