//! Time as an input: the system's clock in production, a manual one in tests and private servers.

use std::{fmt, future::Future, pin::Pin, sync::Mutex, time::Duration};

use tokio::sync::watch;

use crate::domain::id::Timestamp;

/// A future without a name.
pub type Sleep<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Where the time comes from.
pub trait Clock: Send + Sync + fmt::Debug {
    /// The present instant.
    fn now(&self) -> Timestamp;

    /// Returns once `now` has reached `at`, or earlier if the clock was set meanwhile: look again.
    fn wait_until(&self, at: Timestamp) -> Sleep<'_>;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl SystemClock {
    /// No wait is longer, so that a clock that was set forward is noticed.
    const LONGEST_WAIT_MS: i64 = 1_000;
}

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that reads the machine's clock"
    )]
    fn now(&self) -> Timestamp {
        Timestamp(chrono::Utc::now().timestamp_millis())
    }

    fn wait_until(&self, at: Timestamp) -> Sleep<'_> {
        let ms = at.ms_since(self.now()).clamp(0, Self::LONGEST_WAIT_MS);
        Box::pin(tokio::time::sleep(Duration::from_millis(ms.unsigned_abs())))
    }
}

/// A clock that only moves when it is told to.
#[derive(Debug)]
pub struct ManualClock {
    now: watch::Sender<Timestamp>,
    // Two moves at once must not lose one of them.
    moving: Mutex<()>,
}

impl ManualClock {
    /// A clock that shows `now`.
    pub fn at(now: Timestamp) -> Self {
        Self { now: watch::Sender::new(now), moving: Mutex::new(()) }
    }

    /// Sets the clock, forward or back.
    pub fn set(&self, now: Timestamp) {
        let _one_at_a_time = self.moving.lock();
        self.now.send_replace(now);
    }

    /// Moves the clock by `ms` milliseconds.
    pub fn advance_ms(&self, ms: i64) {
        let _one_at_a_time = self.moving.lock();
        self.now.send_modify(|now| *now = now.plus_ms(ms));
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        *self.now.borrow()
    }

    fn wait_until(&self, at: Timestamp) -> Sleep<'_> {
        let mut moves = self.now.subscribe();
        Box::pin(async move {
            let before = *moves.borrow_and_update();
            // An error would mean that the clock is gone, and with it whoever waits.
            let _ = moves.wait_for(|now| *now >= at || *now < before).await;
        })
    }
}

/// Randomness as an input: tokens of offers, ids of events.
pub trait Entropy: Send + Sync + fmt::Debug {
    /// Fills `bytes` with unguessable ones.
    ///
    /// # Errors
    /// If the system has no randomness to give.
    fn fill(&self, bytes: &mut [u8]) -> std::io::Result<()>;
}

/// The system's source of randomness.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that reads the system's randomness"
    )]
    fn fill(&self, bytes: &mut [u8]) -> std::io::Result<()> {
        getrandom::fill(bytes).map_err(std::io::Error::other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_wait_ends_when_the_manual_clock_gets_there() {
        let clock = ManualClock::at(Timestamp(1_000));
        tokio::join!(clock.wait_until(Timestamp(2_000)), async {
            clock.advance_ms(999);
            tokio::task::yield_now().await;
            clock.advance_ms(1);
        });
        assert_eq!(clock.now(), Timestamp(2_000));
    }

    #[tokio::test]
    async fn a_wait_ends_early_when_the_clock_is_set_back() {
        let clock = ManualClock::at(Timestamp(1_000));
        tokio::join!(clock.wait_until(Timestamp(2_000)), async {
            tokio::task::yield_now().await;
            clock.set(Timestamp(500));
        });
        assert_eq!(clock.now(), Timestamp(500));
    }
}
