//! Releases offers whose deadline has passed: each offer has a timer, which goes off once.

use std::sync::Arc;

use super::{
    arrivals::Arrival,
    desk::{Desk, locked},
};
use crate::domain::{
    command::{Act, Actor, Command, What},
    id::{Revision, TaskId, Timestamp},
    refusal::Lang,
};

/// Goes off when the offer lapses that made a revision.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timer {
    pub(super) task: TaskId,
    pub(super) revision: Revision,
    pub(super) until: Timestamp,
}

impl Desk {
    /// The timers that have gone off, and when the next one will.
    fn due(&self) -> (Vec<Timer>, Timestamp) {
        let now = self.now();
        let mut timers = locked(&self.timers);
        let due = timers.extract_if(.., |timer| timer.until <= now).collect();
        let next = timers.iter().map(|timer| timer.until).min();
        drop(timers);
        (due, next.unwrap_or(Timestamp(i64::MAX)))
    }
}

/// Sweeps until it is stopped.
pub(super) async fn sweep(desk: Arc<Desk>) {
    loop {
        let announced = std::mem::take(&mut *locked(&desk.announced)).pop();
        let sweep = announced.unwrap_or_else(|| desk.arrivals.sweep());
        let (due, next) = desk.due();
        for timer in due {
            tokio::spawn(release(Arc::clone(&desk), timer, Arc::clone(&sweep)));
        }
        drop(sweep);
        tokio::select! {
            () = desk.bell.notified() => {}
            () = desk.clock.wait_until(next) => {}
        }
    }
}

async fn release(desk: Arc<Desk>, timer: Timer, sweep: Arc<Arrival>) {
    let Timer { task, revision, .. } = timer;
    let what = What::Change { task, revision, act: Act::Expire };
    let command = Command { actor: Actor::System, key: None, lang: Lang::En, what };
    // A refusal means that the offer is gone already.
    if let Err(away) = desk.carry_out(&command, &sweep).await {
        tracing::warn!("{task} can not be released: {}", away.code);
    }
}
