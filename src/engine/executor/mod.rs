//! Commands in, outcomes out.
//!
//! ```text
//!  execute(command) ──► lane (by task) ──► batch: everything that waits, at most 256
//!                                            │ one transaction
//!                                            │  lock + load    staff, regions, riders, tasks · keys · the store's now
//!                                            │  decide         each in order, against the working set
//!                                            │  write          one net row per task and offer, compare-and-swap
//!                                            │  number         events, attempts, answers · COMMIT
//!                                            ▼
//!                                          answer everyone, wake the readers
//! ```
//!
//! **Invariants.** Nobody is answered before the commit. What a client does (hang up, time out, ask again) never cuts a
//! command in half: it waits for an answer and no more. The same key has one effect and one answer.
//!
//! | file | |
//! |---|---|
//! | `job` | one waiting command |
//! | `hot` | grabs that can only come second |
//! | `doors` | who goes first into a batch |
//! | `lane` | takes what waits, and what to do when something is off |
//! | `doubt` | after a commit whose fate is unknown: what was decided by it |
//! | `batch` | one transaction |
//! | `world` | what was loaded, and what was decided on it so far |
//! | `probe` | whether commands could be taken now |
//! | `reply` | the answers, as they are stored and sent |
//! | `settings` | how it works |
//! | `riders` | changes of riders, which end their offers |

mod batch;
mod doors;
mod doubt;
mod hot;
mod job;
mod lane;
mod probe;
mod reply;
mod riders;
mod settings;
mod world;

use std::sync::{Arc, RwLock};

use tokio::{
    sync::{oneshot, watch},
    task::JoinHandle,
};

pub use hot::{NoPreTrim, PreTrim};
pub use reply::Reply;
pub use settings::Settings;

use self::{
    doors::Entrance,
    hot::{Entry, Hot, Said},
    job::Job,
};
use crate::{
    domain::{
        command::{Actor, Command, Malformed},
        decide::Denial,
        id::{Revision, TaskId},
    },
    engine::{health::Pulse, meters::Meters, positions::Positions, signals::Signals},
    store::{Db, Product},
};

/// Why a command got no outcome. None of these is stored under its key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The actor may not ask for it.
    #[error("{}", .0.as_str())]
    Denied(Denial),
    /// The key belongs to another request (422).
    #[error("REQUEST_KEY_REUSED")]
    KeyReused,
    /// A command of people or scripts came without a key (400).
    #[error("KEY_MISSING")]
    KeyMissing,
    /// The command can not be stored as it is (400).
    #[error("{}", .0.as_str())]
    Malformed(Malformed),
    /// Too many commands wait, or the task is held elsewhere (503). Nothing was done; ask again.
    #[error("BUSY")]
    Busy,
    /// What was to be changed was changed by somebody else meanwhile (409).
    #[error("RECORD_CHANGED")]
    RecordChanged,
    /// The database is away, full or broken (503).
    #[error("UNAVAILABLE")]
    Unavailable {
        /// Whether the command may have been done all the same. Ask again under the same key to know.
        unknown: bool,
    },
    /// This one command can not be stored (500). Nothing was done; the log says why.
    #[error("FAULTY")]
    Faulty,
}

/// A command on its way into a lane, and where its answer will come.
type Admitted = (Job, oneshot::Receiver<Result<Reply, Error>>);

/// What all lanes share.
#[derive(Debug)]
struct Shared {
    db: Db,
    hot: Hot,
    settings: Settings,
    pulse: Arc<Pulse>,
    meters: Arc<Meters>,
    positions: Positions,
    signals: Signals,
    head: watch::Sender<i64>,
    offers: watch::Sender<u64>,
}

/// Takes commands and answers them. Cheap to clone; all clones are one executor.
#[derive(Clone, Debug)]
pub struct Executor {
    shared: Arc<Shared>,
    entrances: Arc<RwLock<Vec<Entrance>>>,
    lanes: Arc<tokio::sync::Mutex<Vec<JoinHandle<()>>>>,
}

impl Executor {
    /// Starts an executor on `db`. Must be called within a tokio runtime.
    pub fn start(db: Db, settings: Settings) -> Self {
        let count = match db.product() {
            Product::Sqlite => 1,
            Product::Postgres => settings.lanes.max(1),
        };
        let signals = Signals::default();
        let positions = Positions::new(settings.locator.clone(), signals.clone());
        let shared = Arc::new(Shared {
            db,
            positions,
            signals,
            hot: Hot::new(settings.hot, settings.pre_trim.is_some()),
            settings,
            pulse: Arc::new(Pulse::default()),
            meters: Arc::default(),
            head: watch::Sender::new(0),
            offers: watch::Sender::new(0),
        });
        let (mut entrances, mut lanes) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let (entrance, waiting) = doors::open(shared.settings.queue);
            entrances.push(entrance);
            lanes.push(tokio::spawn(lane::run(Arc::clone(&shared), waiting)));
        }
        Self {
            shared,
            entrances: Arc::new(RwLock::new(entrances)),
            lanes: Arc::new(tokio::sync::Mutex::new(lanes)),
        }
    }

    /// Has a command decided and stored, and returns its answer.
    ///
    /// Dropping the future gives up the answer, not the command: it is decided all the same, and its answer waits
    /// under its key.
    ///
    /// # Errors
    /// [`Error`]. A refusal is none: it is a [`Reply`].
    pub async fn execute(&self, command: Command) -> Result<Reply, Error> {
        let (job, answer) = self.admit(command)?;
        match (&self.shared.settings.pre_trim, job.grabbed()) {
            (Some(pre_trim), Some(grabbed)) if !job.late => {
                // On its own: whoever hangs up meanwhile gives up the answer, not the command.
                let asked = self.clone().put_after_asking(pre_trim.clone(), grabbed, job);
                let asked = tokio::spawn(asked).await;
                asked.unwrap_or(Err(Error::Unavailable { unknown: true }))?;
            }
            _ => self.put(job)?,
        }
        // A lane answers every job it takes; it can only be gone if the whole program ends.
        answer.await.unwrap_or(Err(Error::Unavailable { unknown: true }))
    }

    /// Puts a command into its lane. The answer comes through the returned channel. No other node is asked about a grab.
    ///
    /// # Errors
    /// [`Error::Busy`] if the lane is full, and whatever can be said without the store.
    pub fn submit(
        &self,
        command: Command,
    ) -> Result<oneshot::Receiver<Result<Reply, Error>>, Error> {
        let (job, answer) = self.admit(command)?;
        self.put(job)?;
        Ok(answer)
    }

    /// Makes a job of a command, if it is one that can be decided at all.
    fn admit(&self, command: Command) -> Result<Admitted, Error> {
        if command.key.is_none() && command.actor != Actor::System {
            return Err(Error::KeyMissing);
        }
        if let Some(malformed) = command.malformed() {
            return Err(Error::Malformed(malformed));
        }
        if self.shared.pulse.health() == crate::engine::health::Health::Stopped {
            return Err(Error::Unavailable { unknown: false });
        }
        let (sender, answer) = oneshot::channel();
        let mut job = Job::new(command, Arc::clone(&self.shared.meters), sender);
        if let (Some((task, revision)), Some(rider)) = (job.grabbed(), job.command.actor.rider()) {
            self.shared.signals.grabbed(rider, self.shared.db.clock().now());
            match self.shared.hot.enter(task, revision) {
                Entry::First(pass) => job.pass.here = Some(pass),
                Entry::Second => job.late = true,
            }
        }
        Ok((job, answer))
    }

    /// Asks the other nodes about a grab, and then puts it into its lane.
    async fn put_after_asking(
        self,
        pre_trim: PreTrim,
        (task, revision): (TaskId, Revision),
        mut job: Job,
    ) -> Result<(), Error> {
        match pre_trim.ask(task, revision, &*self.shared.settings.entropy).await {
            Said::First(held) => job.pass.across = Some(held),
            Said::Second => job.late = true,
            Said::Nothing => {}
        }
        self.put(job)
    }

    /// Puts a job into its lane.
    fn put(&self, job: Job) -> Result<(), Error> {
        let entrances = self.entrances.read().map_err(|_| Error::Busy)?;
        let Some(entrance) = entrances.get(job.lane(entrances.len())) else {
            return Err(Error::Unavailable { unknown: false });
        };
        if job.late {
            self.shared.meters.second();
        }
        entrance.take(job)
    }

    /// Whether commands can be taken.
    pub fn pulse(&self) -> Arc<Pulse> {
        Arc::clone(&self.shared.pulse)
    }

    /// What it counts.
    pub fn meters(&self) -> &Meters {
        &self.shared.meters
    }

    /// The number of the last event that this executor has committed; wakes at every commit. A hint: what is true
    /// stands in the log.
    pub fn head(&self) -> watch::Receiver<i64> {
        self.shared.head.subscribe()
    }

    /// Wakes whenever this executor has committed an offer.
    pub fn offers(&self) -> watch::Receiver<u64> {
        self.shared.offers.subscribe()
    }

    /// Where riders are.
    pub fn positions(&self) -> &Positions {
        &self.shared.positions
    }

    /// What looks wrong about riders.
    pub fn signals(&self) -> &Signals {
        &self.shared.signals
    }

    /// The database that it works on.
    pub fn db(&self) -> &Db {
        &self.shared.db
    }

    /// Takes no more commands, answers those that wait, and returns.
    pub async fn stop(&self) {
        if let Ok(mut entrances) = self.entrances.write() {
            entrances.clear();
        }
        for lane in self.lanes.lock().await.drain(..) {
            // A lane catches its own panics; there is nothing else to learn from it.
            let _ = lane.await;
        }
    }
}
