//! Connections: taken, bounded in time and number, and ended in good order.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    body::Body,
    http::{Request, header},
};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto, graceful::GracefulShutdown},
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    task::JoinHandle,
};
use tower::ServiceExt;

use super::{Desk, router, whole::Whole};
use crate::engine::{expiry::Expiry, housekeeping::Housekeeping};

/// How long and how many.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How long the head of a request may take.
    pub head: Duration,
    /// How long the next piece of a body may take.
    pub body: Duration,
    /// How many connections there may be at once; more wait at the door.
    pub connections: usize,
    /// How long answers that are under way may take once the end has come.
    pub farewell: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(10),
            body: Duration::from_secs(10),
            connections: 10_000,
            farewell: Duration::from_secs(6),
        }
    }
}

/// The head of a request may be this long, in bytes.
const LONGEST_HEAD: usize = 32 * 1024;

/// A server that runs.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    running: JoinHandle<()>,
    background: Vec<(watch::Sender<bool>, JoinHandle<()>)>,
    desk: Desk,
}

impl Server {
    /// Serves `desk` on `listener`, with the expiry and the housekeeping beside it.
    ///
    /// # Errors
    /// If the listener has no address.
    pub fn start(desk: Desk, listener: TcpListener, limits: Limits) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let (_, stop_expiry, expiry) = Expiry::start(desk.executor().clone());
        let (stop_housekeeping, housekeeping) = Housekeeping::start(desk.executor().clone());
        let (stop, stopped) = watch::channel(false);
        let running = tokio::spawn(accept(desk.clone(), listener, limits, stopped));
        let background = vec![(stop_expiry, expiry), (stop_housekeeping, housekeeping)];
        Ok(Self { address, stop, running, background, desk })
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes no more connections, lets what is under way be answered, then ends the executor and closes the
    /// database.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        // It ends by itself; that it panicked would be in the log.
        let _ = self.running.await;
        for (stop, handle) in self.background {
            stop.send_replace(true);
            let _ = handle.await;
        }
        self.desk.executor().stop().await;
        self.desk.db().close().await;
    }
}

async fn accept(
    desk: Desk,
    listener: TcpListener,
    limits: Limits,
    mut stopped: watch::Receiver<bool>,
) {
    let routes = router(&desk);
    let mut builder = auto::Builder::new(TokioExecutor::new()).http1_only();
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .max_buf_size(LONGEST_HEAD)
        .keep_alive(true);
    let open = Arc::new(Semaphore::new(limits.connections));
    let graceful = GracefulShutdown::new();
    loop {
        let (stream, permit) = tokio::select! {
            _ = stopped.wait_for(|stopped| *stopped) => break,
            taken = next(&listener, &open) => taken,
        };
        let routes = routes.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let expects = request.headers().contains_key(header::EXPECT);
            let request = request.map(|body| Body::new(Whole::new(body, limits.body, expects)));
            routes.clone().oneshot(request)
        });
        let connection = builder.serve_connection(TokioIo::new(stream), service).into_owned();
        let watched = graceful.watch(connection);
        tokio::spawn(async move {
            let _permit = permit;
            // A connection that breaks concerns its client; what it asked for is decided all the same.
            if let Err(error) = watched.await {
                tracing::debug!(error, "a connection ended early");
            }
        });
    }
    // No connection is taken from here on.
    drop(listener);
    if tokio::time::timeout(limits.farewell, graceful.shutdown()).await.is_err() {
        tracing::warn!("connections were cut: their clients took too long");
    }
}

/// The next connection, once there is room for it.
async fn next(
    listener: &TcpListener,
    open: &Arc<Semaphore>,
) -> (TcpStream, Option<tokio::sync::OwnedSemaphorePermit>) {
    let permit = Arc::clone(open).acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // Answers are small and wanted at once.
                let _ = stream.set_nodelay(true);
                return (stream, permit);
            }
            Err(error) => {
                // Out of file handles, most likely: some will be free soon.
                tracing::warn!(%error, "a connection could not be taken");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}
