//! The manual pool: what the rounds could not place.

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::super::{
    desk::Desk,
    extract::Query,
    problem::{Problem, ProblemCode},
    who::Caller,
};
use crate::{
    domain::{
        id::{RegionId, TaskId, Timestamp, rfc3339},
        round::PoolReason,
    },
    store::{self, PoolListing, Pooled},
};

/// The most tasks on one page of the manual pool.
const PAGE: i64 = 100;

/// Why and since when a task is in the manual pool.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PooledItem {
    /// The task.
    task_id: TaskId,
    /// Its region.
    region: RegionId,
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
    /// `pooled` at `now`.
    pub(super) fn of(pooled: &Pooled, now: Timestamp) -> Self {
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
    let seen = |region: &&RegionId| query.region.is_none_or(|wanted| wanted == region.0);
    let regions: Vec<_> = caller.regions.iter().filter(seen).copied().collect();
    let failed = |error: store::Error| Problem::read(&error, caller.lang);
    let mut tx = desk.db().read().await.map_err(failed)?;
    let now = tx.now().await.map_err(failed)?;
    let listing = PoolListing { regions: &regions, cell, beyond, limit: PAGE + 1 };
    let mut found = tx.manual_pool(&listing).await.map_err(failed)?;
    let more = i64::try_from(found.len()).is_ok_and(|found| found > PAGE);
    found.truncate(usize::try_from(PAGE).unwrap_or_default());
    let next_cursor = found.last().filter(|_| more).map(cursor);
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
