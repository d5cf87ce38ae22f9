//! What dispatchers ask of the automatic.

use axum::{extract::State, response::Response};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{
    super::{
        desk::Desk,
        extract::{Body, Key, TaskPath},
        pace,
        problem::{Problem, ProblemCode},
        who::Bearer,
    },
    commands::named,
    respond,
};
use crate::{
    domain::{
        command::RequestKey,
        id::{Revision, TaskId},
    },
    engine::rounds::{Options, RoundReply, Wish},
};

/// What a round is based on, and how it differs from the region's rules.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StartBody {
    /// The revision that the wish is based on. A round changes none; nobody is sent after a task that has changed.
    #[schema(required = true, value_type = i64)]
    revision: Option<Revision>,
    /// Another circle, in metres.
    #[serde(default)]
    #[schema(minimum = 50, maximum = 100_000)]
    radius_m: Option<u32>,
    /// Another number of riders.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 200)]
    batch: Option<u32>,
    /// Another length.
    #[serde(default)]
    #[schema(minimum = 5, maximum = 300)]
    seconds: Option<u32>,
}

/// Look for riders: ask the first batch now, and more if nobody takes it.
#[utoipa::path(
    post, path = "/api/v1/tasks/{id}/rounds", tag = "rounds", operation_id = "startRound",
    request_body = StartBody,
    params(
        ("id" = i64, Path, description = "Number of the task"),
        ("Idempotency-Key" = String, Header, description = "The request key: 1 to 255 visible ASCII characters")
    ),
    responses((status = 200, body = RoundReply), (status = 409, body = RoundReply)), security(("token" = []))
)]
pub(super) async fn start(
    State(desk): State<Desk>,
    bearer: Bearer,
    Key(key): Key,
    TaskPath(id): TaskPath,
    Body(body): Body<StartBody>,
) -> Result<Response, Problem> {
    let revision = named(body.revision, bearer.lang)?;
    let options = Options { radius_m: body.radius_m, batch: body.batch, seconds: body.seconds };
    if let Some(field) = options.wrong() {
        let wrong = Problem::new(ProblemCode::BodyInvalid, bearer.lang);
        return Err(wrong.with(format!("{field} is out of its limits")).at(format!("/{field}")));
    }
    wish(&desk, bearer, key, id, revision, Wish::Start(options)).await
}

/// What a wish is based on.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WishBody {
    /// The revision that the wish is based on.
    #[schema(required = true, value_type = i64)]
    revision: Option<Revision>,
}

async fn wish(
    desk: &Desk,
    bearer: Bearer,
    key: RequestKey,
    id: TaskId,
    revision: Revision,
    wish: Wish,
) -> Result<Response, Problem> {
    pace::keep(desk, &bearer.actor, id, bearer.lang)?;
    let reply = desk.rounds().ask(&bearer.actor, &key, bearer.lang, id, revision, wish).await;
    reply.map(respond).map_err(|error| Problem::of(&error, bearer.lang))
}

/// Declares the route of a wish that names nothing but a revision.
macro_rules! wish {
    ($(#[$doc:meta])* $function:ident, $path:literal, $operation:literal => $wish:expr) => {
        $(#[$doc])*
        #[utoipa::path(
            post, path = $path, tag = "rounds", operation_id = $operation, request_body = WishBody,
            params(
                ("id" = i64, Path, description = "Number of the task"),
                ("Idempotency-Key" = String, Header, description = "The request key: 1 to 255 visible ASCII characters")
            ),
            responses((status = 200, body = RoundReply), (status = 409, body = RoundReply)),
            security(("token" = []))
        )]
        pub(super) async fn $function(
            State(desk): State<Desk>,
            bearer: Bearer,
            Key(key): Key,
            TaskPath(id): TaskPath,
            Body(body): Body<WishBody>,
        ) -> Result<Response, Problem> {
            let revision = named(body.revision, bearer.lang)?;
            wish(&desk, bearer, key, id, revision, $wish).await
        }
    };
}

wish! {
    /// Do not wait for the end of this round: ask in the next circle now.
    widen, "/api/v1/tasks/{id}/rounds/widen", "widenRound" => Wish::Widen
}
wish! {
    /// Take over: nothing happens by itself any more, until it is started again.
    stop, "/api/v1/tasks/{id}/rounds/stop", "stopRound" => Wish::Stop
}
wish! {
    /// Ask those again who have declined this task.
    reset, "/api/v1/tasks/{id}/declines/reset", "resetDeclines" => Wish::ResetDeclines
}
wish! {
    /// Take the task out of the manual pool.
    leave, "/api/v1/tasks/{id}/pool/leave", "leavePool" => Wish::LeavePool
}
