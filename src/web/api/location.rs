//! Where a rider is, as the rider's client says.

use axum::{Json, extract::State};

use super::{
    super::{
        desk::Desk,
        extract::Body,
        positions::{self, LocationAnswer, LocationBody},
        problem::Problem,
        who::Caller,
    },
    rider::me,
};

/// Where I am. The position with the largest `seq` becomes the last known one, unless a newer one is known.
///
/// How old a position is, is reckoned from when it came in: with `sent_at`, or with several positions in one message,
/// less what had passed on the device's own clock since it was taken. So it does no harm if that clock is wrong.
#[utoipa::path(
    post, path = "/api/v1/rider/location", tag = "rider", operation_id = "riderLocation",
    request_body = LocationBody,
    responses((status = 200, body = LocationAnswer)), security(("token" = []))
)]
pub(super) async fn location(
    State(desk): State<Desk>,
    caller: Caller,
    Body(body): Body<LocationBody>,
) -> Result<Json<LocationAnswer>, Problem> {
    let (_, account) = me(&caller)?;
    positions::take(&desk, account, &body, caller.lang).await.map(Json)
}
