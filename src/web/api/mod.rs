//! JSON API v1: scripts depend on it (DESIGN §8).
//!
//! | file | |
//! |---|---|
//! | `view` | tasks and events as scripts read them |
//! | `tasks` | create, read, list |
//! | `commands`, `bulk` | every verb of the table, one by one and many at once |
//! | `detail` | what is written on a task |
//! | `offers` | an offer by its token |
//! | `rider`, `location`, `track` | the clients of riders and customers |
//! | `riders` | riders as dispatchers' scripts see them |
//! | `events`, `status` | the log; time and health |
//! | `description` | the OpenAPI document |

mod bulk;
mod commands;
mod description;
mod detail;
mod events;
mod location;
mod offers;
mod rider;
mod riders;
mod status;
mod tasks;
mod track;
mod view;

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use utoipa_axum::{router::OpenApiRouter, routes};

pub use description::description;

use super::{desk::Desk, pace, problem::Problem};
use crate::{
    domain::{
        command::{Actor, Command, RequestKey, What},
        refusal::Lang,
    },
    engine::executor::Reply,
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
        .routes(routes!(riders::list))
        .routes(routes!(rider::pool))
        .routes(routes!(rider::tasks))
        .routes(routes!(rider::duty))
        .routes(routes!(location::location))
        .routes(routes!(track::read))
        .routes(routes!(track::cancel))
        .routes(routes!(events::log))
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
    let reply = desk.executor().execute(command).await;
    reply.map(respond).map_err(|error| Problem::of(&error, lang))
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
