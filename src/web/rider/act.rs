//! What a rider sent: decided, then shown. Sent twice, it has one effect and one answer.

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Redirect, Response},
};
use tower_sessions::Session;

use super::{
    super::{
        desk::Desk,
        extract::{Form, InPath, TaskPath, TokenPath},
        forms::{self, Typed},
        pace,
        page::{Taste, words},
        people::{self, RiderSeat},
        positions::{self, LocationAnswer, LocationBody},
        problem::{Problem, ProblemCode},
        trouble::Trouble,
    },
    home::{Asked, Showing, show},
};
use crate::{
    domain::{
        answer::Outcome,
        command::{Actor, Command, RequestKey, Verb, What},
        facts::Duty,
    },
    engine::rounds::Grabbed,
    store::{self, Link, LinkPurpose, RiderChange, token_hash},
};

/// A form of a card.
pub(super) async fn command(
    State(desk): State<Desk>,
    RiderSeat(seat): RiderSeat,
    TaskPath(id): TaskPath,
    InPath((_, verb)): InPath<(String, String)>,
    Form(typed): Form<Typed>,
) -> Result<Response, Problem> {
    let lang = seat.lang();
    let missing = || Problem::new(ProblemCode::NotFound, lang);
    let verb = Verb::parse(&verb).ok_or_else(missing)?;
    let act = forms::act(verb, &typed).ok_or_else(missing)?;
    let parsed = forms::based_on(&typed).and_then(|based| Ok((based, act?)));
    let ((key, revision), act) = match parsed {
        Ok(parsed) => parsed,
        Err(wrong) => {
            let trouble = Some(Trouble::saying(words(lang, wrong.words, &[])));
            let before = Some((id, typed));
            let showing = Showing { trouble, before, ..Showing::default() };
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            return show(&desk, &seat, Asked::default(), showing, status).await;
        }
    };
    pace::keep(&desk, seat.actor(), id, lang)?;
    let what = What::Change { task: id, revision, act };
    let command = Command { actor: seat.actor().clone(), key: Some(key.clone()), lang, what };
    match desk.rounds().grab(command).await {
        Ok(Grabbed::Waits { .. }) => {
            let to = format!("/rider?answer={}&verb=wait#answer", key.as_str());
            Ok(Redirect::to(&to).into_response())
        }
        Ok(Grabbed::Decided(reply)) => {
            if reply.answer().is_ok_and(|answer| answer.outcome == Outcome::Refused) {
                seat.keep_draft(key.as_str(), &typed).await;
            }
            let to = format!("/rider?answer={}&verb={verb}#answer", key.as_str());
            Ok(Redirect::to(&to).into_response())
        }
        Err(error) => {
            let action = format!("/rider/tasks/{id}/{verb}");
            let (trouble, status) = Trouble::of(&error, action, &typed, lang);
            let (trouble, before) = (Some(trouble), Some((id, typed)));
            let showing = Showing { trouble, before, ..Showing::default() };
            show(&desk, &seat, Asked::default(), showing, status).await
        }
    }
}

/// "No, thanks" to a round: it is not shown to this rider again.
pub(super) async fn decline_round(
    State(desk): State<Desk>,
    RiderSeat(seat): RiderSeat,
    InPath(round): InPath<String>,
    Form(typed): Form<Typed>,
) -> Result<Response, Problem> {
    let missing = || Problem::new(ProblemCode::NotFound, seat.lang());
    let (Some(rider), Ok(round)) = (seat.actor().rider(), round.parse()) else {
        return Err(missing());
    };
    let key = RequestKey::parse(typed.get("key")).ok_or_else(missing)?;
    pace::keep_deed(&desk, seat.actor(), seat.lang())?;
    let declined = desk.rounds().decline(rider, &key, seat.lang(), round).await;
    declined.map_err(|error| Problem::of(&error, seat.lang()))?;
    Ok(Redirect::to("/rider").into_response())
}

/// On duty, on a break, off.
pub(super) async fn duty(
    State(desk): State<Desk>,
    RiderSeat(seat): RiderSeat,
    Form(typed): Form<Typed>,
) -> Result<Response, Problem> {
    let duty = Duty::parse(typed.get("duty"));
    let duty = duty.ok_or_else(|| Problem::new(ProblemCode::BodyInvalid, seat.lang()))?;
    pace::keep_deed(&desk, seat.actor(), seat.lang())?;
    let present = seat.caller.rider.as_ref().map(|account| account.rider.duty);
    // What is so already changes nothing, and nothing is logged.
    if let Some(me) = seat.actor().rider().filter(|_| present != Some(duty)) {
        let change = RiderChange { duty: Some(duty), ..RiderChange::default() };
        let changed = desk.executor().change_rider(seat.actor(), me, &change).await;
        changed.map_err(|error| Problem::of(&error, seat.lang()))?;
    }
    Ok(Redirect::to("/rider").into_response())
}

/// Where this page's device is: the same message that scripts send, as one field of a form.
pub(super) async fn location(
    State(desk): State<Desk>,
    RiderSeat(seat): RiderSeat,
    Form(typed): Form<Typed>,
) -> Result<Json<LocationAnswer>, Problem> {
    let lang = seat.lang();
    let account = seat.caller.rider.as_ref();
    let account = account.ok_or_else(|| Problem::new(ProblemCode::NotFound, lang))?;
    let body: LocationBody = serde_json::from_str(typed.get("body"))
        .map_err(|error| Problem::new(ProblemCode::BodyInvalid, lang).with(error.to_string()))?;
    positions::take(&desk, account, &body, lang).await.map(Json)
}

/// A link for riders, used: this device is remembered.
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
    if !matches!(
        tx.link(&hash, now).await.map_err(read)?,
        Some(Link { actor: Actor::Rider(_), purpose: LinkPurpose::Enter })
    ) {
        return Err(missing());
    }
    let actor =
        tx.use_link(&hash, LinkPurpose::Enter, now).await.map_err(read)?.ok_or_else(missing)?;
    tx.commit().await.map_err(read)?;
    people::sign_in(&session, &actor, &headers, desk.now()).await.map_err(|error| {
        tracing::error!(%error, "a session can not be kept");
        Problem::new(ProblemCode::Unavailable, taste.lang)
    })?;
    Ok(Redirect::to("/rider").into_response())
}

/// This device is forgotten.
pub(super) async fn sign_out(
    State(desk): State<Desk>,
    taste: Taste,
    session: Session,
) -> Result<Response, Problem> {
    let gone = session.flush().await;
    gone.map_err(|_| Problem::new(ProblemCode::Unavailable, taste.lang))?;
    desk.hub().look_at_rights();
    Ok(people::farewell("/rider/closed"))
}
