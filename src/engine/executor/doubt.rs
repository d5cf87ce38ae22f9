//! After a commit whose fate is unknown: which commands were decided by it?

use std::{collections::HashSet, time::Instant};

use super::{
    Error, Job, Shared,
    batch::{Batch, Outcome},
    lane::{LONG_PAUSE, answer, begin, turn_away},
    reply::Reply,
};
use crate::store;

/// Marks the jobs whose answers this transaction is to store; also those that repeat one of them.
pub(super) fn mark_fresh(jobs: &mut [Job], batch: &Batch) {
    let decided = |outcome: &Outcome| matches!(outcome, Outcome::Reply(reply) if !reply.replayed);
    for (job, outcome) in jobs.iter_mut().zip(&batch.outcomes) {
        job.fresh = decided(outcome);
    }
    let owned = |(principal, key): (&str, &str)| (principal.to_owned(), key.to_owned());
    let stored: HashSet<_> =
        jobs.iter().filter(|job| job.fresh).filter_map(Job::key).map(owned).collect();
    for (job, outcome) in jobs.iter_mut().zip(&batch.outcomes) {
        let repeats = matches!(outcome, Outcome::Reply(reply) if reply.replayed)
            && job.key().is_some_and(|key| stored.contains(&owned(key)));
        job.fresh |= repeats;
    }
}

/// Asks on a new connection which jobs were decided by the transaction that failed, and answers those. The rest stays.
///
/// Where it `is_sure` that what is not there will not come any more, the rest is in doubt no longer.
pub(super) async fn look_up(shared: &Shared, jobs: &mut Vec<Job>, is_sure: bool) {
    let since = Instant::now();
    while jobs.iter().any(|job| job.fresh) {
        match try_look_up(shared, jobs).await {
            Ok(()) => {
                for job in jobs.iter_mut().filter(|job| job.fresh && is_sure) {
                    job.doubt = false;
                }
                return;
            }
            Err(error) => {
                tracing::warn!(jobs = jobs.len(), %error, "can not look up what was committed");
            }
        }
        shared.pulse.unready();
        if since.elapsed() > shared.settings.patience {
            return turn_away(jobs.drain(..), &Error::Unavailable { unknown: false });
        }
        tokio::time::sleep(LONG_PAUSE.min(shared.settings.patience)).await;
    }
}

async fn try_look_up(shared: &Shared, jobs: &mut Vec<Job>) -> store::Result<()> {
    let mut tx = begin(shared, jobs).await?;
    let keys: Vec<_> = jobs.iter().filter(|job| job.fresh).filter_map(Job::key).collect();
    let found = tx.outcomes(&keys).await?;
    tx.rollback().await?;
    let mut rest = Vec::new();
    for job in jobs.drain(..) {
        // Only what the lost transaction decided: a repeat of an old key needs the right to it once more.
        let mine = job.key().filter(|_| job.fresh).and_then(|(principal, key)| {
            found.iter().find(|found| found.principal == principal && found.request_key == key)
        });
        match mine.filter(|mine| mine.fingerprint == job.fingerprint.as_str()) {
            Some(mine) => {
                let reply = Reply::stored(mine, false);
                answer(job, Ok(reply));
            }
            None => rest.push(job),
        }
    }
    *jobs = rest;
    Ok(())
}
