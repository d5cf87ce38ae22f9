//! Trips to the database, and the requests that meet on the way.
//!
//! A trip is a short sleep. Between reading and writing it lasts until everybody who is under way has read: so requests
//! that a suite sends together do meet, on a slow machine as well, and a fault that needs a race shows in every race.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::sync::watch;

/// One way to the database and back.
const TRIP: Duration = Duration::from_millis(3);
/// Nobody waits longer for somebody who does not come.
const LONGEST: Duration = Duration::from_secs(3);

/// Who is under way.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// Requests.
    under_way: usize,
    /// Those of them that have not read yet.
    requests: usize,
    /// Sweeps that have not read yet.
    sweeps: usize,
    /// How often a request came while another was under way.
    meetings: u64,
}

/// Keeps count of who is under way.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrivals {
    counts: watch::Sender<Counts>,
}

/// What is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Request,
    Sweep,
}

/// Something that is under way, until it is dropped.
#[derive(Debug)]
pub(super) struct Arrival {
    arrivals: Arrivals,
    kind: Kind,
    has_read: AtomicBool,
    /// How often requests had met before it came.
    meetings: u64,
}

/// Who writes. Of several who meet, the same one is always faster: a fault must not depend on luck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// Whoever works at the desk or has ordered: one trip.
    Desk,
    /// A rider: his places are another trip.
    Rider,
    /// A rider who answers an offer. The offer is several trips; a clock that is set at the same time is set by then.
    Answer,
    /// The sweeper has time: whoever is under way goes first.
    Sweeper,
}

impl Arrivals {
    /// A request has arrived, its head at least.
    pub(super) fn request(&self) -> Arc<Arrival> {
        let mut before = 0;
        self.counts.send_modify(|counts| {
            before = counts.meetings;
            counts.meetings += u64::from(counts.under_way > 0);
            counts.under_way += 1;
            counts.requests += 1;
        });
        self.arrival(Kind::Request, before)
    }

    /// The sweeper is about to look.
    pub(super) fn sweep(&self) -> Arc<Arrival> {
        self.counts.send_modify(|counts| counts.sweeps += 1);
        self.arrival(Kind::Sweep, u64::MAX)
    }

    fn arrival(&self, kind: Kind, meetings: u64) -> Arc<Arrival> {
        let (arrivals, has_read) = (self.clone(), AtomicBool::new(false));
        Arc::new(Arrival { arrivals, kind, has_read, meetings })
    }

    /// One trip.
    pub(super) async fn trip() {
        tokio::time::sleep(TRIP).await;
    }

    async fn until(&self, fits: impl FnMut(&Counts) -> bool) {
        let mut counts = self.counts.subscribe();
        // Whoever never reads keeps nobody for ever; the sender lives as long as we do.
        let _ = tokio::time::timeout(LONGEST, counts.wait_for(fits)).await;
    }

    /// One trip, and until all requests that are under way have read.
    pub(super) async fn until_all_have_read(&self) {
        Self::trip().await;
        self.until(|counts| counts.requests == 0).await;
    }
}

impl Arrival {
    /// It has read what it decides on.
    pub(super) fn has_read(&self) {
        if self.has_read.swap(true, Ordering::AcqRel) {
            return;
        }
        self.arrivals.counts.send_modify(|counts| match self.kind {
            Kind::Request => counts.requests -= 1,
            Kind::Sweep => counts.sweeps -= 1,
        });
    }

    /// Whether another request was under way at any time since it came.
    pub(super) fn has_met(&self) -> bool {
        self.arrivals.counts.borrow().meetings > self.meetings
    }

    /// From reading to writing.
    pub(super) async fn to_the_write(&self, pace: Pace) {
        let trips = if pace == Pace::Answer { 5 } else { 1 };
        for _ in 0..trips {
            Arrivals::trip().await;
        }
        self.arrivals.until(|counts| counts.requests == 0 && counts.sweeps == 0).await;
        match pace {
            Pace::Desk => {}
            Pace::Rider | Pace::Answer => Arrivals::trip().await,
            Pace::Sweeper => self.arrivals.until(|counts| counts.under_way == 0).await,
        }
    }
}

impl Drop for Arrival {
    fn drop(&mut self) {
        self.has_read();
        if self.kind == Kind::Request {
            self.arrivals.counts.send_modify(|counts| counts.under_way -= 1);
        }
    }
}
