//! The customer's client: one task, by an unguessable link.

use axum::{Json, extract::State, response::Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    super::{
        desk::Desk,
        extract::{Body, Key, Language, TokenPath},
        problem::{Problem, ProblemCode},
    },
    answer,
    commands::named,
    tasks::mode,
};
use crate::{
    domain::{
        answer::{Answer, TaskView},
        command::{Act, Actor, Reason, Role, Verb, What},
        id::{Revision, Timestamp, rfc3339},
        legal::legal,
        refusal::Lang,
    },
    store::{self, Card},
};

/// The customer's task.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Tracked {
    /// State, rider, revision.
    task: TaskView,
    /// Where to.
    dropoff_address: String,
    /// When it should arrive.
    #[serde(with = "rfc3339::option", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    due_at: Option<Timestamp>,
    /// The owner's name, once there is one: no invited rider is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    rider_name: Option<String>,
    /// What the customer can do now.
    legal: Vec<Verb>,
    /// The number of the last event of all, in the same snapshot.
    head: i64,
    /// The store's time of the reading.
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    server_time: Timestamp,
}

/// The task behind a link.
async fn card(desk: &Desk, token: &str, lang: Lang) -> Result<Card, Problem> {
    let failed = |error: store::Error| Problem::read(&error, lang);
    let mut tx = desk.db().read().await.map_err(failed)?;
    let found = tx.card_tracked(token).await.map_err(failed)?;
    found.ok_or_else(|| Problem::new(ProblemCode::NotFound, lang))
}

/// What has become of my order.
#[utoipa::path(
    get, path = "/api/v1/track/{token}", tag = "customer", operation_id = "track",
    params(("token" = String, Path, description = "The unguessable end of the customer's link")),
    responses((status = 200, body = Tracked))
)]
pub(super) async fn read(
    State(desk): State<Desk>,
    Language(lang): Language,
    TokenPath(token): TokenPath,
) -> Result<Json<Tracked>, Problem> {
    let failed = |error: store::Error| Problem::read(&error, lang);
    let mut tx = desk.db().read().await.map_err(failed)?;
    let card = tx.card_tracked(&token).await.map_err(failed)?;
    let card = card.ok_or_else(|| Problem::new(ProblemCode::NotFound, lang))?;
    let (head, _) = tx.head().await.map_err(failed)?;
    let now = tx.now().await.map_err(failed)?;
    let rules = tx.regions(now).await.map_err(failed)?;
    let customer = Actor::Customer(card.task.id);
    let mode = mode(&rules, card.task.region);
    // An invitation is not ownership: until somebody has accepted, the customer sees nobody.
    let owned = card.task.state.stage().is_some();
    Ok(Json(Tracked {
        task: TaskView::of(&card.task, &customer, now),
        dropoff_address: card.detail.dropoff.address,
        due_at: card.detail.due_at,
        rider_name: card.rider_name.filter(|_| owned),
        legal: legal(&card.task, &customer, Role::Customer, mode, now),
        head,
        server_time: now,
    }))
}

/// What the customer names.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CustomerCancelBody {
    /// The revision that the customer saw.
    #[schema(required = true, value_type = i64)]
    revision: Option<Revision>,
    /// Why, as a code.
    #[serde(default)]
    #[schema(value_type = Option<String>, pattern = "^[a-z][a-z0-9_]{0,39}$")]
    reason: Option<Reason>,
}

/// The customer cancels, before pickup.
#[utoipa::path(
    post, path = "/api/v1/track/{token}/cancel", tag = "customer", operation_id = "customerCancel",
    request_body = CustomerCancelBody,
    params(
        ("token" = String, Path, description = "The unguessable end of the customer's link"),
        ("Idempotency-Key" = String, Header, description = "The request key: 1 to 255 visible ASCII characters")
    ),
    responses((status = 200, body = Answer), (status = 409, body = Answer))
)]
pub(super) async fn cancel(
    State(desk): State<Desk>,
    Language(lang): Language,
    Key(key): Key,
    TokenPath(token): TokenPath,
    Body(body): Body<CustomerCancelBody>,
) -> Result<Response, Problem> {
    let task = card(&desk, &token, lang).await?.task.id;
    let revision = named(body.revision, lang)?;
    let what = What::Change { task, revision, act: Act::Cancel { reason: body.reason } };
    answer(&desk, Actor::Customer(task), key, lang, what).await
}
