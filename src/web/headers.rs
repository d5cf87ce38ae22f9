//! What every answer carries: a request id, the store's time, and the rules for browsers; and what every request
//! must: a host, and for forms the site that they came from.

use axum::{
    Router,
    extract::{DefaultBodyLimit, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use tower_http::catch_panic::CatchPanicLayer;

use super::{
    desk::{Desk, Origin},
    enter,
    extract::preferred,
    page::Taste,
    problem::{Problem, ProblemCode},
};
use crate::domain::refusal::Lang;

/// No body may be longer, in bytes: an order with a long note fits many times (1 MiB). An uploaded file has a
/// limit of its own.
pub(super) const BODY_LIMIT: usize = 1 << 20;

/// No answer may take longer.
const LONGEST_ANSWER: std::time::Duration = std::time::Duration::from_secs(30);

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
        .layer(DefaultBodyLimit::max(BODY_LIMIT))
        .layer(middleware::from_fn_with_state(desk.clone(), guard))
}

#[expect(clippy::needless_pass_by_value, reason = "the layer asks for a function that takes it")]
fn panicked(cause: Box<dyn std::any::Any + Send>) -> Response {
    let text = cause.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| cause.downcast_ref::<&str>().copied()).unwrap_or_default();
    tracing::error!(panic = text, "a request panicked");
    Problem::new(ProblemCode::Faulty, Lang::En).into_response()
}

async fn guard(State(desk): State<Desk>, request: Request, next: Next) -> Response {
    let lang = preferred(request.headers()).unwrap_or(Lang::En);
    let id = desk.token().unwrap_or_default();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let people = wants_a_page(&path, request.headers()).then(|| {
        let here = request.uri().path_and_query().map_or("/", |here| here.as_str());
        Taste::of(request.headers(), if method.is_safe() { here } else { "/" })
    });
    let hosts = request.headers().get_all(header::HOST).iter().count();
    let mut response = if hosts != 1 {
        Problem::new(ProblemCode::HostMissing, lang).into_response()
    } else if !is_from_here(&method, &path, request.headers(), desk.origin()) {
        Problem::new(ProblemCode::CrossSite, lang).into_response()
    } else {
        // A task of its own, which runs to its end when the client has gone: left in the middle of a BEGIN, sqlx gives
        // a connection back with the transaction open, and whoever is next reads the past and can not write.
        match tokio::time::timeout(LONGEST_ANSWER, tokio::spawn(next.run(request))).await {
            Ok(Ok(response)) => response,
            Ok(Err(_)) => Problem::new(ProblemCode::Faulty, lang).into_response(),
            // What was asked may be done all the same.
            Err(_) => Problem::new(ProblemCode::Unknown, lang).into_response(),
        }
    };
    if let (Some(problem), Some(taste)) = (response.extensions().get::<Problem>(), people) {
        response = enter::error(&desk, &taste, &problem.clone(), &id);
    }
    let status = response.status().as_u16();
    if status >= 500 {
        tracing::error!(request_id = id, %method, path, status, "answered");
    } else {
        tracing::debug!(request_id = id, %method, path, status, "answered");
    }
    finish(&mut response, &desk, &id);
    response
}

/// Whether it is a person who asks, with a browser.
fn wants_a_page(path: &str, headers: &HeaderMap) -> bool {
    let accepts = headers.get(header::ACCEPT).and_then(|accepts| accepts.to_str().ok());
    !path.starts_with("/api/") && accepts.is_some_and(|accepts| accepts.contains("text/html"))
}

fn finish(response: &mut Response, desk: &Desk, id: &str) {
    let status = response.status();
    let headers = response.headers_mut();
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

/// Whether a form may come from where it says: browsers name the site (Fetch metadata), or at least the origin.
/// Scripts come with a token of their own, which no other site can make a browser send; they need not say.
fn is_from_here(method: &Method, path: &str, headers: &HeaderMap, origin: &Origin) -> bool {
    if method.is_safe() || path.starts_with("/api/") {
        return true;
    }
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    match (text("sec-fetch-site"), text("origin")) {
        (Some(site), _) => site == "same-origin" || site == "none",
        (None, Some(from)) => {
            let host = text("host").unwrap_or_default();
            let of_host = from.split_once("://").is_some_and(|(_, from)| from == host);
            from.eq_ignore_ascii_case(origin.as_str()) || of_host
        }
        // Neither: no browser of the last years. Its cookie is SameSite, and that has to do.
        (None, None) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_here(method: &Method, path: &str, given: &[(&'static str, &'static str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        Origin::parse("https://desk.example")
            .is_ok_and(|origin| is_from_here(method, path, &headers, &origin))
    }

    #[test]
    fn forms_of_other_sites_are_not_carried_out() {
        let post = |given: &[_]| from_here(&Method::POST, "/tasks/T1/cancel", given);
        assert!(post(&[("sec-fetch-site", "same-origin")]));
        assert!(post(&[("sec-fetch-site", "none")]));
        assert!(!post(&[("sec-fetch-site", "cross-site"), ("origin", "https://desk.example")]));
        assert!(!post(&[("sec-fetch-site", "same-site")]));
        assert!(post(&[("origin", "https://desk.example")]));
        assert!(!post(&[("origin", "https://evil.example"), ("host", "desk.example")]));
        assert!(!post(&[("origin", "null"), ("host", "desk.example")]));
        assert!(from_here(&Method::GET, "/tasks/T1", &[("sec-fetch-site", "cross-site")]));
    }
}
