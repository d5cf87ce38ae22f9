//! The doors of a lane, and who goes through first.
//!
//! Answers to offers and expiries go before everything else. Grabs that can only come second go after everything else, in
//! a queue of their own; an eighth of each batch is kept for them, so that they are answered too.

use std::time::Duration;

use tokio::sync::mpsc;

use super::{Error, job::Job};
use crate::domain::command::Verb;

/// How long to wait before asking again for a task that another node holds.
const PAUSE: Duration = Duration::from_millis(5);

/// One of so many places in each batch is for grabs that can only come second.
const LATE_SHARE: usize = 8;

/// The outer ends of a lane's doors.
#[derive(Debug)]
pub(super) struct Entrance {
    urgent: mpsc::Sender<Job>,
    ordinary: mpsc::Sender<Job>,
    late: mpsc::Sender<Job>,
}

/// Those who wait behind the doors.
#[derive(Debug)]
pub(super) struct Waiting {
    urgent: mpsc::Receiver<Job>,
    ordinary: mpsc::Receiver<Job>,
    late: mpsc::Receiver<Job>,
}

/// The doors of one lane; behind each there is room for `queue` commands.
pub(super) fn open(queue: usize) -> (Entrance, Waiting) {
    let (urgent, urgent_jobs) = mpsc::channel(queue.max(1));
    let (ordinary, ordinary_jobs) = mpsc::channel(queue.max(1));
    let (late, late_jobs) = mpsc::channel(queue.max(1));
    let waiting = Waiting { urgent: urgent_jobs, ordinary: ordinary_jobs, late: late_jobs };
    (Entrance { urgent, ordinary, late }, waiting)
}

impl Entrance {
    /// Lets a job in by its door.
    ///
    /// # Errors
    /// [`Error::Busy`] if there is no room behind it.
    pub(super) fn take(&self, job: Job) -> Result<(), Error> {
        let verb = job.command.what.verb();
        let door = if matches!(verb, Verb::Expire | Verb::Accept | Verb::Decline) {
            &self.urgent
        } else if job.late {
            &self.late
        } else {
            &self.ordinary
        };
        door.try_send(job).map_err(|_| Error::Busy)
    }
}

impl Waiting {
    /// Waits until there is something to do, and adds whatever waits to `jobs`, up to so many. False once all doors are
    /// closed and everybody is through. Jobs that are there already do not wait long.
    pub(super) async fn gather(&mut self, jobs: &mut Vec<Job>, most: usize) -> bool {
        let waits = !jobs.is_empty();
        tokio::select! {
            biased;
            Some(job) = self.urgent.recv() => jobs.push(job),
            Some(job) = self.ordinary.recv() => jobs.push(job),
            Some(job) = self.late.recv() => jobs.push(job),
            () = tokio::time::sleep(PAUSE), if waits => {}
            else => return false,
        }
        // Whoever was just answered may have the next command ready: one turn for them, and no wait.
        tokio::task::yield_now().await;
        let share = if most > 1 { (most / LATE_SHARE).max(1) } else { 0 };
        // A place that nobody wants is not kept.
        let kept = share.min(self.late.len());
        while jobs.len() + kept < most
            && let Some(job) = self.in_time()
        {
            jobs.push(job);
        }
        while jobs.len() < most
            && let Ok(job) = self.late.try_recv()
        {
            jobs.push(job);
        }
        true
    }

    /// The next one who is not late, if any waits.
    fn in_time(&mut self) -> Option<Job> {
        self.urgent.try_recv().or_else(|_| self.ordinary.try_recv()).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::oneshot;

    use super::*;
    use crate::domain::{
        command::{Act, Actor, Command, What},
        id::{Revision, RiderId, TaskId},
        refusal::Lang,
    };

    const GRAB: Act = Act::Grab { ticket: None };

    fn job(task: i64, act: Act, late: bool) -> Job {
        let what = What::Change { task: TaskId(task), revision: Revision(1), act };
        let command = Command { actor: Actor::Rider(RiderId(1)), key: None, lang: Lang::En, what };
        Job { late, ..Job::new(command, Arc::default(), oneshot::channel().0) }
    }

    async fn gathered(waiting: &mut Waiting, most: usize) -> Vec<i64> {
        let mut jobs = Vec::new();
        assert!(waiting.gather(&mut jobs, most).await);
        jobs.iter().filter_map(|job| job.command.what.task()).map(|task| task.0).collect()
    }

    #[tokio::test]
    async fn who_comes_second_goes_last_and_has_an_eighth_all_the_same() {
        let (entrance, mut waiting) = open(64);
        for task in 200..204 {
            assert_eq!(entrance.take(job(task, GRAB, true)), Ok(()));
        }
        for task in 100..120 {
            assert_eq!(entrance.take(job(task, GRAB, false)), Ok(()));
        }
        assert_eq!(entrance.take(job(1, Act::Accept, false)), Ok(()));
        // What is in there is answered, though nobody comes in any more.
        drop(entrance);

        let first = gathered(&mut waiting, 16).await;
        let expected: Vec<_> = [1].into_iter().chain(100..113).chain(200..202).collect();
        assert_eq!(first, expected);
        let rest = gathered(&mut waiting, 16).await;
        let expected: Vec<_> = (113..120).chain(202..204).collect();
        assert_eq!(rest, expected);
        assert!(!waiting.gather(&mut Vec::new(), 16).await);
    }

    #[tokio::test]
    async fn one_place_of_a_small_batch_is_kept_and_none_of_a_batch_of_one() {
        let (entrance, mut waiting) = open(64);
        for task in [1, 2, 3] {
            assert_eq!(entrance.take(job(task, GRAB, false)), Ok(()));
        }
        assert_eq!(entrance.take(job(9, GRAB, true)), Ok(()));
        assert_eq!(gathered(&mut waiting, 1).await, [1]);
        assert_eq!(gathered(&mut waiting, 2).await, [2, 9]);
        assert_eq!(gathered(&mut waiting, 2).await, [3]);
    }

    #[tokio::test]
    async fn a_full_queue_of_those_who_come_second_turns_nobody_else_away() {
        let (entrance, mut waiting) = open(1);
        assert_eq!(entrance.take(job(1, GRAB, true)), Ok(()));
        assert_eq!(entrance.take(job(2, GRAB, true)), Err(Error::Busy));
        assert_eq!(entrance.take(job(3, GRAB, false)), Ok(()));
        assert_eq!(gathered(&mut waiting, 8).await, [3, 1]);
    }
}
