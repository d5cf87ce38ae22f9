//! The log: events and attempts.

use serde::Serialize;

use super::{
    error::Result,
    sql::{Sql, rows, setwise},
    tx::{Tx, execute},
};
use crate::domain::{
    admin::{AdminEvent, AdminSubject},
    command::{Actor, Verb},
    event::{Change, DetailEvent, Event},
    id::{RegionId, RiderId, Timestamp},
    round::RoundNote,
    task::Mode,
};

const INSERT_EVENTS: Sql = setwise!(
    "INSERT INTO dispatch_event (number, event_id, kind, subject, region_id, task_id, from_revision, to_revision, \
     action, actor_kind, actor_id, rider_id, mode, reason, key_hash, occurred_at, detail_version, detail) \
     SELECT r.number, r.event_id, r.kind, r.subject, r.region, r.task, r.from_revision, r.to_revision, \
     r.action, r.actor_kind, r.actor_id, r.rider, r.mode, r.reason, r.key_hash, r.at, 1, r.detail FROM ",
    rows(number int, event_id text, kind text, subject int, region int, task int, from_revision int,
         to_revision int, action text, actor_kind text, actor_id text, rider int, mode text, reason text,
         key_hash text, at int, detail text),
    " WHERE true"
);

const INSERT_ATTEMPTS: Sql = setwise!(
    "INSERT INTO attempt (number, actor_kind, actor_id, key_hash, task_id, verb, code, revision_seen, at) \
     SELECT r.number, r.actor_kind, r.actor_id, r.key_hash, r.task, r.verb, r.code, r.revision_seen, r.at FROM ",
    rows(number int, actor_kind text, actor_id text, key_hash text, task int, verb text, code text,
         revision_seen int, at int),
    " WHERE true"
);

/// A row for `dispatch_event`.
#[derive(Debug, Serialize)]
pub struct EventRow {
    number: i64,
    event_id: String,
    kind: &'static str,
    subject: i64,
    region: Option<i64>,
    task: Option<i64>,
    from_revision: Option<i64>,
    to_revision: Option<i64>,
    action: &'static str,
    actor_kind: &'static str,
    actor_id: Option<String>,
    rider: Option<i64>,
    mode: Option<&'static str>,
    reason: Option<String>,
    key_hash: Option<String>,
    at: i64,
    detail: String,
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("details have only text keys")
}

impl EventRow {
    /// The row of a task's change.
    pub fn of_task(number: i64, event_id: String, event: &Event, key_hash: Option<String>) -> Self {
        let mode = match &event.change {
            Change::Assigned { mode, .. } => Some(Mode::as_str(*mode)),
            Change::Created { .. }
            | Change::Open
            | Change::Offered { .. }
            | Change::Stage { .. }
            | Change::Cancelled => None,
        };
        Self {
            number,
            event_id,
            kind: "task",
            subject: event.task.0,
            region: Some(event.region.0),
            task: Some(event.task.0),
            from_revision: Some(event.from.0),
            to_revision: Some(event.to.0),
            action: event.action.as_str(),
            actor_kind: event.actor.kind(),
            actor_id: event.actor.id(),
            rider: event.rider.map(|rider| rider.0),
            mode,
            reason: event.reason.as_ref().map(|reason| reason.as_str().to_owned()),
            key_hash,
            at: event.at.0,
            detail: json(&event.change),
        }
    }

    /// The row of an edit.
    pub fn of_detail(
        number: i64,
        event_id: String,
        event: &DetailEvent,
        key_hash: Option<String>,
    ) -> Self {
        Self {
            number,
            event_id,
            kind: "detail",
            subject: event.task.0,
            region: Some(event.region.0),
            task: Some(event.task.0),
            from_revision: None,
            to_revision: None,
            action: Verb::Edit.as_str(),
            actor_kind: event.actor.kind(),
            actor_id: event.actor.id(),
            rider: None,
            mode: None,
            reason: None,
            key_hash,
            at: event.at.0,
            detail: json(&event.edited),
        }
    }

    /// The row of a change of a rider: duty, capacity, region, disabled. It belongs to the region where the rider works
    /// after it, so that this region's staff can read it.
    pub fn of_rider(
        number: i64,
        event_id: String,
        rider: RiderId,
        region: Option<RegionId>,
        actor: &Actor,
        at: Timestamp,
        detail: String,
    ) -> Self {
        Self {
            number,
            event_id,
            kind: "rider",
            subject: rider.0,
            region: region.map(|region| region.0),
            task: None,
            from_revision: None,
            to_revision: None,
            action: "change",
            actor_kind: actor.kind(),
            actor_id: actor.id(),
            rider: Some(rider.0),
            mode: None,
            reason: None,
            key_hash: None,
            at: at.0,
            detail,
        }
    }

    /// The row of something that happened to a round, or to a task's place in the manual pool. It is one of the task's
    /// story, and no change of its row.
    pub fn of_round(number: i64, event_id: String, note: &RoundNote, at: Timestamp) -> Self {
        Self {
            number,
            event_id,
            kind: "round",
            subject: note.round,
            region: Some(note.region.0),
            task: Some(note.task.0),
            from_revision: None,
            to_revision: None,
            action: note.action.as_str(),
            actor_kind: note.actor.kind(),
            actor_id: note.actor.id(),
            rider: note.rider.map(|rider| rider.0),
            mode: None,
            reason: note.reason.clone(),
            key_hash: note.key_hash.clone(),
            at: at.0,
            detail: json(&note.detail),
        }
    }

    /// The row of a change of the desk itself.
    pub fn of_admin(
        number: i64,
        event_id: String,
        event: &AdminEvent,
        actor: &Actor,
        at: Timestamp,
    ) -> Self {
        let mut detail = serde_json::Map::new();
        detail.insert("of".to_owned(), event.of.kind().into());
        for (name, value) in &event.detail {
            detail.insert((*name).to_owned(), value.as_str().into());
        }
        let rider = match event.of {
            AdminSubject::Rider(rider) => Some(rider.0),
            _ => None,
        };
        Self {
            number,
            event_id,
            kind: "admin",
            subject: event.of.number(),
            region: event.region.map(|region| region.0),
            // It is no event of the task itself, whose own story riders and customers may read.
            task: None,
            from_revision: None,
            to_revision: None,
            action: event.action.as_str(),
            actor_kind: actor.kind(),
            actor_id: actor.id(),
            rider,
            mode: None,
            reason: None,
            key_hash: None,
            at: at.0,
            detail: json(&detail),
        }
    }
}

/// A row for `attempt`.
#[derive(Clone, Debug, Serialize)]
pub struct AttemptRow {
    /// Its number: dense, in the order of the commits.
    pub number: i64,
    /// Who tried: the kind of actor.
    pub actor_kind: &'static str,
    /// Who tried: the id within the kind.
    pub actor_id: Option<String>,
    /// The hash of the request key.
    pub key_hash: Option<String>,
    /// On which task.
    pub task: Option<i64>,
    /// What was tried.
    pub verb: &'static str,
    /// `done`, or the code of the answer.
    pub code: String,
    /// The revision that the answer saw.
    pub revision_seen: Option<i64>,
    /// When, in epoch milliseconds.
    pub at: i64,
}

impl Tx {
    /// Appends events to the log.
    pub async fn insert_events(&mut self, events: &[EventRow]) -> Result<()> {
        if !events.is_empty() {
            execute!(self, INSERT_EVENTS, rows(events));
        }
        Ok(())
    }

    /// Appends attempts.
    pub async fn insert_attempts(&mut self, attempts: &[AttemptRow]) -> Result<()> {
        if !attempts.is_empty() {
            execute!(self, INSERT_ATTEMPTS, rows(attempts));
        }
        Ok(())
    }
}
