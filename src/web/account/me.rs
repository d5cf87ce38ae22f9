//! My account, for staff: another password, a second factor, and where I am signed in. Whatever changes how one comes
//! in asks for the present password first (OWASP ASVS 5.0, 7.5.1).

use askama::Template;
use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Redirect, Response},
};

use super::{
    super::{
        desk::Desk,
        extract::Form,
        forms::Typed,
        page::{Shell, Taste, When, encode, filters, render, words},
        password,
        peer::Peer,
        people::{FACTOR_DUE, Seat, StaffSeat, zone},
        picture::{self, Picture},
        problem::{Problem, ProblemCode},
        reauth, throttle,
    },
    Device, Ended, devices, end, hashed, said, unfit,
};
use crate::{
    domain::id::StaffId,
    store::{self, Factor},
};

#[derive(Template)]
#[template(path = "account/me.html")]
struct Page {
    shell: Shell,
    login: String,
    /// Since when the second factor counts.
    factor: Option<When>,
    required: bool,
    codes_left: i64,
    devices: Vec<Device>,
    /// A new factor that is to be confirmed: its secret, and the picture of its address.
    new: Option<(String, Picture)>,
    /// The recovery codes, shown this once.
    codes: Vec<String>,
    done: Option<String>,
    wrong: Option<String>,
}

/// What came of a form, shown on the page.
#[derive(Default)]
struct Came {
    done: Option<&'static str>,
    wrong: Option<String>,
    codes: Vec<String>,
    /// Whether the new factor is to be shown.
    new: bool,
}

async fn show(
    desk: &Desk,
    seat: &Seat,
    came: Came,
    status: StatusCode,
) -> Result<Response, Problem> {
    let failed = |error: store::Error| Problem::read(&error, seat.lang());
    let staff = seat.staff()?;
    let mut tx = desk.db().read().await.map_err(failed)?;
    let now = tx.now().await.map_err(failed)?;
    let regions = seat.regions(&mut tx, now).await.map_err(failed)?;
    let zone = zone(&regions, now);
    let login = tx.password_of(staff).await.map_err(failed)?.map(|(login, _)| login);
    let factor = tx.factor(staff).await.map_err(failed)?;
    let required = tx.desk_rule().await.map_err(failed)?.factor_required;
    let codes_left = tx.codes_left(staff).await.map_err(failed)?;
    let here = seat.hash();
    let devices = devices(&mut tx, seat.actor(), &here, zone, &seat.taste);
    let devices = devices.await.map_err(failed)?;
    drop(tx);
    let login = login.unwrap_or_default();
    let confirmed = factor.as_ref().and_then(|factor| factor.confirmed_at);
    let new = factor.filter(|factor| came.new && factor.confirmed_at.is_none());
    let page = Page {
        shell: seat.shell(desk, &regions, zone),
        new: new.map(|factor| shown(&factor, &login, desk)),
        login,
        factor: confirmed.map(|at| zone.when(at)),
        required,
        codes_left,
        devices,
        codes: came.codes,
        done: came.done.map(|key| words(seat.lang(), key, &[])),
        wrong: came.wrong,
    };
    Ok(render(&page, seat.lang(), status))
}

/// A secret as it is typed, and the picture of the address that apps read it from.
fn shown(factor: &Factor, login: &str, desk: &Desk) -> (String, Picture) {
    let host = desk.origin().as_str().split("://").nth(1).unwrap_or_default();
    let label = encode(&format!("Dispatch Desk {host}:{login}"));
    let address = format!("otpauth://totp/{label}?secret={}&issuer=Dispatch%20Desk", factor.secret);
    (factor.secret.clone(), picture::qr(&address))
}

/// The page.
pub(super) async fn page(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
) -> Result<Response, Problem> {
    show(&desk, &seat, Came::default(), StatusCode::OK).await
}

/// Whether the present password was given. If not, what to show instead.
async fn again(desk: &Desk, seat: &Seat, typed: &Typed, from: Peer) -> Result<(), Response> {
    let proven = reauth::owner(desk, seat, typed, from).await;
    let Err(unproven) = proven.map_err(IntoResponse::into_response)? else { return Ok(()) };
    let came = Came { wrong: Some(unproven.words(seat.lang())), ..Came::default() };
    let shown = show(desk, seat, came, StatusCode::OK).await;
    Err(shown.map_or_else(IntoResponse::into_response, |page| unproven.answer(page)))
}

fn refused(taste: &Taste, error: &crate::engine::office::Error) -> Result<Came, Problem> {
    Ok(Came { wrong: Some(said(error, taste)?), ..Came::default() })
}

/// Another password. The other sessions end.
pub(super) async fn password(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    from: Peer,
    Form(typed): Form<Typed>,
) -> Result<Response, Response> {
    again(&desk, &seat, &typed, from).await?;
    let problem = IntoResponse::into_response;
    let staff: StaffId = seat.staff().map_err(problem)?;
    let new = typed.raw("password").to_owned();
    let name = seat.caller.staff.as_ref().map(|account| account.name.clone()).unwrap_or_default();
    if let Err(why) = password::fit(&new, &[&name]) {
        let came = Came { wrong: Some(unfit(why, &seat.taste)), ..Came::default() };
        return show(&desk, &seat, came, StatusCode::UNPROCESSABLE_ENTITY).await.map_err(problem);
    }
    let phc = hashed(&desk, &seat.taste, new).await.map_err(problem)?;
    let set = desk.executor().set_own_password(staff, &phc, &seat.hash()).await;
    set.map_err(|error| Problem::of_office(&error, seat.lang()).into_response())?;
    let came = Came { done: Some("password-saved"), ..Came::default() };
    show(&desk, &seat, came, StatusCode::OK).await.map_err(problem)
}

/// A new second factor, which does not count before its first code.
pub(super) async fn new_factor(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    from: Peer,
    Form(typed): Form<Typed>,
) -> Result<Response, Response> {
    again(&desk, &seat, &typed, from).await?;
    let problem = IntoResponse::into_response;
    let staff = seat.staff().map_err(problem)?;
    let made = desk.executor().new_factor(staff).await;
    made.map_err(|error| Problem::of_office(&error, seat.lang()).into_response())?;
    let came = Came { new: true, ..Came::default() };
    show(&desk, &seat, came, StatusCode::OK).await.map_err(problem)
}

/// The first code of a new factor: from now on it counts.
pub(super) async fn confirm_factor(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    Form(typed): Form<Typed>,
) -> Result<Response, Problem> {
    let staff = seat.staff()?;
    let failed = |error: store::Error| Problem::read(&error, seat.lang());
    let tried = throttle::begin_code(&desk, &staff.to_string()).await.map_err(failed)?;
    let tried = match tried {
        Ok(tried) => tried,
        Err(wait) => {
            let came = Came { wrong: Some(wait.words(seat.lang())), ..Came::default() };
            return Ok(wait.answer(show(&desk, &seat, came, StatusCode::OK).await?));
        }
    };
    match desk.executor().confirm_factor(staff, typed.get("code")).await {
        Ok(codes) => {
            tried.succeeded(&desk).await.map_err(failed)?;
            // Whoever had to set it up may go on now.
            let free = seat.session.remove::<bool>(FACTOR_DUE).await;
            free.map_err(|_| Problem::new(ProblemCode::Unavailable, seat.lang()))?;
            let came = Came { done: Some("factor-saved"), codes, ..Came::default() };
            show(&desk, &seat, came, StatusCode::OK).await
        }
        Err(error) => {
            let came = Came { new: true, ..refused(&seat.taste, &error)? };
            show(&desk, &seat, came, StatusCode::UNPROCESSABLE_ENTITY).await
        }
    }
}

/// No second factor any more.
pub(super) async fn remove_factor(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    from: Peer,
    Form(typed): Form<Typed>,
) -> Result<Response, Response> {
    again(&desk, &seat, &typed, from).await?;
    let problem = IntoResponse::into_response;
    let staff = seat.staff().map_err(problem)?;
    let gone = desk.executor().remove_own_factor(staff).await;
    gone.map_err(|error| Problem::of_office(&error, seat.lang()).into_response())?;
    let came = Came { done: Some("factor-gone"), ..Came::default() };
    show(&desk, &seat, came, StatusCode::OK).await.map_err(problem)
}

/// One of my sessions ends, or all others.
pub(super) async fn end_sessions(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    Form(which): Form<Ended>,
) -> Result<Redirect, Problem> {
    end(&desk, &seat.taste, seat.actor(), &seat.hash(), &which).await?;
    Ok(Redirect::to("/me"))
}
