//! An offer by its token: the answer to "was my accept counted?".

use axum::{Json, extract::State, response::Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    super::{
        desk::Desk,
        extract::{Body, Key, TokenPath},
        problem::{Problem, ProblemCode},
        who::{Bearer, Caller},
    },
    answer, tasks,
    view::TaskAnswer,
};
use crate::{
    domain::{
        answer::Answer,
        command::{Act, What},
        id::{Revision, RiderId, TaskId, Timestamp, rfc3339},
        refusal::Lang,
        task::OfferAnswer,
    },
    store::{self, Offered},
};

/// An offer and what became of it.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct OfferAnswered {
    /// For which task.
    task_id: TaskId,
    /// The revision that the offer made: accept and decline name it.
    revision: Revision,
    /// To whom.
    rider_id: RiderId,
    /// When.
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    offered_at: Timestamp,
    /// The deadline.
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    offer_until: Timestamp,
    /// How it ended; missing while it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<OfferAnswer>,
    /// When it ended.
    #[serde(with = "rfc3339::option", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    answered_at: Option<Timestamp>,
    /// Why, as a code.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The task at this moment, as far as the reader may see it.
    #[serde(flatten)]
    task: TaskAnswer,
}

/// The offer, if `caller` may see it: its rider, and the staff of its region.
async fn seen(
    desk: &Desk,
    caller: &Caller,
    token: &str,
) -> store::Result<Option<(Offered, TaskAnswer)>> {
    let mut tx = desk.db().read().await?;
    let Some(offer) = tx.offer(token).await? else { return Ok(None) };
    let mine = caller.actor.rider() == Some(offer.rider);
    if !mine && caller.staff.is_none() {
        return Ok(None);
    }
    let task = tasks::one(&mut tx, caller, offer.task).await?;
    Ok(task.map(|task| (offer, task)))
}

/// An offer and what became of it.
#[utoipa::path(
    get, path = "/api/v1/offers/{token}", tag = "offers", operation_id = "readOffer",
    params(("token" = String, Path, description = "The offer's unguessable name")),
    responses((status = 200, body = OfferAnswered)), security(("token" = []))
)]
pub(super) async fn read(
    State(desk): State<Desk>,
    caller: Caller,
    TokenPath(token): TokenPath,
) -> Result<Json<OfferAnswered>, Problem> {
    let found = seen(&desk, &caller, &token).await;
    let found = found.map_err(|error| Problem::read(&error, caller.lang))?;
    let (offer, task) = found.ok_or_else(|| missing(caller.lang))?;
    Ok(Json(OfferAnswered {
        task_id: offer.task,
        revision: offer.revision,
        rider_id: offer.rider,
        offered_at: offer.at,
        offer_until: offer.until,
        answer: offer.answered.map(|(answer, _)| answer),
        answered_at: offer.answered.map(|(_, at)| at),
        reason: offer.reason,
        task,
    }))
}

fn missing(lang: Lang) -> Problem {
    Problem::new(ProblemCode::NotFound, lang)
}

/// Nothing: the token names the task and the revision.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NothingBody {}

/// Accept by the offer's token: the revision is the offer's, the rider is whoever is signed in.
#[utoipa::path(
    post, path = "/api/v1/offers/{token}/accept", tag = "offers", operation_id = "acceptOffer",
    request_body = NothingBody,
    params(
        ("token" = String, Path, description = "The offer's unguessable name"),
        ("Idempotency-Key" = String, Header, description = "The request key: 1 to 255 visible ASCII characters")
    ),
    responses((status = 200, body = Answer), (status = 409, body = Answer)), security(("token" = []))
)]
pub(super) async fn accept(
    State(desk): State<Desk>,
    bearer: Bearer,
    Key(key): Key,
    TokenPath(token): TokenPath,
    Body(NothingBody {}): Body<NothingBody>,
) -> Result<Response, Problem> {
    let failed = |error: store::Error| Problem::read(&error, bearer.lang);
    let mut tx = desk.db().read().await.map_err(failed)?;
    let offer = tx.offer(&token).await.map_err(failed)?;
    drop(tx);
    let offer = offer.ok_or_else(|| missing(bearer.lang))?;
    bearer.reaches_tasks(&desk, &[offer.task]).await?;
    let what = What::Change { task: offer.task, revision: offer.revision, act: Act::Accept };
    answer(&desk, bearer.actor, key, bearer.lang, what).await
}
