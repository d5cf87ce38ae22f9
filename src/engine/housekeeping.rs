//! What is kept for a while and no longer: stored answers for seven days, sessions and links that are over, telephones
//! that riders used, and personal data for as long as the region says.

use tokio::{sync::watch, task::JoinHandle};

use super::executor::Executor;
use crate::{
    domain::{id::Timestamp, signal::SHARED_MS},
    store::{self, Db},
};

/// Stored answers are kept this long, in milliseconds: seven days (DESIGN §4).
pub const ANSWERS_MS: i64 = 7 * 86_400_000;
/// No session is remembered longer, in milliseconds: thirty days (DESIGN §5).
pub const SESSIONS_MS: i64 = 30 * 86_400_000;
/// Failures to sign in are forgotten after an hour without another, in milliseconds; their rows go with them.
const FAILURES_MS: i64 = 3_600_000;
/// How often it looks, in milliseconds.
const EVERY_MS: i64 = 3_600_000;
/// How much it deletes in one transaction, so that no command waits for long.
const CHUNK: i64 = 1_000;

/// The loop that deletes what is over.
#[derive(Clone, Copy, Debug)]
pub struct Housekeeping;

impl Housekeeping {
    /// Runs it in the background. Change the returned sender to end it.
    pub fn start(executor: Executor) -> (watch::Sender<bool>, JoinHandle<()>) {
        let (stop, mut stopped) = watch::channel(false);
        let handle = tokio::spawn(async move {
            let db = executor.db();
            let clock = db.clock();
            let mut next = clock.now();
            loop {
                if clock.now() >= next {
                    if let Err(error) = run_once(db).await {
                        tracing::warn!(%error, "what is over could not be deleted");
                    }
                    if let Err(error) = executor.erase_what_is_old().await {
                        tracing::warn!(%error, "personal data could not be erased");
                    }
                    next = clock.now().plus_ms(EVERY_MS);
                }
                tokio::select! {
                    () = clock.wait_until(next) => {}
                    _ = stopped.changed() => return,
                }
            }
        });
        (stop, handle)
    }
}

/// Deletes what is over at this moment, chunk by chunk. Returns how many rows went.
pub async fn run_once(db: &Db) -> store::Result<u64> {
    let mut gone = 0;
    loop {
        let mut tx = db.begin().await?;
        let now: Timestamp = tx.now().await?;
        let answers = tx.prune_outcomes(now.plus_ms(-ANSWERS_MS), CHUNK).await?;
        let access = tx.prune_access(now.plus_ms(-SESSIONS_MS), now, CHUNK).await?;
        let tries = tx.prune_failures(now.plus_ms(-FAILURES_MS), CHUNK).await?;
        // One that was seen longer ago is held against nobody.
        let devices = tx.prune_devices(now.plus_ms(-SHARED_MS), CHUNK).await?;
        tx.commit().await?;
        let over = answers + access + tries + devices;
        gone += over;
        if over == 0 {
            return Ok(gone);
        }
    }
}
