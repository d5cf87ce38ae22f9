//! Personal data that is no longer needed is erased: of tasks that are over, of riders who are gone. The log, the attempts
//! and the stored answers hold none and stay as they are.

use super::{Error, Office, Result};
use crate::{
    domain::{
        actor::Actor,
        admin::{AdminAction, AdminEvent, AdminSubject},
        authority::Matter,
        erase::EraseReason,
        id::{RegionId, RiderId, TaskId, Timestamp},
    },
    engine::executor::Executor,
};

/// How many tasks are erased in one transaction, so that no command waits for long.
const CHUNK: i64 = 200;
/// A day, in milliseconds.
pub const DAY_MS: i64 = 86_400_000;

impl Executor {
    /// Erases the personal data of a task that is over, for `reason`. Returns whether there was any left.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::NotOver`], or as [`Office::open_for`] says.
    pub async fn erase_task(&self, actor: &Actor, id: TaskId, reason: EraseReason) -> Result<bool> {
        let mut office = Office::open_for(self, actor, Matter::Erase).await?;
        let task = office.tx.task(id).await?.filter(|task| office.reaches(task.region));
        let task = task.ok_or(Error::NotFound)?;
        if !task.is_over() {
            return Err(Error::NotOver);
        }
        let now = office.now();
        if office.tx.erase_details(&[id], now).await? == 0 {
            return Ok(false);
        }
        office.tx.forget_drafts().await?;
        let erased = AdminEvent::new(AdminAction::Erased, AdminSubject::Task(id));
        let erased = erased.in_region(task.region).with("tasks", "1");
        office.note(erased.with("reason", reason.as_str()));
        office.commit().await?;
        Ok(true)
    }

    /// Erases the personal data of all tasks of a region that were over at `from` or later and before `until`, chunk by
    /// chunk. Returns of how many.
    ///
    /// # Errors
    /// [`Error::NotFound`], or as [`Office::open_for`] says. What was erased before stays erased.
    pub async fn erase_region(
        &self,
        actor: &Actor,
        region: RegionId,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<u64> {
        let mut all = 0;
        loop {
            let mut office = Office::open_for(self, actor, Matter::Erase).await?;
            if !office.reaches(region) || office.tx.region_record(region).await?.is_none() {
                return Err(Error::NotFound);
            }
            let (now, tasks) =
                (office.now(), office.tx.erasable(region, from, until, CHUNK).await?);
            if tasks.is_empty() {
                return Ok(all);
            }
            let erased = office.tx.erase_details(&tasks, now).await?;
            if erased == 0 {
                // Another node was first: on to the next ones.
                continue;
            }
            office.tx.forget_drafts().await?;
            let event = AdminEvent::new(AdminAction::Erased, AdminSubject::Region(region));
            let event = event.in_region(region).with("tasks", erased.to_string());
            office.note(event.with("over_before", until.to_string()));
            office.commit().await?;
            all += erased;
        }
    }

    /// Erases name, phone, password, position and devices of a rider who is shut out and holds nothing, for
    /// `reason`.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::NotOver`], or as [`Office::open_for`] says.
    pub async fn erase_rider(&self, actor: &Actor, id: RiderId, reason: EraseReason) -> Result<()> {
        let mut office = Office::open_for(self, actor, Matter::Erase).await?;
        let rider = office.tx.lock_riders(&[id]).await?.pop();
        let rider = rider.filter(|rider| office.reaches(rider.region)).ok_or(Error::NotFound)?;
        let now = office.now();
        if office.tx.erase_rider(id, now).await? == 0 {
            return Err(Error::NotOver);
        }
        let erased = AdminEvent::new(AdminAction::Erased, AdminSubject::Rider(id));
        office.note(erased.in_region(rider.region).with("reason", reason.as_str()));
        office.commit().await?;
        self.positions().rider_changed(self.db(), id).await;
        Ok(())
    }

    /// Erases what is older than the regions keep it. Returns of how many tasks.
    ///
    /// # Errors
    /// Whatever the database says.
    pub async fn erase_what_is_old(&self) -> Result<u64> {
        let mut tx = self.db().read().await?;
        let (now, retentions) = (tx.now().await?, tx.retentions().await?);
        drop(tx);
        let mut all = 0;
        for kept in retentions {
            let until = now.plus_ms(-kept.days.saturating_mul(DAY_MS));
            // A day's margin: a clock that was set back may have let a task be over before what is marked.
            let from = kept.erased_to.plus_ms(-DAY_MS);
            all += self.erase_region(&Actor::System, kept.region, from, until).await?;
            let mut tx = self.db().begin().await?;
            tx.mark_erased(kept.region, until).await?;
            tx.commit().await?;
        }
        Ok(all)
    }
}
