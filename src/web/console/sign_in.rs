//! In and out: with name and password, or by a link that somebody was given.

use askama::Template;
use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Redirect, Response},
};
use serde::Deserialize;
use tower_sessions::Session;

use super::super::{
    desk::Desk,
    extract::{Form, Query, TokenPath},
    page::{Shell, Taste, filters, is_ours, render},
    password,
    people::{self, StaffSeat},
    problem::{Problem, ProblemCode},
};
use crate::{
    domain::command::Actor,
    store::{self, token_hash},
};

#[derive(Template)]
#[template(path = "console/sign_in.html")]
struct Page {
    shell: Shell,
    next: String,
    login: String,
    failed: bool,
}

/// Where to go after signing in: only to our own pages.
fn safe(next: &str) -> &str {
    if is_ours(next) { next } else { "/board" }
}

/// The first page: the board, or the sign-in that leads to it.
pub(super) async fn home(seat: Result<StaffSeat, Response>) -> Redirect {
    if seat.is_ok() { Redirect::to("/board") } else { Redirect::to("/sign-in") }
}

/// Where to go after signing in.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Next {
    #[serde(default)]
    next: String,
}

/// The form.
pub(super) async fn form(
    State(desk): State<Desk>,
    taste: Taste,
    Query(Next { next }): Query<Next>,
) -> Response {
    let shell = Shell::bare(&desk, &taste);
    let page = Page { shell, next, login: String::new(), failed: false };
    render(&page, taste.lang, StatusCode::OK)
}

/// What was typed.
#[derive(Deserialize)]
pub(super) struct Typed {
    login: String,
    password: String,
    #[serde(default)]
    next: String,
}

/// Name and password.
pub(super) async fn sign_in(
    State(desk): State<Desk>,
    taste: Taste,
    session: Session,
    Form(typed): Form<Typed>,
) -> Result<Response, Problem> {
    let read = |error: store::Error| Problem::read(&error, taste.lang);
    let mut tx = desk.db().read().await.map_err(read)?;
    let login = typed.login.trim().replace('\0', "");
    let found = tx.password(&login).await.map_err(read)?;
    let open = match &found {
        Some((staff, _)) => {
            let account = tx.staff_account(*staff).await.map_err(read)?;
            account.is_some_and(|account| !account.staff.disabled)
        }
        None => false,
    };
    drop(tx);
    let (staff, phc) = found.unzip();
    let right = password::verify(&desk, typed.password, phc).await;
    if let Some(staff) = staff.filter(|_| right && open) {
        enter_as(&desk, &session, &Actor::Staff(staff), &taste).await?;
        return Ok(Redirect::to(safe(&typed.next)).into_response());
    }
    let page = Page { shell: Shell::bare(&desk, &taste), next: typed.next, login, failed: true };
    Ok(render(&page, taste.lang, StatusCode::UNAUTHORIZED))
}

async fn enter_as(
    desk: &Desk,
    session: &Session,
    actor: &Actor,
    taste: &Taste,
) -> Result<(), Problem> {
    people::sign_in(session, actor, desk.now()).await.map_err(|error| {
        tracing::error!(%error, "a session can not be kept");
        Problem::new(ProblemCode::Unavailable, taste.lang)
    })
}

/// A link for staff, used.
pub(super) async fn enter(
    State(desk): State<Desk>,
    taste: Taste,
    session: Session,
    TokenPath(token): TokenPath,
) -> Result<Response, Problem> {
    let read = |error: store::Error| Problem::read(&error, taste.lang);
    let mut tx = desk.db().begin().await.map_err(read)?;
    let now = tx.now().await.map_err(read)?;
    let hash = token_hash(&token);
    let staff = tx.link(&hash, now).await.map_err(read)?;
    if !matches!(staff, Some(Actor::Staff(_))) {
        return Err(Problem::new(ProblemCode::NotFound, taste.lang));
    }
    let actor = tx.use_link(&hash, now).await.map_err(read)?;
    tx.commit().await.map_err(read)?;
    let actor = actor.ok_or_else(|| Problem::new(ProblemCode::NotFound, taste.lang))?;
    enter_as(&desk, &session, &actor, &taste).await?;
    Ok(Redirect::to("/board").into_response())
}

/// Out: the session is gone, here and in the database.
pub(super) async fn sign_out(taste: Taste, session: Session) -> Result<Redirect, Problem> {
    let gone = session.flush().await;
    gone.map_err(|_| Problem::new(ProblemCode::Unavailable, taste.lang))?;
    Ok(Redirect::to("/sign-in"))
}
