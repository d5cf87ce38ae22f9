//! What every request must: be of a size that can be read, name one host, take a way that there is, and, if it changes
//! anything, come from our own pages.

use axum::{
    extract::{DefaultBodyLimit, Request},
    http::{HeaderMap, Method, header},
};

use super::{
    desk::{Desk, Origin},
    form_token,
    problem::ProblemCode,
    uploads,
};

/// The head may be this long, in bytes: the target, the names and the values.
const LONGEST_HEAD: usize = 32 * 1024;
/// So many lines may the head have.
const MOST_HEADERS: usize = 100;
/// The target may be this long, in bytes.
const LONGEST_TARGET: usize = 8 * 1024;

/// A body may be this long, in bytes: a command fits many times (64 KiB).
const BODY_LIMIT: usize = 64 * 1024;
/// The same where somebody writes at length, or about many tasks: orders, details, bulks (1 MiB).
const LONG_BODY_LIMIT: usize = 1 << 20;

/// How long the body of a request to `route` may be, in bytes.
fn body_limit(route: &str) -> usize {
    match route {
        "/import" => uploads::FILE_LIMIT + 64 * 1024,
        "/api/v1/tasks"
        | "/api/v1/bulk"
        | "/api/v1/tasks/{id}/detail"
        | "/tasks/new"
        | "/tasks/{id}/detail" => LONG_BODY_LIMIT,
        _ => BODY_LIMIT,
    }
}

/// Why a request gets no further, before anything of its body was read; and sets how long that may be.
pub(super) fn refused(
    request: &mut Request,
    route: Option<&str>,
    desk: &Desk,
) -> Option<ProblemCode> {
    let (method, headers) = (request.method(), request.headers());
    let target = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
    if target > LONGEST_TARGET {
        return Some(ProblemCode::UriTooLong);
    }
    // As it stands on the wire: `name: value` and a line end.
    let lines = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4);
    if headers.len() > MOST_HEADERS || lines.sum::<usize>() + target > LONGEST_HEAD {
        return Some(ProblemCode::HeadTooLarge);
    }
    if headers.get_all(header::HOST).iter().count() != 1 {
        return Some(ProblemCode::HostMissing);
    }
    // These are for proxies and for looking at what they make of a request.
    if method == Method::CONNECT || (method == Method::TRACE && route.is_none()) {
        return Some(ProblemCode::MethodNotAllowed);
    }
    if !is_from_here(method, request.uri().path(), headers, desk.origin()) {
        return Some(ProblemCode::CrossSite);
    }
    let limit = body_limit(route.unwrap_or_default());
    let declared = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    let declared = declared.and_then(|length| length.parse::<u64>().ok()).unwrap_or_default();
    if !method.is_safe() && usize::try_from(declared).map_or(true, |declared| declared > limit) {
        return Some(ProblemCode::BodyTooLarge);
    }
    DefaultBodyLimit::max(limit).apply(request);
    None
}

/// Whether a form may come from where it says: browsers name the site (Fetch metadata), or at least the origin, which
/// is to be the configured one, whatever host the request names. Scripts come with a token of their own, which no other
/// site can make a browser send; they need not say.
fn is_from_here(method: &Method, path: &str, headers: &HeaderMap, origin: &Origin) -> bool {
    if method.is_safe() || path.starts_with("/api/") {
        return true;
    }
    let mut sites = headers.get_all("sec-fetch-site").iter().peekable();
    if sites.peek().is_some() {
        return sites.all(|site| site == "same-origin" || site == "none");
    }
    let mut origins = headers.get_all(header::ORIGIN).iter().peekable();
    if origins.peek().is_some() {
        let here = origins.all(|from| from.to_str().is_ok_and(|from| origin.is(from)));
        if !here {
            let ours = origin.as_str();
            tracing::warn!(ours, "a form came from an origin that is not the configured one");
        }
        return here;
    }
    // Neither: no browser of the last years, so nobody's session is behind it.
    !form_token::carries_a_session(headers)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn from_here(method: &Method, path: &str, given: &[(&'static str, &'static str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            headers.append(*name, HeaderValue::from_static(value));
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
        assert!(!post(&[("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")]));
        assert!(post(&[("origin", "https://desk.example")]));
        assert!(!post(&[("origin", "http://desk.example")]));
        assert!(!post(&[("origin", "https://evil.example"), ("host", "desk.example")]));
        // Whoever names another host does not make another origin right.
        assert!(!post(&[("origin", "https://evil.example"), ("host", "evil.example")]));
        assert!(!post(&[("origin", "null"), ("host", "desk.example")]));
        assert!(!post(&[("origin", "https://desk.example"), ("origin", "https://evil.example")]));
        // No browser says neither; a session without one is somebody else's.
        assert!(!post(&[("cookie", "__Host-desk=abc")]));
        assert!(!post(&[("cookie", "lang=en; rider=abc")]));
        assert!(post(&[("cookie", "lang=en")]) && post(&[]));
        assert!(from_here(&Method::GET, "/tasks/T1", &[("sec-fetch-site", "cross-site")]));
        assert!(from_here(&Method::POST, "/api/v1/tasks", &[("sec-fetch-site", "cross-site")]));
    }
}
