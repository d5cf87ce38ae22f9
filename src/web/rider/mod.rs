//! The rider's page: for one thumb, without JavaScript. Offers, what is mine, what may be grabbed.

mod act;
mod card;
mod home;
mod lost;

use axum::{
    Router,
    routing::{get, post},
};

pub(super) use home::door;

use super::{account, desk::Desk, live, people::sessions, session::Lifetime};

/// The routes of riders.
pub(super) fn router(desk: &Desk) -> Router<Desk> {
    Router::new()
        .route("/rider", get(home::page))
        .route("/rider/stream", get(live::pages::rider))
        .route("/rider/closed", get(home::closed))
        .route("/rider/duty", post(act::duty))
        .route("/rider/location", post(act::location))
        .route("/rider/sign-out", post(act::sign_out))
        .route("/rider/enter/{token}", post(act::enter))
        .route("/rider/tasks/{id}/{verb}", post(act::command))
        .route("/rider/rounds/{round}/decline", post(act::decline_round))
        .merge(account::riders())
        .layer(sessions(desk, "rider", Lifetime::RIDER))
}
