//! Bodies that are read to their end, even if nobody wants them.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use tower_http::timeout::TimeoutBody;

/// What is left of a body is read and forgotten, up to so many bytes.
const LONGEST_REST: usize = 16 << 20;

type Timed = Pin<Box<TimeoutBody<Incoming>>>;

/// A body whose pieces come in time, and whose rest is read even if nobody wants it. Whoever is refused in the middle
/// of sending would otherwise find the connection broken off, and maybe not even the answer.
pub(super) struct Whole {
    body: Option<Timed>,
    /// How long the rest may take; no time at all if nobody is going to send it.
    rest: Duration,
}

impl Whole {
    /// `patience`: how long the next piece may take. `expects`: whether the client waits to be told to send its body;
    /// told otherwise, it will not.
    pub(super) fn new(body: Incoming, patience: Duration, expects: bool) -> Self {
        let body = Some(Box::pin(TimeoutBody::new(patience, body)));
        Self { body, rest: if expects { Duration::ZERO } else { patience } }
    }
}

impl Body for Whole {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let Some(body) = self.body.as_mut() else { return Poll::Ready(None) };
        let polled = body.as_mut().poll_frame(context);
        // At its end, and when it is broken or too slow, there is no rest.
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
            self.body = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(hyper::body::Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), hyper::body::Body::size_hint)
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        let rest = self.body.take().filter(|body| !body.is_end_stream() && !self.rest.is_zero());
        if let Some(rest) = rest {
            tokio::spawn(tokio::time::timeout(self.rest, forget(rest)));
        }
    }
}

async fn forget(mut rest: Timed) {
    let mut length = 0;
    while let Some(Ok(frame)) = rest.frame().await {
        length += frame.data_ref().map_or(0, Bytes::len);
        if length > LONGEST_REST {
            return;
        }
    }
}
