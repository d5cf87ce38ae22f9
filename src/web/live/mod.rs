//! Live streams (server-sent events): what the hub tells, on the wire.
//!
//! | file | |
//! |---|---|
//! | `frames` | what is told, as bytes |
//! | `mark` | what a page carries so that it can follow |
//! | `pages` | the streams of the pages, one per role |
//!
//! The stream of scripts is `api::stream`. Who reads what is decided in [`hub`](crate::engine::hub).

mod frames;
mod mark;
pub(super) mod pages;

use axum::{
    body::Body,
    extract::FromRequestParts,
    http::{HeaderMap, HeaderName, HeaderValue, header, request::Parts},
    response::Response,
};
use serde::Deserialize;
use utoipa::IntoParams;

pub(super) use mark::Mark;

use super::{
    crowd::Hold,
    desk::Desk,
    extract::Query,
    problem::{Problem, ProblemCode},
};
use crate::{
    domain::refusal::Lang,
    engine::hub::{Cursor, Full, Reader},
};

/// From where on.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct StreamQuery {
    /// Beyond this number: that of the page or of the last event that was read. Without it, from now on. The header
    /// `Last-Event-ID` wins over it.
    after: Option<i64>,
    /// The log that the number is of, as `hello` named it: of another one, the stream begins with `reset`.
    epoch: Option<String>,
}

/// A request for a stream.
#[derive(Debug)]
pub(super) struct Asked {
    cursor: Cursor,
    hold: Option<Hold>,
}

/// The number that a browser names when it comes back.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

fn cursor(query: StreamQuery, headers: &HeaderMap) -> Cursor {
    let StreamQuery { after, epoch } = query;
    // A browser that has not read any number yet sends none, or an empty one.
    let Some(given) = headers.get(LAST_EVENT_ID).filter(|given| !given.is_empty()) else {
        return Cursor { after, garbled: false, epoch };
    };
    let after = given.to_str().ok().and_then(|number| number.trim().parse().ok());
    Cursor { garbled: after.is_none(), after, epoch }
}

impl FromRequestParts<Desk> for Asked {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, desk: &Desk) -> Result<Self, Problem> {
        let Query(query) = Query::<StreamQuery>::from_request_parts(parts, desk).await?;
        let hold = parts.extensions.get::<Hold>().cloned();
        Ok(Self { cursor: cursor(query, &parts.headers), hold })
    }
}

/// The stream of `reader`.
///
/// # Errors
/// 429 if as many read as may, 503 when the server stops.
pub(super) fn open(
    desk: &Desk,
    reader: Reader,
    asked: Asked,
    lang: Lang,
) -> Result<Response, Problem> {
    let follower = desk.hub().follow(reader, asked.cursor).map_err(|full| {
        let problem = |code| Problem::new(code, lang);
        match full {
            Full::Session => problem(ProblemCode::TooManyStreams).with("session"),
            Full::Person => problem(ProblemCode::TooManyStreams).with("person"),
            Full::Node => problem(ProblemCode::TooManyStreams).with("node"),
            Full::Stopping => problem(ProblemCode::Unavailable),
        }
    })?;
    // It is counted as a stream from here on, and no longer as a connection like others.
    if let Some(hold) = asked.hold {
        hold.let_go();
    }
    let retry_ms = retry_ms(desk);
    let body = futures_util::stream::unfold(follower, move |mut follower| async move {
        let told = follower.next().await?;
        Some((Ok::<_, std::convert::Infallible>(frames::frame(&told, retry_ms)), follower))
    });
    let mut response = Response::new(Body::from_stream(body));
    for (name, value) in [
        (header::CONTENT_TYPE, "text/event-stream; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store, no-transform"),
        // nginx would keep what is small until there is more of it.
        (HeaderName::from_static("x-accel-buffering"), "no"),
        // It gave its place among the connections away, so it can not become one again.
        (header::CONNECTION, "close"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    Ok(response)
}

/// When to come back after the connection broke, in milliseconds: not everybody at one moment.
fn retry_ms(desk: &Desk) -> u16 {
    let random = desk.token().ok().and_then(|token| u16::from_str_radix(&token[..4], 16).ok());
    1_000 + random.unwrap_or_default() % 4_001
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(after: Option<i64>, header: Option<&'static str>) -> (Option<i64>, bool) {
        let mut headers = HeaderMap::new();
        if let Some(value) = header {
            headers.insert(LAST_EVENT_ID, HeaderValue::from_static(value));
        }
        let cursor = cursor(StreamQuery { after, epoch: None }, &headers);
        (cursor.after, cursor.garbled)
    }

    #[test]
    fn the_header_wins_over_the_query() {
        assert_eq!(named(None, None), (None, false));
        assert_eq!(named(Some(3), None), (Some(3), false));
        assert_eq!(named(Some(3), Some("")), (Some(3), false));
        assert_eq!(named(Some(3), Some("7")), (Some(7), false));
        assert_eq!(named(Some(7), Some("3")), (Some(3), false));
        assert_eq!(named(Some(3), Some("seven")), (None, true));
        assert_eq!(named(None, Some("99999999999999999999")), (None, true));
    }
}
