//! The personal data of a task or of a rider is erased: by an admin, with their password, for a reason that is kept.

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};

use super::Opened;
use crate::{
    domain::{
        erase::EraseReason,
        id::{RiderId, TaskId},
    },
    engine::office,
    web::{
        desk::Desk,
        extract::{Form, Query},
        forms::Typed,
        page::{Shell, filters, render, words},
        peer::Peer,
        people::{Seat, StaffSeat},
        problem::Problem,
        reauth,
    },
};

#[derive(Template)]
#[template(path = "admin/erase.html")]
struct Page {
    shell: Shell,
    reasons: &'static [EraseReason],
    typed: Typed,
    done: Option<String>,
    wrong: Option<String>,
}

/// Whose data.
#[derive(Clone, Copy)]
enum Whose {
    Task(TaskId),
    Rider(RiderId),
}

/// What the form is to begin with.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Prefilled {
    #[serde(default)]
    of: String,
}

/// What came of the form.
struct Came {
    status: StatusCode,
    done: Option<String>,
    wrong: Option<String>,
}

impl Came {
    const fn done(done: String) -> Self {
        Self { status: StatusCode::OK, done: Some(done), wrong: None }
    }

    const fn wrong(status: StatusCode, wrong: String) -> Self {
        Self { status, done: None, wrong: Some(wrong) }
    }
}

async fn show(desk: &Desk, seat: &Seat, typed: Typed, came: Came) -> Result<Response, Problem> {
    let opened = Opened::of(desk, seat).await?;
    let shell = seat.shell(desk, &opened.regions, opened.zone);
    let reasons = EraseReason::ALL;
    let page = Page { shell, reasons, typed, done: came.done, wrong: came.wrong };
    Ok(render(&page, seat.lang(), came.status))
}

/// The form.
pub(super) async fn form(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    Query(Prefilled { of }): Query<Prefilled>,
) -> Result<Response, Problem> {
    let typed = Typed([("of".to_owned(), of)].into());
    let came = Came { status: StatusCode::OK, done: None, wrong: None };
    show(&desk, &seat, typed, came).await
}

/// What was typed; an error is the key of the words that say what is missing.
fn asked(typed: &Typed) -> Result<(Whose, EraseReason), &'static str> {
    let of = typed.get("of");
    let task = TaskId::parse(of).map(Whose::Task);
    let whose = task.or_else(|| RiderId::parse(of).map(Whose::Rider)).ok_or("erase-wrong-of")?;
    let reason = EraseReason::parse(typed.get("reason")).ok_or("erase-wrong-reason")?;
    if !typed.is("sure", "on") {
        return Err("erase-wrong-sure");
    }
    Ok((whose, reason))
}

/// Erases. The password is asked for last, so that a slip elsewhere costs no try.
pub(super) async fn erase(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    from: Peer,
    Form(mut typed): Form<Typed>,
) -> Result<Response, Problem> {
    let (whose, reason) = match asked(&typed) {
        Ok(asked) => asked,
        Err(key) => {
            let came = Came::wrong(StatusCode::UNPROCESSABLE_ENTITY, words(seat.lang(), key, &[]));
            return show(&desk, &seat, typed, came).await;
        }
    };
    let proven = reauth::owner(&desk, &seat, &typed, from).await?;
    // It is never sent back, not even into a field of dots.
    typed.0.remove("present");
    if let Err(unproven) = proven {
        let came = Came::wrong(StatusCode::OK, unproven.words(seat.lang()));
        return Ok(unproven.answer(show(&desk, &seat, typed, came).await?));
    }
    let (executor, who) = (desk.executor(), seat.actor());
    let erased = match whose {
        Whose::Task(id) => executor.erase_task(who, id, reason).await,
        Whose::Rider(id) => executor.erase_rider(who, id, reason).await.map(|()| true),
    };
    let say = |key: &str| words(seat.lang(), key, &[("v", typed.get("of"))]);
    let came = match erased {
        Ok(true) => Came::done(say("erase-done")),
        Ok(false) => Came::done(say("erase-nothing")),
        Err(office::Error::NotOver) => Came::wrong(StatusCode::CONFLICT, say("erase-too-early")),
        Err(office::Error::NotFound) => Came::wrong(StatusCode::NOT_FOUND, say("erase-nobody")),
        Err(error) => return Err(Problem::of_office(&error, seat.lang())),
    };
    let typed = if came.done.is_some() { Typed::default() } else { typed };
    show(&desk, &seat, typed, came).await
}
