//! Riders: signing in with one's phone number, a password of one's own, and the devices that are remembered.

use askama::Template;
use axum::{
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Redirect, Response},
};
use tower_sessions::Session;

use super::{
    super::{
        desk::Desk,
        extract::Form,
        forms::Typed,
        hashing::Crowded,
        page::{Shell, Taste, filters, render, words},
        password,
        peer::Peer,
        people::{self, RiderSeat, Seat, zone},
        problem::{Problem, ProblemCode},
        reauth, rider, throttle,
    },
    Device, Ended, devices, end, hashed, said, unfit,
};
use crate::{
    domain::command::Actor,
    engine::office::phone_number,
    store::{self},
};

#[derive(Template)]
#[template(path = "account/rider.html")]
struct Page {
    shell: Shell,
    phone: Option<String>,
    /// Whether there is a password, which is asked for before it is changed.
    has_password: bool,
    devices: Vec<Device>,
    done: Option<String>,
    wrong: Option<String>,
}

/// Phone number and password.
pub(super) async fn sign_in(
    State(desk): State<Desk>,
    taste: Taste,
    from: Peer,
    headers: HeaderMap,
    session: Session,
    Form(typed): Form<Typed>,
) -> Result<Response, Problem> {
    let read = |error: store::Error| Problem::read(&error, taste.lang);
    let phone = phone_number(typed.get("phone")).unwrap_or_default();
    let busy = |Crowded| Problem::new(ProblemCode::Busy, taste.lang);
    let place = desk.hashing().join().map_err(busy)?;
    let tried = match throttle::begin(&desk, "rider", &phone, from).await.map_err(read)? {
        Ok(tried) => tried,
        Err(wait) => {
            let (phone, wrong) = (typed.get("phone"), Some(wait.words(taste.lang)));
            return Ok(wait.answer(rider::door(&desk, &taste, phone, wrong, StatusCode::OK)));
        }
    };
    let mut tx = desk.db().read().await.map_err(read)?;
    let (id, phc) = tx.rider_password(&phone).await.map_err(read)?.unzip();
    drop(tx);
    let right = password::verify(place, typed.raw("password").to_owned(), phc.clone()).await;
    // As for staff: looked at only with the right password.
    let entered = match id.filter(|_| right) {
        Some(id) => {
            let mut tx = desk.db().read().await.map_err(read)?;
            // It may have been taken away while it waited for its turn.
            let now = tx.rider_password(&phone).await.map_err(read)?;
            let same = now.map(|(_, phc)| phc) == phc;
            let rider = tx.rider(id).await.map_err(read)?;
            rider.filter(|rider| same && !rider.disabled).map(|_| id)
        }
        None => None,
    };
    let Some(id) = entered else {
        tracing::info!(peer = %from.group(), rider = ?id, "a sign-in failed");
        let wrong = Some(words(taste.lang, "rider-sign-in-failed", &[]));
        let status = StatusCode::UNAUTHORIZED;
        return Ok(rider::door(&desk, &taste, typed.get("phone"), wrong, status));
    };
    tried.succeeded(&desk).await.map_err(read)?;
    tracing::info!(peer = %from.group(), rider = %id, "the password was right");
    let entered = people::sign_in(&session, &Actor::Rider(id), &headers, desk.now()).await;
    entered.map_err(|_| Problem::new(ProblemCode::Unavailable, taste.lang))?;
    Ok(Redirect::to("/rider").into_response())
}

async fn show(
    desk: &Desk,
    seat: &Seat,
    done: Option<&str>,
    wrong: Option<String>,
    status: StatusCode,
) -> Result<Response, Problem> {
    let failed = |error: store::Error| Problem::read(&error, seat.lang());
    let mut tx = desk.db().read().await.map_err(failed)?;
    let now = tx.now().await.map_err(failed)?;
    let regions = seat.regions(&mut tx, now).await.map_err(failed)?;
    let zone = zone(&regions, now);
    let here = seat.hash();
    let devices = devices(&mut tx, seat.actor(), &here, zone, &seat.taste);
    let devices = devices.await.map_err(failed)?;
    let phone = seat.caller.rider.as_ref().and_then(|account| account.phone.clone());
    let known = match &phone {
        Some(phone) => tx.rider_password(phone).await.map_err(failed)?,
        None => None,
    };
    let page = Page {
        shell: seat.shell(desk, &regions, zone),
        has_password: known.is_some_and(|(of, _)| seat.caller.actor == Actor::Rider(of)),
        phone,
        devices,
        done: done.map(|key| words(seat.lang(), key, &[])),
        wrong,
    };
    Ok(render(&page, seat.lang(), status))
}

/// My account.
pub(super) async fn page(
    State(desk): State<Desk>,
    RiderSeat(seat): RiderSeat,
) -> Result<Response, Problem> {
    show(&desk, &seat, None, None, StatusCode::OK).await
}

/// A password, so that I come in without a link.
pub(super) async fn password(
    State(desk): State<Desk>,
    RiderSeat(seat): RiderSeat,
    from: Peer,
    Form(typed): Form<Typed>,
) -> Result<Response, Problem> {
    let Some((me, account)) = seat.caller.actor.rider().zip(seat.caller.rider.as_ref()) else {
        return Err(Problem::new(ProblemCode::Forbidden, seat.lang()));
    };
    let new = typed.raw("password").to_owned();
    let phone = account.phone.clone().unwrap_or_default();
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    if let Err(why) = password::fit(&new, &[&account.name, &phone]) {
        return show(&desk, &seat, None, Some(unfit(why, &seat.taste)), status).await;
    }
    let proven = reauth::rider(&desk, &seat, me, &phone, &typed, from).await?;
    if let Err(unproven) = proven {
        let wrong = Some(unproven.words(seat.lang()));
        return Ok(unproven.answer(show(&desk, &seat, None, wrong, StatusCode::OK).await?));
    }
    let phc = hashed(&desk, &seat.taste, new).await?;
    match desk.executor().set_rider_password(me, &phc, &seat.hash()).await {
        Ok(()) => show(&desk, &seat, Some("password-saved"), None, StatusCode::OK).await,
        Err(error) => {
            let wrong = said(&error, &seat.taste)?;
            show(&desk, &seat, None, Some(wrong), status).await
        }
    }
}

/// One of my devices is forgotten, or all others.
pub(super) async fn end_sessions(
    State(desk): State<Desk>,
    RiderSeat(seat): RiderSeat,
    Form(which): Form<Ended>,
) -> Result<Redirect, Problem> {
    end(&desk, &seat.taste, seat.actor(), &seat.hash(), &which).await?;
    Ok(Redirect::to("/rider/me"))
}
