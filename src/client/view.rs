//! What is read: tasks, pages, events, as far as the reader may see them.

use serde::Deserialize;

use crate::domain::{
    answer::TaskView,
    command::Verb,
    id::{RegionId, Revision, RiderId, TaskId, Timestamp, rfc3339},
    task::Vehicle,
};

/// One end of a task.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct StopView {
    /// Degrees, WGS-84.
    pub lat: f64,
    /// Degrees, WGS-84.
    pub lng: f64,
    /// Street and number.
    pub address: String,
    /// Whom to ask for.
    #[serde(default)]
    pub name: Option<String>,
    /// Whom to call.
    #[serde(default)]
    pub phone: Option<String>,
}

/// What is written on a task.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct DetailView {
    /// Number of the last edit.
    pub detail_revision: Revision,
    /// Where from.
    pub pickup: StopView,
    /// Where to.
    pub dropoff: StopView,
    /// When the goods are ready.
    #[serde(default, with = "rfc3339::option")]
    pub ready_at: Option<Timestamp>,
    /// When it should have arrived.
    #[serde(default, with = "rfc3339::option")]
    pub due_at: Option<Timestamp>,
    /// What the rider gets, in minor units.
    #[serde(default)]
    pub fee: Option<i64>,
    /// A note for whoever carries it out.
    #[serde(default)]
    pub note: Option<String>,
}

/// A task as its reader may see it.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct TaskItem {
    /// State, owner, revision.
    pub task: TaskView,
    /// Its region.
    pub region: RegionId,
    /// What it needs.
    #[serde(default)]
    pub vehicle: Option<Vehicle>,
    /// How urgent it is.
    pub priority: i64,
    /// What is written on it.
    #[serde(default)]
    pub detail: Option<DetailView>,
    /// The path of the customer's page.
    #[serde(default)]
    pub tracking: Option<String>,
    /// The reader's ticket, if a round asks for it.
    #[serde(default)]
    pub ticket: Option<TicketView>,
    /// What the reader can do with it now.
    pub legal: Vec<Verb>,
    /// The number of the last event of all; for a task that was read alone.
    #[serde(default)]
    pub head: Option<i64>,
    /// The store's time of the reading; for a task that was read alone.
    #[serde(default, with = "rfc3339::option")]
    pub server_time: Option<Timestamp>,
}

/// A rider's right to grab while a round runs.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct TicketView {
    /// The round.
    pub round: i64,
    /// The rider's own part of it.
    pub nonce: String,
    /// From this instant on it is worth nothing.
    #[serde(with = "rfc3339")]
    pub until: Timestamp,
}

/// A page of tasks.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct TaskPage {
    /// In the order of their numbers.
    pub items: Vec<TaskItem>,
    /// Where the next page starts; none on the last.
    #[serde(default)]
    pub next_cursor: Option<TaskId>,
    /// The number of the last event of all, in the same snapshot.
    pub head: i64,
    /// The store's time of the reading.
    #[serde(with = "rfc3339")]
    pub server_time: Timestamp,
}

/// Who did something.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct ActorView {
    /// `system`, `intake`, `customer`, `rider` or `staff`.
    pub kind: String,
    /// Which one, within the kind.
    #[serde(default)]
    pub id: Option<String>,
}

/// One event of the log.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct EventItem {
    /// Its number: dense over all regions.
    pub number: i64,
    /// Unguessable, never used twice.
    pub event_id: String,
    /// `task`, `detail`, `rider`, `round`, `policy` or `admin`.
    pub kind: String,
    /// Its region.
    #[serde(default)]
    pub region: Option<RegionId>,
    /// The task that it changed.
    #[serde(default)]
    pub task_id: Option<TaskId>,
    /// The revision before.
    #[serde(default)]
    pub from_revision: Option<Revision>,
    /// The revision after.
    #[serde(default)]
    pub to_revision: Option<Revision>,
    /// What was done.
    pub action: String,
    /// Who did it.
    pub actor: ActorView,
    /// The rider whom it concerns.
    #[serde(default)]
    pub rider_id: Option<RiderId>,
    /// How the owner came by it.
    #[serde(default)]
    pub mode: Option<String>,
    /// Why, as a code.
    #[serde(default)]
    pub reason: Option<String>,
    /// When.
    #[serde(with = "rfc3339")]
    pub occurred_at: Timestamp,
}

/// A page of the log: nothing that the reader may see is missing between `after` and `through`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct EventPage {
    /// Beyond which number it starts.
    pub after: i64,
    /// Up to which number it goes.
    pub through: i64,
    /// The number of the last event of all, in the same snapshot.
    pub head: i64,
    /// What the reader may see, in order.
    pub items: Vec<EventItem>,
    /// The store's time of the reading.
    #[serde(with = "rfc3339")]
    pub server_time: Timestamp,
}

/// All events of one task.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct TaskEvents {
    /// In order: 0 → 1, 1 → 2, …
    pub items: Vec<EventItem>,
    /// The number of the last event of all, in the same snapshot.
    pub head: i64,
    /// The store's time of the reading.
    #[serde(with = "rfc3339")]
    pub server_time: Timestamp,
}

/// What the customer's link shows.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct Tracked {
    /// State, owner, revision.
    pub task: TaskView,
    /// Where to.
    pub dropoff_address: String,
    /// When it should arrive.
    #[serde(default, with = "rfc3339::option")]
    pub due_at: Option<Timestamp>,
    /// The owner's name, once there is one.
    #[serde(default)]
    pub rider_name: Option<String>,
    /// What the customer can do now.
    pub legal: Vec<Verb>,
    /// The number of the last event of all, in the same snapshot.
    pub head: i64,
    /// The store's time of the reading.
    #[serde(with = "rfc3339")]
    pub server_time: Timestamp,
}

#[derive(Deserialize)]
pub(super) struct Time {
    #[serde(with = "rfc3339")]
    pub(super) server_time: Timestamp,
}

#[derive(Deserialize)]
pub(super) struct Kept {
    pub(super) kept: bool,
}
