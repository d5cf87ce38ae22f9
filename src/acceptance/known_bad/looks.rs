//! The routes: what is read. Each reading is one look at the database.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, Query, State},
    http::HeaderMap,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    desk::Desk,
    draft::{TurnedAway, who},
    house::House,
    http::{caller, number},
    plan::possible,
    rows::{Card, Logged, Rows},
};
use crate::domain::{
    answer::TaskView,
    command::Actor,
    event::Change,
    facts::Duty,
    id::{RegionId, RiderId, TaskId},
    task::{State as TaskState, Task},
};

/// The most tasks on one page of the pool.
const TASKS: usize = 50;
/// The most events on one page.
const EVENTS: usize = 500;

const NOT_FOUND: TurnedAway = TurnedAway { status: 404, code: "NOT_FOUND" };
const FORBIDDEN: TurnedAway = TurnedAway { status: 403, code: "FORBIDDEN" };

type Told = Result<Json<Value>, TurnedAway>;

/// The regions that somebody may look into.
fn regions(desk: &Desk, actor: &Actor) -> Vec<RegionId> {
    match actor {
        Actor::Staff(_) => {
            desk.house.staff(actor).map(|staff| staff.regions.clone()).unwrap_or_default()
        }
        Actor::Rider(rider) => desk.house.seat(*rider).map(House::region_of).into_iter().collect(),
        Actor::System | Actor::Intake(_) | Actor::Customer(_) => Vec::new(),
    }
}

fn may_see(desk: &Desk, actor: &Actor, task: &Task) -> bool {
    let is_own = matches!(actor, Actor::Intake(source) if *source == task.source);
    is_own || regions(desk, actor).contains(&task.region)
}

/// A task as `reader` sees it.
fn item(desk: &Desk, card: &Card, reader: &Actor) -> Value {
    let now = desk.now();
    json!({
        "task": TaskView::of(&card.task, reader, now),
        "region": card.task.region,
        "priority": card.task.priority,
        "legal": possible(desk, &card.task, reader, now),
    })
}

fn with(mut item: Value, more: Value) -> Value {
    if let (Some(item), Value::Object(more)) = (item.as_object_mut(), more) {
        item.extend(more);
    }
    item
}

pub(super) async fn task(
    State(desk): State<Arc<Desk>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Told {
    let (actor, id) = (caller(&desk, &headers)?, number(&id)?);
    let rows = desk.rows();
    let card = rows.cards.get(&id).filter(|card| may_see(&desk, &actor, &card.task));
    let card = card.ok_or(NOT_FOUND)?;
    let shown = item(&desk, card, &actor);
    let more = json!({ "head": rows.head, "server_time": desk.now().to_string() });
    let link = match actor {
        Actor::Rider(_) => json!({}),
        _ => json!({ "tracking": format!("/t/{}", card.tracking) }),
    };
    Ok(Json(with(with(shown, more), link)))
}

/// The log of a task, or the attempts on it.
pub(super) async fn of_task(
    State(desk): State<Arc<Desk>>,
    Path((id, what)): Path<(String, String)>,
    headers: HeaderMap,
) -> Told {
    let (actor, id) = (caller(&desk, &headers)?, number(&id)?);
    let rows = desk.rows();
    let card = rows.cards.get(&id).filter(|card| may_see(&desk, &actor, &card.task));
    if card.is_none() {
        return Err(NOT_FOUND);
    }
    if matches!(actor, Actor::Rider(_)) {
        return Err(FORBIDDEN);
    }
    let items: Vec<Value> = match what.as_str() {
        "events" => {
            let of_task = rows.log.iter().filter(|logged| logged.event.task == id);
            of_task.map(entry).collect()
        }
        "attempts" => attempts(&rows, id),
        _ => return Err(NOT_FOUND),
    };
    let server_time = desk.now().to_string();
    Ok(Json(json!({ "items": items, "head": rows.head, "server_time": server_time })))
}

fn attempts(rows: &Rows, id: TaskId) -> Vec<Value> {
    let of_task = rows.attempts.iter().zip(1..).filter(|(attempt, _)| attempt.task == id);
    of_task
        .map(|(attempt, number)| {
            json!({
                "number": number,
                "actor": who(&attempt.actor),
                "verb": attempt.verb,
                "code": attempt.code,
                "revision_seen": attempt.seen,
                "at": attempt.at.to_string(),
            })
        })
        .collect()
}

fn entry(logged: &Logged) -> Value {
    let event = &logged.event;
    let mut entry = Map::new();
    let mut put = |name: &str, value: Value| entry.insert(name.to_owned(), value);
    put("number", logged.number.into());
    put("kind", "task".into());
    put("region", json!(event.region));
    put("task_id", json!(event.task));
    put("from_revision", json!(event.from));
    put("to_revision", json!(event.to));
    put("action", json!(event.action));
    put("actor", who(&event.actor));
    put("occurred_at", event.at.to_string().into());
    if let Some(rider) = event.rider {
        put("rider_id", json!(rider));
    }
    if let Change::Assigned { mode, .. } = &event.change {
        put("mode", json!(mode));
    }
    Value::Object(entry)
}

/// Which page of the whole log.
#[derive(Debug, Deserialize)]
pub(super) struct After {
    #[serde(default)]
    after: i64,
}

pub(super) async fn events(
    State(desk): State<Arc<Desk>>,
    Query(After { after }): Query<After>,
    headers: HeaderMap,
) -> Told {
    let actor = caller(&desk, &headers)?;
    let regions = regions(&desk, &actor);
    let rows = desk.rows();
    let mut beyond = rows.log.iter().filter(|logged| logged.number > after);
    let page: Vec<&Logged> = beyond.by_ref().take(EVENTS).collect();
    let through = match (beyond.next(), page.last()) {
        (Some(_), Some(last)) => last.number,
        _ => rows.head,
    };
    let seen = page.into_iter().filter(|logged| regions.contains(&logged.event.region));
    let items: Vec<Value> = seen.map(entry).collect();
    let server_time = desk.now().to_string();
    Ok(Json(json!({
        "after": after, "through": through, "head": rows.head, "items": items, "server_time": server_time,
    })))
}

/// The task behind a customer's link.
pub(super) fn behind<'a>(rows: &'a Rows, token: &str) -> Option<&'a Card> {
    rows.cards.values().find(|card| card.tracking == token)
}

pub(super) async fn tracked(State(desk): State<Arc<Desk>>, Path(token): Path<String>) -> Told {
    let rows = desk.rows();
    let card = behind(&rows, &token).ok_or(NOT_FOUND)?;
    let shown = item(&desk, card, &Actor::Customer(card.task.id));
    let more = json!({ "head": rows.head, "server_time": desk.now().to_string() });
    // An invitation is not ownership: until somebody owns it, the customer sees nobody.
    let owner = card.task.state.rider().filter(|_| card.task.state.stage().is_some());
    let name = owner.and_then(|owner| desk.house.seat(owner)?.name.clone());
    let name = name.map_or_else(|| json!({}), |name| json!({ "rider_name": name }));
    Ok(Json(with(with(shown, more), name)))
}

fn me(desk: &Desk, headers: &HeaderMap) -> Result<(Actor, RiderId), TurnedAway> {
    let actor = caller(desk, headers)?;
    let me = actor.rider().ok_or(FORBIDDEN)?;
    Ok((actor, me))
}

pub(super) async fn mine(State(desk): State<Arc<Desk>>, headers: HeaderMap) -> Told {
    let (actor, me) = me(&desk, &headers)?;
    let rows = desk.rows();
    let is_mine = |card: &&Card| card.task.state.held().is_some_and(|(rider, _)| rider == me);
    let items: Vec<Value> =
        rows.cards.values().filter(is_mine).map(|card| item(&desk, card, &actor)).collect();
    Ok(Json(json!({ "items": items, "head": rows.head, "server_time": desk.now().to_string() })))
}

/// Which page of the pool.
#[derive(Debug, Deserialize)]
pub(super) struct Beyond {
    #[serde(default)]
    cursor: i64,
}

pub(super) async fn pool(
    State(desk): State<Arc<Desk>>,
    Query(Beyond { cursor }): Query<Beyond>,
    headers: HeaderMap,
) -> Told {
    let (actor, me) = me(&desk, &headers)?;
    let seat = desk.house.seat(me).ok_or(NOT_FOUND)?;
    let now = desk.now();
    let may_grab = |task: &Task| {
        task.state == TaskState::Open
            && task.region == House::region_of(seat)
            && task.release_at <= now
            && (task.vehicle.is_none() || task.vehicle == seat.vehicle)
    };
    let rows = desk.rows();
    let beyond = rows.cards.range(TaskId(cursor.saturating_add(1))..).map(|(_, card)| card);
    let mut open = beyond.filter(|card| may_grab(&card.task));
    let page: Vec<&Card> = open.by_ref().take(TASKS).collect();
    let items: Vec<Value> = page.iter().map(|card| item(&desk, card, &actor)).collect();
    let next = open.next().and(page.last()).map(|card| json!({ "next_cursor": card.task.id }));
    let shown = json!({ "items": items, "head": rows.head, "server_time": now.to_string() });
    Ok(Json(with(shown, next.unwrap_or_default())))
}

/// Whether a rider works.
#[derive(Debug, Deserialize)]
pub(super) struct OnDuty {
    duty: Duty,
}

pub(super) async fn duty(
    State(desk): State<Arc<Desk>>,
    headers: HeaderMap,
    Json(OnDuty { duty }): Json<OnDuty>,
) -> Told {
    let (_, me) = me(&desk, &headers)?;
    desk.rows().duties.insert(me, duty);
    Ok(Json(json!({ "duty": duty })))
}

pub(super) async fn time(State(desk): State<Arc<Desk>>) -> Json<Value> {
    Json(json!({ "server_time": desk.now().to_string() }))
}
