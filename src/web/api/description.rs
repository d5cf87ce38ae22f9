//! The `OpenAPI` document: made from the routes themselves, so that it can not name others.

use axum::{Json, Router, routing::get};
use utoipa::openapi::{
    Components, ComponentsBuilder, Content, InfoBuilder, OpenApi, OpenApiBuilder, Ref, RefOr,
    ResponseBuilder,
    path::{Operation, ParameterIn, PathItem},
    schema::Schema,
    security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
    tag::TagBuilder,
};
use utoipa::{PartialSchema, ToSchema};

use super::super::{
    desk::Desk,
    problem::{ProblemBody, ProblemCode},
};
use crate::domain::refusal::Code;

const ABOUT: &str = "\
Every command names the `revision` that it was based on and carries an `Idempotency-Key`: the same key has one effect \
and one answer for seven days, byte for byte, with `Idempotency-Replayed: true`. Success (200, 201) and refusal (409) \
have one form, `Answer`: the revision that was seen, who was first (`beaten_by`), what is still possible (`legal`), and \
the store's time. Whatever got no outcome is `application/problem+json` with a code and the `request_id` that finds it in \
the log.

A rider or a customer may try one task 30 times at once and then twice a second, and a rider all tasks together 600 times \
at once and then ten times a second; a try more is 429 TOO_MANY with `Retry-After`, and nothing of it is stored.

Phone numbers are whole for the rider who owns the task, until it is delivered: that rider has to call. Staff and whoever \
ordered it see them masked, `138****1234`, and nobody else sees them at all. Staff who have to call see them whole on the \
console, with a reason, and that stands in the log. An edit takes no phone number, so none that was masked is ever \
written back. When a task is over and its region keeps it no longer, addresses, names, phones, note and tracking link are \
erased (`erased_at`); its state, its events and its attempts stay.

How the names of other texts map: SUCCESS is outcome `done`; ALREADY_ACCEPTED_BY_YOU is outcome `already_done` with \
code ALREADY_YOURS; TAKEN_BY_OTHER is TAKEN_BY_OTHER; ORDER_EXPIRED is OFFER_EXPIRED or TICKET_EXPIRED; \
RIDER_CAPACITY_FULL is RIDER_AT_CAPACITY; INVALID_TICKET is INVALID_TICKET; RISK_REJECTED is RISK_REJECTED; \
PROCESSING is 202 PROCESSING while a fair window collects, or 503 UNKNOWN: ask again under the same key.";

/// The head of the document, before the routes are added.
pub(super) fn head() -> OpenApi {
    let refusals: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
    let problems: Vec<_> = ProblemCode::ALL
        .iter()
        .map(|code| format!("{} {}", code.status(), code.as_str()))
        .collect();
    let about = format!(
        "{ABOUT}\n\nCodes of refusals (409): {}.\n\nCodes of problems: {}.",
        refusals.join(", "),
        problems.join(", ")
    );
    let info = InfoBuilder::new()
        .title("Dispatch Desk")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(about));
    let tags = [
        ("tasks", "Tasks: create, read, list, write on"),
        ("commands", "The verbs of the transition table"),
        ("offers", "An offer by its token"),
        ("rounds", "Who is asked, and what nobody took"),
        ("rider", "The rider's client"),
        ("customer", "The customer's client: no sign-in, an unguessable link"),
        ("events", "The numbered log"),
        ("status", "Time and health"),
    ];
    let tag =
        |(name, about): (&str, &str)| TagBuilder::new().name(name).description(Some(about)).build();
    let token = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .bearer_format("desk_<id>_<secret>")
        .description(Some("Made by `dispatch-desk admin token`"))
        .build();
    let components: Components = ComponentsBuilder::new()
        .schema(ProblemBody::name(), ProblemBody::schema())
        .security_scheme("token", SecurityScheme::Http(token))
        .build();
    OpenApiBuilder::new()
        .info(info.build())
        .tags(Some(tags.map(tag)))
        .components(Some(components))
        .build()
}

/// The codes that any operation may answer with, beside its own; and those of operations with a token, a body, a key.
fn problems(path: &str, operation: &Operation) -> Vec<ProblemCode> {
    use ProblemCode as P;
    let mut codes =
        vec![P::HostMissing, P::UriTooLong, P::HeadTooLarge, P::Unavailable, P::Unknown];
    let parameters: Vec<_> = operation
        .parameters
        .iter()
        .flatten()
        .filter_map(|parameter| match parameter {
            RefOr::T(parameter) => Some(parameter),
            RefOr::Ref(_) => None,
        })
        .collect();
    if operation.security.is_some() {
        codes.extend([P::NotSignedIn, P::Forbidden]);
    }
    if path.contains('{') {
        codes.push(P::NotFound);
    }
    if operation.request_body.is_some() {
        codes.extend([
            P::BodyMalformed,
            P::BodyTooLarge,
            P::MediaType,
            P::BodyInvalid,
            P::TimedOut,
        ]);
        codes.extend([P::Faulty, P::NotFound]);
    }
    if parameters.iter().any(|parameter| parameter.name == "Idempotency-Key") {
        codes.extend([P::KeyMissing, P::KeyMalformed, P::RequestKeyReused, P::Busy]);
    }
    let ends = |ends: &[&str]| ends.iter().any(|end| path.ends_with(end));
    if operation.request_body.is_some() {
        if path.contains("tasks/{id}/") || ends(&["/bulk", "/cancel"]) {
            codes.push(P::RevisionMissing);
        }
        if ends(&["/tasks"]) {
            codes.extend([P::KeyMissing, P::RequestKeyReused, P::Busy]);
        }
        if ends(&["/tasks", "/detail", "/location", "/grab"]) {
            codes.extend([P::NulInText, P::TimeOutOfRange, P::NotOnEarth]);
        }
        if ["tasks/{id}/", "/offers/", "/track/"].iter().any(|part| path.contains(part)) {
            codes.push(P::TooMany);
        }
        if ends(&["/offer", "/reassign"]) {
            codes.push(P::OfferSeconds);
        }
        if ends(&["/bulk"]) {
            codes.push(P::TaskTwice);
        }
    }
    if path.ends_with("/stream") {
        codes.push(P::TooManyStreams);
    }
    if parameters.iter().any(|parameter| parameter.parameter_in == ParameterIn::Query) {
        codes.push(P::QueryInvalid);
    }
    codes
}

/// Adds to each operation the problems that it may answer with.
fn with_problems(mut api: OpenApi) -> OpenApi {
    for (path, item) in &mut api.paths.paths {
        let PathItem { get, post, patch, .. } = item;
        for operation in [get, post, patch].into_iter().flatten() {
            let mut by_status: std::collections::BTreeMap<u16, Vec<&str>> =
                std::collections::BTreeMap::new();
            for code in problems(path, operation) {
                by_status.entry(code.status()).or_default().push(code.as_str());
            }
            for (status, codes) in by_status {
                let schema: RefOr<Schema> = Ref::from_schema_name(ProblemBody::name()).into();
                let response = ResponseBuilder::new()
                    .description(codes.join(", "))
                    .content("application/problem+json", Content::new(Some(schema)))
                    .build();
                let responses = &mut operation.responses.responses;
                responses.entry(status.to_string()).or_insert(RefOr::T(response));
            }
        }
    }
    api
}

/// The route that serves the document.
pub fn description(api: OpenApi) -> Router<Desk> {
    let api = with_problems(api);
    Router::new().route("/api/v1/openapi.json", get(async move || Json(api)))
}
