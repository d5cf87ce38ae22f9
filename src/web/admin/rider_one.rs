//! One rider: name, phone, place, capacity, duty, and the link by which they come in.

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};

use super::{
    Came, Opened, Saved, came,
    changes::{self, Change},
    fields, saved, secret,
    signals::{self, Position, SignalRow},
};
use crate::{
    domain::{
        actor::Actor,
        admin::AdminSubject,
        authority::Matter,
        facts::Duty,
        id::{RegionId, RiderId},
        task::Vehicle,
    },
    store::{self, RiderChange, RiderRecord},
    web::{
        desk::Desk,
        extract::{Form, InPath, Query},
        forms::Typed,
        mask::masked,
        page::{Shell, filters, render},
        people::{Seat, StaffSeat},
        problem::{Problem, ProblemCode},
    },
};

#[derive(Template)]
#[template(path = "admin/rider_one.html")]
struct One {
    shell: Shell,
    id: RiderId,
    record: RiderRecord,
    region: String,
    phone: Option<String>,
    may: bool,
    vehicles: &'static [Vehicle],
    duties: &'static [Duty],
    regions: Vec<(i64, String)>,
    typed: Typed,
    first: Option<Change>,
    wrong: Option<String>,
    saved: bool,
    changes: Vec<Change>,
    position: Option<Position>,
    signals: Vec<SignalRow>,
}

pub(super) fn id_of(path: &str, seat: &Seat) -> Result<RiderId, Problem> {
    RiderId::parse(path).ok_or_else(|| Problem::new(ProblemCode::NotFound, seat.lang()))
}

/// What the form of a record holds.
fn form_of(record: &RiderRecord) -> Typed {
    let rider = &record.account.rider;
    fields::filled([
        ("name", record.account.name.clone()),
        ("region", rider.region.0.to_string()),
        ("capacity", rider.capacity.to_string()),
        ("vehicle", rider.vehicle.map(|vehicle| vehicle.to_string()).unwrap_or_default()),
        ("duty", rider.duty.to_string()),
        ("risk_rejected", if rider.risk_rejected { "on".to_owned() } else { String::new() }),
        ("disabled", if rider.disabled { "on".to_owned() } else { String::new() }),
    ])
}

/// The rider, if this reader may see them.
pub(super) async fn record(
    opened: &mut Opened,
    seat: &Seat,
    id: RiderId,
) -> Result<RiderRecord, Problem> {
    let found = opened.tx.rider_record(id).await;
    let found = found.map_err(|error| Problem::read(&error, seat.lang()))?;
    let mine = |found: &RiderRecord| seat.caller.regions.contains(&found.account.rider.region);
    found.filter(mine).ok_or_else(|| Problem::new(ProblemCode::NotFound, seat.lang()))
}

async fn show(
    desk: &Desk,
    seat: &Seat,
    id: RiderId,
    typed: Option<Typed>,
    came: Option<Came>,
    saved: bool,
) -> Result<Response, Problem> {
    let failed = |error: store::Error| Problem::read(&error, seat.lang());
    let mut opened = Opened::of(desk, seat).await?;
    let record = record(&mut opened, seat, id).await?;
    let of = AdminSubject::Rider(id);
    let changes = changes::of(&mut opened.tx, of, opened.zone, seat.lang()).await;
    let changes = changes.map_err(failed)?;
    let signals = signals::of(&mut opened, id, seat.lang()).await.map_err(failed)?;
    let position = signals::position(&opened, &record.account, desk.now());
    let page = One {
        position,
        signals,
        shell: seat.shell(desk, &opened.regions, opened.zone),
        id,
        region: opened.name_of(record.account.rider.region),
        phone: record.account.phone.as_deref().map(masked),
        may: seat.may_matter(Matter::Riders),
        vehicles: Vehicle::ALL,
        duties: Duty::ALL,
        regions: opened.choices(),
        typed: typed.unwrap_or_else(|| form_of(&record)),
        first: changes.first().filter(|_| matches!(came, Some(Came::Stale))).cloned(),
        wrong: came.as_ref().and_then(Came::wrong),
        saved,
        record,
        changes,
    };
    let status = came.as_ref().map_or(StatusCode::OK, Came::status);
    Ok(render(&page, seat.lang(), status))
}

/// The page.
pub(super) async fn one(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    InPath(id): InPath<String>,
    Query(Saved { saved }): Query<Saved>,
) -> Result<Response, Problem> {
    show(&desk, &seat, id_of(&id, &seat)?, None, None, saved.is_some()).await
}

/// What becomes of the number. The form shows it masked and never holds it: an empty field leaves it as it is.
fn phone(typed: &Typed, present: Option<&str>) -> Option<String> {
    match typed.get("phone") {
        _ if typed.is("phone_removed", "on") => present.map(|_| String::new()),
        "" => None,
        new => Some(new.to_owned()).filter(|new| present != Some(new)),
    }
}

/// What differs between the form and what is there: only that is changed.
fn change_of(typed: &Typed, record: &RiderRecord) -> RiderChange {
    let rider = &record.account.rider;
    let text = |field: &str, present: &str| {
        let typed = typed.get(field);
        (typed != present).then(|| typed.to_owned())
    };
    let region = typed.get("region").parse().ok().map(RegionId);
    let duty = Duty::parse(typed.get("duty"));
    let disabled = typed.is("disabled", "on");
    let risk_rejected = typed.is("risk_rejected", "on");
    // What is no number is more than anybody can hold, and refused as that.
    let capacity = typed.get("capacity").parse().unwrap_or(u32::MAX);
    let vehicle = Vehicle::parse(typed.get("vehicle"));
    RiderChange {
        name: text("name", &record.account.name),
        phone: phone(typed, record.account.phone.as_deref()),
        region: region.filter(|region| *region != rider.region),
        duty: duty.filter(|duty| *duty != rider.duty),
        disabled: (disabled != rider.disabled).then_some(disabled),
        capacity: (capacity != rider.capacity).then_some(capacity),
        vehicle: vehicle.filter(|vehicle| Some(*vehicle) != rider.vehicle),
        risk_rejected: (risk_rejected != rider.risk_rejected).then_some(risk_rejected),
        revision: Some(fields::revision(typed)),
    }
}

/// Everything that is kept of a rider. Shutting out and moving withdraw the waiting offers.
pub(super) async fn change(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    InPath(id): InPath<String>,
    Form(typed): Form<Typed>,
) -> Result<Response, Problem> {
    let id = id_of(&id, &seat)?;
    let mut opened = Opened::of(&desk, &seat).await?;
    let present = record(&mut opened, &seat, id).await?;
    drop(opened);
    let change = change_of(&typed, &present);
    match desk.executor().edit_rider(seat.actor(), id, change).await {
        Ok(_) => Ok(saved(&format!("/admin/riders/{id}"))),
        Err(error) => {
            let came = came(error, seat.lang())?;
            show(&desk, &seat, id, Some(typed), Some(came), false).await
        }
    }
}

/// A link that signs them in, also as a picture for their phone.
pub(super) async fn link(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    InPath(id): InPath<String>,
    Form(_): Form<Typed>,
) -> Result<Response, Problem> {
    let id = id_of(&id, &seat)?;
    match desk.executor().make_rider_link(seat.actor(), id).await {
        Ok(token) => {
            let keys = ("rider-link", "rider-link-help");
            let back = format!("/admin/riders/{id}");
            secret::link(&desk, &seat, keys, id.to_string(), &token, back).await
        }
        Err(error) => {
            let came = came(error, seat.lang())?;
            show(&desk, &seat, id, None, Some(came), false).await
        }
    }
}

/// Their devices are forgotten.
pub(super) async fn end_sessions(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    InPath(id): InPath<String>,
    Form(_): Form<Typed>,
) -> Result<Response, Problem> {
    let id = id_of(&id, &seat)?;
    let ended = desk.executor().end_sessions(seat.actor(), &Actor::Rider(id)).await;
    ended.map_err(|error| Problem::of_office(&error, seat.lang()))?;
    Ok(saved(&format!("/admin/riders/{id}")))
}
