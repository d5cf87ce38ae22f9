//! A lane: takes what waits, runs it as one batch, and knows what to do when something is off.
//!
//! | what happened | what follows |
//! |---|---|
//! | another transaction was in the way, a row moved, a key was taken | load and decide again, three times and no longer than the patience; then one by one |
//! | somebody else keeps the whole database | try until the patience is over, then turn everyone away |
//! | a constraint refused a row, a row is corrupt, a decision panicked | halve until the one bad command fails alone |
//! | the disk is full, the database read-only | everyone is told, nothing is tried again, the node is unready |
//! | the disk failed | the same, for those that wait too, and the node stops until it is started again |
//! | the connection broke before the commit, or none can be had | wait a little and try again |
//! | the answer to a commit was lost | look the outcomes up on a new connection, decide the rest |
//!
//! Whoever is told that nothing was done can rely on it: a command whose commit failed in any way is looked up first,
//! and counts as unknown until it is decided.

use std::{
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::FutureExt;

use super::{
    Error, Job, Shared,
    batch::{self, Batch, Outcome},
    doors::Waiting,
    doubt::{look_up, mark_fresh},
    reply::Reply,
};
use crate::{
    engine::health::Health,
    fault::{Fault, fail_point, planted},
    store::{self, Product, Remedy, Tx},
};

/// How often a batch is tried again before its commands are tried alone.
const TRIES: u32 = 3;
/// How long to wait before asking again for a database.
pub(super) const LONG_PAUSE: Duration = Duration::from_millis(100);
/// A connection is waited for as long as the oldest command has patience left, and this long at least.
const SHORTEST_WAIT: Duration = Duration::from_millis(500);

/// Where a batch failed.
enum Failure {
    /// No transaction could be had: it is nobody's row that is in the way.
    Begin(store::Error),
    /// Before the commit: nothing was done.
    Before(store::Error),
    /// In the commit: it may have counted.
    Commit(store::Error),
    /// Somewhere, by a panic.
    Panic,
}

impl From<store::Error> for Failure {
    fn from(error: store::Error) -> Self {
        Self::Before(error)
    }
}

/// Runs a lane until all of its doors are closed and everything behind them is answered.
pub(super) async fn run(shared: Arc<Shared>, mut waiting: Waiting) {
    let most = shared.settings.batch.max(1);
    // Commands whose task another node held a moment ago.
    let mut later: Vec<Job> = Vec::new();
    loop {
        let mut jobs = std::mem::take(&mut later);
        if !waiting.gather(&mut jobs, most).await {
            return;
        }
        settle(&shared, jobs, &mut later).await;
    }
}

/// Gives every job an answer, or puts it among those that have to wait.
async fn settle(shared: &Shared, jobs: Vec<Job>, later: &mut Vec<Job>) {
    let mut heap = vec![jobs];
    while let Some(mut jobs) = heap.pop() {
        let (mut tries, since) = (0, Instant::now());
        while !jobs.is_empty() {
            if shared.pulse.health() == Health::Stopped {
                // After a sync that failed, the next one may succeed and mean nothing.
                turn_away(jobs.drain(..), &Error::Unavailable { unknown: false });
                continue;
            }
            let failure = match once(shared, &mut jobs).await {
                Ok(batch) => {
                    deliver(shared, jobs, batch, later);
                    break;
                }
                Err(failure) => failure,
            };
            tries += 1;
            let remedy = match &failure {
                Failure::Panic => {
                    tracing::error!(jobs = jobs.len(), tries, "a batch panicked");
                    Remedy::Bisect
                }
                Failure::Begin(error) | Failure::Before(error) | Failure::Commit(error) => {
                    tracing::warn!(jobs = jobs.len(), tries, %error, "a batch failed");
                    error.remedy()
                }
            };
            if matches!(failure, Failure::Commit(_) | Failure::Panic) {
                for job in &mut jobs {
                    job.doubt |= job.fresh;
                }
                if remedy != Remedy::Stop {
                    let sqlite = shared.db.product() == Product::Sqlite;
                    let is_sure = match (&failure, remedy) {
                        // SQLite may have written all of it and failed at what comes after: found by nobody now, it
                        // would count after a crash.
                        (Failure::Commit(store::Error::Full(_)), _) => !sqlite,
                        // If the connection was cut, the commit may still be on its way.
                        (_, Remedy::LookUp) => sqlite,
                        _ => true,
                    };
                    look_up(shared, &mut jobs, is_sure).await;
                }
            }
            shared.meters.tried(remedy == Remedy::Again);
            let patient = since.elapsed() <= shared.settings.patience;
            match (remedy, &failure) {
                (Remedy::Again, Failure::Begin(_)) if patient => {}
                // Somebody else keeps the whole database: alone, nobody would fare better.
                (Remedy::Again, Failure::Begin(_)) => turn_away(jobs.drain(..), &Error::Busy),
                (Remedy::Again, _) if tries < TRIES && patient => {}
                (Remedy::Again, _) if jobs.len() > 1 => {
                    heap.extend(jobs.drain(..).rev().map(|job| vec![job]));
                }
                (Remedy::Again, _) => turn_away(jobs.drain(..), &Error::Busy),
                (Remedy::Bisect, _) => halve(&mut heap, &mut jobs),
                (Remedy::GiveUp, _) => {
                    shared.pulse.unready();
                    turn_away(jobs.drain(..), &Error::Unavailable { unknown: false });
                }
                (Remedy::Stop, _) => {
                    tracing::error!("the disk failed: no more commands are taken until a restart");
                    shared.pulse.stop();
                    turn_away(jobs.drain(..), &Error::Unavailable { unknown: false });
                }
                (Remedy::LookUp, failure) => {
                    let lost = matches!(failure, Failure::Commit(_) | Failure::Panic);
                    // Once may be chance; a commit that is cut again and again is not tried for ever.
                    if !lost || tries > 1 {
                        shared.pulse.unready();
                        tokio::time::sleep(LONG_PAUSE.min(shared.settings.patience)).await;
                        give_up_on_old(shared, &mut jobs);
                    }
                }
            }
        }
    }
}

/// Runs one transaction. A panic in it is a failure like others.
async fn once(shared: &Shared, jobs: &mut Vec<Job>) -> Result<Batch, Failure> {
    for job in &mut *jobs {
        job.fresh = false;
    }
    AssertUnwindSafe(transaction(shared, jobs)).catch_unwind().await.unwrap_or(Err(Failure::Panic))
}

/// Begins a transaction, if a connection can be had while the oldest job still has patience. SQLite's one connection
/// is always there, and waits itself for whoever keeps the file.
pub(super) async fn begin(shared: &Shared, jobs: &[Job]) -> store::Result<Tx> {
    if shared.db.product() == Product::Sqlite {
        return shared.db.begin().await;
    }
    let patience = shared.settings.patience;
    let oldest = jobs.iter().map(|job| job.since.elapsed()).max().unwrap_or_default();
    let wait = patience.saturating_sub(oldest).max(SHORTEST_WAIT);
    tokio::time::timeout(wait, shared.db.begin())
        .await
        .unwrap_or_else(|_| Err(store::Error::no_connection()))
}

async fn transaction(shared: &Shared, jobs: &mut Vec<Job>) -> Result<Batch, Failure> {
    let mut tx = begin(shared, jobs).await.map_err(Failure::Begin)?;
    let batch = batch::run(&mut tx, jobs, None, shared).await?;
    if !batch.writes {
        tx.rollback().await?;
        return Ok(batch);
    }
    before_commit().map_err(Failure::Before)?;
    mark_fresh(jobs, &batch);
    if planted(Fault::AnswerBeforeCommit) {
        let early = std::mem::take(jobs);
        deliver(shared, early, batch, &mut Vec::new());
        tx.commit().await.map_err(Failure::Commit)?;
        return Ok(Batch::empty());
    }
    tx.commit().await.map_err(Failure::Commit)?;
    after_commit().map_err(Failure::Commit)?;
    if !batch.stray_events.is_empty() {
        let mut tx = shared.db.begin().await?;
        tx.insert_events(&batch.stray_events).await?;
        tx.commit().await?;
    }
    Ok(batch)
}

#[cfg_attr(
    not(feature = "faults"),
    expect(clippy::unnecessary_wraps, reason = "a fail-point can fail")
)]
fn before_commit() -> store::Result<()> {
    fail_point!("before-commit");
    Ok(())
}

#[cfg_attr(
    not(feature = "faults"),
    expect(clippy::unnecessary_wraps, reason = "a fail-point can fail")
)]
fn after_commit() -> store::Result<()> {
    fail_point!("after-commit");
    Ok(())
}

/// Answers everyone and wakes the readers.
fn deliver(shared: &Shared, jobs: Vec<Job>, batch: Batch, later: &mut Vec<Job>) {
    shared.meters.tried(false);
    if batch.writes {
        shared.pulse.ready();
    }
    if let Some(head) = batch.head {
        shared.head.send_if_modified(|known| std::mem::replace(known, head.max(*known)) < head);
    }
    if batch.offers {
        shared.offers.send_modify(|count| *count = count.wrapping_add(1));
    }
    // Before the answers: the mark of a grab that was under way is given back with its answer, and these stay.
    for task in &batch.over {
        shared.hot.over(*task);
    }
    for (job, outcome) in jobs.into_iter().zip(batch.outcomes) {
        match outcome {
            Outcome::Reply(reply) => answer(job, Ok(reply)),
            Outcome::Error(error) => answer(job, Err(error)),
            Outcome::Later if job.since.elapsed() > shared.settings.patience => {
                turn_away(std::iter::once(job), &Error::Busy);
            }
            Outcome::Later => later.push(job),
        }
    }
}

/// Sends an answer. Whoever asked may have left; the command was decided all the same.
pub(super) fn answer(job: Job, answer: Result<Reply, Error>) {
    job.meters.answered(job.command.what.verb(), &answer, job.since.elapsed());
    // First the pass: whoever is answered may ask again at once.
    match answer.as_ref().ok().and_then(Reply::done_at) {
        Some(seen) => job.pass.keep(seen),
        None => drop(job.pass),
    }
    let _ = job.answer.send(answer);
}

/// Answers with an error. Where the command may have been done all the same, that is said instead.
pub(super) fn turn_away(jobs: impl Iterator<Item = Job>, error: &Error) {
    for job in jobs {
        let error = if job.doubt { Error::Unavailable { unknown: true } } else { error.clone() };
        answer(job, Err(error));
    }
}

/// Splits a batch to find its one bad command; a batch of one has found it.
fn halve(heap: &mut Vec<Vec<Job>>, jobs: &mut Vec<Job>) {
    if jobs.len() > 1 {
        let second = jobs.split_off(jobs.len() / 2);
        heap.push(second);
        heap.push(std::mem::take(jobs));
    } else {
        for job in jobs.drain(..) {
            tracing::error!(command = ?job.command.what.verb(), task = ?job.command.what.task(), "this command can not be stored");
            turn_away(std::iter::once(job), &Error::Faulty);
        }
    }
}

/// Gives up on the jobs that have waited too long for the database.
fn give_up_on_old(shared: &Shared, jobs: &mut Vec<Job>) {
    let (old, young): (Vec<_>, Vec<_>) =
        jobs.drain(..).partition(|job| job.since.elapsed() > shared.settings.patience);
    turn_away(old.into_iter(), &Error::Unavailable { unknown: false });
    *jobs = young;
}
