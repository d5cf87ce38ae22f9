//! Changes of riders. Who is shut out, or moved to another region, loses the waiting offers in the same
//! transaction.

use std::{sync::Arc, time::Instant};

use tokio::sync::oneshot;

use super::{
    Error, Executor, Job, Settings, Shared,
    batch::{self, Outcome},
};
use crate::{
    domain::{
        authority::{Matter, who},
        command::{Act, Actor, Command, Reason, Role, What},
        decide::Denial,
        id::RiderId,
        refusal::Lang,
        task::{StateName, Task},
    },
    engine::health::Health,
    store::{self, Remedy, RiderChange, Tx},
};

impl Executor {
    /// How it works.
    pub(in crate::engine) fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    /// Wakes readers: the log goes up to `head` now.
    pub(in crate::engine) fn committed(&self, head: i64) {
        self.shared.head.send_if_modified(|known| {
            let newer = head > *known;
            *known = head.max(*known);
            newer
        });
    }

    /// Changes a rider on behalf of `actor`, withdraws the offers that the change ends, and logs both.
    ///
    /// Returns how many offers were withdrawn.
    ///
    /// # Errors
    /// [`Error::Denied`] if there is no such rider in the actor's regions, [`Error::Busy`] if the rider's tasks are held elsewhere,
    /// [`Error::Unavailable`] if nothing can be stored.
    pub async fn change_rider(
        &self,
        actor: &Actor,
        rider: RiderId,
        change: &RiderChange,
    ) -> Result<usize, Error> {
        let since = Instant::now();
        let pulse = &self.shared.pulse;
        loop {
            if pulse.health() == Health::Stopped {
                return Err(Error::Unavailable { unknown: false });
            }
            match try_change(&self.shared, actor, rider, change).await {
                Ok(Tried::Denied(denial)) => return Err(Error::Denied(denial)),
                Ok(Tried::Stale) => return Err(Error::RecordChanged),
                Ok(Tried::Done { withdrawn, head }) => {
                    self.committed(head);
                    if change.ends_offers() || change.disabled.is_some() {
                        self.positions().rider_changed(self.db(), rider).await;
                    }
                    return Ok(withdrawn);
                }
                Ok(Tried::Later) => {}
                Err(error) if error.remedy() == Remedy::Again => {}
                Err(error) => {
                    tracing::error!(%rider, %error, "a rider can not be changed");
                    match error.remedy() {
                        Remedy::Stop => pulse.stop(),
                        Remedy::GiveUp | Remedy::LookUp => pulse.unready(),
                        Remedy::Again | Remedy::Bisect => {}
                    }
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

/// What became of one try.
enum Tried {
    Done {
        withdrawn: usize,
        head: i64,
    },
    Denied(Denial),
    /// The rider is not at the revision that the change is based on.
    Stale,
    /// One of the rider's tasks is being changed at this moment.
    Later,
}

/// Whether `actor` may make this change: the rider's own desk may, and riders may go on and off duty.
async fn right(
    tx: &mut Tx,
    actor: &Actor,
    rider: RiderId,
    change: &RiderChange,
) -> store::Result<Result<(), Denial>> {
    let staff = match actor {
        Actor::Staff(staff) => tx.lock_staff(&[*staff]).await?.pop(),
        Actor::System | Actor::Intake(_) | Actor::Customer(_) | Actor::Rider(_) => None,
    };
    let Some(found) = tx.rider(rider).await? else { return Ok(Err(Denial::NotFound)) };
    let only_duty =
        RiderChange { duty: change.duty, revision: change.revision, ..RiderChange::default() }
            == *change;
    Ok(match actor {
        Actor::System => Ok(()),
        Actor::Rider(me) if *me == rider && found.disabled => Err(Denial::NotSignedIn),
        Actor::Rider(me) if *me == rider && only_duty => Ok(()),
        Actor::Staff(_) => match staff.filter(|staff| !staff.disabled) {
            None => Err(Denial::NotSignedIn),
            Some(staff) if !staff.regions.contains(&found.region) => Err(Denial::NotFound),
            Some(staff) if only_duty && staff.role != Role::Auditor => Ok(()),
            Some(staff) if !who(Matter::Riders).contains(&staff.role) => Err(Denial::Forbidden),
            // To a region of their own alone: nobody is sent where one has no say.
            Some(staff) if change.region.is_some_and(|to| !staff.regions.contains(&to)) => {
                Err(Denial::NotFound)
            }
            Some(_) => Ok(()),
        },
        Actor::Rider(_) | Actor::Intake(_) | Actor::Customer(_) => Err(Denial::Forbidden),
    })
}

/// The tasks that wait for this rider's answer.
async fn waiting(tx: &mut Tx, rider: RiderId) -> store::Result<Vec<Task>> {
    let mut tasks = tx.held_by(rider).await?;
    tasks.retain(|task| task.state.name() == StateName::Offered);
    Ok(tasks)
}

/// One try, in one transaction.
async fn try_change(
    shared: &Shared,
    actor: &Actor,
    rider: RiderId,
    change: &RiderChange,
) -> store::Result<Tried> {
    let mut tx = shared.db.begin().await?;
    if let Err(denial) = right(&mut tx, actor, rider, change).await? {
        tx.rollback().await?;
        return Ok(Tried::Denied(denial));
    }
    let waiting = if change.ends_offers() { waiting(&mut tx, rider).await? } else { Vec::new() };
    let reason = if change.region.is_some() { "rider_moved" } else { "rider_disabled" };
    let withdraw = |task: &Task| {
        let act = Act::Withdraw { reason: Reason::parse(reason) };
        let what = What::Change { task: task.id, revision: task.revision, act };
        let command = Command { actor: Actor::System, key: None, lang: Lang::En, what };
        Job::new(command, Arc::default(), oneshot::channel().0)
    };
    let jobs: Vec<_> = waiting.iter().map(withdraw).collect();
    let batch = batch::run(&mut tx, &jobs, Some((rider, change, actor)), shared).await?;
    let held = batch.outcomes.iter().any(|outcome| matches!(outcome, Outcome::Later));
    // The change itself has counted the revision up.
    let made = tx.rider_revision(rider).await?;
    if change.revision.is_some_and(|based_on| made != Some(based_on + 1)) {
        tx.rollback().await?;
        return Ok(Tried::Stale);
    }
    // The batch has locked the rider, so no more offers can come. One may have come before that.
    if held || (change.ends_offers() && !self::waiting(&mut tx, rider).await?.is_empty()) {
        tx.rollback().await?;
        return Ok(Tried::Later);
    }
    if change.disabled == Some(true) || change.phone.is_some() {
        // It goes with the number that it was set for; and one who is let in again comes by a link.
        tx.forget_rider_password(rider).await?;
    }
    if change.ends_offers() {
        // Whoever is shut out, or works elsewhere now, signs in again, if they may.
        tx.end_sessions_of(&Actor::Rider(rider)).await?;
        tx.end_links_of(&Actor::Rider(rider)).await?;
    }
    tx.commit().await?;
    // One that had lapsed is expired instead, and its withdrawal refused.
    let withdrawn = batch
        .outcomes
        .iter()
        .filter(|outcome| matches!(outcome, Outcome::Reply(reply) if reply.status == 200));
    Ok(Tried::Done { withdrawn: withdrawn.count(), head: batch.head.unwrap_or_default() })
}
