//! Requests over real connections, with the moments at which they were sent and answered.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::{Duration, Instant},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use reqwest::{Method, header::CONTENT_TYPE};
use tokio::sync::watch;

use super::{
    product::{HIDDEN, Request},
    record::Received,
};

/// No answer is waited for any longer.
const PATIENCE: Duration = Duration::from_secs(20);

/// One product, reached over HTTP. Connections are kept and shared; credentials go with each request.
#[derive(Clone, Debug)]
pub(super) struct Wire {
    http: reqwest::Client,
    origin: Arc<str>,
    began: Instant,
}

/// A request that was sent.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) reply: Result<Received, String>,
    pub(super) began_ns: u64,
    pub(super) ended_ns: u64,
}

/// Lets all who wait at it go at once.
#[derive(Clone, Debug)]
pub(super) struct Gate {
    open: watch::Sender<bool>,
    waiting: Arc<AtomicUsize>,
}

impl Gate {
    pub(super) fn new() -> Self {
        Self { open: watch::Sender::new(false), waiting: Arc::default() }
    }

    /// How many have written all but their last byte.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Acquire)
    }

    /// Lets them go.
    pub(super) fn open(&self) {
        self.open.send_replace(true);
    }

    /// Returns once it is open.
    pub(super) async fn passed(&self) {
        let mut open = self.open.subscribe();
        // The sender lives as long as we do.
        let _ = open.wait_for(|open| *open).await;
    }
}

/// A body whose last byte waits at a gate.
struct Held {
    head: Option<Bytes>,
    last: Option<Bytes>,
    gate: Option<Gate>,
    passed: Option<Pin<Box<dyn Future<Output = ()> + Send + Sync>>>,
    /// When the last byte was handed over.
    went: Arc<std::sync::OnceLock<Instant>>,
}

impl Body for Held {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if let Some(head) = self.head.take() {
            return Poll::Ready(Some(Ok(Frame::data(head))));
        }
        if self.last.is_none() {
            return Poll::Ready(None);
        }
        if let Some(gate) = self.gate.take() {
            gate.waiting.fetch_add(1, Ordering::AcqRel);
            self.passed = Some(Box::pin(async move { gate.passed().await }));
        }
        if let Some(passed) = self.passed.as_mut() {
            match passed.as_mut().poll(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(()) => self.passed = None,
            }
        }
        let _ = self.went.set(Instant::now());
        Poll::Ready(self.last.take().map(|last| Ok(Frame::data(last))))
    }

    fn is_end_stream(&self) -> bool {
        self.head.is_none() && self.last.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        let length = |part: &Option<Bytes>| part.as_ref().map_or(0, Bytes::len);
        let left = length(&self.head) + length(&self.last);
        SizeHint::with_exact(u64::try_from(left).unwrap_or(u64::MAX))
    }
}

impl Wire {
    /// Ready to ask the product at `origin`.
    ///
    /// # Errors
    /// If no connection could ever be made.
    pub(super) fn new(origin: &str) -> Result<Self, String> {
        let http = reqwest::Client::builder()
            // A product is reached where it was said to be, and an answer is never fetched elsewhere.
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .tcp_nodelay(true)
            .build()
            .map_err(|error| error.to_string())?;
        let origin = origin.trim_end_matches('/').into();
        Ok(Self { http, origin, began: Instant::now() })
    }

    /// Nanoseconds since the run began.
    pub(super) fn now_ns(&self) -> u64 {
        self.ns(Instant::now())
    }

    fn ns(&self, at: Instant) -> u64 {
        u64::try_from(at.duration_since(self.began).as_nanos()).unwrap_or(u64::MAX)
    }

    /// Sends a request; with a gate, its last byte waits there.
    pub(super) async fn send(
        &self,
        token: Option<&str>,
        key: Option<&str>,
        request: &Request,
        gate: Option<Gate>,
    ) -> Sent {
        let method = if request.method == "POST" { Method::POST } else { Method::GET };
        let mut builder =
            self.http.request(method, format!("{}{}", self.origin, request.path)).timeout(PATIENCE);
        if let Some(token) = token {
            builder = builder.bearer_auth(token);
        }
        if let Some(key) = key.filter(|_| !request.key_in_body) {
            builder = builder.header("idempotency-key", key);
        }
        let went = Arc::new(std::sync::OnceLock::new());
        if let Some(body) = &request.body {
            let mut head = Bytes::from(body.clone());
            let last = head.split_off(head.len().saturating_sub(1));
            let held = Held {
                head: Some(head).filter(|head| !head.is_empty()),
                last: Some(last).filter(|last| !last.is_empty()),
                gate,
                passed: None,
                went: Arc::clone(&went),
            };
            builder =
                builder.header(CONTENT_TYPE, "application/json").body(reqwest::Body::wrap(held));
        }
        let written = Instant::now();
        let reply = self.reply(builder, request).await;
        let ended_ns = self.now_ns();
        Sent { reply, began_ns: self.ns(*went.get().unwrap_or(&written)), ended_ns }
    }

    async fn reply(
        &self,
        builder: reqwest::RequestBuilder,
        request: &Request,
    ) -> Result<Received, String> {
        let failed = |error: reqwest::Error| {
            let mut text = error.without_url().to_string();
            if text.is_empty() {
                "no answer".clone_into(&mut text);
            }
            text
        };
        let response = builder.send().await.map_err(failed)?;
        let header = |name: &str| {
            let value = response.headers().get(name)?.to_str().ok()?;
            Some(value.to_owned())
        };
        let (server_time, request_id) = (header("server-time"), header("x-request-id"));
        let replayed = header("idempotency-replayed").as_deref() == Some("true");
        let status = response.status().as_u16();
        let body = response.text().await.map_err(failed)?;
        Ok(Received { status, replayed, server_time, request_id, body: hidden(&body, request) })
    }
}

/// A body as it may be kept: without the name that gives a customer's rights.
fn hidden(body: &str, request: &Request) -> String {
    let secret = request
        .path
        .strip_prefix("/api/v1/track/")
        .filter(|_| request.path != request.kept_path)
        .and_then(|rest| rest.split('/').next());
    match secret {
        Some(secret) => body.replace(secret, HIDDEN),
        None => body.to_owned(),
    }
}
