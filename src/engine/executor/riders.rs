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
        decide::Denial,
        id::RiderId,
        refusal::Lang,
        task::{StateName, Task},
    },
    store::{self, Remedy, RiderChange, Tx},
};

impl Executor {
    /// Changes a rider on behalf of `actor`, withdraws the offers that the change ends, and logs both.
    ///
    /// Returns how many offers were withdrawn.
    ///
    /// # Errors
    /// [`Error::Denied`] if there is no such rider, [`Error::Busy`] if the rider's tasks are held elsewhere,
    /// [`Error::Unavailable`] if nothing can be stored.
    pub async fn change_rider(
        &self,
        actor: &Actor,
        rider: RiderId,
        change: &RiderChange,
    ) -> Result<usize, Error> {
        let since = Instant::now();
        match exists(&self.shared, rider).await {
            Ok(true) => {}
            Ok(false) => return Err(Error::Denied(Denial::NotFound)),
            Err(error) => {
                tracing::error!(%rider, %error, "a rider can not be read");
                return Err(Error::Unavailable { unknown: false });
            }
        }
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

async fn exists(shared: &Shared, rider: RiderId) -> store::Result<bool> {
    let mut tx = shared.db.read().await?;
    let found = tx.rider(rider).await?.is_some();
    tx.rollback().await?;
    Ok(found)
}

/// The tasks that wait for this rider's answer.
async fn waiting(tx: &mut Tx, rider: RiderId) -> store::Result<Vec<Task>> {
    let mut tasks = tx.held_by(rider).await?;
    tasks.retain(|task| task.state.name() == StateName::Offered);
    Ok(tasks)
}

/// One try; `None` if one of the rider's tasks is being changed at this moment.
async fn try_change(
    shared: &Shared,
    actor: &Actor,
    rider: RiderId,
    change: &RiderChange,
) -> store::Result<Option<(usize, i64)>> {
    let mut tx = shared.db.begin().await?;
    let waiting = if change.ends_offers() { waiting(&mut tx, rider).await? } else { Vec::new() };
    let reason = if change.region.is_some() { "rider_moved" } else { "rider_disabled" };
    let withdraw = |task: &Task| {
        let act = Act::Withdraw { reason: Reason::parse(reason) };
        let what = What::Change { task: task.id, revision: task.revision, act };
        let command = Command { actor: Actor::System, key: None, lang: Lang::En, what };
        Job::new(command, oneshot::channel().0)
    };
    let jobs: Vec<_> = waiting.iter().map(withdraw).collect();
    let batch = batch::run(&mut tx, &jobs, Some((rider, change, actor)), &shared.settings).await?;
    let held = batch.outcomes.iter().any(|outcome| matches!(outcome, Outcome::Later));
    // The batch has locked the rider, so no more offers can come. One may have come before that.
    if held || (change.ends_offers() && !self::waiting(&mut tx, rider).await?.is_empty()) {
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
