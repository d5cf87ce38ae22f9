//! The manual pool: what the rounds could not place, the oldest first, with the reason.

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};
use serde::Deserialize;

use super::super::{
    chip::{Chip, span},
    desk::Desk,
    extract::Query,
    page::{Shell, When, filters, render},
    people::{StaffSeat, zone},
    problem::{Problem, ProblemCode},
};
use crate::{
    domain::id::{TaskId, Timestamp},
    store::{self, PoolListing},
};

/// Tasks on one page.
const PAGE: i64 = 50;

struct Row {
    id: TaskId,
    chip: Chip,
    since: When,
    age: String,
    /// `pool-reason-…`.
    reason: String,
    pickup: String,
    dropoff: String,
    region: String,
    cell: String,
}

#[derive(Template)]
#[template(path = "console/pool.html")]
struct Page {
    shell: Shell,
    rows: Vec<Row>,
    cell: Option<String>,
    count: i64,
    next: Option<String>,
    is_first: bool,
}

/// From where on, and which cell.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    beyond: Option<String>,
    cell: Option<String>,
}

/// The page.
pub(super) async fn page(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    Query(asked): Query<Asked>,
) -> Result<Response, Problem> {
    let lang = seat.lang();
    let failed = |error: store::Error| Problem::read(&error, lang);
    let wrong = || Problem::new(ProblemCode::QueryInvalid, lang);
    let cell = asked.cell.as_deref().map(|cell| i64::from_str_radix(cell, 16));
    let cell = cell.transpose().map_err(|_| wrong())?;
    let beyond = match asked.beyond.as_deref() {
        None => None,
        Some(text) => Some(place(text).ok_or_else(wrong)?),
    };
    let mut tx = desk.db().read().await.map_err(failed)?;
    let now = tx.now().await.map_err(failed)?;
    let regions = seat.regions(&mut tx, now).await.map_err(failed)?;
    let ids: Vec<_> = regions.iter().map(|found| found.region.id).collect();
    let listing = PoolListing { regions: &ids, cell, beyond, limit: PAGE + 1 };
    let mut found = tx.manual_pool(&listing).await.map_err(failed)?;
    let (count, _) = tx.count_pool(&ids).await.map_err(failed)?;
    let most = usize::try_from(PAGE).unwrap_or_default();
    let more = found.len() > most;
    found.truncate(most);
    let zone = zone(&regions, now);
    let mut rows = Vec::with_capacity(found.len());
    for pooled in &found {
        let Some(card) = tx.card(pooled.task).await.map_err(failed)? else { continue };
        let region = regions.iter().find(|found| found.region.id == pooled.region);
        rows.push(Row {
            id: pooled.task,
            chip: Chip::of(&card.task, now, lang),
            since: zone.when(pooled.since),
            age: span(now.ms_since(pooled.since)),
            reason: format!("pool-reason-{}", pooled.reason),
            pickup: card.detail.pickup.address.clone(),
            dropoff: card.detail.dropoff.address.clone(),
            region: region.map_or_else(String::new, |found| found.name.clone()),
            cell: format!("{:x}", pooled.cell),
        });
    }
    let page = Page {
        shell: seat.shell(&desk, &regions, zone),
        next: found.last().filter(|_| more).map(|last| format!("{}-{}", last.since.0, last.task.0)),
        rows,
        cell: asked.cell,
        count,
        is_first: beyond.is_none(),
    };
    Ok(render(&page, lang, StatusCode::OK))
}

fn place(text: &str) -> Option<(Timestamp, TaskId)> {
    let (since, task) = text.split_once('-')?;
    Some((Timestamp(since.parse().ok()?), TaskId(task.parse().ok()?)))
}
