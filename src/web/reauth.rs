//! The present password, asked for again before something that only its owner may do (OWASP ASVS 5.0, 7.5.1 and 7.5.3).

use axum::{http::StatusCode, response::Response};

use super::{
    desk::Desk,
    forms::Typed,
    hashing::Crowded,
    page::words,
    password,
    peer::Peer,
    people::Seat,
    problem::{Problem, ProblemCode},
    throttle::{self, Wait},
};
use crate::{
    domain::{id::RiderId, refusal::Lang},
    store,
};

/// Why it was not taken.
#[derive(Debug)]
pub(super) enum Unproven {
    /// It was tried too often.
    Early(Wait),
    /// It is another one.
    Wrong,
    /// There is none: whoever came by a link alone has not set one.
    None,
}

impl Unproven {
    /// What the page says about it.
    pub(super) fn words(&self, lang: Lang) -> String {
        match self {
            Self::Early(wait) => wait.words(lang),
            Self::Wrong => Problem::new(ProblemCode::ReauthRequired, lang).sentence().to_owned(),
            Self::None => words(lang, "no-password-yet", &[]),
        }
    }

    /// A page that says it, as an answer that scripts understand as well.
    pub(super) fn answer(&self, mut page: Response) -> Response {
        match self {
            Self::Early(wait) => return wait.answer(page),
            Self::Wrong | Self::None => *page.status_mut() = StatusCode::FORBIDDEN,
        }
        page
    }
}

/// Whether the field `present` holds the password of the rider who is signed in. One without a password has nothing to
/// give: they came by a link, and set their first.
///
/// # Errors
/// If it could not be looked at.
pub(super) async fn rider(
    desk: &Desk,
    seat: &Seat,
    me: RiderId,
    phone: &str,
    typed: &Typed,
    from: Peer,
) -> Result<Result<(), Unproven>, Problem> {
    let read = |error: store::Error| Problem::read(&error, seat.lang());
    let mut tx = desk.db().read().await.map_err(read)?;
    let known = tx.rider_password(phone).await.map_err(read)?;
    drop(tx);
    match known.filter(|(of, _)| *of == me) {
        Some((_, phc)) => compare(desk, seat, ("rider", phone), Some(phc), typed, from).await,
        None => Ok(Ok(())),
    }
}

/// Whether the field `present` holds the password of whoever is signed in. Guessing is slowed down as it is at the
/// sign-in.
///
/// # Errors
/// If it could not be looked at.
pub(super) async fn owner(
    desk: &Desk,
    seat: &Seat,
    typed: &Typed,
    from: Peer,
) -> Result<Result<(), Unproven>, Problem> {
    let staff = seat.staff()?;
    let read = |error: store::Error| Problem::read(&error, seat.lang());
    let mut tx = desk.db().read().await.map_err(read)?;
    let known = tx.password_of(staff).await.map_err(read)?;
    drop(tx);
    let Some((login, phc)) = known else { return Ok(Err(Unproven::None)) };
    compare(desk, seat, ("staff", &login), Some(phc), typed, from).await
}

async fn compare(
    desk: &Desk,
    seat: &Seat,
    (kind, name): (&str, &str),
    phc: Option<String>,
    typed: &Typed,
    from: Peer,
) -> Result<Result<(), Unproven>, Problem> {
    let read = |error: store::Error| Problem::read(&error, seat.lang());
    let busy = |Crowded| Problem::new(ProblemCode::Busy, seat.lang());
    let place = desk.hashing().join().map_err(busy)?;
    let tried = throttle::begin(desk, kind, name, from).await;
    let tried = match tried.map_err(read)? {
        Ok(tried) => tried,
        Err(wait) => return Ok(Err(Unproven::Early(wait))),
    };
    let right = password::verify(place, typed.raw("present").to_owned(), phc).await;
    if right {
        tried.succeeded(desk).await.map_err(read)?;
        return Ok(Ok(()));
    }
    Ok(Err(Unproven::Wrong))
}
