//! One request, until it is answered.

use std::{sync::Arc, time::Duration};

use reqwest::{
    Method, RequestBuilder,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue},
};
use serde::{Serialize, de::DeserializeOwned};

use super::{Error, Problem, Reply, Retry};
use crate::domain::command::RequestKey;

/// Problems that say "ask again": nothing is lost by doing so under the same key.
const AGAIN: [&str; 4] = ["BUSY", "UNKNOWN", "UNAVAILABLE", "REQUEST_IN_PROGRESS"];

/// Sends what one identity asks.
#[derive(Clone)]
pub(super) struct Sender {
    http: reqwest::Client,
    origin: Arc<str>,
    token: Option<HeaderValue>,
    pub(super) retry: Retry,
    pub(super) timeout: Duration,
}

impl std::fmt::Debug for Sender {
    /// Without the token.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sender").field("origin", &self.origin).finish_non_exhaustive()
    }
}

/// A reply as it came.
struct Raw {
    status: u16,
    headers: HeaderMap,
    body: String,
    attempts: u32,
}

impl Raw {
    fn header(&self, name: &str) -> Option<String> {
        self.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
    }

    /// The problem, if the desk says that this is one.
    fn problem(&self) -> Option<Problem> {
        let kind = self.header(CONTENT_TYPE.as_str()).unwrap_or_default();
        let is_problem = kind.starts_with("application/problem+json");
        is_problem.then(|| serde_json::from_str(&self.body).ok()).flatten()
    }

    fn parsed<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_str(&self.body)
            .map_err(|error| Error::Unreadable { status: self.status, cause: error.to_string() })
    }
}

fn bearer(token: Option<&str>) -> Result<Option<HeaderValue>, Error> {
    let value = token.map(|token| {
        let mut value = HeaderValue::from_str(&format!("Bearer {token}"))
            .map_err(|_| Error::Request("the token can not stand in a header".to_owned()))?;
        value.set_sensitive(true);
        Ok(value)
    });
    value.transpose()
}

impl Sender {
    pub(super) fn new(origin: &str, token: Option<&str>) -> Result<Self, Error> {
        let http = reqwest::Client::builder()
            // A desk is reached where it was said to be, and an answer is never fetched elsewhere.
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .tcp_nodelay(true)
            .build()
            .map_err(|error| Error::Request(causes(&error)))?;
        Ok(Self {
            http,
            origin: origin.trim_end_matches('/').into(),
            token: bearer(token)?,
            retry: Retry::default(),
            timeout: Duration::from_secs(40),
        })
    }

    pub(super) fn speaking_for(&self, token: Option<&str>) -> Result<Self, Error> {
        Ok(Self { token: bearer(token)?, ..self.clone() })
    }

    /// Has a command decided, asking again under the same key while its outcome is unknown.
    pub(super) async fn command(
        &self,
        method: Method,
        path: &str,
        key: Option<&RequestKey>,
        body: &impl Serialize,
    ) -> Result<Reply, Error> {
        let request = || {
            let request = self.request(method.clone(), path).json(body);
            match key {
                Some(key) => request.header("idempotency-key", key.as_str()),
                None => request,
            }
        };
        let raw = self.answered(request).await?;
        let answer = raw.parsed()?;
        Ok(Reply {
            status: raw.status,
            answer,
            replayed: raw.header("idempotency-replayed").as_deref() == Some("true"),
            location: raw.header("location"),
            etag: raw.header("etag"),
            server_time: raw.header("server-time"),
            request_id: raw.header("x-request-id"),
            attempts: raw.attempts,
            body: raw.body,
        })
    }

    /// Reads. It changes nothing, so it can always be asked again.
    pub(super) async fn read<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &[(&str, Option<String>)],
    ) -> Result<T, Error> {
        let given: Vec<_> =
            query.iter().filter_map(|(name, value)| Some((*name, value.as_ref()?))).collect();
        let request = || self.request(Method::GET, path).query(&given);
        self.answered(request).await?.parsed()
    }

    /// Asks for something that has no body and an answer of its own, under a key.
    pub(super) async fn post(&self, path: &str, key: &RequestKey) -> Result<(), Error> {
        let ask = || self.request(Method::POST, path).header("idempotency-key", key.as_str());
        self.answered(ask).await.map(|_| ())
    }

    /// Sets something to what it should be: as often as it takes.
    pub(super) async fn put<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, Error> {
        self.answered(|| self.request(Method::POST, path).json(body)).await?.parsed()
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.origin));
        let request = request.timeout(self.timeout);
        match &self.token {
            Some(token) => request.header(AUTHORIZATION, token),
            None => request,
        }
    }

    /// Sends until there is a reply that is worth having.
    async fn answered(&self, request: impl Fn() -> RequestBuilder) -> Result<Raw, Error> {
        let mut attempts = 1;
        loop {
            let failed = match once(request(), attempts).await {
                Ok(raw) => match raw.problem() {
                    None if raw.status < 500 => return Ok(raw),
                    None => Error::Unreadable { status: raw.status, cause: short(&raw.body) },
                    Some(problem) if AGAIN.contains(&problem.code.as_str()) => {
                        Error::Problem(problem)
                    }
                    Some(problem) => return Err(Error::Problem(problem)),
                },
                Err(error) => error,
            };
            if attempts >= self.retry.attempts || matches!(failed, Error::Request(_)) {
                return Err(failed);
            }
            tokio::time::sleep(self.retry.wait(attempts, fastrand::f64())).await;
            attempts += 1;
        }
    }
}

async fn once(request: RequestBuilder, attempts: u32) -> Result<Raw, Error> {
    let lost = |error: reqwest::Error| {
        let cause = causes(&error);
        if error.is_builder() { Error::Request(cause) } else { Error::Lost { attempts, cause } }
    };
    let response = request.send().await.map_err(lost)?;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    // A reply that breaks off says nothing: what it would have said must be asked for again.
    let body = response.text().await.map_err(lost)?;
    Ok(Raw { status, headers, body, attempts })
}

fn short(body: &str) -> String {
    body.chars().take(200).collect()
}

/// An error with what caused it.
fn causes(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(known) = cause {
        text.push_str(": ");
        text.push_str(&known.to_string());
        cause = known.source();
    }
    text
}
