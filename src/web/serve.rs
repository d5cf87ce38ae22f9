//! Connections: taken, bounded in time and number, and ended in good order.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use axum::{
    body::Body,
    http::{Request, header},
};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto, graceful::GracefulShutdown},
};
use socket2::SockRef;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    task::JoinHandle,
};
use tokio_io_timeout::TimeoutStream;
use tower::ServiceExt;

use super::{
    Desk,
    crowd::{Crowd, Hold, Place},
    headers::Patience,
    metrics,
    peer::{Networks, Peer},
    router,
    whole::Whole,
};
use crate::{
    domain::seal::Keys,
    engine::{expiry::Expiry, housekeeping::Housekeeping, hub::Hub, sealer::Sealer},
};

/// How long and how many.
#[derive(Clone, Debug)]
pub struct Limits {
    /// How long the head of a request may take, and how long a connection may be kept without any.
    pub head: Duration,
    /// How long the next piece of a body may take.
    pub body: Duration,
    /// How long a body may take in all.
    pub whole_body: Duration,
    /// How long a request may take in all, from its head to the head of its answer.
    pub request: Duration,
    /// How long a client may take to take the next piece of an answer.
    pub write: Duration,
    /// How long a client may be silent in the network, with something on the way to it.
    pub silence: Duration,
    /// How many connections there may be at once, streams aside; more wait at the door.
    pub connections: usize,
    /// How many connections each peer may have at once; more are turned away.
    pub per_peer: usize,
    /// Whose connections are not counted by peer: this machine's own, and those of the trusted proxies.
    pub uncounted: Networks,
    /// Proxies that are believed when they say whose request it is.
    pub proxies: Networks,
    /// How long answers that are under way may take once the end has come.
    pub farewell: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(10),
            body: Duration::from_secs(10),
            whole_body: Duration::from_mins(1),
            request: Duration::from_secs(90),
            write: Duration::from_secs(10),
            silence: Duration::from_secs(20),
            connections: 1_000,
            per_peer: 32,
            uncounted: Networks::loopback(),
            proxies: Networks::default(),
            farewell: Duration::from_secs(6),
        }
    }
}

/// What the server reads of a head before it gives up by itself, in bytes and in lines. It does so with a bare status;
/// `gate` gives up earlier and says why.
///
/// Bare stay: what is no HTTP/1 (400), two different lengths (400), line ends and spaces where none may be (400), heads
/// beyond these limits (431, or 414 for the target), and connections on which half a head is all that comes (closed).
const LONGEST_HEAD: usize = 64 * 1024;
const MOST_HEADERS: usize = 256;

/// What a peer with too many connections is told.
const TURNED_AWAY: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nretry-after: 1\r\n\
                             connection: close\r\n\r\n";

/// A server that runs.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    running: JoinHandle<()>,
    background: Vec<(watch::Sender<bool>, JoinHandle<()>)>,
    sealer: Option<(watch::Sender<bool>, JoinHandle<()>)>,
    desk: Desk,
}

impl Server {
    /// Serves `desk` on `listener`, with the expiry, the housekeeping and the writing of positions and signals beside it.
    ///
    /// # Errors
    /// If the listener has no address.
    pub fn start(desk: Desk, listener: TcpListener, limits: Limits) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let (_, stop_expiry, expiry) = Expiry::start(desk.executor().clone());
        let (stop_housekeeping, housekeeping) = Housekeeping::start(desk.executor().clone());
        let (stop_positions, positions) = desk.executor().positions().start(desk.db().clone());
        let (stop_hub, hub) = desk.hub().start();
        let (stop_signals, signals) = desk.executor().signals().start(desk.db().clone());
        let (stop, stopped) = watch::channel(false);
        let running = tokio::spawn(accept(desk.clone(), listener, limits, stopped));
        let rounds = desk.rounds().clone().start();
        let background = vec![
            (stop_expiry, expiry),
            (stop_housekeeping, housekeeping),
            (stop_positions, positions),
            (stop_hub, hub),
            rounds,
            (stop_signals, signals),
        ];
        Ok(Self { address, stop, running, background, sealer: None, desk })
    }

    /// The same with a sealer of the log beside it, under these keys.
    #[must_use]
    pub fn sealing(self, keys: Keys) -> Self {
        let sealer = Some(Sealer::start(self.desk.db().clone(), keys));
        Self { sealer, ..self }
    }

    /// The same with the node's meters on an address of their own, which whoever reaches it may read.
    #[must_use]
    pub fn metered(mut self, listener: TcpListener) -> Self {
        self.background.push(metrics::start(self.desk.clone(), listener));
        self
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Tells its live readers what happens.
    pub fn hub(&self) -> &Hub {
        self.desk.hub()
    }

    /// Takes no more connections, lets what is under way be answered, then ends the executor and closes the
    /// database.
    pub async fn stop(self) {
        // The node is unready from here on, and every stream says goodbye: no connection waits for more of one.
        self.desk.hub().stop();
        self.stop.send_replace(true);
        // It ends by itself; that it panicked would be in the log.
        let _ = self.running.await;
        for (stop, handle) in self.background {
            stop.send_replace(true);
            let _ = handle.await;
        }
        self.desk.executor().stop().await;
        // Nothing is committed any more: the last seal closes all of it.
        if let Some((stop, handle)) = self.sealer {
            stop.send_replace(true);
            let _ = handle.await;
        }
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
        .max_headers(MOST_HEADERS)
        .keep_alive(true);
    let door = Door {
        open: Arc::new(Semaphore::new(limits.connections)),
        crowd: Crowd::new(limits.per_peer),
        listener,
    };
    let graceful = GracefulShutdown::new();
    loop {
        let taken = tokio::select! {
            _ = stopped.wait_for(|stopped| *stopped) => break,
            taken = door.next(&limits) => taken,
        };
        let (routes, limits, write) = (routes.clone(), limits.clone(), limits.write);
        let hold = Hold::new(taken.open, taken.place);
        let held = hold.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let expects = request.headers().contains_key(header::EXPECT);
            let peer = limits.proxies.peer(taken.from, request.headers());
            let mut request = request
                .map(|body| Body::new(Whole::new(body, limits.body, limits.whole_body, expects)));
            request.extensions_mut().insert(peer);
            request.extensions_mut().insert(Patience(limits.request));
            request.extensions_mut().insert(held.clone());
            routes.clone().oneshot(request)
        });
        let mut stream = TimeoutStream::new(taken.stream);
        stream.set_write_timeout(Some(write));
        let connection = builder.serve_connection(TokioIo::new(Box::pin(stream)), service);
        let watched = graceful.watch(connection.into_owned());
        tokio::spawn(async move {
            let _hold = hold;
            // A connection that breaks concerns its client; what it asked for is decided all the same.
            if let Err(error) = watched.await {
                tracing::debug!(error, "a connection ended early");
            }
        });
    }
    // No connection is taken from here on.
    drop(door);
    if tokio::time::timeout(limits.farewell, graceful.shutdown()).await.is_err() {
        tracing::warn!("connections were cut: their clients took too long");
    }
}

/// Where connections come in.
struct Door {
    listener: TcpListener,
    open: Arc<Semaphore>,
    crowd: Arc<Crowd>,
}

/// A connection, and the places that it takes up.
struct Taken {
    stream: TcpStream,
    from: IpAddr,
    open: Option<OwnedSemaphorePermit>,
    place: Option<Place>,
}

impl Door {
    /// The next connection, once there is room for it.
    async fn next(&self, limits: &Limits) -> Taken {
        let open = Arc::clone(&self.open).acquire_owned().await.ok();
        loop {
            match self.listener.accept().await {
                Ok((stream, from)) => {
                    let from = from.ip().to_canonical();
                    let counted = !limits.uncounted.hold(from) && !limits.proxies.hold(from);
                    let place = if counted { self.crowd.place(Peer(from)) } else { None };
                    if counted && place.is_none() {
                        tracing::debug!(%from, "turned away: too many connections of one peer");
                        // If it can not be told at once, it is not told.
                        let _ = stream.try_write(TURNED_AWAY);
                        continue;
                    }
                    // Answers are small and wanted at once.
                    let _ = stream.set_nodelay(true);
                    // Without it, the system would go on for a quarter of an hour for somebody who is gone.
                    let _ = SockRef::from(&stream).set_tcp_user_timeout(Some(limits.silence));
                    return Taken { stream, from, open, place };
                }
                Err(error) => {
                    // Out of file handles, most likely: some will be free soon.
                    tracing::warn!(%error, "a connection could not be taken");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }
}
