//! Where riders are: noted in the index at once, written to the database a moment later.
//!
//! ```text
//!  a rider's client ──► note ──► locate (who is nearest?)
//!                         │
//!                         └────► waiting: the last one of each rider ──► chunks, one transaction each ──► rider_location
//! ```
//!
//! What the database has is behind by half a second at most while it can be written, and a crash loses no more than
//! that: riders send again. The index is filled from it at the start. While it can not be written, the last position of
//! each rider waits, and no more; nobody is turned away and the desk stays ready.
//!
//! Several nodes share an index in Redis. Without one, each has its own, and learns every ten seconds what riders have
//! told the others.

mod waiting;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use futures_util::{StreamExt, TryStreamExt, stream};
use tokio::{
    sync::{Notify, watch},
    task::JoinHandle,
};

use self::waiting::Waiting;
use crate::{
    clock::{Entropy, SystemEntropy},
    domain::{
        fingerprint::hex,
        fix::Fix,
        id::{RegionId, RiderId, Timestamp},
    },
    locate::{Away, Locator},
    store::{self, Db, Located, Product, Tx},
};

/// How many positions are written in one transaction: commands wait for it, on SQLite.
const CHUNK: usize = 1_000;
/// How long to gather before it is written again.
const GATHER: Duration = Duration::from_millis(250);
/// How long to wait after it could not be written.
const AGAIN: Duration = Duration::from_secs(1);
/// How many positions are read at once when the index is filled, and noted at once.
const PAGE: i64 = 10_000;
const AT_ONCE: usize = 64;
/// How often it is looked whether the index has lost somebody, and what came by other nodes.
const LOOK_AGAIN: Duration = Duration::from_secs(10);

/// Positions of riders. Cheap to clone; all clones are one.
#[derive(Clone, Debug, Default)]
pub struct Positions(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    locator: Locator,
    waiting: Mutex<Waiting>,
    wake: Notify,
}

/// What became of some positions of a rider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noted {
    /// Of each, in the order given: whether it was newer than what was known before it.
    pub newer: Vec<bool>,
    /// Whether the latest of them is the rider's last known position now.
    pub kept: bool,
}

impl Positions {
    /// Positions that are looked up in `locator`.
    pub fn new(locator: Locator) -> Self {
        Self(Arc::new(Inner { locator, ..Inner::default() }))
    }

    /// Where to ask who is nearest.
    pub fn locator(&self) -> &Locator {
        &self.0.locator
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fills the index from the database. Positions that were noted meanwhile stay. Returns how many were read.
    ///
    /// # Errors
    /// Whatever the database says. That the index is away is logged: it is filled once it is back.
    pub async fn load(&self, db: &Db) -> store::Result<usize> {
        let mut name = [0; 8];
        SystemEntropy.fill(&mut name).map_err(|error| store::Error::Driver(error.into()))?;
        let name = hex(&name);
        if let Err(away) = self.0.locator.begin(&name).await {
            tracing::warn!(%away, "the index of positions is not filled");
            return Ok(0);
        }
        let (mut tx, mut last, mut read) = (db.read().await?, RiderId(0), 0);
        loop {
            let page = tx.fixes(last, PAGE).await?;
            let Some(end) = page.last() else { break };
            last = end.rider;
            read += page.len();
            let note = |at: Located| self.0.locator.note(at.region, at.rider, at.fix);
            let noted: Result<Vec<_>, _> =
                stream::iter(page).map(note).buffer_unordered(AT_ONCE).try_collect().await;
            if let Err(away) = noted {
                tracing::warn!(%away, "the index of positions is not filled");
                return Ok(read);
            }
        }
        if !matches!(self.0.locator.filled(&name).await, Ok(true)) {
            tracing::warn!(
                "the index of positions is not filled: it was emptied, or somebody else fills it"
            );
        }
        Ok(read)
    }

    /// Fills an index that has lost somebody, and one that does not learn what other nodes are told.
    async fn look_again(&self, db: &Db) {
        let alone =
            matches!(self.0.locator, Locator::Memory(_)) && db.product() == Product::Postgres;
        if !alone && !matches!(self.0.locator.is_whole().await, Ok(false)) {
            return;
        }
        if let Err(error) = self.load(db).await {
            tracing::warn!(%error, "the index of positions is not filled");
        }
    }

    /// Notes where a rider of `region` is. All positions are from one message and one device; `stored` is the last one
    /// that the database knows, which may have come by another node.
    ///
    /// While the index is away they are kept all the same: the database then says which one is the last.
    pub async fn note(
        &self,
        region: RegionId,
        rider: RiderId,
        stored: Option<Fix>,
        fixes: &[Fix],
    ) -> Noted {
        let indexed = self.0.locator.of(rider).await.unwrap_or_default();
        let waits = self.waiting().last.get(&rider).copied();
        let before = latest([stored, indexed, waits]);
        let newer = in_turn(before, fixes);
        let last = fixes.iter().zip(&newer).filter(|(_, newer)| **newer).map(|(fix, _)| fix);
        let Some(last) = last.max_by_key(|fix| fix.seq) else {
            return Noted { newer, kept: false };
        };
        let kept = match self.0.locator.note(region, rider, *last).await {
            Ok(kept) => kept,
            Err(away) => {
                tracing::debug!(%away, %rider, "a position is kept in the database alone");
                true
            }
        };
        if kept {
            self.waiting().put(rider, *last);
            self.0.wake.notify_one();
        }
        let newer = if kept { newer } else { vec![false; fixes.len()] };
        Noted { newer, kept }
    }

    /// When a rider was last seen, if the database does not know of it yet.
    pub fn seen_at(&self, rider: RiderId) -> Option<Timestamp> {
        self.waiting().last.get(&rider).map(|fix| fix.at)
    }

    /// After a change of the rider was committed: who is shut out or erased is forgotten, who works elsewhere now is
    /// found there, who was let in again is found again.
    pub async fn rider_changed(&self, db: &Db, rider: RiderId) {
        if let Err(error) = self.follow(db, rider).await {
            // The store decides all the same: an offer to somebody who may not have it is refused.
            tracing::warn!(%rider, %error, "where the rider is found is not up to date");
        }
    }

    async fn follow(&self, db: &Db, rider: RiderId) -> Result<(), NotFollowed> {
        let mut tx = db.read().await?;
        let found = tx.rider(rider).await?.filter(|rider| !rider.disabled);
        let before = RiderId(rider.0.saturating_sub(1));
        let located = tx.fixes(before, 1).await?.pop().filter(|found| found.rider == rider);
        drop(tx);
        let waits = self.waiting().last.contains_key(&rider);
        let Some(found) = found.filter(|_| located.is_some() || waits) else {
            self.waiting().last.remove(&rider);
            return Ok(self.0.locator.forget(rider).await?);
        };
        if let Some(located) = located {
            self.0.locator.note(located.region, rider, located.fix).await?;
        }
        Ok(self.0.locator.relocate(found.region, rider).await?)
    }

    /// Writes what waits, in the background. Change the returned sender to end it: then what is left is written.
    pub fn start(&self, db: Db) -> (watch::Sender<bool>, JoinHandle<()>) {
        let (stop, mut stopped) = watch::channel(false);
        let positions = self.clone();
        let handle = tokio::spawn(async move {
            let mut looked = Instant::now();
            loop {
                tokio::select! {
                    () = positions.0.wake.notified() => {}
                    () = tokio::time::sleep(LOOK_AGAIN) => {}
                    _ = stopped.changed() => break,
                }
                if looked.elapsed() >= LOOK_AGAIN {
                    positions.look_again(&db).await;
                    looked = Instant::now();
                }
                let pause = match positions.write_all(&db).await {
                    Ok(_) => GATHER,
                    Err(error) => {
                        tracing::warn!(%error, "positions could not be written; they wait");
                        positions.0.wake.notify_one();
                        AGAIN
                    }
                };
                tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    _ = stopped.changed() => break,
                }
            }
            if let Err(error) = positions.write_all(&db).await {
                let left = positions.waiting().last.len();
                tracing::warn!(%error, left, "positions were not written any more");
            }
        });
        (stop, handle)
    }

    /// Writes what waits, chunk by chunk; between two chunks the database is left to others for as long as a chunk took.
    /// Returns how many were written.
    ///
    /// # Errors
    /// Whatever the database says; what was not written waits on.
    pub async fn write_all(&self, db: &Db) -> store::Result<usize> {
        // Riders who move on while this goes on are written next time.
        let mut left = self.waiting().last.len();
        let mut written = 0;
        while left > 0 {
            let began = Instant::now();
            let chunk = self.waiting().next(CHUNK.min(left));
            if chunk.is_empty() {
                break;
            }
            if let Err(error) = write(db, &chunk).await {
                self.waiting().order.extend(chunk.iter().map(|(rider, _)| *rider));
                return Err(error);
            }
            self.waiting().written(&chunk);
            written += chunk.len();
            left -= chunk.len().min(left);
            if left > 0 {
                tokio::time::sleep(began.elapsed()).await;
            }
        }
        Ok(written)
    }
}

/// The one that follows all others.
fn latest<const N: usize>(known: [Option<Fix>; N]) -> Option<Fix> {
    known.into_iter().flatten().reduce(|last, fix| if fix.follows(&last) { fix } else { last })
}

/// Which of some positions are newer than all before them by number, whatever order they came in.
fn in_turn(before: Option<Fix>, fixes: &[Fix]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..fixes.len()).collect();
    order.sort_by_key(|index| fixes[*index].seq);
    let (mut newer, mut last) = (vec![false; fixes.len()], before);
    for index in order {
        let fix = fixes[index];
        if last.is_none_or(|last| fix.follows(&last)) {
            newer[index] = true;
            last = Some(fix);
        }
    }
    newer
}

async fn write(db: &Db, chunk: &[(RiderId, Fix)]) -> store::Result<()> {
    let mut tx: Tx = db.begin().await?;
    tx.put_fixes(chunk).await?;
    tx.commit().await
}

/// Why the index does not follow a rider.
#[derive(Debug, thiserror::Error)]
enum NotFollowed {
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error(transparent)]
    Away(#[from] Away),
}
