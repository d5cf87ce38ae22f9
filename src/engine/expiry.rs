//! Releases offers whose deadline has passed, so that they do not wait until somebody touches them.
//!
//! It only asks: the executor decides by the store's clock, on the revision that was read. So a timer that fires early,
//! late or twice releases nothing that is not due, and never a newer offer.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{sync::watch, task::JoinHandle};

use super::executor::Executor;
use crate::{
    clock::Clock,
    domain::{
        command::{Act, Actor, Command, What},
        id::{TaskId, Timestamp},
        refusal::Lang,
    },
    store::{self, Due},
};

/// The expiry looks again after this time at the latest: other nodes make offers too, and clocks are set.
const LONGEST_SLEEP_MS: i64 = 1_000;
/// A task that could not be released is tried again after this time, doubling up to [`LONGEST_BACK_OFF`].
const FIRST_BACK_OFF: Duration = Duration::from_secs(1);
const LONGEST_BACK_OFF: Duration = Duration::from_mins(1);
/// How often a task that can not be released is logged.
const LOG_EVERY: Duration = Duration::from_mins(1);

/// A task that could not be released.
#[derive(Clone, Copy, Debug)]
struct Trouble {
    next: Instant,
    back_off: Duration,
    logged: Instant,
}

/// Releases what is due. [`run_once`](Self::run_once) for tests and [`start`](Self::start) for servers.
#[derive(Debug)]
pub struct Expiry {
    executor: Executor,
    page: i64,
    troubles: Mutex<HashMap<Due, Trouble>>,
    failures: AtomicU64,
}

/// What one run did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Offers that were due and are released, by us or by somebody else meanwhile.
    pub released: usize,
    /// Offers that were due and could not be released now.
    pub failed: usize,
    /// Offers that failed before and are left alone for a while.
    pub skipped: usize,
}

impl Expiry {
    /// An expiry that reads `page` deadlines at a time.
    pub fn new(executor: Executor, page: i64) -> Self {
        let page = page.max(1);
        Self { executor, page, troubles: Mutex::default(), failures: AtomicU64::new(0) }
    }

    /// How many releases have failed since the start.
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Releases everything that is due now. One task that can not be released does not keep the others from it; at
    /// most, they wait as long as the executor waits for a task that another node holds.
    ///
    /// # Errors
    /// If the deadlines can not be read.
    pub async fn run_once(&self) -> store::Result<Swept> {
        self.sweep().await.map(|(swept, _)| swept)
    }

    /// The same, and up to which instant it has looked.
    async fn sweep(&self) -> store::Result<(Swept, Timestamp)> {
        let (mut swept, mut seen) = (Swept::default(), HashSet::new());
        let mut after = (Timestamp(i64::MIN), TaskId(i64::MIN));
        loop {
            let mut tx = self.executor.db().read().await?;
            let now = tx.now().await?;
            let due = tx.due(now, after, self.page).await?;
            tx.rollback().await?;
            let Some(last) = due.last() else {
                self.forget_solved(&seen);
                return Ok((swept, now));
            };
            seen.extend(due.iter().copied());
            after = (last.until, last.task);
            let (ready, resting): (Vec<_>, Vec<_>) =
                due.into_iter().partition(|due| self.is_ready(due));
            swept.skipped += resting.len();
            let releases = ready.into_iter().map(|due| async move { self.release(due).await });
            for released in futures_util::future::join_all(releases).await {
                if released {
                    swept.released += 1;
                } else {
                    swept.failed += 1;
                }
            }
        }
    }

    async fn release(&self, due: Due) -> bool {
        let what = What::Change { task: due.task, revision: due.revision, act: Act::Expire };
        let command = Command { actor: Actor::System, key: None, lang: Lang::En, what };
        match self.executor.execute(command).await {
            // A refusal means that somebody else was first: the offer is gone either way.
            Ok(_) => {
                self.troubles().remove(&due);
                true
            }
            Err(error) => {
                self.failures.fetch_add(1, Ordering::Relaxed);
                self.note_trouble(due, &error);
                false
            }
        }
    }

    /// Forgets the offers that are not due any more, whoever released them.
    fn forget_solved(&self, due: &HashSet<Due>) {
        self.troubles().retain(|trouble, _| due.contains(trouble));
    }

    fn troubles(&self) -> std::sync::MutexGuard<'_, HashMap<Due, Trouble>> {
        self.troubles.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn is_ready(&self, due: &Due) -> bool {
        self.troubles().get(due).is_none_or(|trouble| trouble.next <= Instant::now())
    }

    fn note_trouble(&self, due: Due, error: &super::executor::Error) {
        let now = Instant::now();
        let mut troubles = self.troubles();
        let known = troubles.get(&due).copied();
        // A bad row stays bad for long. A task that is held or a database that is away comes back at any moment.
        let is_bad = *error == super::executor::Error::Faulty;
        let doubled = |known: Trouble| (known.back_off * 2).min(LONGEST_BACK_OFF);
        let back_off = known.filter(|_| is_bad).map_or(FIRST_BACK_OFF, doubled);
        let quiet = known.is_some_and(|known| now.duration_since(known.logged) < LOG_EVERY);
        let logged = if quiet { known.map_or(now, |known| known.logged) } else { now };
        if !quiet {
            tracing::error!(task = %due.task, %error, "a lapsed offer can not be released; others go on");
        }
        troubles.insert(due, Trouble { next: now + back_off, back_off, logged });
    }

    /// When to look again: at the first deadline after those up to `swept`, and after a second at the latest.
    async fn next_look(&self, swept: Timestamp) -> store::Result<Timestamp> {
        // Read first: if the time moves on meanwhile, the look comes too early and not too late.
        let here = self.executor.db().clock().now();
        let mut tx = self.executor.db().read().await?;
        let now = tx.now().await?;
        let next = tx.next_deadline(swept).await?;
        tx.rollback().await?;
        // The store's clock may differ from the one that we wait by, so the distance counts.
        let distance =
            next.map_or(LONGEST_SLEEP_MS, |next| next.ms_since(now).min(LONGEST_SLEEP_MS));
        Ok(here.plus_ms(distance.max(0)))
    }

    /// Runs until `stop` changes or its sender is gone: sleeps until the next deadline, or until an offer is made.
    pub async fn run(self: Arc<Self>, mut stop: watch::Receiver<bool>) {
        let mut offers = self.executor.offers();
        let clock: Arc<dyn Clock> = self.executor.db().clock();
        loop {
            offers.mark_unchanged();
            let look = match self.sweep().await {
                Ok((_, swept)) => self.next_look(swept).await,
                Err(error) => Err(error),
            };
            let look = look.unwrap_or_else(|error| {
                tracing::warn!(%error, "the expiry can not read deadlines");
                clock.now().plus_ms(LONGEST_SLEEP_MS)
            });
            tokio::select! {
                () = clock.wait_until(look) => {}
                Ok(()) = offers.changed() => {}
                _ = stop.changed() => return,
            }
        }
    }

    /// Runs it in the background. Drop or change the returned sender to end it.
    pub fn start(executor: Executor) -> (Arc<Self>, watch::Sender<bool>, JoinHandle<()>) {
        let expiry = Arc::new(Self::new(executor, 256));
        let (stop, stopped) = watch::channel(false);
        let handle = tokio::spawn(Arc::clone(&expiry).run(stopped));
        (expiry, stop, handle)
    }
}
