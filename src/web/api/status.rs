//! Time and health.

use axum::{Json, extract::State, http::StatusCode};
use serde::Serialize;
use utoipa::ToSchema;

use super::super::{desk::Desk, extract::Language, problem::Problem};
use crate::{
    domain::id::{Timestamp, rfc3339},
    store,
};

/// What time it is.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct TimeAnswer {
    /// The store's clock: the one that deadlines go by.
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    server_time: Timestamp,
}

/// The store's clock: the one that deadlines go by.
#[utoipa::path(
    get, path = "/api/v1/time", tag = "status", operation_id = "time",
    responses((status = 200, body = TimeAnswer))
)]
pub(super) async fn time(
    State(desk): State<Desk>,
    Language(lang): Language,
) -> Result<Json<TimeAnswer>, Problem> {
    let failed = |error: store::Error| Problem::read(&error, lang);
    let mut tx = desk.db().read().await.map_err(failed)?;
    let server_time = tx.now().await.map_err(failed)?;
    Ok(Json(TimeAnswer { server_time }))
}

/// Whether the program runs.
#[utoipa::path(
    get, path = "/healthz", tag = "status", operation_id = "healthz",
    responses((status = 200, body = String, content_type = "text/plain"))
)]
pub(super) async fn alive() -> &'static str {
    "ok\n"
}

/// Whether commands can be taken.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ReadyAnswer {
    /// Whether commands can be taken now.
    ready: bool,
}

/// Whether commands can be taken: a node that could not store the last ones tries a write.
#[utoipa::path(
    get, path = "/readyz", tag = "status", operation_id = "readyz",
    responses((status = 200, body = ReadyAnswer), (status = 503, body = ReadyAnswer))
)]
pub(super) async fn ready(State(desk): State<Desk>) -> (StatusCode, Json<ReadyAnswer>) {
    let ready = !desk.hub().is_stopping() && desk.executor().is_ready().await;
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(ReadyAnswer { ready }))
}
