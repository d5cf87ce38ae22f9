//! Who would be asked, who was asked and what they answered; and what a dispatcher asks of the automatic.

use axum::{Json, extract::State, response::Response};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{
    super::{
        desk::Desk,
        extract::{Body, Key, Query, TaskPath},
        problem::{Problem, ProblemCode},
        who::{Bearer, Caller, Relation},
    },
    commands::named,
    respond,
};
use crate::{
    domain::{
        id::{Revision, RiderId, TaskId, Timestamp, rfc3339},
        rank::{Candidate, Factors, LeftOut},
        round::{PoolReason, RoundAnswer},
    },
    engine::rounds::{Options, Preview, RoundReply, RoundView, Wish},
    store::{self, LedgerLine, PoolListing, Pooled, Tx},
};

/// The most tasks on one page of the manual pool.
const PAGE: i64 = 100;

/// Another circle, batch or length than the region's rules say.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct PreviewQuery {
    /// Metres from the pickup.
    #[param(minimum = 50, maximum = 100_000)]
    radius_m: Option<u32>,
    /// How many riders.
    #[param(minimum = 1, maximum = 200)]
    batch: Option<u32>,
}

/// A rider who can be asked.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CandidateItem {
    /// Who.
    rider_id: RiderId,
    /// First, second …
    rank: u32,
    /// What the place in the order rests on, in metres of way: less comes first.
    factors: Factors,
}

/// A rider who is not asked.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct LeftOutItem {
    /// Who.
    rider_id: RiderId,
    /// Why.
    reason: LeftOut,
    /// Metres to the pickup, as far as it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    distance_m: Option<u32>,
}

/// Who would be asked now.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CandidatesAnswer {
    /// The task.
    task_id: TaskId,
    /// Its revision: a round names it.
    revision: Revision,
    /// The circle; missing if positions are not to be had, so that distance does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    radius_m: Option<u32>,
    /// How many would be asked at most.
    batch: u32,
    /// How long the round would wait.
    seconds: u32,
    /// Who would be asked, the best first.
    candidates: Vec<CandidateItem>,
    /// Who was looked at and would not be asked, the nearest first.
    left_out: Vec<LeftOutItem>,
    /// Riders on duty who were not looked at: others are nearer.
    farther: u32,
    /// The store's time of the look.
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    server_time: Timestamp,
}

impl CandidatesAnswer {
    fn of(preview: Preview) -> Self {
        let candidate = |Candidate { rider, rank, factors }: Candidate| CandidateItem {
            rider_id: rider,
            rank,
            factors,
        };
        let left_out =
            |(rider_id, reason, distance_m)| LeftOutItem { rider_id, reason, distance_m };
        let ranking = preview.looked.ranking;
        Self {
            task_id: preview.task.id,
            revision: preview.task.revision,
            radius_m: preview.looked.radius_m,
            batch: preview.batch,
            seconds: preview.seconds,
            candidates: ranking.candidates.into_iter().map(candidate).collect(),
            left_out: ranking.left_out.into_iter().map(left_out).collect(),
            farther: preview.looked.farther,
            server_time: preview.now,
        }
    }
}

/// Whether `caller` is of the task's desk; a foreign task is a missing one.
async fn of_desk(tx: &mut Tx, caller: &Caller, id: TaskId) -> Result<(), Problem> {
    let missing = || Problem::new(ProblemCode::NotFound, caller.lang);
    let task = tx.task(id).await.map_err(|error| Problem::read(&error, caller.lang))?;
    let relation = caller.relation(&task.ok_or_else(missing)?);
    if relation == Some(Relation::Desk) { Ok(()) } else { Err(missing()) }
}

/// Who would be asked now: the same look as a round's, and nothing is sent.
///
/// Each factor counts in metres of way, so the sum can be checked by hand.
#[utoipa::path(
    get, path = "/api/v1/tasks/{id}/candidates", tag = "rounds", operation_id = "candidates",
    params(("id" = i64, Path, description = "Number of the task"), PreviewQuery),
    responses((status = 200, body = CandidatesAnswer)), security(("token" = []))
)]
pub(super) async fn candidates(
    State(desk): State<Desk>,
    caller: Caller,
    TaskPath(id): TaskPath,
    Query(query): Query<PreviewQuery>,
) -> Result<Json<CandidatesAnswer>, Problem> {
    let options = Options { radius_m: query.radius_m, batch: query.batch, seconds: None };
    if let Some(field) = options.wrong() {
        let wrong = Problem::new(ProblemCode::QueryInvalid, caller.lang);
        return Err(wrong.with(format!("{field} is out of its limits")));
    }
    let failed = |error: store::Error| Problem::read(&error, caller.lang);
    let mut tx = desk.db().read().await.map_err(failed)?;
    of_desk(&mut tx, &caller, id).await?;
    drop(tx);
    let preview = desk.rounds().preview(id, options).await.map_err(failed)?;
    let preview = preview.ok_or_else(|| Problem::new(ProblemCode::NotFound, caller.lang))?;
    Ok(Json(CandidatesAnswer::of(preview)))
}

/// One line of a round's ledger.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct LedgerItem {
    /// Who.
    rider_id: RiderId,
    /// Metres to the pickup, as far as it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    distance_m: Option<u32>,
    /// Place in the order; missing for who was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<u32>,
    /// What that rests on.
    #[serde(skip_serializing_if = "Option::is_none")]
    factors: Option<Factors>,
    /// Why it was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<LeftOut>,
    /// When the rider's page first had it.
    #[serde(with = "rfc3339::option", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    shown_at: Option<Timestamp>,
    /// What was answered; missing is silence.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<RoundAnswer>,
    /// When.
    #[serde(with = "rfc3339::option", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    answered_at: Option<Timestamp>,
}

impl LedgerItem {
    fn of(line: &LedgerLine) -> Self {
        let asked = line.asked.as_ref().ok();
        let answered = asked.and_then(|asked| asked.answered);
        Self {
            rider_id: line.rider,
            distance_m: line.distance_m,
            rank: asked.map(|asked| asked.rank),
            factors: asked.map(|asked| asked.factors),
            left_out: line.asked.as_ref().err().copied(),
            shown_at: asked.and_then(|asked| asked.shown_at),
            answer: answered.map(|(answer, _)| answer),
            answered_at: answered.map(|(_, at)| at),
        }
    }
}

/// A round with its ledger.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RoundItem {
    #[serde(flatten)]
    round: RoundView,
    /// Who was asked, in order; then the nearest of those who were left out.
    ledger: Vec<LedgerItem>,
    /// Riders on duty who were not looked at: others were nearer.
    farther: u32,
}

/// Why and since when a task is in the manual pool.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PooledItem {
    /// The task.
    task_id: TaskId,
    /// Its region.
    region: crate::domain::id::RegionId,
    /// The H3 cell of its pickup, resolution 7.
    cell: String,
    /// Since when.
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    since: Timestamp,
    /// For how long, in milliseconds.
    age_ms: i64,
    /// Why.
    reason: PoolReason,
}

impl PooledItem {
    fn of(pooled: &Pooled, now: Timestamp) -> Self {
        Self {
            task_id: pooled.task,
            region: pooled.region,
            cell: format!("{:x}", pooled.cell),
            since: pooled.since,
            age_ms: now.ms_since(pooled.since),
            reason: pooled.reason,
        }
    }
}

/// The rounds of a task.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RoundsAnswer {
    /// The first first.
    rounds: Vec<RoundItem>,
    /// When the automatic does something next; missing if it does nothing more.
    #[serde(with = "rfc3339::option", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    next_at: Option<Timestamp>,
    /// The task's place in the manual pool, if it is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pooled: Option<PooledItem>,
    /// The store's time of the reading.
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    server_time: Timestamp,
}

/// The rounds of a task: who was asked, how far away, shown when, answered what; who was left out and why.
#[utoipa::path(
    get, path = "/api/v1/tasks/{id}/rounds", tag = "rounds", operation_id = "rounds",
    params(("id" = i64, Path, description = "Number of the task")),
    responses((status = 200, body = RoundsAnswer)), security(("token" = []))
)]
pub(super) async fn list(
    State(desk): State<Desk>,
    caller: Caller,
    TaskPath(id): TaskPath,
) -> Result<Json<RoundsAnswer>, Problem> {
    let failed = |error: store::Error| Problem::read(&error, caller.lang);
    let mut tx = desk.db().read().await.map_err(failed)?;
    of_desk(&mut tx, &caller, id).await?;
    rounds_of(&mut tx, id).await.map(Json).map_err(failed)
}

async fn rounds_of(tx: &mut Tx, id: TaskId) -> store::Result<RoundsAnswer> {
    let now = tx.now().await?;
    let ledger = tx.ledger_of(id).await?;
    let rounds = tx.rounds_of(id).await?;
    let item = |round: &store::Round| RoundItem {
        round: RoundView::of(round, &ledger),
        ledger: ledger.iter().filter(|line| line.round == round.id).map(LedgerItem::of).collect(),
        farther: round.farther,
    };
    Ok(RoundsAnswer {
        rounds: rounds.iter().map(item).collect(),
        next_at: tx.search_of(id).await?.map(|(due, _)| due),
        pooled: tx.pooled(id).await?.map(|pooled| PooledItem::of(&pooled, now)),
        server_time: now,
    })
}

/// What a round is based on, and how it differs from the region's rules.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StartBody {
    /// The revision that the wish is based on. A round changes none; nobody is sent after a task that has changed.
    #[schema(required = true, value_type = i64)]
    revision: Option<Revision>,
    /// Another circle, in metres.
    #[serde(default)]
    #[schema(minimum = 50, maximum = 100_000)]
    radius_m: Option<u32>,
    /// Another number of riders.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 200)]
    batch: Option<u32>,
    /// Another length.
    #[serde(default)]
    #[schema(minimum = 5, maximum = 300)]
    seconds: Option<u32>,
}

/// Look for riders: ask the first batch now, and more if nobody takes it.
#[utoipa::path(
    post, path = "/api/v1/tasks/{id}/rounds", tag = "rounds", operation_id = "startRound",
    request_body = StartBody,
    params(
        ("id" = i64, Path, description = "Number of the task"),
        ("Idempotency-Key" = String, Header, description = "The request key: 1 to 255 visible ASCII characters")
    ),
    responses((status = 200, body = RoundReply), (status = 409, body = RoundReply)), security(("token" = []))
)]
pub(super) async fn start(
    State(desk): State<Desk>,
    bearer: Bearer,
    Key(key): Key,
    TaskPath(id): TaskPath,
    Body(body): Body<StartBody>,
) -> Result<Response, Problem> {
    let revision = named(body.revision, bearer.lang)?;
    let options = Options { radius_m: body.radius_m, batch: body.batch, seconds: body.seconds };
    if let Some(field) = options.wrong() {
        let wrong = Problem::new(ProblemCode::BodyInvalid, bearer.lang);
        return Err(wrong.with(format!("{field} is out of its limits")).at(format!("/{field}")));
    }
    wish(&desk, bearer, key, id, revision, Wish::Start(options)).await
}

/// What a wish is based on.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WishBody {
    /// The revision that the wish is based on.
    #[schema(required = true, value_type = i64)]
    revision: Option<Revision>,
}

async fn wish(
    desk: &Desk,
    bearer: Bearer,
    key: crate::domain::command::RequestKey,
    id: TaskId,
    revision: Revision,
    wish: Wish,
) -> Result<Response, Problem> {
    super::super::pace::keep(desk, &bearer.actor, id, bearer.lang)?;
    let reply = desk.rounds().ask(&bearer.actor, &key, bearer.lang, id, revision, wish).await;
    reply.map(respond).map_err(|error| Problem::of(&error, bearer.lang))
}

/// Declares the route of a wish that names nothing but a revision.
macro_rules! wish {
    ($(#[$doc:meta])* $function:ident, $path:literal, $operation:literal => $wish:expr) => {
        $(#[$doc])*
        #[utoipa::path(
            post, path = $path, tag = "rounds", operation_id = $operation, request_body = WishBody,
            params(
                ("id" = i64, Path, description = "Number of the task"),
                ("Idempotency-Key" = String, Header, description = "The request key: 1 to 255 visible ASCII characters")
            ),
            responses((status = 200, body = RoundReply), (status = 409, body = RoundReply)),
            security(("token" = []))
        )]
        pub(super) async fn $function(
            State(desk): State<Desk>,
            bearer: Bearer,
            Key(key): Key,
            TaskPath(id): TaskPath,
            Body(body): Body<WishBody>,
        ) -> Result<Response, Problem> {
            let revision = named(body.revision, bearer.lang)?;
            wish(&desk, bearer, key, id, revision, $wish).await
        }
    };
}

wish! {
    /// Do not wait for the end of this round: ask in the next circle now.
    widen, "/api/v1/tasks/{id}/rounds/widen", "widenRound" => Wish::Widen
}
wish! {
    /// Take over: nothing happens by itself any more, until it is started again.
    stop, "/api/v1/tasks/{id}/rounds/stop", "stopRound" => Wish::Stop
}
wish! {
    /// Ask those again who have declined this task.
    reset, "/api/v1/tasks/{id}/declines/reset", "resetDeclines" => Wish::ResetDeclines
}
wish! {
    /// Take the task out of the manual pool.
    leave, "/api/v1/tasks/{id}/pool/leave", "leavePool" => Wish::LeavePool
}

/// Which tasks of the manual pool.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct PoolQuery {
    /// Only those of this region.
    region: Option<i64>,
    /// Only those in this H3 cell of resolution 7, in hexadecimal.
    cell: Option<String>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Tasks that the rounds could not place.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PoolPage {
    /// The oldest first.
    items: Vec<PooledItem>,
    /// Ask for the page beyond it with `cursor`; missing on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// The store's time of the reading.
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    server_time: Timestamp,
}

/// The manual pool of the reader's regions: tasks that the rounds could not place, with their age and the reason.
#[utoipa::path(
    get, path = "/api/v1/pool", tag = "rounds", operation_id = "manualPool", params(PoolQuery),
    responses((status = 200, body = PoolPage)), security(("token" = []))
)]
pub(super) async fn pool(
    State(desk): State<Desk>,
    caller: Caller,
    Query(query): Query<PoolQuery>,
) -> Result<Json<PoolPage>, Problem> {
    let wrong = |field: &str| {
        Problem::new(ProblemCode::QueryInvalid, caller.lang)
            .with(format!("{field} can not be read"))
    };
    let cell = query.cell.as_deref().map(|cell| i64::from_str_radix(cell, 16));
    let cell = cell.transpose().map_err(|_| wrong("cell"))?;
    let beyond = match query.cursor.as_deref() {
        None => None,
        Some(cursor) => Some(place(cursor).ok_or_else(|| wrong("cursor"))?),
    };
    let seen = |region: &&crate::domain::id::RegionId| {
        query.region.is_none_or(|wanted| wanted == region.0)
    };
    let regions: Vec<_> = caller.regions.iter().filter(seen).copied().collect();
    let failed = |error: store::Error| Problem::read(&error, caller.lang);
    let mut tx = desk.db().read().await.map_err(failed)?;
    let now = tx.now().await.map_err(failed)?;
    let listing = PoolListing { regions: &regions, cell, beyond, limit: PAGE + 1 };
    let mut found = tx.manual_pool(&listing).await.map_err(failed)?;
    let more = i64::try_from(found.len()).is_ok_and(|found| found > PAGE);
    found.truncate(usize::try_from(PAGE).unwrap_or_default());
    let next_cursor = found.last().filter(|_| more).map(|last| cursor(last));
    let items = found.iter().map(|pooled| PooledItem::of(pooled, now)).collect();
    Ok(Json(PoolPage { items, next_cursor, server_time: now }))
}

/// Where a page of the manual pool ends.
fn cursor(last: &Pooled) -> String {
    format!("{}-{}", last.since.0, last.task.0)
}

fn place(cursor: &str) -> Option<(Timestamp, TaskId)> {
    let (since, task) = cursor.split_once('-')?;
    Some((Timestamp(since.parse().ok()?), TaskId(task.parse().ok()?)))
}
