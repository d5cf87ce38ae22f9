//! What looks wrong about riders: noticed as it goes by, kept a moment later. Nobody is refused anything by it.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{sync::watch, task::JoinHandle};

use crate::{
    domain::{
        fix::{DeviceMark, Fix},
        id::{RiderId, Timestamp},
        signal::{self, Evidence, GRABS, SHARED_MS, Signal, SignalKind},
    },
    store::{self, Db, Sighting},
};

/// How often they are kept.
const EVERY: Duration = Duration::from_secs(1);
/// That a rider uses a telephone is noted once in so many milliseconds.
const SEEN_EVERY_MS: i64 = 600_000;
/// The most that wait to be kept; beyond it new ones are left out.
const MOST: usize = 10_000;
/// The most riders of whom grabs are counted, and pairs of rider and telephone that are known.
const MOST_KNOWN: usize = 200_000;

/// What looks wrong. Cheap to clone; all clones are one.
#[derive(Clone, Debug, Default)]
pub struct Signals(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    /// To be kept: the last one of each rider and kind.
    waiting: HashMap<(RiderId, SignalKind), Signal>,
    /// To be noted.
    sightings: HashMap<(DeviceMark, RiderId), Timestamp>,
    /// When each pair was noted.
    known: HashMap<(DeviceMark, RiderId), Timestamp>,
    /// The latest grabs of riders.
    grabs: HashMap<RiderId, VecDeque<Timestamp>>,
}

impl Seen {
    fn raise(&mut self, signal: Signal) {
        let key = (signal.rider, signal.kind);
        if self.waiting.len() < MOST || self.waiting.contains_key(&key) {
            self.waiting.insert(key, signal);
        }
    }
}

impl Signals {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A rider has moved: the last known position, then the new ones in their order.
    pub fn moved(&self, rider: RiderId, before: Option<Fix>, fixes: impl Iterator<Item = Fix>) {
        let mut last = before;
        for fix in fixes {
            let found = last.and_then(|last| signal::movement(rider, &last, &fix));
            if let Some(found) = found {
                self.seen().raise(found);
            }
            last = Some(fix);
        }
        let Some(fix) = last.filter(|fix| fix.device.is_known()) else { return };
        let mut seen = self.seen();
        let pair = (fix.device, rider);
        let fresh = seen.known.get(&pair).is_some_and(|at| fix.at.ms_since(*at) < SEEN_EVERY_MS);
        if !fresh {
            if seen.known.len() >= MOST_KNOWN {
                seen.known.clear();
            }
            seen.known.insert(pair, fix.at);
            // While the database is away: a device that names itself anew each time fills no memory.
            if seen.sightings.len() < MOST {
                seen.sightings.insert(pair, fix.at);
            }
        }
    }

    /// A rider has tried to grab something.
    pub fn grabbed(&self, rider: RiderId, at: Timestamp) {
        let mut seen = self.seen();
        if seen.grabs.len() >= MOST_KNOWN {
            seen.grabs.clear();
        }
        let grabs = seen.grabs.entry(rider).or_default();
        if grabs.len() == GRABS {
            grabs.pop_front();
        }
        grabs.push_back(at);
        if let Some(found) = signal::grabbing(rider, grabs.iter().copied()) {
            grabs.clear();
            seen.raise(found);
        }
    }

    /// Keeps what was noticed. Returns how many signals.
    ///
    /// # Errors
    /// Whatever the database says; what was not kept waits on.
    pub async fn keep(&self, db: &Db) -> store::Result<usize> {
        let (waiting, sightings) = {
            let mut seen = self.seen();
            (std::mem::take(&mut seen.waiting), std::mem::take(&mut seen.sightings))
        };
        if waiting.is_empty() && sightings.is_empty() {
            return Ok(0);
        }
        let signals: Vec<_> = waiting.into_values().collect();
        let sightings: Vec<_> = sightings
            .into_iter()
            .map(|((device, rider), at)| Sighting { device, rider, at })
            .collect();
        let kept = keep(db, &signals, &sightings).await;
        if kept.is_err() {
            let mut seen = self.seen();
            for signal in signals {
                let newer = seen.waiting.contains_key(&(signal.rider, signal.kind));
                if !newer {
                    seen.raise(signal);
                }
            }
            for Sighting { device, rider, at } in sightings {
                seen.sightings.entry((device, rider)).or_insert(at);
            }
        }
        kept
    }

    /// Keeps what is noticed, in the background. Change the returned sender to end it: then what is left is kept.
    pub fn start(&self, db: Db) -> (watch::Sender<bool>, JoinHandle<()>) {
        let (stop, mut stopped) = watch::channel(false);
        let signals = self.clone();
        let handle = tokio::spawn(async move {
            let mut ended = false;
            while !ended {
                tokio::select! {
                    () = tokio::time::sleep(EVERY) => {}
                    _ = stopped.changed() => ended = true,
                }
                if let Err(error) = signals.keep(&db).await {
                    tracing::warn!(%error, "what looks wrong about riders could not be kept; it waits");
                }
            }
        });
        (stop, handle)
    }
}

async fn keep(db: &Db, signals: &[Signal], sightings: &[Sighting]) -> store::Result<usize> {
    let mut tx = db.begin().await?;
    let mut all = signals.to_vec();
    tx.see_devices(sightings).await?;
    let mut told = std::collections::HashSet::new();
    for (rider, other, seen_at) in tx.sharers(sightings, SHARED_MS).await? {
        let at = sightings.iter().find(|seen| seen.rider == rider).map_or(seen_at, |seen| seen.at);
        // Both are told of: nobody knows whose telephone it is.
        for (rider, other, seen_at) in [(rider, other, seen_at), (other, rider, at)] {
            if told.insert(rider) {
                let evidence = Evidence::Shared { other, seen_at };
                all.push(Signal { rider, kind: SignalKind::SharedDevice, at, evidence });
            }
        }
    }
    if !all.is_empty() {
        tx.raise_signals(&all).await?;
    }
    tx.commit().await?;
    Ok(all.len())
}
