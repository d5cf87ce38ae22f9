//! The rider's client: what may be grabbed, what is mine, duty. (Positions: `location`.)

use axum::{Json, extract::State, response::Response};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{
    super::{
        desk::Desk,
        extract::{Body, InPath, Key, Query},
        problem::{Problem, ProblemCode},
        who::Caller,
    },
    respond,
    tasks::mode,
    view::{TaskItem, TaskPage},
};
use crate::{
    domain::{
        facts::Duty,
        id::{RiderId, TaskId, Timestamp},
    },
    engine::rounds::DeclineReply,
    store::{self, Card, RiderAccount, RiderChange, Tx},
};

/// The most tasks on one page of the pool.
const PAGE: i64 = 50;

/// The rider who asks.
pub(super) fn me(caller: &Caller) -> Result<(RiderId, &RiderAccount), Problem> {
    let me = caller.actor.rider().zip(caller.rider.as_ref());
    me.ok_or_else(|| Problem::new(ProblemCode::Forbidden, caller.lang))
}

/// Which page of the pool.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct PoolQuery {
    /// Beyond this task: the `next_cursor` of the page before.
    cursor: Option<i64>,
}

/// Open tasks of my region that I could grab now. On the first page those come first for which a round asks me: each
/// has its `ticket`, without which it can not be grabbed.
#[utoipa::path(
    get, path = "/api/v1/rider/pool", tag = "rider", operation_id = "riderPool", params(PoolQuery),
    responses((status = 200, body = TaskPage)), security(("token" = []))
)]
pub(super) async fn pool(
    State(desk): State<Desk>,
    caller: Caller,
    Query(query): Query<PoolQuery>,
) -> Result<Json<TaskPage>, Problem> {
    let (_, account) = me(&caller)?;
    let failed = |error: store::Error| Problem::read(&error, caller.lang);
    let mut tx = desk.db().read().await.map_err(failed)?;
    let now = tx.now().await.map_err(failed)?;
    let after = TaskId(query.cursor.unwrap_or(0));
    let (region, vehicle) = (account.rider.region, account.rider.vehicle);
    let cards = tx.pool(region, vehicle, now, after, PAGE + 1).await.map_err(failed)?;
    let mut page = page(&mut tx, &caller, cards, now).await.map_err(failed)?;
    if query.cursor.is_none() {
        let asked = asked(&desk, &mut tx, &caller, me(&caller)?.0, now).await.map_err(failed)?;
        page.items.splice(0..0, asked);
    }
    Ok(Json(page))
}

/// The tasks for which a round asks this rider, with the tickets. That they were shown is noted.
async fn asked(
    desk: &Desk,
    tx: &mut Tx,
    caller: &Caller,
    rider: RiderId,
    now: Timestamp,
) -> store::Result<Vec<TaskItem>> {
    let invitations = desk.rounds().invitations(tx, rider, now).await?;
    let rules = tx.regions(now).await?;
    let mut items = Vec::with_capacity(invitations.len());
    for invitation in &invitations {
        let Some(card) = tx.card(invitation.task).await? else { continue };
        let item = TaskItem::of(&card, caller, mode(&rules, card.task.region), now);
        items.extend(item.map(|item| item.with(invitation.ticket.clone())));
    }
    desk.note_shown(rider, invitations, now);
    Ok(items)
}

/// I do not want the task that this round shows me: I am not asked again for it.
#[utoipa::path(
    post, path = "/api/v1/rider/rounds/{round}/decline", tag = "rider", operation_id = "declineRound",
    params(
        ("round" = i64, Path, description = "Number of the round, as its ticket has it"),
        ("Idempotency-Key" = String, Header, description = "The request key: 1 to 255 visible ASCII characters")
    ),
    responses((status = 200, body = DeclineReply), (status = 409, body = DeclineReply)), security(("token" = []))
)]
pub(super) async fn decline(
    State(desk): State<Desk>,
    caller: Caller,
    Key(key): Key,
    InPath(round): InPath<String>,
) -> Result<Response, Problem> {
    let (rider, _) = me(&caller)?;
    let missing = || Problem::new(ProblemCode::NotFound, caller.lang);
    let round = round.parse().map_err(|_| missing())?;
    let reply = desk.rounds().decline(rider, &key, caller.lang, round).await;
    reply.map(respond).map_err(|error| Problem::of(&error, caller.lang))
}

/// Offers that wait for my answer, and tasks that are mine.
#[utoipa::path(
    get, path = "/api/v1/rider/tasks", tag = "rider", operation_id = "riderTasks",
    responses((status = 200, body = TaskPage)), security(("token" = []))
)]
pub(super) async fn tasks(
    State(desk): State<Desk>,
    caller: Caller,
) -> Result<Json<TaskPage>, Problem> {
    let (id, _) = me(&caller)?;
    let failed = |error: store::Error| Problem::read(&error, caller.lang);
    let mut tx = desk.db().read().await.map_err(failed)?;
    let now = tx.now().await.map_err(failed)?;
    let cards = tx.cards_held_by(id).await.map_err(failed)?;
    let mut page = page(&mut tx, &caller, cards, now).await.map_err(failed)?;
    // A rider's own tasks are never cut into pages: there are as many as places.
    page.next_cursor = None;
    Ok(Json(page))
}

async fn page(
    tx: &mut Tx,
    caller: &Caller,
    mut cards: Vec<Card>,
    now: Timestamp,
) -> store::Result<TaskPage> {
    let (head, _) = tx.head().await?;
    let rules = tx.regions(now).await?;
    let most = usize::try_from(PAGE).unwrap_or_default();
    let more = cards.len() > most;
    cards.truncate(most.max(if more { most } else { cards.len() }));
    let next_cursor = cards.last().filter(|_| more).map(|card| card.task.id);
    let item = |card: &Card| TaskItem::of(card, caller, mode(&rules, card.task.region), now);
    let items = cards.iter().filter_map(item).collect();
    Ok(TaskPage { items, next_cursor, head, server_time: now })
}

/// Whether I work.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DutyBody {
    /// On duty, on a break, off.
    duty: Duty,
}

/// Go on duty, on a break, or off. Setting it again changes nothing more.
///
/// A break keeps waiting offers: they may still be answered.
#[utoipa::path(
    post, path = "/api/v1/rider/duty", tag = "rider", operation_id = "riderDuty", request_body = DutyBody,
    responses((status = 200, body = DutyBody)), security(("token" = []))
)]
pub(super) async fn duty(
    State(desk): State<Desk>,
    caller: Caller,
    Body(body): Body<DutyBody>,
) -> Result<Json<DutyBody>, Problem> {
    let (id, account) = me(&caller)?;
    if account.rider.duty != body.duty {
        let change = RiderChange { duty: Some(body.duty), ..RiderChange::default() };
        let changed = desk.executor().change_rider(&caller.actor, id, &change).await;
        changed.map_err(|error| Problem::of(&error, caller.lang))?;
    }
    Ok(Json(body))
}
