//! The verbs of the table, one route each.

use axum::{extract::State, response::Response};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{
    super::{
        desk::Desk,
        extract::{Body, Key, Object, TaskPath},
        problem::{Problem, ProblemCode},
        who::Bearer,
    },
    Processing, answer,
};
use crate::domain::{
    answer::Answer,
    command::{Act, Reason, Ticket, What},
    id::{Revision, RiderId},
    refusal::Lang,
};

/// The revision that a command names, or 428: "assume the latest" is how two people undo each other's work.
pub(super) fn named(revision: Option<Revision>, lang: Lang) -> Result<Revision, Problem> {
    revision.ok_or_else(|| Problem::new(ProblemCode::RevisionMissing, lang).at("/revision"))
}

/// Declares the body and the route of a verb. All bodies name a revision.
macro_rules! verb {
    (
        $(#[$doc:meta])*
        $function:ident, $path:literal, $operation:literal $(=> $waits:ident)?, $body:ident {
            $($(#[$field_doc:meta])* $field:ident: $type:ty,)*
        } => $act:expr
    ) => {
        /// What the command names.
        #[derive(Debug, Deserialize, ToSchema)]
        #[serde(deny_unknown_fields)]
        pub(super) struct $body {
            /// The revision that the command is based on.
            #[schema(required = true, value_type = i64)]
            revision: Option<Revision>,
            $($(#[$field_doc])* $field: $type,)*
        }

        $(#[$doc])*
        #[utoipa::path(
            post, path = $path, tag = "commands", operation_id = $operation, request_body = $body,
            params(
                ("id" = i64, Path, description = "Number of the task"),
                ("Idempotency-Key" = String, Header, description = "The request key: 1 to 255 visible ASCII characters")
            ),
            responses(
                (status = 200, body = Answer), (status = 409, body = Answer)
                $(, (status = 202, body = $waits, description = "A fair window collects; ask again under the same key"))?
            ),
            security(("token" = []))
        )]
        pub(super) async fn $function(
            State(desk): State<Desk>,
            bearer: Bearer,
            Key(key): Key,
            TaskPath(task): TaskPath,
            Body(body): Body<$body>,
        ) -> Result<Response, Problem> {
            let revision = named(body.revision, bearer.lang)?;
            let make: fn($body) -> Act = $act;
            let what = What::Change { task, revision, act: make(body) };
            answer(&desk, bearer.actor, key, bearer.lang, what).await
        }
    };
}

/// A round's ticket.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Ticket)]
pub(super) struct TicketBody {
    /// The round.
    round: i64,
    /// The rider's own part of it.
    nonce: String,
}

verb! {
    /// A rider takes an open task: first commit wins.
    ///
    /// Where the region collects grabs for a moment and then takes the best, the answer is 202 with code `PROCESSING`: it
    /// is no outcome. The outcome is the answer to the same request, sent again under the same key.
    grab, "/api/v1/tasks/{id}/grab", "grab" => Processing, GrabBody {
        /// While a round runs: its ticket.
        #[serde(default)]
        #[schema(value_type = Option<TicketBody>)]
        ticket: Option<Object<TicketBody>>,
    } => |body| Act::Grab {
        ticket: body.ticket.map(|Object(TicketBody { round, nonce })| Ticket { round, nonce }),
    }
}

verb! {
    /// Staff reserve an open task for one rider until a deadline. An invitation is not ownership.
    offer, "/api/v1/tasks/{id}/offer", "offer", OfferBody {
        /// Whom to invite.
        rider_id: RiderId,
        /// How long the offer waits; the policy's own time if missing.
        #[serde(default)]
        seconds: Option<u32>,
    } => |body| Act::Offer { rider: body.rider_id, seconds: body.seconds, round: None }
}

verb! {
    /// Set the owner at once, without confirmation: for supervisors, and where the region's mode is immediate.
    assign, "/api/v1/tasks/{id}/assign", "assign", AssignBody {
        /// Who is to own it.
        rider_id: RiderId,
        /// Why, as a code.
        #[serde(default)]
        #[schema(value_type = Option<String>, pattern = "^[a-z][a-z0-9_]{0,39}$")]
        reason: Option<Reason>,
    } => |body| Act::Assign { rider: body.rider_id, reason: body.reason }
}

verb! {
    /// The invited rider says yes, before the deadline.
    accept, "/api/v1/tasks/{id}/accept", "accept", AcceptBody {} => |_| Act::Accept
}

verb! {
    /// The invited rider says no, before the deadline.
    decline, "/api/v1/tasks/{id}/decline", "decline", DeclineBody {
        /// Why, as a code.
        #[serde(default)]
        #[schema(value_type = Option<String>, pattern = "^[a-z][a-z0-9_]{0,39}$")]
        reason: Option<Reason>,
    } => |body| Act::Decline { reason: body.reason }
}

verb! {
    /// Staff take a waiting offer back.
    withdraw, "/api/v1/tasks/{id}/withdraw", "withdraw", WithdrawBody {
        /// Why, as a code.
        #[serde(default)]
        #[schema(value_type = Option<String>, pattern = "^[a-z][a-z0-9_]{0,39}$")]
        reason: Option<Reason>,
    } => |body| Act::Withdraw { reason: body.reason }
}

verb! {
    /// Staff, the customer or whoever ordered it end the task before pickup.
    cancel, "/api/v1/tasks/{id}/cancel", "cancel", CancelBody {
        /// Why, as a code.
        #[serde(default)]
        #[schema(value_type = Option<String>, pattern = "^[a-z][a-z0-9_]{0,39}$")]
        reason: Option<Reason>,
    } => |body| Act::Cancel { reason: body.reason }
}

verb! {
    /// Staff offer an assigned task to another rider. The present owner loses it at that moment; if the offer lapses,
    /// the task is open.
    reassign, "/api/v1/tasks/{id}/reassign", "reassign", ReassignBody {
        /// Whom to invite.
        rider_id: RiderId,
        /// Whether the present owner knows.
        handover_confirmed: bool,
        /// How long the offer waits; the policy's own time if missing.
        #[serde(default)]
        seconds: Option<u32>,
        /// Why, as a code.
        #[serde(default)]
        #[schema(value_type = Option<String>, pattern = "^[a-z][a-z0-9_]{0,39}$")]
        reason: Option<Reason>,
    } => |body| Act::Reassign {
        rider: body.rider_id,
        seconds: body.seconds,
        handover_confirmed: body.handover_confirmed,
        reason: body.reason,
    }
}

verb! {
    /// The owner returns the task before pickup, within the daily allowance.
    hand_back, "/api/v1/tasks/{id}/hand-back", "handBack", HandBackBody {
        /// Why, as a code.
        #[serde(default)]
        #[schema(value_type = Option<String>, pattern = "^[a-z][a-z0-9_]{0,39}$")]
        reason: Option<Reason>,
    } => |body| Act::HandBack { reason: body.reason }
}

verb! {
    /// The owner is at the pickup.
    arrive, "/api/v1/tasks/{id}/arrive", "arrive", ArriveBody {} => |_| Act::Arrive
}

verb! {
    /// The owner has the goods.
    pick_up, "/api/v1/tasks/{id}/pick-up", "pickUp", PickUpBody {} => |_| Act::PickUp
}

verb! {
    /// The owner has delivered: the end.
    deliver, "/api/v1/tasks/{id}/deliver", "deliver", DeliverBody {} => |_| Act::Deliver
}
