//! New tasks with their details.

use serde::Serialize;

use super::{
    error::Result,
    sql::{Sql, rows, setwise},
    tx::{Tx, execute},
};
use crate::domain::{command::Stop, decide::Creation, task::Vehicle};

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
     note, tracking_token) SELECT r.id, 1, r.pickup_lat, r.pickup_lng, r.pickup_address, r.pickup_name, r.pickup_phone, \
     r.dropoff_lat, r.dropoff_lng, r.dropoff_address, r.dropoff_name, r.dropoff_phone, r.ready_at, r.due_at, \
     r.fee, r.note, r.tracking_token FROM ",
    rows(id int, pickup_lat real, pickup_lng real, pickup_address text, pickup_name text, pickup_phone text,
         dropoff_lat real, dropoff_lng real, dropoff_address text, dropoff_name text, dropoff_phone text,
         ready_at int, due_at int, fee int, note text, tracking_token text),
    " WHERE true"
);
/// A decided creation with the key that asked for it.
#[derive(Debug)]
pub struct Created<'a> {
    /// What was decided.
    pub creation: &'a Creation,
    /// The key.
    pub request_key: &'a str,
    /// What was asked for.
    pub fingerprint: &'a str,
    /// The unguessable end of the customer's link.
    pub tracking_token: String,
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
    tracking_token: &'a str,
}

impl<'a> DetailRow<'a> {
    fn of(created: &'a Created<'a>) -> Self {
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
            tracking_token: &created.tracking_token,
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
}
