//! `dispatch-desk admin erase`: counts what would be erased, or erases it.

use anyhow::{Context, bail, ensure};
use dispatch_desk::{
    config::EraseArgs,
    domain::{
        actor::Actor,
        erase::EraseReason,
        id::{RegionId, RiderId, TaskId},
    },
    engine::{
        executor::{Executor, Settings},
        office::{DAY_MS, Error},
    },
    store::Db,
};

/// What is to be erased.
enum Whose {
    Task(TaskId),
    Region(RegionId, u32),
    Rider(RiderId),
}

fn whose(what: &EraseArgs) -> anyhow::Result<Whose> {
    match (&what.task, &what.region, &what.rider) {
        (Some(text), ..) => {
            let task = TaskId::parse(text).with_context(|| format!("{text}: such as T10233"))?;
            Ok(Whose::Task(task))
        }
        (_, Some(text), _) => {
            let region = RegionId::parse(text).with_context(|| format!("{text}: such as G1"))?;
            Ok(Whose::Region(region, what.older_than_days.unwrap_or_default()))
        }
        (.., Some(text)) => {
            let rider = RiderId::parse(text).with_context(|| format!("{text}: such as R17"))?;
            Ok(Whose::Rider(rider))
        }
        (None, None, None) => bail!("say whose: --task, --region or --rider"),
    }
}

/// How many tasks or riders that would be, in words. What can not be erased is an error already now.
async fn count(db: &Db, whose: &Whose) -> anyhow::Result<String> {
    let mut tx = db.read().await?;
    Ok(match whose {
        Whose::Task(id) => {
            let card = tx.card(*id).await?.with_context(|| format!("there is no {id}"))?;
            ensure!(card.task.is_over(), unfinished(whose));
            tasks(i64::from(card.detail.erased_at.is_none()))
        }
        Whose::Region(id, days) => {
            let known = tx.region_record(*id).await?.is_some();
            ensure!(known, "there is no {id}");
            let until = tx.now().await?.plus_ms(-i64::from(*days) * DAY_MS);
            tasks(tx.count_erasable(*id, until).await?)
        }
        Whose::Rider(id) => {
            let found = tx.rider_account(*id).await?;
            let account = found.with_context(|| format!("there is no {id}"))?;
            ensure!(account.rider.disabled && account.holds == 0, unfinished(whose));
            "1 rider".to_owned()
        }
    })
}

fn tasks(count: i64) -> String {
    if count == 1 { "1 task".to_owned() } else { format!("{count} tasks") }
}

/// Why it is too early.
fn unfinished(whose: &Whose) -> String {
    match whose {
        Whose::Task(id) => format!("{id} is not over: its people are still needed"),
        Whose::Rider(id) => format!("{id} is not shut out, or still holds tasks"),
        Whose::Region(..) => String::new(),
    }
}

/// Does it, or says how much it would be. Returns what to print.
pub async fn erase(db: &Db, what: &EraseArgs) -> anyhow::Result<String> {
    let whose = whose(what)?;
    let counted = count(db, &whose).await?;
    if !what.yes {
        return Ok(format!("{counted} would be erased; nothing was done. Say --yes to do it."));
    }
    let reason = EraseReason::parse(&what.reason);
    let reason = reason.context("a reason is asked, not_needed or mistake")?;
    let executor = Executor::start(db.clone(), Settings::default());
    let erased = match &whose {
        Whose::Task(id) => executor
            .erase_task(&Actor::System, *id, reason)
            .await
            .map(|erased| tasks(i64::from(erased))),
        Whose::Region(id, days) => {
            let now = db.read().await?.now().await?;
            let until = now.plus_ms(-i64::from(*days) * DAY_MS);
            let first = dispatch_desk::domain::id::Timestamp(0);
            let erased = executor.erase_region(&Actor::System, *id, first, until).await;
            erased.map(|count| tasks(i64::try_from(count).unwrap_or(i64::MAX)))
        }
        Whose::Rider(id) => {
            executor.erase_rider(&Actor::System, *id, reason).await.map(|()| "1 rider".to_owned())
        }
    };
    executor.stop().await;
    match erased {
        Ok(erased) => Ok(format!("{erased} erased")),
        Err(Error::NotOver) => bail!(unfinished(&whose)),
        Err(error) => Err(error.into()),
    }
}
