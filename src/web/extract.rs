//! What a request may hold: JSON bodies, keys, ids, queries, languages. Whatever is wrong is said by code, place and
//! sentence.

use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Path, Request, rejection::BytesRejection},
    http::{HeaderMap, header, request::Parts},
};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, MapAccess, Visitor, value::MapAccessDeserializer},
};

use super::{
    desk::Desk,
    problem::{Problem, ProblemCode},
};
use crate::domain::{command::RequestKey, id::TaskId, refusal::Lang};

/// The language of the answer: what `Accept-Language` prefers among ours, English for scripts that say nothing.
#[derive(Clone, Copy, Debug)]
pub struct Language(pub Lang);

/// The best of our languages by `Accept-Language` (RFC 9110 §12.5.4), if it names one of them.
pub fn preferred(headers: &HeaderMap) -> Option<Lang> {
    let wanted = headers.get(header::ACCEPT_LANGUAGE)?.to_str().ok()?;
    let mut best: Option<(f32, Lang)> = None;
    for part in wanted.split(',') {
        let mut fields = part.split(';');
        let tag = fields.next().unwrap_or_default().trim().to_ascii_lowercase();
        let quality = fields
            .find_map(|field| field.trim().strip_prefix("q=")?.parse::<f32>().ok())
            .unwrap_or(1.0);
        let lang = match tag.split('-').next() {
            Some("zh") => Lang::Zh,
            Some("en") => Lang::En,
            _ => continue,
        };
        if quality > 0.0 && best.is_none_or(|(known, _)| quality > known) {
            best = Some((quality, lang));
        }
    }
    best.map(|(_, lang)| lang)
}

impl<S: Send + Sync> FromRequestParts<S> for Language {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Self::Rejection> {
        Ok(Self(preferred(&parts.headers).unwrap_or(Lang::En)))
    }
}

/// The language of a request that is still in one piece.
pub(super) fn language(parts: &Parts) -> Lang {
    preferred(&parts.headers).unwrap_or(Lang::En)
}

/// The fields of a form, each of them once.
#[derive(Debug)]
pub(super) struct Form<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<Desk> for Form<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &Desk) -> Result<Self, Problem> {
        let lang = preferred(request.headers()).unwrap_or(Lang::En);
        if !is_form(request.headers()) {
            return Err(Problem::new(ProblemCode::MediaType, lang));
        }
        let (parts, body) = request.into_parts();
        let bytes = Bytes::from_request(Request::from_parts(parts.clone(), body), state).await;
        let bytes = bytes.map_err(|rejection| unread(&rejection, lang))?;
        let again = || Request::from_parts(parts.clone(), bytes.clone().into());
        let invalid = |_| Problem::new(ProblemCode::BodyInvalid, lang);
        let pairs =
            axum::extract::Form::<Vec<(String, String)>>::from_request(again(), state).await;
        let mut seen = std::collections::HashSet::new();
        for (name, _) in pairs.map_err(invalid)?.0 {
            // Of two values, one would be believed here and the other one somewhere else.
            if let Some(twice) = seen.replace(name) {
                return Err(Problem::new(ProblemCode::FieldTwice, lang).with(twice));
            }
        }
        let form = axum::extract::Form::<T>::from_request(again(), state).await;
        form.map(|form| Self(form.0)).map_err(invalid)
    }
}

/// Whether a body is a form by its own word.
pub(super) fn is_form(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/x-www-form-urlencoded")
}

/// The parts of a path. What is no text names nothing that is there.
#[derive(Debug)]
pub(super) struct InPath<T>(pub(super) T);

impl<T: DeserializeOwned + Send> FromRequestParts<Desk> for InPath<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, desk: &Desk) -> Result<Self, Problem> {
        let path = Path::<T>::from_request_parts(parts, desk).await;
        path.map(|path| Self(path.0))
            .map_err(|_| Problem::new(ProblemCode::NotFound, language(parts)))
    }
}

/// A JSON body of exactly the declared fields.
#[derive(Debug)]
pub struct Body<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Desk> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &Desk) -> Result<Self, Problem> {
        let lang = preferred(request.headers()).unwrap_or(Lang::En);
        if !is_json(request.headers()) {
            return Err(Problem::new(ProblemCode::MediaType, lang));
        }
        let bytes = Bytes::from_request(request, state).await;
        let bytes = bytes.map_err(|rejection| unread(&rejection, lang))?;
        json(&bytes, lang).map(Self)
    }
}

/// A body that could not be read to its end.
pub(super) fn unread(rejection: &BytesRejection, lang: Lang) -> Problem {
    let large = rejection.status() == axum::http::StatusCode::PAYLOAD_TOO_LARGE;
    let code = if large { ProblemCode::BodyTooLarge } else { ProblemCode::TimedOut };
    Problem::new(code, lang)
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

/// What is written as a JSON object, and in no other way: left alone, serde takes the fields of a struct from an array
/// as well, in the order of their declaration.
#[derive(Debug)]
pub(super) struct Object<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Fields<T>(std::marker::PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
            type Value = T;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<T, M::Error> {
                T::deserialize(MapAccessDeserializer::new(map))
            }
        }

        input.deserialize_map(Fields(std::marker::PhantomData)).map(Self)
    }
}

/// Reads JSON, or says where it is wrong.
fn json<T: DeserializeOwned>(bytes: &[u8], lang: Lang) -> Result<T, Problem> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        Problem::new(ProblemCode::BodyMalformed, lang)
            .with(format!("byte {}: not UTF-8", error.valid_up_to()))
    })?;
    let mut input = serde_json::Deserializer::from_str(text);
    let parsed = serde_path_to_error::deserialize::<_, Object<T>>(&mut input).map_err(|error| {
        let pointer = pointer(error.path());
        let inner = error.into_inner();
        let code =
            if inner.is_data() { ProblemCode::BodyInvalid } else { ProblemCode::BodyMalformed };
        Problem::new(code, lang).with(inner.to_string()).at(pointer)
    })?;
    input
        .end()
        .map_err(|error| Problem::new(ProblemCode::BodyMalformed, lang).with(error.to_string()))?;
    Ok(parsed.0)
}

/// A path into a document as a JSON pointer.
fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    path.iter()
        .map(|segment| match segment {
            Segment::Seq { index } => format!("/{index}"),
            Segment::Map { key } => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
            Segment::Enum { variant } => format!("/{variant}"),
            Segment::Unknown => "/?".to_owned(),
        })
        .collect()
}

/// The request key of a command: the header `Idempotency-Key`.
#[derive(Clone, Debug)]
pub struct Key(pub RequestKey);

impl FromRequestParts<Desk> for Key {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _desk: &Desk) -> Result<Self, Problem> {
        let lang = language(parts);
        let mut given = parts.headers.get_all("idempotency-key").iter();
        let (first, second) = (given.next(), given.next());
        let Some(first) = first.filter(|key| !key.is_empty()) else {
            return Err(Problem::new(ProblemCode::KeyMissing, lang));
        };
        let key = first.to_str().ok().and_then(RequestKey::parse).filter(|_| second.is_none());
        key.map(Self).ok_or_else(|| Problem::new(ProblemCode::KeyMalformed, lang))
    }
}

/// The task of a path. What is no task number names no task: 404, like any other that is not there.
#[derive(Clone, Copy, Debug)]
pub struct TaskPath(pub TaskId);

impl FromRequestParts<Desk> for TaskPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, desk: &Desk) -> Result<Self, Problem> {
        let missing = || Problem::new(ProblemCode::NotFound, language(parts));
        let missing_now = missing();
        let path =
            Path::<std::collections::HashMap<String, String>>::from_request_parts(parts, desk);
        let Ok(Path(fields)) = path.await else { return Err(missing_now) };
        fields.get("id").and_then(|id| TaskId::parse(id)).map(Self).ok_or(missing_now)
    }
}

/// The unguessable name in a path. What can be none names nothing: 404, like any other that is not there.
#[derive(Clone, Debug)]
pub struct TokenPath(pub String);

impl FromRequestParts<Desk> for TokenPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, desk: &Desk) -> Result<Self, Problem> {
        let lang = language(parts);
        let path = Path::<String>::from_request_parts(parts, desk).await.ok();
        // Ours are hexadecimal. A text with U+0000 in it could not even be asked for.
        let plain = |token: &String| token.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let token = path.map(|Path(token)| token).filter(plain);
        token.map(Self).ok_or_else(|| Problem::new(ProblemCode::NotFound, lang))
    }
}

/// The parameters of a query, exactly the declared ones.
#[derive(Debug)]
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        let query = axum::extract::Query::<T>::try_from_uri(&parts.uri);
        query.map(|query| Self(query.0)).map_err(|rejection| {
            Problem::new(ProblemCode::QueryInvalid, language(parts)).with(rejection.body_text())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wants(text: &str) -> Option<Lang> {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT_LANGUAGE, text.parse().ok()?);
        preferred(&headers)
    }

    #[test]
    fn the_best_of_our_languages_is_taken() {
        assert_eq!(wants("zh-CN,zh;q=0.9,en;q=0.8"), Some(Lang::Zh));
        assert_eq!(wants("fr, en-GB;q=0.5, zh;q=0.1"), Some(Lang::En));
        assert_eq!(wants("en;q=0.2, zh-Hant;q=0.3"), Some(Lang::Zh));
        assert_eq!(wants("en;q=0"), None);
        assert_eq!(wants("fr"), None);
    }

    #[test]
    fn what_is_wrong_in_a_body_is_said_with_its_place() {
        #[derive(Debug, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        #[expect(dead_code, reason = "only parsed")]
        struct Sample {
            items: Vec<u8>,
        }
        let of = |text: &[u8]| {
            let problem = json::<Sample>(text, Lang::En).err();
            problem.map(|problem| (problem.code.as_str(), problem.pointer.unwrap_or_default()))
        };
        assert_eq!(of(b"{\"items\":[1,2]}"), None);
        assert_eq!(of(b"{\"items\":[1,\"x\"]}"), Some(("BODY_INVALID", "/items/1".to_owned())));
        assert_eq!(of(b"[[1]]"), Some(("BODY_INVALID", String::new())));
        assert_eq!(of(b"{\"more\":1}"), Some(("BODY_INVALID", "/more".to_owned())));
        // It ends within the list, before there is a second item.
        assert_eq!(of(b"{\"items\":[1"), Some(("BODY_MALFORMED", "/items".to_owned())));
        assert_eq!(of(b"{\"items\":[]} x"), Some(("BODY_MALFORMED", String::new())));
        assert_eq!(of(b"\xff"), Some(("BODY_MALFORMED", String::new())));
    }
}
