//! In and out for staff: with name and password and, if there is one, a second factor; or by a link.

use askama::Template;
use axum::{
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Redirect, Response},
};
use serde::Deserialize;
use tower_sessions::Session;

use super::{
    super::{
        desk::Desk,
        extract::{Form, Query, TokenPath},
        hashing::Crowded,
        page::{Shell, Taste, filters, is_ours, render, words},
        password,
        peer::Peer,
        people::{self, StaffSeat},
        problem::{Problem, ProblemCode},
        throttle::{self, Wait},
    },
    proof::{PENDING, Pending, Proven, pending, proof_of, strengthen},
};
use crate::{
    domain::{command::Actor, id::StaffId},
    store::{self, Link, LinkPurpose, token_hash},
};

#[derive(Template)]
#[template(path = "console/sign_in.html")]
struct Page {
    shell: Shell,
    next: String,
    login: String,
    /// What went wrong, in words.
    wrong: Option<String>,
    /// Whether the password is done and the second factor is asked for.
    code: bool,
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

fn show(desk: &Desk, taste: &Taste, page: Page, status: StatusCode) -> Response {
    let shell = Shell::bare(desk, taste);
    render(&Page { shell, ..page }, taste.lang, status)
}

fn empty(desk: &Desk, taste: &Taste, next: String) -> Page {
    let shell = Shell::bare(desk, taste);
    Page { shell, next, login: String::new(), wrong: None, code: false }
}

/// The form: name and password first, then the second factor.
pub(super) async fn form(
    State(desk): State<Desk>,
    taste: Taste,
    session: Session,
    Query(Next { next }): Query<Next>,
) -> Response {
    let code = pending(&session, desk.now()).await.is_some();
    let page = Page { code, ..empty(&desk, &taste, next) };
    show(&desk, &taste, page, StatusCode::OK)
}

/// What was typed.
#[derive(Deserialize)]
pub(super) struct Typed {
    login: String,
    password: String,
    #[serde(default)]
    next: String,
}

/// Says how long to wait.
fn wait(desk: &Desk, taste: &Taste, page: Page, wait: Wait) -> Response {
    let page = Page { wrong: Some(wait.words(taste.lang)), ..page };
    wait.answer(show(desk, taste, page, StatusCode::OK))
}

/// Name and password.
pub(super) async fn sign_in(
    State(desk): State<Desk>,
    taste: Taste,
    from: Peer,
    headers: HeaderMap,
    session: Session,
    Form(typed): Form<Typed>,
) -> Result<Response, Problem> {
    let read = |error: store::Error| Problem::read(&error, taste.lang);
    let login = typed.login.trim().replace('\0', "");
    let page = Page { login: login.clone(), ..empty(&desk, &taste, typed.next.clone()) };
    let busy = |Crowded| Problem::new(ProblemCode::Busy, taste.lang);
    let place = desk.hashing().join().map_err(busy)?;
    let tried = match throttle::begin(&desk, "staff", &login, from).await.map_err(read)? {
        Ok(tried) => tried,
        Err(left) => return Ok(wait(&desk, &taste, page, left)),
    };
    let mut tx = desk.db().read().await.map_err(read)?;
    let (staff, phc) = tx.password(&login).await.map_err(read)?.unzip();
    drop(tx);
    let proof = phc.clone();
    let weak = phc.as_deref().is_some_and(password::is_weak);
    let right = password::verify(place, typed.password.clone(), phc).await;
    // Looked at only with the right password: one read more would tell that the name is known.
    let entered = match staff.filter(|_| right) {
        Some(staff) => {
            let mut tx = desk.db().read().await.map_err(read)?;
            let account = tx.staff_account(staff).await.map_err(read)?;
            // It may have been changed while this one waited for its turn.
            let same = tx.password_of(staff).await.map_err(read)?.map(|(_, phc)| phc) == proof;
            account.filter(|account| same && !account.staff.disabled).map(|_| staff)
        }
        None => None,
    };
    let Some(staff) = entered else {
        tracing::info!(peer = %from.group(), ?staff, "a sign-in failed");
        let page = Page { wrong: Some(words(taste.lang, "sign-in-failed", &[])), ..page };
        return Ok(show(&desk, &taste, page, StatusCode::UNAUTHORIZED));
    };
    tried.succeeded(&desk).await.map_err(read)?;
    tracing::info!(peer = %from.group(), %staff, "the password was right");
    let mut proof = proof.as_deref().map(token_hash);
    if weak
        && let Some(stronger) =
            strengthen(&desk, staff, &login, typed.password, proof.as_deref()).await
    {
        proof = Some(stronger);
    }
    let next = safe(&typed.next).to_owned();
    come_in(&desk, &taste, &session, &headers, Proven { staff, proof }, next).await
}

/// In, or to the second factor if there is one.
async fn come_in(
    desk: &Desk,
    taste: &Taste,
    session: &Session,
    headers: &HeaderMap,
    Proven { staff, proof }: Proven,
    next: String,
) -> Result<Response, Problem> {
    let read = |error: store::Error| Problem::read(&error, taste.lang);
    let mut tx = desk.db().read().await.map_err(read)?;
    let factor = tx.factor(staff).await.map_err(read)?;
    let required = tx.desk_rule().await.map_err(read)?.factor_required;
    drop(tx);
    let confirmed = factor.is_some_and(|factor| factor.confirmed_at.is_some());
    if confirmed {
        let pending = Pending { staff, proof, since: desk.now(), next };
        session.clear().await;
        let kept = async {
            session.cycle_id().await?;
            session.insert(PENDING, &pending).await
        };
        kept.await.map_err(|error| lost(&error, taste))?;
        return Ok(Redirect::to("/sign-in").into_response());
    }
    enter_as(desk, session, headers, staff, taste).await?;
    if required {
        let due = session.insert(people::FACTOR_DUE, true).await;
        due.map_err(|error| lost(&error, taste))?;
        return Ok(Redirect::to("/me").into_response());
    }
    Ok(Redirect::to(&next).into_response())
}

fn lost(error: &tower_sessions::session::Error, taste: &Taste) -> Problem {
    tracing::error!(%error, "a session can not be kept");
    Problem::new(ProblemCode::Unavailable, taste.lang)
}

async fn enter_as(
    desk: &Desk,
    session: &Session,
    headers: &HeaderMap,
    staff: StaffId,
    taste: &Taste,
) -> Result<(), Problem> {
    let entered = people::sign_in(session, &Actor::Staff(staff), headers, desk.now()).await;
    entered.map_err(|error| lost(&error, taste))
}

/// A code of the second factor, or a recovery code.
#[derive(Deserialize)]
pub(super) struct TypedCode {
    #[serde(default)]
    code: String,
    /// Not empty for whoever wants to sign in as somebody else.
    #[serde(default)]
    again: String,
}

/// The second factor.
pub(super) async fn code(
    State(desk): State<Desk>,
    taste: Taste,
    headers: HeaderMap,
    session: Session,
    Form(TypedCode { code, again }): Form<TypedCode>,
) -> Result<Response, Problem> {
    if !again.is_empty() {
        return sign_out(State(desk), taste, session).await;
    }
    let read = |error: store::Error| Problem::read(&error, taste.lang);
    let Some(Pending { staff, proof, next, .. }) = pending(&session, desk.now()).await else {
        return Ok(Redirect::to("/sign-in").into_response());
    };
    let mut tx = desk.db().read().await.map_err(read)?;
    let same = proof.is_none() || proof_of(&mut tx, staff).await.map_err(read)? == proof;
    drop(tx);
    if !same {
        // It was changed since it was given: it opens nothing any more.
        return sign_out(State(desk), taste, session).await;
    }
    let page = Page { code: true, ..empty(&desk, &taste, String::new()) };
    let tried = throttle::begin_code(&desk, &staff.to_string()).await.map_err(read)?;
    let tried = match tried {
        Ok(tried) => tried,
        Err(left) => return Ok(wait(&desk, &taste, page, left)),
    };
    let right = desk.executor().use_factor(staff, &code).await;
    if !right.map_err(|error| Problem::of_office(&error, taste.lang))? {
        tracing::info!(%staff, "a second factor failed");
        let page = Page { wrong: Some(words(taste.lang, "code-failed", &[])), ..page };
        return Ok(show(&desk, &taste, page, StatusCode::UNAUTHORIZED));
    }
    tried.succeeded(&desk).await.map_err(read)?;
    enter_as(&desk, &session, &headers, staff, &taste).await?;
    Ok(Redirect::to(safe(&next)).into_response())
}

/// A link for staff, used. It stands for the password; a second factor is asked for all the same.
pub(super) async fn enter(
    State(desk): State<Desk>,
    taste: Taste,
    headers: HeaderMap,
    session: Session,
    TokenPath(token): TokenPath,
) -> Result<Response, Problem> {
    let read = |error: store::Error| Problem::read(&error, taste.lang);
    let missing = || Problem::new(ProblemCode::NotFound, taste.lang);
    let mut tx = desk.db().begin().await.map_err(read)?;
    let now = tx.now().await.map_err(read)?;
    let hash = token_hash(&token);
    let link = tx.link(&hash, now).await.map_err(read)?;
    let Some(Link { actor: Actor::Staff(staff), purpose: LinkPurpose::Enter }) = link else {
        return Err(missing());
    };
    let used = tx.use_link(&hash, LinkPurpose::Enter, now).await.map_err(read)?;
    tx.commit().await.map_err(read)?;
    used.ok_or_else(missing)?;
    tracing::info!(%staff, "a link was used");
    let proven = Proven { staff, proof: None };
    come_in(&desk, &taste, &session, &headers, proven, "/board".to_owned()).await
}

/// Out: the session is gone, here and in the database, and what the browser kept of our pages with it.
pub(super) async fn sign_out(
    State(desk): State<Desk>,
    taste: Taste,
    session: Session,
) -> Result<Response, Problem> {
    let gone = session.flush().await;
    gone.map_err(|_| Problem::new(ProblemCode::Unavailable, taste.lang))?;
    desk.hub().look_at_rights();
    Ok(people::farewell("/sign-in"))
}
