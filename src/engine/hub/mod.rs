//! Live readers of the log: read once per node, told to everyone who may see it.
//!
//! ```text
//!  commit ──► a hint (this node's executor, PostgreSQL's NOTIFY, or the poll)
//!               │  read once: every event beyond the last number, and in the same snapshot whom it concerns
//!               ▼
//!             batch ──► follower ──► what this reader may see, in order, with what lies between
//!                         │ lagged, or late to come: reads the log itself from its own number on
//! ```
//!
//! **Invariants.** A hint carries nothing: what is told stands in the log, and is read by number. No follower skips an
//! event that its reader may see. Who may no longer see something is told to go before any later event is told.
//!
//! | file | |
//! |---|---|
//! | `sight` | a batch of events, and whom each concerns |
//! | `rights` | who reads, and whether they still may |
//! | `places` | how many read at once: per session, per person, in all |
//! | `follower` | one reader: where it stands, what it is told next |
//! | `told` | what a reader is told |
//! | `feed` | reads the log as it grows |
//! | `watch` | heartbeats, and looking after rights |
//! | `hints` | hints between nodes |

mod feed;
mod follower;
mod hints;
mod places;
mod rights;
mod sight;
mod told;
mod watch;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{Notify, Semaphore, broadcast, watch as latest},
    task::JoinHandle,
};

pub use follower::Follower;
pub use places::{Caps, Figures, Full};
pub use rights::{Rights, Way};
pub use sight::{Batch, Item, Sight};
pub use told::{Cursor, Pulse, Told, Why, WhyReset};

use super::executor::Executor;
use crate::{
    clock::Clock,
    domain::actor::Actor,
    store::{self, Db},
};

/// How the hub works. The defaults are for production.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How often it looks by itself: other nodes commit too, and hints may be lost.
    pub poll: Duration,
    /// How often each reader gets a heartbeat, in milliseconds of the clock.
    pub heartbeat_ms: i64,
    /// How often it looks whether the readers still may read.
    pub rights: Duration,
    /// How long a board that has just been told something waits before it is told more.
    pub quiet: Duration,
    /// How many may read at once.
    pub caps: Caps,
    /// How many batches are kept for followers that are behind; one that is further behind reads the log.
    pub backlog: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            poll: Duration::from_secs(1),
            heartbeat_ms: 15_000,
            rights: Duration::from_secs(5),
            quiet: Duration::from_millis(250),
            caps: Caps::default(),
            backlog: 256,
        }
    }
}

/// How often somebody is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Each event at once.
    Each,
    /// The first one at once, then which tasks changed, at most once in a while: for boards.
    Board,
}

/// Somebody who wants to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reader {
    /// Who it is.
    pub actor: Actor,
    /// By what they came in.
    pub way: Way,
    /// How often they are told.
    pub pace: Pace,
}

/// Heartbeats go out in so many groups, one after the other: thousands of writes at one moment would hold up an event.
const PHASES: usize = 15;
/// The hub has not looked at the log yet.
const NOWHERE: i64 = -1;
/// How many followers read the log by themselves at once: they share the connections with everybody else.
const CATCHING_UP: usize = 4;

/// The hub of a node. Cheap to clone; all clones are one hub.
#[derive(Clone, Debug)]
pub struct Hub(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    executor: Executor,
    settings: Settings,
    places: places::Places,
    batches: broadcast::Sender<Arc<Batch>>,
    pulses: Vec<latest::Sender<Pulse>>,
    /// The last number that was told.
    last: AtomicI64,
    /// Wakes the feed.
    look: Notify,
    /// Wakes whoever looks after the rights.
    rights: Notify,
    catching_up: Semaphore,
    stopping: AtomicBool,
}

impl Hub {
    /// A hub on the log that `executor` writes. It tells nobody anything before it is [started](Self::start).
    pub fn new(executor: Executor, settings: Settings) -> Self {
        let start = Pulse { head: 0, at: executor.db().clock().now() };
        Self(Arc::new(Inner {
            executor,
            settings,
            places: places::Places::new(settings.caps),
            batches: broadcast::Sender::new(settings.backlog.max(1)),
            pulses: (0..PHASES).map(|_| latest::Sender::new(start)).collect(),
            last: AtomicI64::new(NOWHERE),
            look: Notify::new(),
            rights: Notify::new(),
            catching_up: Semaphore::new(CATCHING_UP),
            stopping: AtomicBool::new(false),
        }))
    }

    /// Runs it in the background. Drop or change the returned sender to end it.
    pub fn start(&self) -> (latest::Sender<bool>, JoinHandle<()>) {
        let (stop, mut stopped) = latest::channel(false);
        let hub = self.clone();
        let handle = tokio::spawn(async move {
            tokio::select! {
                _ = stopped.changed() => {}
                () = hub.feed() => {}
                () = hub.beat() => {}
                () = hub.look_after_rights() => {}
                () = hub.send_hints() => {}
                () = hub.hear_hints() => {}
            }
            hub.stop();
        });
        (stop, handle)
    }

    /// Has `reader` follow the log from `cursor` on.
    ///
    /// # Errors
    /// [`Full`] if as many read as may.
    pub fn follow(&self, reader: Reader, cursor: Cursor) -> Result<Follower, Full> {
        Follower::open(self.clone(), reader, cursor)
    }

    /// Ends all streams, and takes no more readers.
    pub fn stop(&self) {
        self.0.stopping.store(true, Ordering::SeqCst);
        self.0.places.end_all(Why::Stopping);
    }

    /// Whether the end has come.
    pub fn is_stopping(&self) -> bool {
        self.0.stopping.load(Ordering::SeqCst)
    }

    /// How many read, and what became of those who did.
    pub fn figures(&self) -> Figures {
        self.0.places.figures()
    }

    /// Looks at once whether everybody still may read what they read: somebody has signed out.
    pub fn look_at_rights(&self) {
        self.0.rights.notify_one();
    }

    /// The last number that was told.
    fn last(&self) -> i64 {
        self.0.last.load(Ordering::SeqCst)
    }

    fn db(&self) -> &Db {
        self.0.executor.db()
    }

    fn clock(&self) -> Arc<dyn Clock> {
        self.db().clock()
    }

    /// Notes that a read failed; whoever asked goes on.
    fn failed(what: &'static str, error: &store::Error) {
        tracing::warn!(%error, what, "live readers have to wait");
    }
}
