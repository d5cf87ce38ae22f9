//! Rows as they come from the database, and what they mean. A row that can mean nothing is corrupt.

use sqlx::FromRow;

use super::error::{Error, Result};
use crate::domain::{
    command::{Actor, Reason, Role, Verb},
    event::{Change, DetailEvent, Edited, Event},
    facts::{Duty, Rider, Staff},
    id::{RegionId, Revision, RiderId, StaffId, TaskId, Timestamp},
    policy::{Policy, Region},
    task::{Mode, Slot, Stage, State, StateName, Task, Vehicle},
};

/// Reads one column of one row, or names the place that is corrupt.
pub(super) fn read<T>(
    table: &'static str,
    column: &'static str,
    row: i64,
    value: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<T> {
    parse(value).ok_or_else(|| Error::Corrupt {
        table,
        column,
        row: row.to_string(),
        value: value.to_owned(),
    })
}

fn slot(table: &'static str, row: i64, slot: i64) -> Result<Slot> {
    read(table, "rider_slot", row, &slot.to_string(), |text| text.parse().ok())
}

/// A row of `task`.
#[derive(Debug, FromRow)]
pub(super) struct TaskRow {
    pub(super) id: i64,
    region_id: i64,
    source: String,
    state: String,
    rider_id: Option<i64>,
    rider_slot: Option<i64>,
    stage: Option<String>,
    mode: Option<String>,
    offer_until: Option<i64>,
    revision: i64,
    release_at: i64,
    vehicle: Option<String>,
    priority: i64,
    changed_at: i64,
    changed_by_kind: String,
    changed_by_id: Option<String>,
}

impl TaskRow {
    pub(super) fn task(self) -> Result<Task> {
        let state = self.state()?;
        let vehicle = |text: &String| read("task", "vehicle", self.id, text, Vehicle::parse);
        let by_id = self.changed_by_id.as_deref();
        let by = |kind: &str| Actor::from_columns(kind, by_id);
        Ok(Task {
            id: TaskId(self.id),
            region: RegionId(self.region_id),
            revision: Revision(self.revision),
            state,
            release_at: Timestamp(self.release_at),
            vehicle: self.vehicle.as_ref().map(vehicle).transpose()?,
            priority: self.priority,
            changed_at: Timestamp(self.changed_at),
            changed_by: read("task", "changed_by_kind", self.id, &self.changed_by_kind, by)?,
            source: self.source,
        })
    }

    fn state(&self) -> Result<State> {
        let name = read("task", "state", self.id, &self.state, StateName::parse)?;
        let missing = |column| Error::Corrupt {
            table: "task",
            column,
            row: self.id.to_string(),
            value: format!("nothing while {name}"),
        };
        let rider = || self.rider_id.map(RiderId).ok_or_else(|| missing("rider_id"));
        let place = || self.rider_slot.map(|place| slot("task", self.id, place)).transpose();
        let text = |text: &Option<String>, column| text.clone().ok_or_else(|| missing(column));
        Ok(match name {
            StateName::Open => State::Open,
            StateName::Cancelled => State::Cancelled,
            StateName::Offered => State::Offered {
                rider: rider()?,
                slot: place()?.ok_or_else(|| missing("rider_slot"))?,
                until: self.offer_until.map(Timestamp).ok_or_else(|| missing("offer_until"))?,
            },
            StateName::Assigned => State::Assigned {
                rider: rider()?,
                slot: place()?,
                stage: read("task", "stage", self.id, &text(&self.stage, "stage")?, Stage::parse)?,
                mode: read("task", "mode", self.id, &text(&self.mode, "mode")?, Mode::parse)?,
            },
        })
    }
}

/// A row of `rider`, without the places it holds.
#[derive(Debug, FromRow)]
pub(super) struct RiderRow {
    id: i64,
    region_id: i64,
    capacity: i64,
    duty: String,
    disabled: i64,
    vehicle: Option<String>,
    risk_rejected: i64,
}

impl RiderRow {
    pub(super) fn rider(self) -> Result<Rider> {
        let vehicle = |text: &String| read("rider", "vehicle", self.id, text, Vehicle::parse);
        let capacity = self.capacity.to_string();
        Ok(Rider {
            id: RiderId(self.id),
            region: RegionId(self.region_id),
            capacity: read("rider", "capacity", self.id, &capacity, |text| text.parse().ok())?,
            held: Vec::new(),
            duty: read("rider", "duty", self.id, &self.duty, Duty::parse)?,
            disabled: self.disabled != 0,
            vehicle: self.vehicle.as_ref().map(vehicle).transpose()?,
            risk_rejected: self.risk_rejected != 0,
            last_fix_at: None,
        })
    }
}

/// A row of `staff`, without its regions.
#[derive(Debug, FromRow)]
pub(super) struct StaffRow {
    id: i64,
    role: String,
    disabled: i64,
}

impl StaffRow {
    pub(super) fn staff(self) -> Result<Staff> {
        Ok(Staff {
            id: StaffId(self.id),
            role: read("staff", "role", self.id, &self.role, Role::parse)?,
            regions: Vec::new(),
            disabled: self.disabled != 0,
        })
    }
}

/// A row of `region`.
#[derive(Debug, FromRow)]
pub(super) struct RegionRow {
    pub(super) id: i64,
    time_zone: String,
    area: String,
}

impl RegionRow {
    /// The region under `policy`.
    pub(super) fn region(self, policy: Policy) -> Result<Region> {
        Ok(Region {
            id: RegionId(self.id),
            time_zone: read("region", "time_zone", self.id, &self.time_zone, |z| z.parse().ok())?,
            area: read("region", "area", self.id, &self.area, |json| {
                serde_json::from_str(json).ok()
            })?,
            policy,
        })
    }
}

/// A row of `dispatch_event`.
#[derive(Clone, Debug, FromRow)]
pub struct LoggedEvent {
    /// Its number: dense, in the order of the commits.
    pub number: i64,
    /// Unguessable, never used twice.
    pub event_id: String,
    /// `task`, `detail`, `rider`, `round`, `policy` or `admin`.
    pub kind: String,
    /// What it is about, within its kind.
    pub subject: i64,
    /// The region that it belongs to.
    pub region_id: Option<i64>,
    /// The task that it belongs to.
    pub task_id: Option<i64>,
    /// For tasks: the revision before.
    pub from_revision: Option<i64>,
    /// For tasks: the revision after.
    pub to_revision: Option<i64>,
    /// What was done.
    pub action: String,
    /// Who did it: the kind of actor.
    pub actor_kind: String,
    /// Who did it: the id within the kind.
    pub actor_id: Option<String>,
    /// The rider whom it concerns.
    pub rider_id: Option<i64>,
    /// How the owner came by the task.
    pub mode: Option<String>,
    /// Why, as a code.
    pub reason: Option<String>,
    /// The hash of the request key that asked for it.
    pub key_hash: Option<String>,
    /// When, in epoch milliseconds.
    pub occurred_at: i64,
    /// Version of `detail`.
    pub detail_version: i64,
    /// What it made of the row, as JSON.
    pub detail: String,
}

impl LoggedEvent {
    /// The event of a task; `None` if it is of another kind.
    pub fn task_event(&self) -> Result<Option<Event>> {
        let (Some(task), Some(from), Some(to)) =
            (self.task_id, self.from_revision, self.to_revision)
        else {
            return Ok(None);
        };
        Ok(Some(Event {
            task: TaskId(task),
            region: RegionId(self.region_id.unwrap_or_default()),
            from: Revision(from),
            to: Revision(to),
            action: self.read("action", &self.action, Verb::parse)?,
            actor: self.actor()?,
            at: Timestamp(self.occurred_at),
            reason: self
                .reason
                .as_ref()
                .map(|reason| self.read("reason", reason, Reason::parse))
                .transpose()?,
            rider: self.rider_id.map(RiderId),
            change: self.detail::<Change>(i64::from(Change::VERSION))?,
        }))
    }

    /// The edit of a task's details; `None` if it is of another kind.
    pub fn detail_event(&self) -> Result<Option<DetailEvent>> {
        let (Some(task), "detail") = (self.task_id, self.kind.as_str()) else { return Ok(None) };
        let edited = self.detail::<Edited>(i64::from(Change::VERSION))?;
        Ok(Some(DetailEvent {
            task: TaskId(task),
            region: RegionId(self.region_id.unwrap_or_default()),
            to: edited.detail_revision,
            actor: self.actor()?,
            at: Timestamp(self.occurred_at),
            edited,
        }))
    }

    fn actor(&self) -> Result<Actor> {
        let id = self.actor_id.as_deref();
        self.read("actor_kind", &self.actor_kind, |kind| Actor::from_columns(kind, id))
    }

    fn detail<T: serde::de::DeserializeOwned>(&self, version: i64) -> Result<T> {
        let known = self.detail_version == version;
        self.read("detail", &self.detail, |json| {
            known.then(|| serde_json::from_str(json).ok()).flatten()
        })
    }

    fn read<T>(
        &self,
        column: &'static str,
        value: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T> {
        read("dispatch_event", column, self.number, value, parse)
    }
}
