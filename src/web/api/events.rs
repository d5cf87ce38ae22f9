//! The numbered log, pulled: of a task, and of all that the reader may see.

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{
    super::{
        desk::Desk,
        extract::{Query, TaskPath},
        problem::{Problem, ProblemCode},
        who::{Caller, Relation},
    },
    view::{AttemptItem, EventItem},
};
use crate::{
    domain::{
        authority::{Matter, who},
        id::{TaskId, Timestamp, rfc3339},
    },
    engine::hub::{Batch, Item},
    store::{self, EventPage, Tx},
};

/// The most events on one page.
const PAGE: i64 = 500;

/// Beyond which number, and how many.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct LogQuery {
    /// Beyond this number: the `through` of the page before, 0 for the beginning.
    #[param(minimum = 0)]
    after: Option<i64>,
    /// At most so many, 1 to 500.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<i64>,
}

/// A page of the log. Nothing that the reader may see is missing between `after` and `through`: no gap means that
/// `after` is the `through` of the page before.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct LogPage {
    /// Beyond which number it starts.
    after: i64,
    /// Up to which number it goes.
    through: i64,
    /// The number of the last event of all, in the same snapshot.
    head: i64,
    /// What the reader may see, in order.
    items: Vec<EventItem>,
    /// The store's time of the reading.
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    server_time: Timestamp,
}

/// The log beyond a number, as far as the reader may see it.
///
/// Staff see the events of their regions, riders those that concern themselves.
#[utoipa::path(
    get, path = "/api/v1/events", tag = "events", operation_id = "events", params(LogQuery),
    responses((status = 200, body = LogPage)), security(("token" = []))
)]
pub(super) async fn log(
    State(desk): State<Desk>,
    caller: Caller,
    Query(query): Query<LogQuery>,
) -> Result<Json<LogPage>, Problem> {
    if caller.staff.is_none() && caller.rider.is_none() {
        return Err(Problem::new(ProblemCode::Forbidden, caller.lang));
    }
    let (after, limit) = (query.after.unwrap_or(0), query.limit.unwrap_or(PAGE));
    if after < 0 || !(1..=PAGE).contains(&limit) {
        let wrong = Problem::new(ProblemCode::QueryInvalid, caller.lang);
        return Err(wrong.with(format!("after: 0 or more; limit: 1 to {PAGE}")));
    }
    let failed = |error: store::Error| Problem::read(&error, caller.lang);
    let mut tx = desk.db().read().await.map_err(failed)?;
    let me = caller.actor.rider().map(|me| me.0);
    let page = match me {
        None => {
            let audits = who(Matter::Audit).contains(&caller.role);
            tx.events_of_regions(&caller.regions, after, limit, audits).await
        }
        Some(_) => of_rider(&mut tx, &caller, after, limit).await,
    };
    let EventPage { after, through, head, items } = page.map_err(failed)?;
    let server_time = tx.now().await.map_err(failed)?;
    let items = items.iter().map(|event| EventItem::of(event, me)).collect();
    Ok(Json(LogPage { after, through, head, items, server_time }))
}

/// A page of what concerns a rider: the same that the stream tells.
async fn of_rider(
    tx: &mut Tx,
    caller: &Caller,
    after: i64,
    limit: i64,
) -> store::Result<EventPage> {
    let (head, _) = tx.head().await?;
    let events = tx.events_after(after, limit).await?;
    let batch = Batch::of(tx, events).await?;
    let through = batch.items.last().map_or(after, |item| item.event.number);
    let concerns = |item: &Item| item.sight(&caller.actor, caller.role, &caller.regions).is_some();
    let items = batch.items.into_iter().filter(concerns).map(|item| item.event).collect();
    Ok(EventPage { after, through, head, items })
}

/// All events of one task.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct TaskEvents {
    /// In order: 0 → 1, 1 → 2, …
    items: Vec<EventItem>,
    /// The number of the last event of all, in the same snapshot.
    head: i64,
    /// The store's time of the reading.
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    server_time: Timestamp,
}

/// All events of one task, for its desk and for whoever ordered it.
#[utoipa::path(
    get, path = "/api/v1/tasks/{id}/events", tag = "events", operation_id = "taskEvents",
    params(("id" = i64, Path, description = "Number of the task")),
    responses((status = 200, body = TaskEvents)), security(("token" = []))
)]
pub(super) async fn of_task(
    State(desk): State<Desk>,
    caller: Caller,
    TaskPath(id): TaskPath,
) -> Result<Json<TaskEvents>, Problem> {
    let failed = |error: store::Error| Problem::read(&error, caller.lang);
    let mut tx = desk.db().read().await.map_err(failed)?;
    may_read(&mut tx, &caller, id).await?;
    let events = tx.events_of(id).await.map_err(failed)?;
    let (head, _) = tx.head().await.map_err(failed)?;
    let server_time = tx.now().await.map_err(failed)?;
    let me = caller.actor.rider().map(|me| me.0);
    let items = events.iter().map(|event| EventItem::of(event, me)).collect();
    Ok(Json(TaskEvents { items, head, server_time }))
}

/// A rider sees what concerns him or her in the log; a task's whole story is the desk's.
async fn may_read(tx: &mut Tx, caller: &Caller, id: TaskId) -> Result<(), Problem> {
    let missing = || Problem::new(ProblemCode::NotFound, caller.lang);
    let task = tx.task(id).await.map_err(|error| Problem::read(&error, caller.lang))?;
    match caller.relation(&task.ok_or_else(missing)?) {
        None => Err(missing()),
        Some(Relation::Desk) => Ok(()),
        Some(Relation::Invited | Relation::Owner | Relation::Candidate | Relation::Bystander) => {
            Err(Problem::new(ProblemCode::Forbidden, caller.lang))
        }
    }
}

/// All attempts on one task, in order: those of the losers too.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct TaskAttempts {
    /// In the order in which they were decided.
    items: Vec<AttemptItem>,
    /// The store's time of the reading.
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    server_time: Timestamp,
}

/// All attempts on one task, for its desk and for whoever ordered it.
#[utoipa::path(
    get, path = "/api/v1/tasks/{id}/attempts", tag = "events", operation_id = "taskAttempts",
    params(("id" = i64, Path, description = "Number of the task")),
    responses((status = 200, body = TaskAttempts)), security(("token" = []))
)]
pub(super) async fn attempts(
    State(desk): State<Desk>,
    caller: Caller,
    TaskPath(id): TaskPath,
) -> Result<Json<TaskAttempts>, Problem> {
    let failed = |error: store::Error| Problem::read(&error, caller.lang);
    let mut tx = desk.db().read().await.map_err(failed)?;
    may_read(&mut tx, &caller, id).await?;
    let attempts = tx.attempts_of(id).await.map_err(failed)?;
    let server_time = tx.now().await.map_err(failed)?;
    let items = attempts.iter().map(AttemptItem::of).collect();
    Ok(Json(TaskAttempts { items, server_time }))
}
