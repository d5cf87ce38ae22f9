//! When to look: as soon as something has happened, and when something is due.

use std::{collections::BTreeMap, time::Duration};

use futures_util::StreamExt;
use tokio::{sync::watch, task::JoinHandle};

use super::{Rounds, follow::Cursor, turn::Turned};
use crate::{
    domain::id::{TaskId, Timestamp},
    store,
};

/// It looks again after this time at the latest: other nodes write too, and clocks are set.
const LONGEST_SLEEP_MS: i64 = 1_000;
/// What happens within so short a time is looked at together.
const TOGETHER: Duration = Duration::from_millis(10);
/// A task that is being changed, or can not be looked at, is looked at again after so many milliseconds, doubling.
const AGAIN_MS: i64 = 50;
const LONGEST_AGAIN_MS: i64 = 60_000;
/// How many searches are looked at side by side, and how many in one look.
const ABREAST: usize = 8;
const PAGE: i64 = 256;

/// Tasks that could not be looked at, and when to try again.
#[derive(Debug, Default)]
struct Troubles {
    tasks: BTreeMap<TaskId, (Timestamp, i64)>,
    /// What was due at this instant has been looked at.
    looked: Timestamp,
}

impl Troubles {
    fn rests(&self, task: TaskId, now: Timestamp) -> bool {
        self.tasks.get(&task).is_some_and(|(next, _)| *next > now)
    }

    fn note(&mut self, task: TaskId, now: Timestamp) {
        let known = self.tasks.get(&task);
        let wait = known.map_or(AGAIN_MS, |(_, wait)| (wait * 2).min(LONGEST_AGAIN_MS));
        self.tasks.insert(task, (now.plus_ms(wait), wait));
    }

    /// Forgets those that are not due any more: nobody is looked for, and nothing is to be tried again.
    fn forget_all_but(&mut self, due: &[TaskId]) {
        self.tasks.retain(|task, _| due.contains(task));
    }

    /// When the first of them is tried again.
    fn next(&self) -> Option<Timestamp> {
        self.tasks.values().map(|(next, _)| *next).min()
    }
}

impl Rounds {
    /// Follows the log and does all that is due now. Returns how many searches were looked at.
    ///
    /// # Errors
    /// Whatever the database says.
    pub async fn run_once(&self) -> store::Result<usize> {
        let mut cursor = self.cursor().await?;
        self.pass(&mut cursor, &mut Troubles::default()).await
    }

    async fn pass(&self, cursor: &mut Cursor, troubles: &mut Troubles) -> store::Result<usize> {
        let mut looked = 0;
        loop {
            self.follow(cursor).await?;
            let closed = self.close_windows().await?;
            let turned = self.due(troubles).await?;
            looked += turned;
            if closed + turned == 0 {
                return Ok(looked);
            }
        }
    }

    /// Looks at the searches that are due. One that can not be looked at does not keep the others from it.
    async fn due(&self, troubles: &mut Troubles) -> store::Result<usize> {
        let mut tx = self.executor.db().read().await?;
        let now = tx.now().await?;
        let due = tx.due_searches(now, PAGE).await?;
        tx.rollback().await?;
        troubles.looked = now;
        let mut due: Vec<_> = due.into_iter().map(|(task, _)| task).collect();
        if i64::try_from(due.len()).is_ok_and(|found| found < PAGE) {
            troubles.forget_all_but(&due);
        }
        due.retain(|task| !troubles.rests(*task, now));
        let turns = due.into_iter().map(|task| {
            let rounds = self.clone();
            async move { (task, rounds.turn(task).await) }
        });
        let turned: Vec<_> = futures_util::stream::iter(turns).buffered(ABREAST).collect().await;
        let mut done = 0;
        for (task, turned) in turned {
            match turned {
                Ok(Turned::Done) => {
                    troubles.tasks.remove(&task);
                    done += 1;
                }
                Ok(Turned::Later) => troubles.note(task, now),
                Err(error) => {
                    tracing::warn!(%task, %error, "nobody can be looked for now; others go on");
                    troubles.note(task, now);
                }
            }
        }
        Ok(done)
    }

    async fn next_look(&self, troubles: &Troubles) -> store::Result<Timestamp> {
        let here = self.executor.db().clock().now();
        let mut tx = self.executor.db().read().await?;
        let now = tx.now().await?;
        // From the last look on: what has come due since then is looked at next.
        let next = tx.next_search(troubles.looked).await?;
        tx.rollback().await?;
        let next = next.into_iter().chain(troubles.next()).min();
        // The store's clock may differ from the one that we wait by, so the distance counts.
        let distance =
            next.map_or(LONGEST_SLEEP_MS, |next| next.ms_since(now).clamp(1, LONGEST_SLEEP_MS));
        Ok(here.plus_ms(distance))
    }

    /// Runs until `stop` changes or its sender is gone.
    pub async fn run(self, mut stop: watch::Receiver<bool>) {
        let mut head = self.executor.head();
        let clock = self.executor.db().clock();
        let (mut cursor, mut troubles) = (None, Troubles::default());
        loop {
            head.mark_unchanged();
            let look = self.step(&mut cursor, &mut troubles).await;
            let look = look.unwrap_or_else(|error| {
                tracing::warn!(%error, "nobody can be looked for: the database is away");
                clock.now().plus_ms(LONGEST_SLEEP_MS)
            });
            tokio::select! {
                () = clock.wait_until(look) => {}
                Ok(()) = head.changed() => tokio::time::sleep(TOGETHER).await,
                _ = stop.changed() => return,
            }
        }
    }

    async fn step(
        &self,
        cursor: &mut Option<Cursor>,
        troubles: &mut Troubles,
    ) -> store::Result<Timestamp> {
        let mut at = match *cursor {
            Some(known) => known,
            None => self.cursor().await?,
        };
        let passed = self.pass(&mut at, troubles).await;
        *cursor = Some(at);
        passed?;
        self.next_look(troubles).await
    }

    /// Runs it in the background. Drop or change the returned sender to end it.
    pub fn start(self) -> (watch::Sender<bool>, JoinHandle<()>) {
        let (stop, stopped) = watch::channel(false);
        let handle = tokio::spawn(self.run(stopped));
        (stop, handle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trouble_is_tried_again_later_and_later_and_forgotten_when_nothing_is_due() {
        let (one, two, at) = (TaskId(1), TaskId(2), Timestamp(1_000));
        let mut troubles = Troubles::default();
        assert_eq!(troubles.next(), None);
        troubles.note(one, at);
        troubles.note(two, at.plus_ms(10));
        assert_eq!(troubles.next(), Some(at.plus_ms(50)));
        assert!(troubles.rests(one, at.plus_ms(49)) && !troubles.rests(one, at.plus_ms(50)));
        troubles.note(one, at.plus_ms(50));
        assert!(troubles.rests(one, at.plus_ms(149)), "twice as long");
        // The search of the first one has ended: what is over wakes nobody for ever.
        troubles.forget_all_but(&[two]);
        assert_eq!(troubles.next(), Some(at.plus_ms(60)));
        troubles.forget_all_but(&[]);
        assert_eq!(troubles.next(), None);
    }
}
