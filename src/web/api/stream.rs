//! The numbered log, pushed.

use axum::{extract::State, response::Response};
use utoipa::ToSchema;

use super::super::{
    desk::Desk,
    live::{self, Asked, StreamQuery},
    problem::{Problem, ProblemCode},
    who::Caller,
};
use crate::engine::hub::{Pace, Reader, Way};

/// One event of the stream, field by field as server-sent events write them.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes the lines of text that are sent")]
pub(super) struct StreamFrame {
    /// `hello`, `event`, `through`, `ping`, `reset`, `pool` or `bye`.
    event: String,
    /// The number up to which the stream has been read; missing where nothing was.
    id: Option<String>,
    /// A JSON object.
    data: String,
    /// How long to wait before coming back, in milliseconds.
    #[schema(minimum = 0)]
    retry: Option<i64>,
}

/// The log from a number on, as it grows, as far as the reader may see it: server-sent events.
///
/// `hello` says which log it is (`epoch`), where it ends (`head`), and from where the stream goes on (`after`). `event`
/// is one event, as in `/api/v1/events`; `id` is its number. `through` says that between `after` and `through` is nothing
/// for this reader, so that no gap is left unexplained: each `event` follows the number before it, each `through` starts
/// there. `ping` comes every 15 seconds with `head` and `server_time`, and without a number. `reset`: the number is not
/// known here; read everything anew. `pool`, for riders: what could be grabbed is not the same any more. `bye`: the
/// stream ends; come back after the time of `retry`.
///
/// Staff see the events of their regions; riders those that concern themselves: that name them, take something from them,
/// write on what they hold, or open or close a task for which a round asked them. Whoever may not read any more is told
/// `bye` before anything later.
#[utoipa::path(
    get, path = "/api/v1/stream", tag = "events", operation_id = "stream",
    params(
        StreamQuery,
        (
            "Last-Event-ID" = Option<String>,
            Header,
            description = "Wins over `after`: browsers send it when they come back. One that is not known here is told so by `reset`"
        )
    ),
    responses((status = 200, body = StreamFrame, content_type = "text/event-stream")), security(("token" = []))
)]
pub(super) async fn stream(
    State(desk): State<Desk>,
    caller: Caller,
    asked: Asked,
) -> Result<Response, Problem> {
    let forbidden = || Problem::new(ProblemCode::Forbidden, caller.lang);
    let way = caller.token.clone().map(Way::Token).ok_or_else(forbidden)?;
    let reader = Reader { actor: caller.actor.clone(), way, pace: Pace::Each };
    live::open(&desk, reader, asked, caller.lang)
}
