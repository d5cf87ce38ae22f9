//! How many passwords are hashed at once, and how many may wait: one costs 37 ms of a core and 19 MiB, and signing in must
//! not keep dispatchers waiting (`S09`).

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::sync::Semaphore;

/// Passwords that are hashed at once.
const AT_ONCE: usize = 2;
/// Passwords that may wait for their turn: more are told to come back, before the board feels it.
const MOST_WAITING: usize = 16;

/// There are too many who sign in at this moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Crowded;

/// Where passwords wait for their turn.
#[derive(Debug)]
pub(super) struct Hashing {
    turns: Arc<Semaphore>,
    places: Arc<AtomicUsize>,
}

/// A place among those whose passwords are hashed, left when it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    turns: Arc<Semaphore>,
    places: Arc<AtomicUsize>,
}

impl Default for Hashing {
    fn default() -> Self {
        Self { turns: Arc::new(Semaphore::new(AT_ONCE)), places: Arc::default() }
    }
}

impl Hashing {
    /// Takes a place. It is taken before anything is counted or written: whoever is told to come back has not failed.
    ///
    /// # Errors
    /// [`Crowded`].
    pub(super) fn join(&self) -> Result<Place, Crowded> {
        let place = Place { turns: Arc::clone(&self.turns), places: Arc::clone(&self.places) };
        let others = self.places.fetch_add(1, Ordering::Relaxed);
        if others < AT_ONCE + MOST_WAITING { Ok(place) } else { Err(Crowded) }
    }
}

impl Place {
    /// Does `work` off the threads that answer, when it is its turn; `None` if it panics. The place is left when the work
    /// is over, also if whoever asked for it has hung up long before: those who hang up gain no second turn.
    pub(super) async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let turn = Arc::clone(&self.turns).acquire_owned().await.ok()?;
        let done = tokio::task::spawn_blocking(move || {
            let held = (turn, self);
            let done = work();
            drop(held);
            done
        });
        done.await.ok()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn two_are_hashed_and_sixteen_wait_and_whoever_comes_next_is_sent_away() {
        let hashing = Hashing::default();
        let mut places: Vec<_> = (0..18).map(|_| hashing.join().expect("room")).collect();
        assert_eq!(hashing.join().err(), Some(Crowded));
        assert_eq!(hashing.join().err(), Some(Crowded), "nor does asking take a place");
        places.pop();
        assert!(hashing.join().is_ok());
    }

    #[tokio::test]
    async fn whoever_hangs_up_keeps_the_turn_until_the_work_is_over() {
        let hashing = Hashing::default();
        let (ends, waits) = (0..2).map(|_| mpsc::channel::<()>()).unzip::<_, _, Vec<_>, Vec<_>>();
        for wait in waits {
            let mut run = Box::pin(hashing.join().expect("room").run(move || wait.recv()));
            assert!((&mut run).now_or_never().is_none(), "it is at work");
            drop(run);
        }
        let mut third = Box::pin(hashing.join().expect("room").run(|| 3));
        assert!((&mut third).now_or_never().is_none(), "both turns are still taken");
        drop(ends);
        assert_eq!(third.await, Some(3));
    }
}
