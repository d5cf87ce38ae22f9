//! How the product is called, and what its answers mean: the JSON API v1 of this desk.
//!
//! **Architecture invariant.** Nothing else in this room knows a path, a field or a status. A profile of another
//! product takes this file's place.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    record::{Player, Received},
    table::Ask,
    words::{Returns, Standing, Who},
};
use crate::domain::{
    answer::{Answer, Outcome, TaskView},
    command::Verb,
    id::{RegionId, RiderId, TaskId, Timestamp, rfc3339},
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

// --- answers ---------------------------------------------------------------------------------------------------------

/// What a client is told about one command.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) returns: Returns,
    pub(super) answer: Option<Answer>,
}

#[derive(Deserialize)]
struct Problem {
    code: String,
}

#[derive(Deserialize)]
struct BulkAnswer {
    items: Vec<BulkItem>,
}

#[derive(Deserialize)]
struct BulkItem {
    status: u16,
    #[serde(default)]
    answer: Option<Value>,
    #[serde(default)]
    problem: Option<Value>,
    #[serde(default)]
    replayed: bool,
}

fn told(status: u16, replayed: bool, body: &str) -> Told {
    let broken = |why: String| Told { returns: Returns::Broken(why), answer: None };
    if status >= 500 {
        return broken(format!("status {status}"));
    }
    if let Ok(answer) = serde_json::from_str::<Answer>(body) {
        if answer.status() != status && !(status == 200 && answer.is_success()) {
            return broken(format!("status {status} with the outcome {:?}", answer.outcome));
        }
        let code = || answer.code.clone().unwrap_or_default();
        let first = match answer.outcome {
            Outcome::Done => Returns::Done,
            Outcome::AlreadyDone => Returns::Already(code()),
            Outcome::Refused => Returns::Refused(code()),
        };
        let returns = if replayed { Returns::Again(Box::new(first)) } else { first };
        return Told { returns, answer: Some(answer) };
    }
    match serde_json::from_str::<Problem>(body) {
        Ok(problem) if (400..500).contains(&status) => {
            Told { returns: Returns::TurnedAway(problem.code), answer: None }
        }
        _ => broken(format!("status {status} with a body that is no answer")),
    }
}

/// What a reply says about each of the commands in its request.
pub(super) fn told_of(asks: usize, is_bulk: bool, reply: &Received) -> Vec<Told> {
    let Received { status, replayed, body, .. } = reply;
    if !is_bulk {
        return vec![told(*status, *replayed, body)];
    }
    match serde_json::from_str::<BulkAnswer>(body) {
        Ok(all) if *status == 200 && all.items.len() == asks => all
            .items
            .iter()
            .map(|item| {
                let body = item.answer.as_ref().or(item.problem.as_ref());
                told(item.status, item.replayed, &body.map(ToString::to_string).unwrap_or_default())
            })
            .collect(),
        _ => vec![told(*status, *replayed, body); asks],
    }
}

#[derive(Deserialize)]
struct Seen {
    task: TaskView,
    #[serde(default)]
    tracking: Option<String>,
    #[serde(default)]
    rider_name: Option<String>,
}

#[derive(Deserialize)]
struct SeenPage {
    items: Vec<Seen>,
    #[serde(default)]
    next_cursor: Option<TaskId>,
}

/// A task as one client sees it.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub(super) task: TaskView,
    /// The owner's name, where the client shows names.
    pub(super) rider_name: Option<String>,
}

/// The end of the customer's link, if a reading of staff shows it.
pub(super) fn tracking(reply: &Received) -> Option<String> {
    let seen: Seen = serde_json::from_str(&reply.body).ok()?;
    seen.tracking.map(|path| path.rsplit('/').next().unwrap_or_default().to_owned())
}

/// The task that a reading shows; `None` if it shows none.
pub(super) fn view(reply: &Received) -> Option<View> {
    if reply.status != 200 {
        return None;
    }
    let Seen { task, rider_name, .. } = serde_json::from_str(&reply.body).ok()?;
    Some(View { task, rider_name })
}

/// The tasks of a page, and where the next one starts; `None` if it is no page.
pub(super) fn page(reply: &Received) -> Option<(Vec<TaskView>, Option<TaskId>)> {
    if reply.status != 200 {
        return None;
    }
    let page: SeenPage = serde_json::from_str(&reply.body).ok()?;
    Some((page.items.into_iter().map(|seen| seen.task).collect(), page.next_cursor))
}

/// How a task stands in a view, with the scenario's names for riders.
pub(super) fn standing(view: &View, riders: &BTreeMap<String, Player>) -> Standing {
    let by_id = |id: RiderId| {
        let known = riders.iter().find(|(_, player)| player.id == id);
        known.map_or_else(|| id.to_string(), |(name, _)| name.clone())
    };
    let by_name = |shown: &String| {
        let fits = |player: &Player| player.name.as_ref() == Some(shown);
        let known = riders.iter().find(|(_, player)| fits(player));
        known.map_or_else(|| shown.clone(), |(name, _)| name.clone())
    };
    let task = &view.task;
    let rider = task.rider_id.map(by_id).or_else(|| view.rider_name.as_ref().map(by_name));
    Standing { state: task.state, stage: task.stage, rider }
}

/// One entry of a task's log.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Entry {
    pub(super) number: i64,
    #[serde(default)]
    pub(super) region: Option<RegionId>,
    #[serde(default)]
    pub(super) task_id: Option<TaskId>,
    #[serde(default)]
    pub(super) from_revision: Option<i64>,
    #[serde(default)]
    pub(super) to_revision: Option<i64>,
    pub(super) action: String,
    pub(super) actor: EntryActor,
    #[serde(default)]
    pub(super) rider_id: Option<RiderId>,
    #[serde(default)]
    pub(super) mode: Option<String>,
    #[serde(default)]
    pub(super) reason: Option<String>,
    #[serde(with = "rfc3339")]
    pub(super) occurred_at: Timestamp,
}

/// Who made an entry.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize)]
pub(super) struct EntryActor {
    pub(super) kind: String,
    #[serde(default)]
    pub(super) id: Option<String>,
}

/// One attempt on a task.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Attempt {
    pub(super) actor: EntryActor,
    pub(super) verb: String,
    /// `done`, or the code.
    pub(super) code: String,
}

#[derive(Deserialize)]
struct Items<T> {
    items: Vec<T>,
}

/// The entries of a list; `None` if it is none.
pub(super) fn items<T: for<'a> Deserialize<'a>>(reply: &Received) -> Option<Vec<T>> {
    let list: Items<T> = serde_json::from_str(&reply.body).ok()?;
    (reply.status == 200).then_some(list.items)
}

/// The bounds of a page of the whole log.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Bounds {
    pub(super) after: i64,
    pub(super) through: i64,
    pub(super) head: i64,
}

/// The bounds of a page of the whole log; `None` if it is none.
pub(super) fn bounds(reply: &Received) -> Option<Bounds> {
    serde_json::from_str(&reply.body).ok().filter(|_| reply.status == 200)
}

/// The product's time, as it answers when asked for it.
pub(super) fn time_of(reply: &Received) -> Option<Timestamp> {
    #[derive(Deserialize)]
    struct Time {
        #[serde(with = "rfc3339")]
        server_time: Timestamp,
    }
    serde_json::from_str::<Time>(&reply.body).ok().map(|time| time.server_time)
}
