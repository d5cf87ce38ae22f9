//! Changes of riders. Who is shut out, or moved to another region, loses the waiting offers in the same
//! transaction.

use std::time::Instant;

use tokio::sync::oneshot;

use super::{
    Error, Executor, Job, Shared,
    batch::{self, Outcome},
};
use crate::{
    domain::{
        command::{Act, Actor, Command, Reason, What},
        id::RiderId,
        refusal::Lang,
        task::StateName,
    },
    store::{self, Remedy, RiderChange},
};

impl Executor {
    /// Changes a rider on behalf of `actor`, withdraws the offers that the change ends, and logs both.
    ///
    /// Returns how many offers were withdrawn.
    ///
    /// # Errors
    /// [`Error::Busy`] if the rider's tasks are held elsewhere, [`Error::Unavailable`] if nothing can be stored.
    pub async fn change_rider(
        &self,
        actor: &Actor,
        rider: RiderId,
        change: &RiderChange,
    ) -> Result<usize, Error> {
        let since = Instant::now();
        loop {
            match try_change(&self.shared, actor, rider, change).await {
                Ok(Some((withdrawn, head))) => {
                    self.shared.head.send_if_modified(|known| {
                        let newer = head > *known;
                        *known = head.max(*known);
                        newer
                    });
                    return Ok(withdrawn);
                }
                Ok(None) => {}
                Err(error) if error.remedy() == Remedy::Again => {}
                Err(error) => {
                    tracing::error!(%rider, %error, "a rider can not be changed");
                    return Err(Error::Unavailable { unknown: true });
                }
            }
            if since.elapsed() > self.shared.settings.patience {
                return Err(Error::Busy);
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }
}

/// One try; `None` if one of the rider's tasks is being changed at this moment.
async fn try_change(
    shared: &Shared,
    actor: &Actor,
    rider: RiderId,
    change: &RiderChange,
) -> store::Result<Option<(usize, i64)>> {
    let mut tx = shared.db.begin().await?;
    let mut jobs = Vec::new();
    if change.ends_offers() {
        // With the rider locked, no new offer can come while the waiting ones are withdrawn.
        tx.lock_riders(&[rider]).await?;
        let reason = if change.region.is_some() { "rider_moved" } else { "rider_disabled" };
        for task in tx.held_by(rider).await? {
            if task.state.name() != StateName::Offered {
                continue;
            }
            let act = Act::Withdraw { reason: Reason::parse(reason) };
            let what = What::Change { task: task.id, revision: task.revision, act };
            let command = Command { actor: Actor::System, key: None, lang: Lang::En, what };
            jobs.push(Job::new(command, oneshot::channel().0));
        }
    }
    let batch = batch::run(&mut tx, &jobs, Some((rider, change, actor)), &shared.settings).await?;
    if batch.outcomes.iter().any(|outcome| matches!(outcome, Outcome::Later)) {
        tx.rollback().await?;
        return Ok(None);
    }
    tx.commit().await?;
    // One that had lapsed is expired instead, and its withdrawal refused.
    let withdrawn = batch
        .outcomes
        .iter()
        .filter(|outcome| matches!(outcome, Outcome::Reply(reply) if reply.status == 200));
    Ok(Some((withdrawn.count(), batch.head.unwrap_or_default())))
}
