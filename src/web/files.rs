//! Files that browsers fetch: under a name that changes with their content, so that they may be kept for ever.

use std::sync::LazyLock;

use axum::{
    Router,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use sha2::{Digest, Sha256};

use super::desk::Desk;
use crate::domain::fingerprint::hex;

const STYLE: &str = include_str!("../../static/desk.css");

static STYLE_PATH: LazyLock<String> = LazyLock::new(|| {
    let version = hex(&Sha256::digest(STYLE.as_bytes())[..6]);
    format!("/static/{version}/desk.css")
});

/// Where the style sheet is.
pub(super) fn style() -> &'static str {
    &STYLE_PATH
}

async fn serve_style() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/css; charset=utf-8"),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    (StatusCode::OK, headers, STYLE).into_response()
}

/// The routes of the files.
pub(super) fn router() -> Router<Desk> {
    Router::new().route(style(), get(serve_style))
}
