//! Who would be asked, who was asked and what they answered; and what a dispatcher asks of the automatic.

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
    manual_pool::PooledItem,
};
use crate::{
    domain::{
        id::{Revision, RiderId, TaskId, Timestamp, rfc3339},
        rank::{Candidate, Factors, LeftOut},
        round::RoundAnswer,
    },
    engine::rounds::{Options, Preview, RoundView},
    store::{self, LedgerLine, Tx},
};

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
