//! Tasks: created, read, listed.

use axum::{Json, extract::State, response::Response};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::{
    super::{
        desk::Desk,
        extract::{Body, Object, Query, TaskPath},
        problem::{Problem, ProblemCode},
        who::{Bearer, Caller},
    },
    answer,
    view::{TaskAnswer, TaskItem, TaskPage},
};
use crate::{
    domain::{
        answer::Answer,
        command::{NewTask, RequestKey, Stop, What},
        id::{RegionId, TaskId, Timestamp, rfc3339},
        policy::RegionMode,
        task::{Stage, StateName, Task, Vehicle},
    },
    store::{self, Listing, Member, NamedRegion, Tx},
};

/// The most tasks on one page.
const PAGE: i64 = 100;

/// One end of a new task.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewStop)]
pub(in crate::web) struct StopBody {
    /// Degrees, WGS-84.
    #[schema(minimum = -90, maximum = 90)]
    lat: f64,
    /// Degrees, WGS-84.
    #[schema(minimum = -180, maximum = 180)]
    lng: f64,
    /// Street and number.
    address: String,
    /// Whom to ask for.
    #[serde(default)]
    name: Option<String>,
    /// Whom to call.
    #[serde(default)]
    phone: Option<String>,
}

impl From<StopBody> for Stop {
    fn from(StopBody { lat, lng, address, name, phone }: StopBody) -> Self {
        Self { lat, lng, address, name, phone }
    }
}

/// A new task.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewTask)]
pub(super) struct CreateBody {
    /// The order's own number: the same content under it is the same task, other content is refused. It is this
    /// request's key; no header is needed.
    #[schema(value_type = String, min_length = 1, max_length = 255, pattern = "^[!-~]+$")]
    request_key: Option<RequestKey>,
    /// In which region.
    region: RegionId,
    /// Where from.
    #[schema(value_type = StopBody)]
    pickup: Object<StopBody>,
    /// Where to.
    #[schema(value_type = StopBody)]
    dropoff: Object<StopBody>,
    /// Nobody may take it before; at once if missing.
    #[serde(default, with = "rfc3339::option")]
    #[schema(value_type = Option<String>, format = DateTime)]
    release_at: Option<Timestamp>,
    /// When the goods are ready.
    #[serde(default, with = "rfc3339::option")]
    #[schema(value_type = Option<String>, format = DateTime)]
    ready_at: Option<Timestamp>,
    /// When it should have arrived.
    #[serde(default, with = "rfc3339::option")]
    #[schema(value_type = Option<String>, format = DateTime)]
    due_at: Option<Timestamp>,
    /// What it needs.
    #[serde(default)]
    vehicle: Option<Vehicle>,
    /// How urgent it is; more is more.
    #[serde(default)]
    priority: i64,
    /// What the rider gets, in minor units.
    #[serde(default)]
    fee: Option<i64>,
    /// A note for whoever carries it out.
    #[serde(default)]
    note: Option<String>,
}

/// Bring a task into being.
///
/// For intake and dispatchers. The same order again (same `request_key`, same content) returns the first answer with
/// `Idempotency-Replayed: true`.
#[utoipa::path(
    post, path = "/api/v1/tasks", tag = "tasks", operation_id = "createTask", request_body = CreateBody,
    responses(
        (status = 201, body = Answer, headers(("Location" = String), ("ETag" = String))),
        (status = 200, body = Answer, description = "Created long ago: the task as it stands"),
        (status = 409, body = Answer)
    ),
    security(("token" = []))
)]
pub(super) async fn create(
    State(desk): State<Desk>,
    bearer: Bearer,
    Body(body): Body<CreateBody>,
) -> Result<Response, Problem> {
    let Some(key) = body.request_key else {
        let missing = Problem::new(ProblemCode::KeyMissing, bearer.lang);
        return Err(missing.at("/request_key"));
    };
    bearer.reaches(body.region)?;
    let new = NewTask {
        region: body.region,
        pickup: body.pickup.0.into(),
        dropoff: body.dropoff.0.into(),
        release_at: body.release_at,
        ready_at: body.ready_at,
        due_at: body.due_at,
        vehicle: body.vehicle,
        priority: body.priority,
        fee: body.fee,
        note: body.note,
    };
    answer(&desk, bearer.actor, key, bearer.lang, What::Create(Box::new(new))).await
}

/// The rules of a task's region.
pub(super) fn mode(regions: &[NamedRegion], region: RegionId) -> RegionMode {
    let found = regions.iter().find(|found| found.region.id == region);
    found.map_or(RegionMode::Reserve, |found| found.region.policy.mode)
}

/// One task.
///
/// Staff see their regions' tasks, scripts of a shop what it has ordered, riders the tasks of their region: of those
/// that are not theirs the state alone.
#[utoipa::path(
    get, path = "/api/v1/tasks/{id}", tag = "tasks", operation_id = "readTask",
    params(("id" = i64, Path, description = "Number of the task")),
    responses((status = 200, body = TaskAnswer)), security(("token" = []))
)]
pub(super) async fn read(
    State(desk): State<Desk>,
    caller: Caller,
    TaskPath(id): TaskPath,
) -> Result<Json<TaskAnswer>, Problem> {
    let failed = |error: store::Error| Problem::read(&error, caller.lang);
    let mut tx = desk.db().read().await.map_err(failed)?;
    let found = one(&mut tx, &caller, id).await.map_err(failed)?;
    found.map(Json).ok_or_else(|| Problem::new(ProblemCode::NotFound, caller.lang))
}

/// `id` as `caller` may see it, from one snapshot.
pub(super) async fn one(
    tx: &mut Tx,
    caller: &Caller,
    id: TaskId,
) -> store::Result<Option<TaskAnswer>> {
    // The task last: one that is somebody else's costs as many reads as one that is not there (`S15`).
    let (head, _) = tx.head().await?;
    let now = tx.now().await?;
    let regions = tx.regions(now).await?;
    let Some(card) = tx.card(id).await? else { return Ok(None) };
    let item = TaskItem::of(&card, caller, mode(&regions, card.task.region), now);
    let Some(mut item) = item else { return Ok(None) };
    if asks_others(tx, caller, &card.task, now).await? {
        item = item.for_bystanders();
    }
    Ok(Some(TaskAnswer { item, head, server_time: now }))
}

/// Whether a round asks others to take this task, and not the reader: it is none of those that the reader could grab, so
/// where it goes is for those who were asked.
async fn asks_others(
    tx: &mut Tx,
    caller: &Caller,
    task: &Task,
    now: Timestamp,
) -> store::Result<bool> {
    let Some(me) = caller.actor.rider().filter(|_| task.state.name() == StateName::Open) else {
        return Ok(false);
    };
    let running = tx.running_rounds(&[(task.id, me)]).await?;
    let is_asked = |member: &Member| member.nonce.as_ref().is_some_and(|(_, from)| *from <= now);
    Ok(running.iter().any(|member| member.until > now && !is_asked(member)))
}

/// Which tasks are asked for.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ListQuery {
    /// Only those in this state; all if missing.
    state: Option<StateName>,
    /// Only those of this region.
    region: Option<i64>,
    /// Beyond this task: the `next_cursor` of the page before.
    cursor: Option<i64>,
    /// At most so many, 1 to 100.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<i64>,
}

/// Tasks, page by page in the order of their numbers.
///
/// For staff: the tasks of their regions.
#[utoipa::path(
    get, path = "/api/v1/tasks", tag = "tasks", operation_id = "listTasks", params(ListQuery),
    responses((status = 200, body = TaskPage)), security(("token" = []))
)]
pub(super) async fn list(
    State(desk): State<Desk>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> Result<Json<TaskPage>, Problem> {
    if caller.staff.is_none() {
        return Err(Problem::new(ProblemCode::Forbidden, caller.lang));
    }
    let limit = query.limit.unwrap_or(PAGE);
    if !(1..=PAGE).contains(&limit) {
        let wrong = Problem::new(ProblemCode::QueryInvalid, caller.lang);
        return Err(wrong.with("limit: 1 to 100"));
    }
    let failed = |error: store::Error| Problem::read(&error, caller.lang);
    let mut tx = desk.db().read().await.map_err(failed)?;
    page(&mut tx, &caller, &query, limit).await.map(Json).map_err(failed)
}

async fn page(
    tx: &mut Tx,
    caller: &Caller,
    query: &ListQuery,
    limit: i64,
) -> store::Result<TaskPage> {
    let seen = |region: &&RegionId| query.region.is_none_or(|wanted| wanted == region.0);
    let regions: Vec<_> = caller.regions.iter().filter(seen).copied().collect();
    let (head, _) = tx.head().await?;
    let now = tx.now().await?;
    let rules = tx.regions(now).await?;
    let mut cards = Vec::new();
    // Each state and stage is a list of its own; merged by number, they are one.
    for (state, stage) in lists(query.state) {
        let beyond = TaskId(query.cursor.unwrap_or(0));
        let listing = Listing {
            regions: &regions,
            state,
            stage,
            beyond,
            latest_first: false,
            limit: limit + 1,
        };
        cards.extend(tx.listed(&listing).await?);
    }
    cards.sort_by_key(|card| card.task.id);
    let most = usize::try_from(limit).unwrap_or_default();
    let more = cards.len() > most;
    cards.truncate(most);
    let next_cursor = cards.last().filter(|_| more).map(|card| card.task.id);
    let items = cards
        .iter()
        .filter_map(|card| TaskItem::of(card, caller, mode(&rules, card.task.region), now))
        .collect();
    Ok(TaskPage { items, next_cursor, head, server_time: now })
}

/// The lists that make up a state, or all of them.
fn lists(state: Option<StateName>) -> Vec<(StateName, Option<Stage>)> {
    let states = state.map_or_else(|| StateName::ALL.to_vec(), |state| vec![state]);
    let stages = |state| match state {
        StateName::Assigned => Stage::ALL.iter().map(|stage| (state, Some(*stage))).collect(),
        StateName::Open | StateName::Offered | StateName::Cancelled => vec![(state, None)],
    };
    states.into_iter().flat_map(stages).collect()
}
