//! After a commit whose fate is unknown: which commands were decided by it?

use std::time::Instant;

use super::{
    Error, Job, Shared,
    lane::{LONG_PAUSE, answer, begin, turn_away},
    reply::Reply,
};
use crate::store;

/// Asks on a new connection which jobs were decided by the transaction that failed, and answers those. The rest stays,
/// to be decided again.
pub(super) async fn look_up(shared: &Shared, jobs: &mut Vec<Job>) {
    let since = Instant::now();
    while jobs.iter().any(|job| job.fresh) {
        match try_look_up(shared, jobs).await {
            Ok(()) => return,
            Err(error) => {
                tracing::warn!(jobs = jobs.len(), %error, "can not look up what was committed");
            }
        }
        shared.pulse.unready();
        if since.elapsed() > shared.settings.patience {
            return turn_away(jobs.drain(..), &Error::Unavailable { unknown: false });
        }
        tokio::time::sleep(LONG_PAUSE).await;
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
