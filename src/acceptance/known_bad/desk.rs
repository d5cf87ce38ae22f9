//! One command, from reading to writing.

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

use super::{
    Fault,
    arrivals::{Arrival, Arrivals, Pace},
    draft::{Draft, Reply, TurnedAway, verb_and_named},
    house::{House, secret},
    plan::{Next, plan},
    rows::Rows,
    sweep::Timer,
};
use crate::{
    clock::Clock,
    domain::{
        command::{Actor, Command, Verb},
        id::Timestamp,
        policy::RegionMode,
    },
};

/// A small desk.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) fault: Option<Fault>,
    pub(super) house: House,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) arrivals: Arrivals,
    rows: Mutex<Rows>,
    /// One for each offer that was made.
    pub(super) timers: Mutex<Vec<Timer>>,
    /// Rings when the sweeper has to look again.
    pub(super) bell: Notify,
    /// Sweeps that have been announced.
    pub(super) announced: Mutex<Vec<Arc<Arrival>>>,
}

/// What another thread left behind when it panicked is still whole: nothing here stops halfway.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Desk {
    /// A new one, without a task.
    pub(super) fn open(
        fault: Option<Fault>,
        mode: RegionMode,
        clock: Arc<dyn Clock>,
    ) -> io::Result<Self> {
        Ok(Self {
            fault,
            house: House::open(mode)?,
            clock,
            arrivals: Arrivals::default(),
            rows: Mutex::default(),
            timers: Mutex::default(),
            bell: Notify::new(),
            announced: Mutex::default(),
        })
    }

    /// The database, for one reading or one writing.
    pub(super) fn rows(&self) -> MutexGuard<'_, Rows> {
        locked(&self.rows)
    }

    /// The present instant.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Carries a command out.
    pub(super) async fn carry_out(
        &self,
        command: &Command,
        arrival: &Arrival,
    ) -> Result<Reply, TurnedAway> {
        let pace = match (&command.actor, verb_and_named(command).0) {
            (Actor::Rider(_), Verb::Accept | Verb::Decline) => Pace::Answer,
            (Actor::Rider(_), _) => Pace::Rider,
            (Actor::System, _) => Pace::Sweeper,
            (Actor::Intake(_) | Actor::Customer(_) | Actor::Staff(_), _) => Pace::Desk,
        };
        let tracking = secret().map_err(|_| TurnedAway { status: 503, code: "UNAVAILABLE" })?;
        let mut next = plan(self, &mut self.rows(), command);
        arrival.has_read();
        if matches!(next, Ok(Next::Write(_) | Next::Wait)) {
            arrival.to_the_write(pace).await;
        }
        loop {
            match next? {
                Next::Said(reply) => return Ok(reply),
                Next::Wait => Arrivals::trip().await,
                Next::Write(mut draft) => {
                    // FAULT: the events go another way, which has no room for two at once.
                    draft.logged = self.fault != Some(Fault::EventOutside) || !arrival.has_met();
                    let written = self.rows().write(command, &draft, &tracking);
                    if let Some(reply) = written {
                        self.set_timer(&draft);
                        return Ok(reply);
                    }
                }
            }
            // Somebody was faster. It is decided once more, and written before anybody else reads.
            next = plan(self, &mut self.rows(), command);
        }
    }

    /// An offer that was made has a timer.
    fn set_timer(&self, draft: &Draft) {
        let Some(after) = draft.changes.last().map(|change| &change.after) else { return };
        let Some(until) = after.state.offer_until() else { return };
        locked(&self.timers).push(Timer { task: after.id, revision: after.revision, until });
        self.bell.notify_one();
    }
}
