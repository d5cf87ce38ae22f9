//! What every answer carries: a request id, the store's time, and the rules for browsers.

use std::time::Duration;

use axum::{
    Router,
    body::Body,
    extract::{MatchedPath, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use tower_http::catch_panic::CatchPanicLayer;
use tracing::Instrument;

use super::{
    desk::Desk,
    enter,
    extract::preferred,
    form_token, gate,
    page::Taste,
    peer::Peer,
    problem::{Problem, ProblemCode},
};
use crate::domain::refusal::Lang;

/// How long a request may take in all, as an extension of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience(pub(super) Duration);

impl Default for Patience {
    fn default() -> Self {
        Self(Duration::from_secs(90))
    }
}

/// No scripts, no styles and no frames but ours (UX §0).
const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
                   connect-src 'self'; worker-src 'self'; manifest-src 'self'; media-src 'self'; base-uri 'none'; \
                   form-action 'self'; frame-ancestors 'none'; object-src 'none'";

const FIXED: &[(&str, &str)] = &[
    ("content-security-policy", CSP),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("x-frame-options", "DENY"),
    ("permissions-policy", "camera=(), microphone=(), payment=(), usb=()"),
];

/// Wraps all routes.
pub(super) fn on_every_answer(router: Router, desk: &Desk) -> Router {
    router
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn_with_state(desk.clone(), form_token::check))
        .layer(middleware::from_fn_with_state(desk.clone(), guard))
}

#[expect(clippy::needless_pass_by_value, reason = "the layer asks for a function that takes it")]
fn panicked(cause: Box<dyn std::any::Any + Send>) -> Response {
    let text = cause.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| cause.downcast_ref::<&str>().copied()).unwrap_or_default();
    tracing::error!(panic = text, "a request panicked");
    Problem::new(ProblemCode::Faulty, Lang::En).into_response()
}

async fn guard(State(desk): State<Desk>, mut request: Request, next: Next) -> Response {
    let lang = preferred(request.headers()).unwrap_or(Lang::En);
    let id = desk.token().unwrap_or_default();
    let method = request.method().clone();
    let people = wants_a_page(request.uri().path(), request.headers()).then(|| {
        let here = request.uri().path_and_query().map_or("/", |here| here.as_str());
        Taste::of(request.headers(), if method.is_safe() { here } else { "/" })
    });
    // The pattern and not the path: what stands in its place may be a secret.
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let route = matched.as_ref().map(MatchedPath::as_str);
    let patience = request.extensions().get::<Patience>().copied().unwrap_or_default();
    let peer = request.extensions().get::<Peer>().map(|peer| tracing::field::display(peer.0));
    let span = tracing::info_span!("request", id, peer);
    let mut response = if let Some(code) = gate::refused(&mut request, route, &desk) {
        turned_away(code, lang)
    } else {
        // A task of its own, which runs to its end when the client has gone: what a form has begun is not left half done.
        let run = tokio::spawn(next.run(request).instrument(span.clone()));
        match tokio::time::timeout(patience.0, run).await {
            Ok(Ok(response)) => response,
            Ok(Err(_)) => Problem::new(ProblemCode::Faulty, lang).into_response(),
            // What was asked may be done all the same.
            Err(_) => Problem::new(ProblemCode::Unknown, lang).into_response(),
        }
    };
    if let Some(problem) = response.extensions().get::<Problem>().cloned() {
        match people {
            Some(taste) => become_page(&mut response, enter::error(&desk, &taste, &problem, &id)),
            None => name_request(&mut response, &problem, &id),
        }
    }
    let (status, route) = (response.status().as_u16(), route.unwrap_or("none"));
    span.in_scope(|| {
        if status >= 500 {
            tracing::error!(%method, route, status, "answered");
        } else {
            tracing::debug!(%method, route, status, "answered");
        }
    });
    finish(&mut response, &method, &desk, &id);
    response
}

/// What gets no further than the gate.
fn turned_away(code: ProblemCode, lang: Lang) -> Response {
    let mut response = Problem::new(code, lang).into_response();
    let (name, value) = match code {
        // No route has said what it takes.
        ProblemCode::MethodNotAllowed => (header::ALLOW, "GET, HEAD"),
        // Whoever sends such heads is not asked for more of them.
        ProblemCode::HeadTooLarge | ProblemCode::UriTooLong => (header::CONNECTION, "close"),
        _ => return response,
    };
    response.headers_mut().insert(name, HeaderValue::from_static(value));
    response
}

/// The same problem as a page: what it says to programs beside its body stays.
fn become_page(response: &mut Response, mut page: Response) {
    for name in [header::ALLOW, header::RETRY_AFTER] {
        if let Some(value) = response.headers_mut().remove(&name) {
            page.headers_mut().insert(name, value);
        }
    }
    *response = page;
}

/// Writes the request's id into the body of its problem.
fn name_request(response: &mut Response, problem: &Problem, id: &str) {
    let mut body = problem.body();
    body.request_id = Some(id.to_owned());
    if let Ok(body) = serde_json::to_vec(&body) {
        response.headers_mut().remove(header::CONTENT_LENGTH);
        *response.body_mut() = Body::from(body);
    }
}

/// Whether it is a person who asks, with a browser.
fn wants_a_page(path: &str, headers: &HeaderMap) -> bool {
    let accepts = headers.get(header::ACCEPT).and_then(|accepts| accepts.to_str().ok());
    !path.starts_with("/api/") && accepts.is_some_and(|accepts| accepts.contains("text/html"))
}

fn finish(response: &mut Response, method: &Method, desk: &Desk, id: &str) {
    let status = response.status();
    let headers = response.headers_mut();
    if !method.is_safe() {
        // What was answered depended on them.
        headers.append(header::VARY, HeaderValue::from_static("sec-fetch-site, origin"));
    }
    for (name, value) in FIXED {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if desk.origin().is_secure() {
        let year = HeaderValue::from_static("max-age=31536000");
        headers.insert(header::STRICT_TRANSPORT_SECURITY, year);
    }
    if status == StatusCode::SERVICE_UNAVAILABLE {
        headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    if status == StatusCode::TOO_MANY_REQUESTS {
        // A page takes the place of the answer that said it.
        headers.entry(header::RETRY_AFTER).or_insert(HeaderValue::from_static("10"));
    }
    // What the desk says is true now; nobody may keep it for later. Files with their version in the name may be kept.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    for (name, value) in [("server-time", desk.now().to_string()), ("x-request-id", id.to_owned())]
    {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tower::ServiceExt;

    use super::*;
    use crate::{
        engine::executor::{Executor, Settings},
        store::{Db, Time},
        web::Origin,
    };

    #[tokio::test]
    async fn a_panic_is_one_answer_with_its_number_and_the_next_request_is_served() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("desk.db").display());
        let db = Db::open(&url, Time::System).await.unwrap();
        let executor = Executor::start(db.clone(), Settings::default());
        let desk = Desk::new(executor, Origin::parse("https://desk.example").unwrap());
        let routes = Router::new()
            .route("/panic", get(async || -> &'static str { panic!("at the disco") }))
            .route("/well", get(async || "well"));
        let routes = on_every_answer(routes, &desk);
        let ask = async |path: &str, accept: &'static str| {
            let request = Request::get(path).header(header::HOST, "desk.example");
            let request = request.header(header::ACCEPT, accept).body(Body::empty()).unwrap();
            let response = routes.clone().oneshot(request).await.unwrap();
            let (parts, body) = response.into_parts();
            let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
            (parts.status.as_u16(), parts.headers, String::from_utf8(body.to_vec()).unwrap())
        };
        for accept in ["application/json", "text/html"] {
            let (status, headers, body) = ask("/panic", accept).await;
            assert_eq!(status, 500);
            let id = headers["x-request-id"].to_str().unwrap();
            assert!(id.len() == 32 && body.contains(id) && body.contains("FAULTY"), "{body}");
            assert!(!body.contains("disco"), "what went wrong inside is not for strangers: {body}");
            for name in FIXED.iter().map(|(name, _)| *name).chain(["strict-transport-security"]) {
                assert!(headers.contains_key(name), "{name}");
            }
            assert_eq!(ask("/well", accept).await.2, "well");
        }
        desk.executor().stop().await;
        db.close().await;
    }
}
