//! Bodies that are read to their end, even if nobody wants them.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use tokio::time::{Instant, Sleep};
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
    /// When all of it must have come.
    end: Instant,
    /// Waits for that, once it is waited for anything.
    until: Option<Pin<Box<Sleep>>>,
}

impl Whole {
    /// `patience`: how long the next piece may take; `most`: how long all of it may. `expects`: whether the client waits
    /// to be told to send its body; told otherwise, it will not.
    pub(super) fn new(body: Incoming, patience: Duration, most: Duration, expects: bool) -> Self {
        let body = Some(Box::pin(TimeoutBody::new(patience, body)));
        let rest = if expects { Duration::ZERO } else { patience };
        Self { body, rest, end: Instant::now() + most, until: None }
    }
}

impl Body for Whole {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = self.get_mut();
        let Some(body) = this.body.as_mut() else { return Poll::Ready(None) };
        let mut polled = body.as_mut().poll_frame(context);
        if polled.is_pending() {
            let end = this.end;
            let until = this.until.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(end)));
            // Whoever sends a byte now and then would otherwise hold the connection for as long as they like.
            if until.as_mut().poll(context).is_ready() {
                let slow = io::Error::from(io::ErrorKind::TimedOut);
                polled = Poll::Ready(Some(Err(slow.into())));
            }
        }
        // At its end, and when it is broken or too slow, there is no rest.
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
            this.body = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
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
