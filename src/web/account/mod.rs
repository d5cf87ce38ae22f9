//! One's own account: the first password, the second factor, where one is signed in.
//!
//! | file | |
//! |---|---|
//! | `links` | a password of one's own by a link, and the first admin by the set-up link |
//! | `me` | staff: password, second factor, sessions |
//! | `rider` | riders: signing in with a phone number, password, sessions |

mod links;
mod me;
mod rider;

use axum::{
    Router,
    routing::{get, post},
};

pub(super) use links::first;

use super::{
    desk::Desk,
    hashing::Crowded,
    page::{Taste, Zone, words},
    password::{self, Unfit},
    problem::{Problem, ProblemCode},
};
use crate::{
    domain::command::Actor,
    engine::office,
    store::{self, Tx, WebSession},
};

/// The routes of staff, within the console's sessions.
pub(super) fn staff() -> Router<Desk> {
    Router::new()
        .route("/password/{token}", post(links::set_password))
        .route("/set-up/{token}", post(links::set_up))
        .route("/me", get(me::page))
        .route("/me/password", post(me::password))
        .route("/me/factor", post(me::new_factor))
        .route("/me/factor/confirm", post(me::confirm_factor))
        .route("/me/factor/remove", post(me::remove_factor))
        .route("/me/sessions/end", post(me::end_sessions))
}

/// The routes of riders, within their sessions.
pub(super) fn riders() -> Router<Desk> {
    Router::new()
        .route("/rider/sign-in", post(rider::sign_in))
        .route("/rider/me", get(rider::page))
        .route("/rider/me/password", post(rider::password))
        .route("/rider/me/sessions/end", post(rider::end_sessions))
}

/// Why a new password will not do, in words.
fn unfit(unfit: Unfit, taste: &Taste) -> String {
    let key = match unfit {
        Unfit::Short => "password-short",
        Unfit::Long => "password-long",
        Unfit::Guessable => "password-guessable",
    };
    words(taste.lang, key, &[])
}

/// Why a change was not made, in words that belong to a form; anything that does not is a problem of its own.
fn said(error: &office::Error, taste: &Taste) -> Result<String, Problem> {
    let key = match error {
        office::Error::Taken => "wrong-taken",
        office::Error::Invalid(field) => {
            let field = words(taste.lang, &format!("field-{field}"), &[]);
            return Ok(words(taste.lang, "wrong-field", &[("v", &field)]));
        }
        other => return Err(Problem::of_office(other, taste.lang)),
    };
    Ok(words(taste.lang, key, &[]))
}

/// Hashes a new password.
async fn hashed(desk: &Desk, taste: &Taste, new: String) -> Result<String, Problem> {
    let made = password::make(desk, new).await;
    let made = made.map_err(|Crowded| Problem::new(ProblemCode::Busy, taste.lang))?;
    made.ok_or_else(|| Problem::new(ProblemCode::Faulty, taste.lang))
}

/// A session as its owner sees it in a list.
struct Device {
    hash: String,
    name: String,
    since: super::page::When,
    seen: super::page::When,
    here: bool,
}

/// Where somebody is signed in, the last used first.
async fn devices(
    tx: &mut Tx,
    of: &Actor,
    here: &str,
    zone: Zone,
    taste: &Taste,
) -> store::Result<Vec<Device>> {
    let device = |session: WebSession| Device {
        here: session.hash == here,
        name: match session.device.as_str() {
            "" => words(taste.lang, "session-unknown", &[]),
            name => name.to_owned(),
        },
        since: zone.when(session.created_at),
        seen: zone.when(session.seen_at),
        hash: session.hash,
    };
    Ok(tx.sessions_of(of, 50).await?.into_iter().map(device).collect())
}

/// Which session to end: one by its hash, or all but this one.
#[derive(serde::Deserialize)]
struct Ended {
    #[serde(default)]
    session: String,
}

/// Ends one of somebody's sessions, or all others.
async fn end(
    desk: &Desk,
    taste: &Taste,
    of: &Actor,
    here: &str,
    which: &Ended,
) -> Result<(), Problem> {
    let failed = |error: store::Error| Problem::read(&error, taste.lang);
    let mut tx = desk.db().begin().await.map_err(failed)?;
    match which.session.as_str() {
        "" => tx.end_others_of(of, here).await.map_err(failed)?,
        hash => tx.end_session_of(of, &hash.replace('\0', "")).await.map_err(failed)?,
    };
    tx.commit().await.map_err(failed)
}
