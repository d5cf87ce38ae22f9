//! What is written on a task: edits have a revision of their own and never disturb an offer.

use axum::{extract::State, response::Response};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{
    super::{
        desk::Desk,
        extract::{Body, Key, TaskPath},
        problem::{Problem, ProblemCode},
        who::Bearer,
    },
    answer,
};
use crate::domain::{
    answer::Answer,
    command::{DetailChanges, What},
    id::{Revision, Timestamp, rfc3339},
};

/// What is to be written; a missing field stays as it is.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EditBody {
    /// The detail revision that the edit is based on.
    #[schema(required = true, value_type = i64)]
    detail_revision: Option<Revision>,
    /// A note for whoever carries it out.
    #[serde(default)]
    note: Option<String>,
    /// Street and number of the pickup.
    #[serde(default)]
    pickup_address: Option<String>,
    /// Street and number of the drop-off.
    #[serde(default)]
    dropoff_address: Option<String>,
    /// When it should have arrived.
    #[serde(default, with = "rfc3339::option")]
    #[schema(value_type = Option<String>, format = DateTime)]
    due_at: Option<Timestamp>,
    /// Nobody may take it before.
    #[serde(default, with = "rfc3339::option")]
    #[schema(value_type = Option<String>, format = DateTime)]
    release_at: Option<Timestamp>,
    /// How urgent it is; more is more.
    #[serde(default)]
    priority: Option<i64>,
}

/// Write on a task.
#[utoipa::path(
    patch, path = "/api/v1/tasks/{id}/detail", tag = "tasks", operation_id = "editDetail", request_body = EditBody,
    params(
        ("id" = i64, Path, description = "Number of the task"),
        ("Idempotency-Key" = String, Header, description = "The request key: 1 to 255 visible ASCII characters")
    ),
    responses((status = 200, body = Answer), (status = 409, body = Answer)), security(("token" = []))
)]
pub(super) async fn edit(
    State(desk): State<Desk>,
    bearer: Bearer,
    Key(key): Key,
    TaskPath(task): TaskPath,
    Body(body): Body<EditBody>,
) -> Result<Response, Problem> {
    let Some(detail_revision) = body.detail_revision else {
        let missing = Problem::new(ProblemCode::RevisionMissing, bearer.lang);
        return Err(missing.at("/detail_revision"));
    };
    let changes = DetailChanges {
        note: body.note,
        pickup_address: body.pickup_address,
        dropoff_address: body.dropoff_address,
        due_at: body.due_at,
        release_at: body.release_at,
        priority: body.priority,
    };
    let what = What::Edit { task, detail_revision, changes: Box::new(changes) };
    answer(&desk, bearer.actor, key, bearer.lang, what).await
}
