//! Regions: where the desk works.

use askama::Template;
use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};

use super::{Came, Opened, came, fields, form_key, saved};
use crate::{
    domain::authority::Matter,
    store::{NamedRegion, RegionChange},
    web::{
        desk::Desk,
        extract::Form,
        forms::Typed,
        page::{Shell, filters, render, words},
        people::{Seat, StaffSeat},
        problem::Problem,
    },
};

#[derive(Template)]
#[template(path = "admin/regions.html")]
struct List {
    shell: Shell,
    rows: Vec<NamedRegion>,
    may: bool,
    key: String,
    typed: Typed,
    zones: Vec<&'static str>,
    wrong: Option<String>,
}

/// The zones to choose from.
pub(super) fn zones() -> Vec<&'static str> {
    chrono_tz::TZ_VARIANTS.iter().map(|zone| zone.name()).collect()
}

/// What the form of a region asks for; what can not be read is said by the name of its field.
pub(super) struct Wanted {
    pub(super) name: String,
    pub(super) time_zone: chrono_tz::Tz,
    pub(super) area: crate::domain::geo::Area,
    pub(super) retention_days: Option<i64>,
}

impl Wanted {
    pub(super) fn read(typed: &Typed) -> Result<Self, &'static str> {
        let days = typed.get("retention_days");
        let days =
            if days.is_empty() { None } else { Some(days.parse().map_err(|_| "retention_days")?) };
        Ok(Self {
            name: typed.get("name").to_owned(),
            time_zone: typed.get("time_zone").parse().map_err(|_| "time_zone")?,
            area: fields::area(typed).ok_or("area")?,
            retention_days: days,
        })
    }

    pub(super) fn change(&self) -> RegionChange<'_> {
        RegionChange {
            name: &self.name,
            time_zone: self.time_zone,
            area: &self.area,
            retention_days: self.retention_days,
        }
    }
}

/// That a field can not be used, in words.
pub(super) fn wrong(seat: &Seat, field: &str) -> Came {
    let field = words(seat.lang(), &format!("field-{field}"), &[]);
    Came::Wrong(words(seat.lang(), "wrong-field", &[("v", &field)]))
}

async fn show(
    desk: &Desk,
    seat: &Seat,
    typed: Typed,
    wrong: Option<String>,
    status: StatusCode,
) -> Result<Response, Problem> {
    let opened = Opened::of(desk, seat).await?;
    let page = List {
        shell: seat.shell(desk, &opened.regions, opened.zone),
        may: seat.may_matter(Matter::Regions),
        rows: opened.regions,
        key: form_key(desk),
        typed,
        zones: zones(),
        wrong,
    };
    Ok(render(&page, seat.lang(), status))
}

/// The list, with the form for one more.
pub(super) async fn list(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
) -> Result<Response, Problem> {
    show(&desk, &seat, Typed::default(), None, StatusCode::OK).await
}

/// One more, with the default rules. It becomes one of whoever adds it.
pub(super) async fn add(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    Form(typed): Form<Typed>,
) -> Result<Response, Problem> {
    let wanted = match Wanted::read(&typed) {
        Ok(wanted) => wanted,
        Err(field) => {
            let said = wrong(&seat, field);
            return show(&desk, &seat, typed, said.wrong(), said.status()).await;
        }
    };
    let key = fields::key(&typed);
    let added = desk.executor().add_region(seat.actor(), &wanted.change(), key.as_ref()).await;
    let error = match added {
        Ok(id) => return Ok(saved(&format!("/admin/regions/{id}"))),
        Err(error) => error,
    };
    match came(error, seat.lang())? {
        Came::Before(page) => Ok(page.into_response()),
        other => show(&desk, &seat, typed, other.wrong(), other.status()).await,
    }
}
