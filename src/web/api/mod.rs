//! JSON API v1: scripts depend on it (DESIGN §8).
//!
//! | file | |
//! |---|---|
//! | `view` | tasks and events as scripts read them |
//! | `tasks` | create, read, list |
//! | `commands`, `bulk` | every verb of the table, one by one and many at once |
//! | `detail` | what is written on a task |
//! | `offers` | an offer by its token |
//! | `rounds`, `wishes`, `manual_pool` | who would be asked, who was; what dispatchers ask for; what nobody took |
//! | `rider`, `location`, `track` | the clients of riders and customers |
//! | `events`, `stream` | the log, pulled and pushed |
//! | `status` | time and health |
//! | `description` | the OpenAPI document |

mod bulk;
mod commands;
mod description;
mod detail;
mod events;
mod location;
mod manual_pool;
mod offers;
mod rider;
mod rounds;
mod status;
mod stream;
mod tasks;
mod track;
mod view;
mod wishes;

use axum::{
    Json,
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

pub use description::description;
pub(super) use view::EventItem;

use super::{desk::Desk, pace, problem::Problem};
use crate::{
    domain::{
        command::{Actor, Command, RequestKey, What},
        id::{Timestamp, rfc3339},
        refusal::Lang,
    },
    engine::{executor::Reply, rounds::Grabbed},
};

/// All routes, with their description.
pub fn router() -> OpenApiRouter<Desk> {
    OpenApiRouter::with_openapi(description::head())
        .routes(routes!(tasks::create, tasks::list))
        .routes(routes!(tasks::read))
        .routes(routes!(events::of_task))
        .routes(routes!(events::attempts))
        .routes(routes!(commands::grab))
        .routes(routes!(commands::offer))
        .routes(routes!(commands::assign))
        .routes(routes!(commands::accept))
        .routes(routes!(commands::decline))
        .routes(routes!(commands::withdraw))
        .routes(routes!(commands::cancel))
        .routes(routes!(commands::reassign))
        .routes(routes!(commands::hand_back))
        .routes(routes!(commands::arrive))
        .routes(routes!(commands::pick_up))
        .routes(routes!(commands::deliver))
        .routes(routes!(bulk::bulk))
        .routes(routes!(detail::edit))
        .routes(routes!(offers::read))
        .routes(routes!(offers::accept))
        .routes(routes!(rounds::candidates))
        .routes(routes!(rounds::list, wishes::start))
        .routes(routes!(wishes::widen))
        .routes(routes!(wishes::stop))
        .routes(routes!(wishes::reset))
        .routes(routes!(wishes::leave))
        .routes(routes!(manual_pool::pool))
        .routes(routes!(rider::pool))
        .routes(routes!(rider::decline))
        .routes(routes!(rider::tasks))
        .routes(routes!(rider::duty))
        .routes(routes!(location::location))
        .routes(routes!(track::read))
        .routes(routes!(track::cancel))
        .routes(routes!(events::log))
        .routes(routes!(stream::stream))
        .routes(routes!(status::time))
        .routes(routes!(status::alive))
        .routes(routes!(status::ready))
}

/// Has a command decided and answers with what is stored under its key, byte for byte.
async fn answer(
    desk: &Desk,
    actor: Actor,
    key: RequestKey,
    lang: Lang,
    what: What,
) -> Result<Response, Problem> {
    if let Some(task) = what.task() {
        pace::keep(desk, &actor, task, lang)?;
    }
    let command = Command { actor, key: Some(key), lang, what };
    match desk.rounds().grab(command).await {
        Ok(Grabbed::Decided(reply)) => Ok(respond(reply)),
        Ok(Grabbed::Waits { until }) => Ok(Processing::until(until, desk.now(), lang)),
        Err(error) => Err(Problem::of(&error, lang)),
    }
}

/// What is said while a fair window collects.
#[derive(Debug, Serialize, ToSchema)]
struct Processing {
    /// `processing`: it is no outcome yet.
    outcome: &'static str,
    /// `PROCESSING`.
    code: &'static str,
    /// One sentence for people.
    message: &'static str,
    /// When the window ends. Ask again then, under the same key.
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    decided_at: Timestamp,
}

impl Processing {
    fn until(decided_at: Timestamp, now: Timestamp, lang: Lang) -> Response {
        let message = match lang {
            Lang::Zh => "已收到抢单意向，窗口结束后按匹配度裁定；请用同一请求号查询结果。",
            Lang::En => {
                "Your grab is in; the best of the window gets the task. Ask again under the same key."
            }
        };
        let wait = decided_at.ms_since(now).max(0).unsigned_abs().div_ceil(1_000).max(1);
        let body = Self { outcome: "processing", code: "PROCESSING", message, decided_at };
        let mut response = (StatusCode::ACCEPTED, Json(body)).into_response();
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(wait));
        response
    }
}

fn respond(reply: Reply) -> Response {
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, Body::from(reply.body.to_string())).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let mut put = |name: header::HeaderName, value: Option<String>| {
        if let Some(Ok(value)) = value.map(|value| HeaderValue::from_str(&value)) {
            headers.insert(name, value);
        }
    };
    put(header::LOCATION, reply.location);
    put(header::ETAG, reply.etag);
    let replayed = header::HeaderName::from_static("idempotency-replayed");
    put(replayed, reply.replayed.then(|| "true".to_owned()));
    response
}
