//! How the product is called, and what its answers mean: the JSON API v1 of this desk.
//!
//! **Architecture invariant.** Nothing else in this room knows a path, a field or a status. A profile of another
//! product takes this folder's place.
//!
//! | file | |
//! |---|---|
//! | `mod` | requests |
//! | `answers` | what comes back, and what it means |

mod answers;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

pub(super) use answers::*;

use super::{record::Player, table::Ask, words::Who};
use crate::domain::{
    command::Verb,
    id::{RegionId, RiderId, TaskId, Timestamp},
};

/// A request, before it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) method: &'static str,
    pub(super) path: String,
    /// The path as it may be kept: without unguessable names.
    pub(super) kept_path: String,
    pub(super) body: Option<String>,
    /// Whether its key stands in the body already.
    pub(super) key_in_body: bool,
}

impl Request {
    fn get(path: String) -> Self {
        Self { method: "GET", kept_path: path.clone(), path, body: None, key_in_body: false }
    }

    fn post(path: String, body: &Value) -> Self {
        let (kept_path, body) = (path.clone(), Some(body.to_string()));
        Self { method: "POST", kept_path, path, body, key_in_body: false }
    }
}

/// What stands for a tracking token in the record.
pub(super) const HIDDEN: &str = "{tracking}";

/// A task of the product, as far as its clients need to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) id: TaskId,
    pub(super) tracking: Option<String>,
}

/// Where new tasks are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) region: RegionId,
    pub(super) lat: f64,
    pub(super) lng: f64,
}

/// The people and tasks of one scenario, as the product names them.
#[derive(Debug)]
pub(super) struct Names<'a> {
    pub(super) riders: &'a BTreeMap<String, Player>,
    pub(super) tasks: &'a BTreeMap<String, Known>,
    pub(super) place: Place,
    /// The product's time.
    pub(super) now: Timestamp,
}

impl Names<'_> {
    fn rider(&self, name: &str) -> RiderId {
        // Somebody who is not there has a number that nobody has.
        self.riders.get(name).map_or(RiderId(i64::MAX), |player| player.id)
    }

    fn task(&self, name: &str) -> TaskId {
        self.tasks.get(name).map_or(TaskId(i64::MAX), |known| known.id)
    }
}

fn fields(names: &Names<'_>, ask: &Ask) -> Map<String, Value> {
    let mut body = Map::new();
    if let Some(revision) = ask.revision {
        body.insert("revision".to_owned(), json!(revision));
    }
    if let Some(rider) = &ask.rider {
        body.insert("rider_id".to_owned(), json!(names.rider(rider)));
    }
    if let Some(seconds) = ask.seconds.filter(|_| takes_seconds(ask.command)) {
        body.insert("seconds".to_owned(), json!(seconds));
    }
    if ask.command == Verb::Reassign {
        body.insert("handover_confirmed".to_owned(), json!(ask.confirmed));
    }
    body
}

const fn takes_seconds(command: Verb) -> bool {
    matches!(command, Verb::Offer | Verb::Reassign)
}

/// The request for one command. `order` is the number that a new task is ordered under.
pub(super) fn command(names: &Names<'_>, ask: &Ask, order: &str) -> Request {
    if ask.command == Verb::Create {
        let Place { region, lat, lng } = names.place;
        let stop = |address: &str| json!({ "lat": lat, "lng": lng, "address": address });
        let mut body = json!({
            "request_key": order,
            "region": region,
            "pickup": stop("acceptance: pickup"),
            "dropoff": stop("acceptance: dropoff"),
        });
        if let Some(ms) = ask.release_in_ms {
            body["release_at"] = json!(names.now.plus_ms(ms).to_string());
        }
        if let Some(vehicle) = ask.vehicle {
            body["vehicle"] = json!(vehicle);
        }
        let request = Request::post("/api/v1/tasks".to_owned(), &body);
        return Request { key_in_body: true, ..request };
    }
    let body = Value::Object(fields(names, ask));
    if ask.who == Who::Customer {
        return tracked(names, &ask.task, "/cancel", Some(&body));
    }
    Request::post(format!("/api/v1/tasks/{}/{}", names.task(&ask.task).0, ask.command), &body)
}

/// The request for one command on several tasks.
pub(super) fn bulk(names: &Names<'_>, asks: &[Ask]) -> Request {
    let item = |ask: &Ask| {
        let mut item = fields(names, ask);
        item.insert("task_id".to_owned(), json!(names.task(&ask.task)));
        Value::Object(item)
    };
    let items: Vec<_> = asks.iter().map(item).collect();
    let verb = asks.first().map(|ask| ask.command);
    Request::post("/api/v1/bulk".to_owned(), &json!({ "verb": verb, "items": items }))
}

fn tracked(names: &Names<'_>, task: &str, end: &str, body: Option<&Value>) -> Request {
    let token = names.tasks.get(task).and_then(|known| known.tracking.as_deref());
    let token = token.unwrap_or("none");
    let path = |token: &str| format!("/api/v1/track/{token}{end}");
    let (method, body) = body.map_or(("GET", None), |body| ("POST", Some(body.to_string())));
    Request { method, path: path(token), kept_path: path(HIDDEN), body, key_in_body: false }
}

/// How `who` looks at a task: staff at the task itself, customers at their link.
pub(super) fn look(names: &Names<'_>, who: &Who, task: &str) -> Request {
    match who {
        Who::Customer => tracked(names, task, "", None),
        Who::Intake
        | Who::Dispatcher(_)
        | Who::Supervisor
        | Who::Auditor
        | Who::Foreigner
        | Who::Nobody
        | Who::System
        | Who::Rider(_) => Request::get(format!("/api/v1/tasks/{}", names.task(task).0)),
    }
}

/// The list of a rider's own tasks and offers.
pub(super) fn mine() -> Request {
    Request::get("/api/v1/rider/tasks".to_owned())
}

/// A page of the tasks that a rider may grab, beyond a task.
pub(super) fn pool(after: TaskId) -> Request {
    Request::get(format!("/api/v1/rider/pool?cursor={}", after.0))
}

/// Puts a rider on or off duty.
pub(super) fn duty(on: bool) -> Request {
    let duty = if on { "on" } else { "off" };
    Request::post("/api/v1/rider/duty".to_owned(), &json!({ "duty": duty }))
}

/// The log of a task.
pub(super) fn log(names: &Names<'_>, task: &str) -> Request {
    Request::get(format!("/api/v1/tasks/{}/events", names.task(task).0))
}

/// The attempts on a task.
pub(super) fn attempts(names: &Names<'_>, task: &str) -> Request {
    Request::get(format!("/api/v1/tasks/{}/attempts", names.task(task).0))
}

/// A page of the whole log.
pub(super) fn numbers(after: i64) -> Request {
    Request::get(format!("/api/v1/events?after={after}&limit=500"))
}

/// The product's time.
pub(super) fn time() -> Request {
    Request::get("/api/v1/time".to_owned())
}
