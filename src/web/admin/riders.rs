//! Riders: who rides here, with what and how much.

use std::collections::HashMap;

use askama::Template;
use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};

use super::{
    Came, Opened, came, fields, form_key, saved,
    signals::{self, Position},
};
use crate::{
    domain::{
        authority::Matter,
        facts::Duty,
        id::{RegionId, RiderId},
        task::Vehicle,
    },
    engine::office::NewRider,
    store::{self, RiderAccount},
    web::{
        desk::Desk,
        extract::{Form, Query},
        forms::Typed,
        mask::masked,
        page::{Shell, filters, render},
        people::{Seat, StaffSeat},
        problem::Problem,
    },
};

/// The most on one page.
const PAGE: i64 = 200;

/// A rider in the list.
struct Row {
    id: RiderId,
    name: String,
    phone: String,
    region: String,
    vehicle: Option<Vehicle>,
    duty: Duty,
    holds: i64,
    capacity: u32,
    disabled: bool,
    risk_rejected: bool,
    position: Option<Position>,
    /// How many signals nobody has dismissed.
    signals: i64,
}

#[derive(Template)]
#[template(path = "admin/riders.html")]
struct List {
    shell: Shell,
    rows: Vec<Row>,
    /// Where the next page begins.
    next: Option<i64>,
    may: bool,
    key: String,
    vehicles: &'static [Vehicle],
    regions: Vec<(i64, String)>,
    typed: Typed,
    wrong: Option<String>,
}

/// Where a page of the list begins.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct From {
    after: Option<i64>,
}

async fn show(
    desk: &Desk,
    seat: &Seat,
    after: i64,
    typed: Typed,
    wrong: Option<String>,
    status: StatusCode,
) -> Result<Response, Problem> {
    let failed = |error: store::Error| Problem::read(&error, seat.lang());
    let mut opened = Opened::of(desk, seat).await?;
    let of = &seat.caller.regions;
    let found = opened.tx.riders_kept(of, RiderId(after), PAGE + 1).await;
    let mut found = found.map_err(failed)?;
    let most = usize::try_from(PAGE).unwrap_or_default();
    let more = found.len() > most;
    found.truncate(most);
    let ids: Vec<_> = found.iter().map(|found| found.rider.id).collect();
    let open = opened.tx.open_signals(&ids).await.map_err(failed)?;
    let open: HashMap<_, _> = open.into_iter().collect();
    let now = desk.now();
    let row = |account: RiderAccount| Row {
        position: signals::position(&opened, &account, now),
        signals: open.get(&account.rider.id).copied().unwrap_or_default(),
        risk_rejected: account.rider.risk_rejected,
        id: account.rider.id,
        phone: account.phone.as_deref().map(masked).unwrap_or_default(),
        region: opened.name_of(account.rider.region),
        vehicle: account.rider.vehicle,
        duty: account.rider.duty,
        holds: account.holds,
        capacity: account.rider.capacity,
        disabled: account.rider.disabled,
        name: account.name,
    };
    let page = List {
        next: found.last().filter(|_| more).map(|last| last.rider.id.0),
        rows: found.into_iter().map(row).collect(),
        shell: seat.shell(desk, &opened.regions, opened.zone),
        may: seat.may_matter(Matter::Riders),
        key: form_key(desk),
        vehicles: Vehicle::ALL,
        regions: opened.choices(),
        typed,
        wrong,
    };
    Ok(render(&page, seat.lang(), status))
}

/// The list, with the form for one more.
pub(super) async fn list(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    Query(From { after }): Query<From>,
) -> Result<Response, Problem> {
    let after = after.unwrap_or_default();
    show(&desk, &seat, after, Typed::default(), None, StatusCode::OK).await
}

/// One more.
pub(super) async fn add(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    Form(typed): Form<Typed>,
) -> Result<Response, Problem> {
    let new = NewRider {
        name: typed.get("name"),
        region: RegionId(typed.get("region").parse().unwrap_or_default()),
        // What is no number is more than anybody can hold.
        capacity: typed.get("capacity").parse().unwrap_or(u32::MAX),
        vehicle: Vehicle::parse(typed.get("vehicle")),
        phone: Some(typed.get("phone")),
    };
    let added = desk.executor().add_rider(seat.actor(), &new, fields::key(&typed).as_ref()).await;
    let error = match added {
        Ok(id) => return Ok(saved(&format!("/admin/riders/{id}"))),
        Err(error) => error,
    };
    match came(error, seat.lang())? {
        Came::Before(page) => Ok(page.into_response()),
        other => show(&desk, &seat, 0, typed, other.wrong(), other.status()).await,
    }
}
