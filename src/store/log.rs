//! The log and what stands beside it: events, attempts, stored answers, and new tasks.

use serde::Serialize;

use super::{
    error::Result,
    load::StoredOutcome,
    sql::{Sql, rows, setwise},
    tx::{Tx, execute},
};
use crate::domain::{
    command::{Actor, Stop, Verb},
    decide::Creation,
    event::{Change, DetailEvent, Event},
    id::{Revision, RiderId, Timestamp},
    task::{Mode, Vehicle},
};

const INSERT_TASKS: Sql = setwise!(
    "INSERT INTO task (id, region_id, source, request_key, fingerprint, state, revision, release_at, vehicle, \
     priority, changed_at, changed_by_kind, changed_by_id) SELECT r.id, r.region, r.source, r.request_key, \
     r.fingerprint, 'open', 1, r.release_at, r.vehicle, r.priority, r.at, r.by_kind, r.by_id FROM ",
    rows(id int, region int, source text, request_key text, fingerprint text, release_at int, vehicle text,
         priority int, at int, by_kind text, by_id text),
    " WHERE true"
);

const INSERT_DETAILS: Sql = setwise!(
    "INSERT INTO task_detail (task_id, detail_revision, pickup_lat, pickup_lng, pickup_address, pickup_name, \
     pickup_phone, dropoff_lat, dropoff_lng, dropoff_address, dropoff_name, dropoff_phone, ready_at, due_at, fee, \
     note) SELECT r.id, 1, r.pickup_lat, r.pickup_lng, r.pickup_address, r.pickup_name, r.pickup_phone, \
     r.dropoff_lat, r.dropoff_lng, r.dropoff_address, r.dropoff_name, r.dropoff_phone, r.ready_at, r.due_at, \
     r.fee, r.note FROM ",
    rows(id int, pickup_lat real, pickup_lng real, pickup_address text, pickup_name text, pickup_phone text,
         dropoff_lat real, dropoff_lng real, dropoff_address text, dropoff_name text, dropoff_phone text,
         ready_at int, due_at int, fee int, note text),
    " WHERE true"
);

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

const INSERT_OUTCOMES: Sql = setwise!(
    "INSERT INTO command_outcome (principal, request_key, fingerprint, status, location, etag, body, created_at) \
     SELECT r.principal, r.request_key, r.fingerprint, r.status, r.location, r.etag, r.body, r.at FROM ",
    rows(principal text, request_key text, fingerprint text, status int, location text, etag text, body text,
         at int),
    " WHERE true"
);

/// The same where a used key is no conflict. Only for the planted fault of ignored keys.
const INSERT_OUTCOMES_LAX: Sql = setwise!(
    "INSERT INTO command_outcome (principal, request_key, fingerprint, status, location, etag, body, created_at) \
     SELECT r.principal, r.request_key, r.fingerprint, r.status, r.location, r.etag, r.body, r.at FROM ",
    rows(principal text, request_key text, fingerprint text, status int, location text, etag text, body text,
         at int),
    " WHERE true ON CONFLICT DO NOTHING"
);

const PRUNE_OUTCOMES: Sql = Sql {
    sqlite: "DELETE FROM command_outcome WHERE rowid IN \
             (SELECT rowid FROM command_outcome ORDER BY rowid LIMIT $2) AND created_at < $1",
    postgres: "DELETE FROM command_outcome WHERE ctid IN \
               (SELECT ctid FROM command_outcome WHERE created_at < $1 LIMIT $2)",
};

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

    /// The row of a change of a rider: duty, capacity, region, disabled.
    pub fn of_rider(
        number: i64,
        event_id: String,
        rider: RiderId,
        actor: &Actor,
        at: Timestamp,
        detail: String,
    ) -> Self {
        Self {
            number,
            event_id,
            kind: "rider",
            subject: rider.0,
            region: None,
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
}

/// A row for `attempt`.
#[derive(Debug, Serialize)]
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

/// A row for `command_outcome`.
#[derive(Debug, Serialize)]
pub struct OutcomeRow<'a> {
    /// Scope of the key.
    pub principal: &'a str,
    /// The key.
    pub request_key: &'a str,
    /// What was asked.
    pub fingerprint: &'a str,
    /// HTTP status.
    pub status: u16,
    /// Where the created task is.
    pub location: Option<&'a str>,
    /// The task's revision after it, as an entity tag.
    pub etag: Option<&'a str>,
    /// The answer, byte for byte.
    pub body: &'a str,
    /// When, in epoch milliseconds.
    pub at: i64,
}

impl StoredOutcome {
    /// The answer's status as HTTP has it.
    pub fn http_status(&self) -> u16 {
        u16::try_from(self.status).unwrap_or(500)
    }
}

/// A decided creation with the key that asked for it.
#[derive(Debug)]
pub struct Created<'a> {
    /// What was decided.
    pub creation: &'a Creation,
    /// The key.
    pub request_key: &'a str,
    /// What was asked for.
    pub fingerprint: &'a str,
}

#[derive(Serialize)]
struct TaskRow<'a> {
    id: i64,
    region: i64,
    source: &'a str,
    request_key: &'a str,
    fingerprint: &'a str,
    release_at: i64,
    vehicle: Option<&'static str>,
    priority: i64,
    at: i64,
    by_kind: &'static str,
    by_id: Option<String>,
}

impl<'a> TaskRow<'a> {
    fn of(created: &Created<'a>) -> Self {
        let task = created.creation.after();
        Self {
            id: task.id.0,
            region: task.region.0,
            source: &task.source,
            request_key: created.request_key,
            fingerprint: created.fingerprint,
            release_at: task.release_at.0,
            vehicle: task.vehicle.map(Vehicle::as_str),
            priority: task.priority,
            at: task.changed_at.0,
            by_kind: task.changed_by.kind(),
            by_id: task.changed_by.id(),
        }
    }
}

#[derive(Serialize)]
struct DetailRow<'a> {
    id: i64,
    pickup_lat: f64,
    pickup_lng: f64,
    pickup_address: &'a str,
    pickup_name: Option<&'a str>,
    pickup_phone: Option<&'a str>,
    dropoff_lat: f64,
    dropoff_lng: f64,
    dropoff_address: &'a str,
    dropoff_name: Option<&'a str>,
    dropoff_phone: Option<&'a str>,
    ready_at: Option<i64>,
    due_at: Option<i64>,
    fee: Option<i64>,
    note: Option<&'a str>,
}

impl<'a> DetailRow<'a> {
    fn of(created: &Created<'a>) -> Self {
        let new = created.creation.details();
        let Stop { lat, lng, address, name, phone } = &new.pickup;
        let to = &new.dropoff;
        Self {
            id: created.creation.after().id.0,
            pickup_lat: *lat,
            pickup_lng: *lng,
            pickup_address: address,
            pickup_name: name.as_deref(),
            pickup_phone: phone.as_deref(),
            dropoff_lat: to.lat,
            dropoff_lng: to.lng,
            dropoff_address: &to.address,
            dropoff_name: to.name.as_deref(),
            dropoff_phone: to.phone.as_deref(),
            ready_at: new.ready_at.map(|at| at.0),
            due_at: new.due_at.map(|at| at.0),
            fee: new.fee,
            note: new.note.as_deref(),
        }
    }
}

impl Tx {
    /// Writes new tasks with their details.
    pub async fn insert_tasks(&mut self, created: &[Created<'_>]) -> Result<()> {
        if created.is_empty() {
            return Ok(());
        }
        let tasks: Vec<_> = created.iter().map(TaskRow::of).collect();
        execute!(self, INSERT_TASKS, rows(&tasks));
        let details: Vec<_> = created.iter().map(DetailRow::of).collect();
        execute!(self, INSERT_DETAILS, rows(&details));
        Ok(())
    }

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

    /// Stores answers under their request keys.
    ///
    /// # Errors
    /// [`Error::Moved`](super::Error::Moved) if another transaction has used one of the keys meanwhile.
    pub async fn insert_outcomes(&mut self, outcomes: &[OutcomeRow<'_>]) -> Result<()> {
        if !outcomes.is_empty() {
            let lax = crate::fault::planted(crate::fault::Fault::KeyIgnored);
            let sql = if lax { INSERT_OUTCOMES_LAX } else { INSERT_OUTCOMES };
            execute!(self, sql, rows(outcomes));
        }
        Ok(())
    }

    /// Deletes up to `limit` of the oldest stored answers that were given before `before`. What they answered
    /// stays in the log, and the revision still protects.
    pub async fn prune_outcomes(&mut self, before: Timestamp, limit: i64) -> Result<u64> {
        Ok(execute!(self, PRUNE_OUTCOMES, before.0, limit))
    }
}

/// The revision as an entity tag.
pub fn etag(revision: Revision) -> String {
    format!("\"{revision}\"")
}
