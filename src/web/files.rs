//! Files that browsers fetch: under a name that changes with their content, so that they may be kept for ever.

use std::sync::LazyLock;

use axum::{
    Router,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use sha2::{Digest, Sha256};

use super::{
    desk::Desk,
    extract::{InPath, Language},
    problem::{Problem, ProblemCode},
};
use crate::domain::fingerprint::hex;

const STYLE: &str = include_str!("../../static/desk.css");

static STYLE_PATH: LazyLock<String> = LazyLock::new(|| {
    let version = hex(&Sha256::digest(STYLE.as_bytes())[..6]);
    format!("/static/{version}/desk.css")
});

/// Modules, each with its name: they name each other by these.
const SCRIPTS: [(&str, &str); 8] = [
    ("live.js", include_str!("../../static/live.js")),
    ("follow.js", include_str!("../../static/follow.js")),
    ("feed.js", include_str!("../../static/feed.js")),
    ("shared.js", include_str!("../../static/shared.js")),
    ("swap.js", include_str!("../../static/swap.js")),
    ("place.js", include_str!("../../static/place.js")),
    ("sound.js", include_str!("../../static/sound.js")),
    (
        "idiomorph.js",
        concat!(include_str!("../../static/vendor/idiomorph.min.js"), "\nexport { Idiomorph };\n"),
    ),
];

/// They change their address together: a page that has begun with one version goes on with it.
static SCRIPT_FOLDER: LazyLock<String> = LazyLock::new(|| {
    let mut all = Sha256::new();
    for (_, text) in SCRIPTS {
        all.update(text.as_bytes());
    }
    format!("/static/{}", hex(&all.finalize()[..6]))
});

static SCRIPT_PATH: LazyLock<String> = LazyLock::new(|| format!("{}/live.js", *SCRIPT_FOLDER));

/// Where the module is that makes a page live.
pub(super) fn script() -> &'static str {
    &SCRIPT_PATH
}

/// The path of the modules, as the router has it.
pub(super) static SCRIPT_ROUTE: LazyLock<String> =
    LazyLock::new(|| format!("{}/{{file}}", *SCRIPT_FOLDER));

async fn serve_script(
    Language(lang): Language,
    InPath(name): InPath<String>,
) -> Result<Response, Problem> {
    let found = SCRIPTS.iter().find(|(known, _)| *known == name);
    let (_, text) = found.ok_or_else(|| Problem::new(ProblemCode::NotFound, lang))?;
    let headers = [
        (header::CONTENT_TYPE, "text/javascript; charset=utf-8"),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    Ok((StatusCode::OK, headers, *text).into_response())
}

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
    Router::new().route(style(), get(serve_style)).route(&SCRIPT_ROUTE, get(serve_script))
}
