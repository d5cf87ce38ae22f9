//! Staff: who works here, in which role and where; and what holds for all of them.

use askama::Template;
use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};

use super::{Came, Opened, Saved, came, fields, form_key, saved};
use crate::{
    domain::{
        actor::Role,
        authority::{self, Matter},
        id::StaffId,
    },
    engine::office::NewStaff,
    store::{self, DeskRule, StaffRecord},
    web::{
        desk::Desk,
        extract::{Form, Query},
        forms::Typed,
        page::{Shell, When, filters, render, words},
        people::{Seat, StaffSeat},
        problem::Problem,
    },
};

/// The most on one page.
const PAGE: i64 = 500;

/// A member of staff in the list.
struct Row {
    id: StaffId,
    name: String,
    role: Role,
    regions: String,
    login: Option<String>,
    factor: bool,
    seen: Option<When>,
    disabled: bool,
}

#[derive(Template)]
#[template(path = "admin/staff.html")]
struct List {
    shell: Shell,
    rows: Vec<Row>,
    may: bool,
    key: String,
    roles: &'static [Role],
    regions: Vec<(i64, String)>,
    rule: DeskRule,
    /// Whether this reader may change what binds every region.
    every: bool,
    typed: Typed,
    wrong: Option<String>,
    saved: bool,
}

impl List {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "templates hand over references")]
    fn has(&self, region: &i64) -> bool {
        self.typed.0.contains_key(&format!("region-{region}"))
    }
}

async fn show(
    desk: &Desk,
    seat: &Seat,
    typed: Typed,
    wrong: Option<String>,
    (saved, status): (bool, StatusCode),
) -> Result<Response, Problem> {
    let failed = |error: store::Error| Problem::read(&error, seat.lang());
    let mut opened = Opened::of(desk, seat).await?;
    let mut all = opened.tx.staff_after(StaffId(0), PAGE).await.map_err(failed)?;
    all.retain(|record| opened.sees(record));
    let rule = opened.tx.desk_rule().await.map_err(failed)?;
    let row = |record: StaffRecord| {
        let staff = &record.account.staff;
        let names: Vec<_> = staff.regions.iter().map(|region| opened.name_of(*region)).collect();
        Row {
            id: staff.id,
            role: staff.role,
            regions: names.join(" · "),
            disabled: staff.disabled,
            name: record.account.name,
            login: record.login,
            factor: record.factor_at.is_some(),
            seen: record.seen_at.map(|at| opened.zone.when(at)),
        }
    };
    let page = List {
        rows: all.into_iter().map(row).collect(),
        shell: seat.shell(desk, &opened.regions, opened.zone),
        may: seat.may_matter(Matter::Staff),
        key: form_key(desk),
        roles: authority::STAFF,
        regions: opened.choices(),
        rule,
        every: opened.every,
        typed,
        wrong,
        saved,
    };
    Ok(render(&page, seat.lang(), status))
}

/// The list, with the form for one more.
pub(super) async fn list(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    Query(Saved { saved }): Query<Saved>,
) -> Result<Response, Problem> {
    show(&desk, &seat, Typed::default(), None, (saved.is_some(), StatusCode::OK)).await
}

/// One more.
pub(super) async fn add(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    Form(typed): Form<Typed>,
) -> Result<Response, Problem> {
    let regions = fields::regions(&typed);
    let new = NewStaff { name: typed.get("name"), role: fields::role(&typed), regions: &regions };
    let added = desk.executor().add_staff(seat.actor(), &new, fields::key(&typed).as_ref()).await;
    let error = match added {
        Ok(id) => return Ok(saved(&format!("/admin/staff/{id}"))),
        Err(error) => error,
    };
    match came(error, seat.lang())? {
        Came::Before(page) => Ok(page.into_response()),
        other => show(&desk, &seat, typed, other.wrong(), (false, other.status())).await,
    }
}

/// Whether all staff need a second factor.
pub(super) async fn rule(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    Form(typed): Form<Typed>,
) -> Result<Response, Problem> {
    let (revision, required) = (fields::revision(&typed), typed.is("factor_required", "on"));
    match desk.executor().require_factor(seat.actor(), revision, required).await {
        Ok(()) => Ok(saved("/admin/staff")),
        Err(error) => {
            let status = came(error, seat.lang())?.status();
            let wrong = Some(words(seat.lang(), "wrong-changed", &[]));
            show(&desk, &seat, Typed::default(), wrong, (false, status)).await
        }
    }
}
