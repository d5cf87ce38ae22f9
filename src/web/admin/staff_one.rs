//! One member of staff: role, regions, the account, and how they come in.

use askama::Template;
use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};

use super::{
    Came, Opened, Saved, came,
    changes::{self, Change},
    fields, saved, secret,
};
use crate::{
    domain::{
        actor::{Actor, Role},
        admin::AdminSubject,
        authority::{self, Matter},
        id::StaffId,
    },
    store::{self, StaffChange, StaffRecord},
    web::{
        desk::Desk,
        extract::{Form, InPath, Query},
        forms::Typed,
        page::{Shell, When, filters, render},
        peer::Peer,
        people::{Seat, StaffSeat},
        problem::{Problem, ProblemCode},
        reauth,
    },
};

#[derive(Template)]
#[template(path = "admin/staff_one.html")]
struct One {
    shell: Shell,
    id: StaffId,
    record: StaffRecord,
    seen: Option<When>,
    factor: Option<When>,
    may: bool,
    /// Whether it is the reader's own account, whose way in is kept elsewhere.
    own: bool,
    roles: &'static [Role],
    regions: Vec<(i64, String)>,
    /// What the form holds: what was typed, or what is there.
    typed: Typed,
    /// Who was first, if somebody was.
    first: Option<Change>,
    wrong: Option<String>,
    saved: bool,
    changes: Vec<Change>,
}

impl One {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "templates hand over references")]
    fn has(&self, region: &i64) -> bool {
        self.typed.0.contains_key(&format!("region-{region}"))
    }
}

fn id_of(path: &str, seat: &Seat) -> Result<StaffId, Problem> {
    StaffId::parse(path).ok_or_else(|| Problem::new(ProblemCode::NotFound, seat.lang()))
}

/// What the form of a record holds.
fn form_of(record: &StaffRecord) -> Typed {
    let staff = &record.account.staff;
    let mut form = fields::filled([
        ("name", record.account.name.clone()),
        ("role", staff.role.to_string()),
        ("disabled", if staff.disabled { "on".to_owned() } else { String::new() }),
    ]);
    let ticked =
        staff.regions.iter().map(|region| (format!("region-{}", region.0), "on".to_owned()));
    form.0.extend(ticked);
    form
}

async fn show(
    desk: &Desk,
    seat: &Seat,
    id: StaffId,
    typed: Option<Typed>,
    came: Option<Came>,
    saved: bool,
) -> Result<Response, Problem> {
    let failed = |error: store::Error| Problem::read(&error, seat.lang());
    let missing = || Problem::new(ProblemCode::NotFound, seat.lang());
    let mut opened = Opened::of(desk, seat).await?;
    let record = opened.tx.staff_record(id).await.map_err(failed)?;
    let record = record.filter(|record| opened.sees(record)).ok_or_else(missing)?;
    let of = AdminSubject::Staff(id);
    let changes = changes::of(&mut opened.tx, of, opened.zone, seat.lang()).await;
    let changes = changes.map_err(failed)?;
    let page = One {
        shell: seat.shell(desk, &opened.regions, opened.zone),
        id,
        seen: record.seen_at.map(|at| opened.zone.when(at)),
        factor: record.factor_at.map(|at| opened.zone.when(at)),
        may: seat.may_matter(Matter::Staff),
        own: *seat.actor() == Actor::Staff(id),
        roles: authority::STAFF,
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

/// Name, role, regions, and whether the account is shut.
pub(super) async fn change(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    InPath(id): InPath<String>,
    Form(typed): Form<Typed>,
) -> Result<Response, Problem> {
    let id = id_of(&id, &seat)?;
    let regions = fields::regions(&typed);
    let change = StaffChange {
        name: typed.get("name"),
        role: fields::role(&typed),
        regions: &regions,
        disabled: typed.is("disabled", "on"),
    };
    let revision = fields::revision(&typed);
    match desk.executor().change_staff(seat.actor(), id, revision, &change).await {
        Ok(()) => Ok(saved(&format!("/admin/staff/{id}"))),
        Err(error) => {
            let came = came(error, seat.lang())?;
            show(&desk, &seat, id, Some(typed), Some(came), false).await
        }
    }
}

/// A link by which they set their own password.
pub(super) async fn link(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    InPath(id): InPath<String>,
    from: Peer,
    Form(typed): Form<Typed>,
) -> Result<Response, Response> {
    let id = id_of(&id, &seat).map_err(IntoResponse::into_response)?;
    again(&desk, &seat, id, &typed, from).await?;
    let made = link_for(&desk, &seat, id).await;
    made.map_err(IntoResponse::into_response)
}

async fn link_for(desk: &Desk, seat: &Seat, id: StaffId) -> Result<Response, Problem> {
    match desk.executor().make_password_link(seat.actor(), id).await {
        Ok(token) => {
            let keys = ("password-link", "password-link-help");
            let back = format!("/admin/staff/{id}");
            secret::link(desk, seat, keys, id.to_string(), &token, back).await
        }
        Err(error) => {
            let came = came(error, seat.lang())?;
            show(desk, seat, id, None, Some(came), false).await
        }
    }
}

/// Whether the present password of whoever acts was given: these are ways in for somebody else. If not, what to show
/// instead.
async fn again(
    desk: &Desk,
    seat: &Seat,
    id: StaffId,
    typed: &Typed,
    from: Peer,
) -> Result<(), Response> {
    let proven = reauth::owner(desk, seat, typed, from).await;
    let Err(unproven) = proven.map_err(IntoResponse::into_response)? else { return Ok(()) };
    let came = Came::Wrong(unproven.words(seat.lang()));
    let shown = show(desk, seat, id, None, Some(came), false).await;
    Err(shown.map_or_else(IntoResponse::into_response, |page| unproven.answer(page)))
}

/// No second factor any more, for one who lost their device.
pub(super) async fn reset_factor(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    InPath(id): InPath<String>,
    from: Peer,
    Form(typed): Form<Typed>,
) -> Result<Response, Response> {
    let problem = IntoResponse::into_response;
    let id = id_of(&id, &seat).map_err(problem)?;
    again(&desk, &seat, id, &typed, from).await?;
    let Err(error) = desk.executor().reset_factor(seat.actor(), id).await else {
        return Ok(saved(&format!("/admin/staff/{id}")));
    };
    let came = came(error, seat.lang()).map_err(problem)?;
    show(&desk, &seat, id, None, Some(came), false).await.map_err(problem)
}

/// They are signed out everywhere.
pub(super) async fn end_sessions(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    InPath(id): InPath<String>,
    Form(_): Form<Typed>,
) -> Result<Response, Problem> {
    let id = id_of(&id, &seat)?;
    let ended = desk.executor().end_sessions(seat.actor(), &Actor::Staff(id)).await;
    ended.map_err(|error| Problem::of_office(&error, seat.lang()))?;
    Ok(saved(&format!("/admin/staff/{id}")))
}
