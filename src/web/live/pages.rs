//! The streams of the pages: the console's, the rider's, the customer's.

use axum::{extract::State, response::Response};

use super::{
    super::{
        desk::Desk,
        extract::{Language, TokenPath},
        people::{RiderSeat, Seat, StaffSeat},
        problem::{Problem, ProblemCode},
        session::Lifetime,
    },
    Asked, open,
};
use crate::{
    domain::command::Actor,
    engine::hub::{Pace, Reader, Way},
    store,
};

fn reader(seat: &Seat, pace: Pace, lifetime: Lifetime) -> Reader {
    let Lifetime { idle_ms, most_ms } = lifetime;
    let way = Way::Session { hash: seat.hash(), idle_ms, most_ms };
    Reader { actor: seat.actor().clone(), way, pace }
}

/// The console's: which tasks of the reader's regions changed.
pub(in crate::web) async fn console(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    asked: Asked,
) -> Result<Response, Problem> {
    open(&desk, reader(&seat, Pace::Board, Lifetime::STAFF), asked, seat.lang())
}

/// The rider's: what concerns the rider, at once.
pub(in crate::web) async fn rider(
    State(desk): State<Desk>,
    RiderSeat(seat): RiderSeat,
    asked: Asked,
) -> Result<Response, Problem> {
    open(&desk, reader(&seat, Pace::Each, Lifetime::RIDER), asked, seat.lang())
}

/// The customer's: what becomes of the order.
pub(in crate::web) async fn customer(
    State(desk): State<Desk>,
    Language(lang): Language,
    TokenPath(token): TokenPath,
    asked: Asked,
) -> Result<Response, Problem> {
    let failed = |error: store::Error| Problem::read(&error, lang);
    let mut tx = desk.db().read().await.map_err(failed)?;
    let found = tx.tracked(&[&token]).await.map_err(failed)?.pop();
    drop(tx);
    let (token, task) = found.ok_or_else(|| Problem::new(ProblemCode::NotFound, lang))?;
    let reader = Reader { actor: Actor::Customer(task), way: Way::Link(token), pace: Pace::Each };
    open(&desk, reader, asked, lang)
}
