//! The second lock of forms: each form of somebody who is signed in carries a word that only pages of their own session
//! know. (The first one is in `gate`: browsers say which site a form comes from.) The word is derived from the session's
//! cookie, so nothing is stored, and it ends with the session.

use axum::{
    body::{Body, Bytes},
    extract::{FromRequest, Request, State},
    http::{HeaderMap, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use sha2::{Digest, Sha256};

use super::{
    desk::Desk,
    extract::{is_form, preferred, unread},
    page::cookie,
    problem::{Problem, ProblemCode},
};
use crate::domain::{fingerprint::hex, refusal::Lang};

/// The field that carries it.
pub(super) const FIELD: &str = "form";

/// The cookies of sessions: of the console, and of riders.
const COOKIES: [(&str, &str); 2] = [("desk", "__Host-desk"), ("rider", "__Host-rider")];

/// Paths whose forms are for whoever has not signed in. Their pages know of no session.
const OPEN: [&str; 7] = [
    "/sign-in",
    "/rider/sign-in",
    "/t/",
    "/desk/enter/",
    "/rider/enter/",
    "/password/",
    "/set-up/",
];

/// The page of customers, who never have a session.
const TRACKING: &str = "/t/";

/// The one form that brings a file; it is taken apart where it is read.
const UPLOAD: &str = "/import";

/// The cookie of the session that goes with `path`. Behind TLS it has a name that no other host can set; that one
/// counts first.
fn session<'a>(headers: &'a HeaderMap, path: &str) -> Option<&'a str> {
    let of_rider = path == "/rider" || path.starts_with("/rider/");
    let (name, host) = COOKIES[usize::from(of_rider)];
    cookie(headers, host).or_else(|| cookie(headers, name))
}

/// Whether a request carries any session of ours.
pub(super) fn carries_a_session(headers: &HeaderMap) -> bool {
    COOKIES
        .iter()
        .any(|(name, host)| cookie(headers, host).is_some() || cookie(headers, name).is_some())
}

/// The word for the forms of the page at `path`; none if its reader has no session there.
pub(super) fn word(headers: &HeaderMap, path: &str) -> Option<String> {
    let session = session(headers, path).filter(|_| !path.starts_with(TRACKING))?;
    let digest = Sha256::new().chain_update("dispatch-desk form").chain_update(session).finalize();
    Some(hex(&digest[..16]))
}

fn is_open(path: &str) -> bool {
    OPEN.iter().any(|open| path == *open || (open.ends_with('/') && path.starts_with(open)))
}

/// What an upload is checked against, as an extension of its request.
#[derive(Clone, Debug)]
pub(super) struct Expected(String);

impl Expected {
    /// Whether the field of an upload holds the word.
    pub(super) fn is(&self, given: &str) -> bool {
        same(self.0.as_bytes(), given.as_bytes())
    }
}

/// Takes the word out of a form, so that nobody behind needs to know of it; refuses the form without it.
pub(super) async fn check(State(desk): State<Desk>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    if request.method().is_safe() || path.starts_with("/api/") || is_open(path) {
        return next.run(request).await;
    }
    let Some(word) = word(request.headers(), path) else { return next.run(request).await };
    let lang = preferred(request.headers()).unwrap_or(Lang::En);
    let kind = request.headers().get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default().to_owned();
    if path == UPLOAD && kind.starts_with("multipart/form-data") {
        let mut request = request;
        request.extensions_mut().insert(Expected(word));
        return next.run(request).await;
    }
    // A form that a page can have sent elsewhere without asking, such as text/plain, is none of ours.
    if !is_form(request.headers()) {
        return Problem::new(ProblemCode::MediaType, lang).into_response();
    }
    let (mut parts, body) = request.into_parts();
    let whole = Request::from_parts(parts.clone(), body);
    let bytes = match Bytes::from_request(whole, &desk).await {
        Ok(bytes) => bytes,
        Err(rejection) => return unread(&rejection, lang).into_response(),
    };
    let (given, rest) = take(&bytes);
    if !given.is_some_and(|given| same(given, word.as_bytes())) {
        return refused(lang).into_response();
    }
    parts.headers.remove(header::TRANSFER_ENCODING);
    parts.headers.insert(header::CONTENT_LENGTH, rest.len().into());
    next.run(Request::from_parts(parts, Body::from(rest))).await
}

/// A form that is not of this session.
pub(super) fn refused(lang: Lang) -> Problem {
    let detail = match lang {
        Lang::Zh => "该表单不属于当前登录会话，请重新打开页面再试。",
        Lang::En => "The form is not of your present session: open the page again.",
    };
    Problem::new(ProblemCode::CrossSite, lang).with(detail)
}

/// The word of a form that was sent, and the other fields as they were. A word that stands there twice is none.
fn take(form: &[u8]) -> (Option<&[u8]>, Vec<u8>) {
    let of = |pair: &'_ &[u8]| pair.starts_with(FIELD.as_bytes()) && pair.get(4) == Some(&b'=');
    let mut words = form.split(|byte| *byte == b'&').filter(of).map(|pair| &pair[5..]);
    let (first, second) = (words.next(), words.next());
    let rest: Vec<_> = form.split(|byte| *byte == b'&').filter(|pair| !of(pair)).collect();
    (first.filter(|_| second.is_none()), rest.join(&b'&'))
}

/// Whether two texts are the same, in a time that does not tell where they differ.
fn same(one: &[u8], two: &[u8]) -> bool {
    let differ = one.iter().zip(two).fold(0, |sum, (one, two)| sum | (one ^ two));
    one.len() == two.len() && differ == 0
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn with(cookies: &'static str) -> HeaderMap {
        [(header::COOKIE, HeaderValue::from_static(cookies))].into_iter().collect()
    }

    #[test]
    fn the_word_is_of_the_session_and_of_its_side_of_the_house() {
        let headers = with("desk=abc; rider=xyz");
        let desk = word(&headers, "/board");
        // The first 32 hexadecimal digits of the digest, as anybody can work them out.
        assert_eq!(desk.as_deref(), Some("f585091581b0520333fd6717628322f7"));
        assert_ne!(desk, word(&headers, "/rider"));
        assert_eq!(word(&headers, "/rider"), word(&headers, "/rider/tasks/1/grab"));
        assert_eq!(word(&headers, "/riders"), desk);
        assert_ne!(desk, word(&with("desk=abd"), "/board"));
        // A cookie that any host could have set counts less than one that only this one can.
        assert_eq!(word(&with("desk=evil; __Host-desk=abc"), "/board"), desk);
        assert_eq!(word(&headers, "/t/0123"), None);
        for open in ["/sign-in", "/rider/sign-in", "/t/0", "/desk/enter/0", "/password/0"] {
            assert!(is_open(open), "{open}");
        }
        for closed in ["/sign-in/code", "/sign-out", "/rider", "/tasks/new", "/t", "/me/password"] {
            assert!(!is_open(closed), "{closed}");
        }
        assert_eq!(word(&HeaderMap::new(), "/board"), None);
        assert!(carries_a_session(&with("a=b; rider=x")) && !carries_a_session(&with("lang=en")));
    }

    #[test]
    fn the_word_is_taken_out_and_the_rest_stays_as_it_was() {
        let took = |form: &str| {
            let (word, rest) = take(form.as_bytes());
            (
                word.map(|word| String::from_utf8_lossy(word).into_owned()),
                String::from_utf8_lossy(&rest).into_owned(),
            )
        };
        let word = |word: &str| Some(word.to_owned());
        assert_eq!(took("form=w&key=k&note=a+b%26"), (word("w"), "key=k&note=a+b%26".to_owned()));
        assert_eq!(took("key=k&form=w"), (word("w"), "key=k".to_owned()));
        assert_eq!(took("form="), (word(""), String::new()));
        for none in ["", "key=k", "form", "xform=w", "form2=w", "FORM=w", "form=w&form=w"] {
            assert_eq!(took(none).0, None, "{none}");
        }
    }

    #[test]
    fn texts_are_compared_in_full() {
        assert!(same(b"abc", b"abc"));
        assert!(!same(b"abc", b"abd") && !same(b"abc", b"ab") && !same(b"", b"a"));
    }
}
