//! Riders as dispatchers' scripts see them: on duty or not, how much they hold, where they are and how old that is.

use std::collections::HashMap;

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
        facts::Duty,
        fix::Fix,
        id::{RegionId, RiderId, Timestamp, rfc3339},
        policy::Policy,
        task::Vehicle,
    },
    store::{self, RiderAccount, Tx},
};

/// The most riders on one page.
const PAGE: i64 = 200;

/// Which riders.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct RidersQuery {
    /// Of this region alone.
    region: Option<i64>,
    /// Beyond this rider: the `next_cursor` of the page before.
    cursor: Option<i64>,
}

/// Where a rider was last seen. One who was seen long ago is still here, and marked.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PositionItem {
    /// Degrees, WGS-84.
    lat: f64,
    /// Degrees, WGS-84.
    lng: f64,
    /// The radius in metres within which the device believed itself to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy_m: Option<f64>,
    /// When, by the desk's clock.
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// How old it is, in milliseconds.
    age_ms: i64,
    /// Whether it is older than the region takes.
    stale: bool,
}

/// A rider.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RiderItem {
    /// Number.
    id: RiderId,
    /// Name.
    name: String,
    /// Where the rider works.
    region: RegionId,
    /// Whether the rider works now.
    duty: Duty,
    /// What the rider drives.
    #[serde(skip_serializing_if = "Option::is_none")]
    vehicle: Option<Vehicle>,
    /// How many tasks and offers the rider holds.
    holds: i64,
    /// How many the rider may hold at once.
    capacity: u32,
    /// Whether staff have set that the rider may not grab.
    risk_rejected: bool,
    /// How many signals about the rider nobody has dismissed.
    signals: i64,
    /// Missing if the rider was never seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<PositionItem>,
}

/// A page of riders.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RiderPage {
    /// In the order of their numbers.
    items: Vec<RiderItem>,
    /// Ask for the page beyond it with `cursor`; missing on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<RiderId>,
    /// The store's time of the reading.
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    server_time: Timestamp,
}

/// Riders of my regions who are not shut out, with the age of their positions.
#[utoipa::path(
    get, path = "/api/v1/riders", tag = "rider", operation_id = "listRiders", params(RidersQuery),
    responses((status = 200, body = RiderPage)), security(("token" = []))
)]
pub(super) async fn list(
    State(desk): State<Desk>,
    caller: Caller,
    Query(query): Query<RidersQuery>,
) -> Result<Json<RiderPage>, Problem> {
    if caller.staff.is_none() {
        return Err(Problem::new(ProblemCode::Forbidden, caller.lang));
    }
    let failed = |error: store::Error| Problem::read(&error, caller.lang);
    let mut tx = desk.db().read().await.map_err(failed)?;
    page(&mut tx, &caller, &query).await.map(Json).map_err(failed)
}

async fn page(tx: &mut Tx, caller: &Caller, query: &RidersQuery) -> store::Result<RiderPage> {
    let seen = |region: &&RegionId| query.region.is_none_or(|wanted| wanted == region.0);
    let regions: Vec<_> = caller.regions.iter().filter(seen).copied().collect();
    let now = tx.now().await?;
    let rules = tx.regions(now).await?;
    let limits: HashMap<_, _> =
        rules.iter().map(|found| (found.region.id, found.region.policy.stale_after_ms())).collect();
    let mut found = tx.riders_of(&regions, RiderId(query.cursor.unwrap_or(0)), PAGE + 1).await?;
    let most = usize::try_from(PAGE).unwrap_or_default();
    let more = found.len() > most;
    found.truncate(most);
    let ids: Vec<_> = found.iter().map(|found| found.rider.id).collect();
    let signals: HashMap<_, _> = tx.open_signals(&ids).await?.into_iter().collect();
    let item = |account: RiderAccount| {
        let limit_ms = limits.get(&account.rider.region).copied().unwrap_or(Policy::OLD_MS);
        RiderItem {
            id: account.rider.id,
            name: account.name,
            region: account.rider.region,
            duty: account.rider.duty,
            vehicle: account.rider.vehicle,
            holds: account.holds,
            capacity: account.rider.capacity,
            risk_rejected: account.rider.risk_rejected,
            signals: signals.get(&account.rider.id).copied().unwrap_or_default(),
            position: account.fix.map(|fix| position(&fix, now, limit_ms)),
        }
    };
    Ok(RiderPage {
        next_cursor: ids.last().copied().filter(|_| more),
        items: found.into_iter().map(item).collect(),
        server_time: now,
    })
}

fn position(fix: &Fix, now: Timestamp, limit_ms: i64) -> PositionItem {
    let age_ms = fix.age_ms(now);
    PositionItem {
        lat: fix.place.lat,
        lng: fix.place.lng,
        accuracy_m: fix.accuracy_m,
        at: fix.at,
        age_ms,
        stale: age_ms > limit_ms,
    }
}
