//! The manual pool: tasks that the rounds could not place.

use super::{
    error::Result,
    lists::region_rows,
    rows::read,
    sql::{Sql, setwise},
    tx::{Tx, execute, fetch},
};
use crate::domain::{
    id::{RegionId, TaskId, Timestamp},
    round::PoolReason,
};

const ENTER: Sql = Sql::same(
    "INSERT INTO manual_pool (task_id, region_id, cell, since, reason) VALUES ($1, $2, $3, $4, $5) \
     ON CONFLICT (task_id) DO NOTHING",
);
const LEAVE: Sql = setwise!(
    "DELETE FROM manual_pool WHERE task_id IN (SELECT r.id FROM ",
    rows(id int),
    ")"
);
const POOLED: Sql =
    Sql::same("SELECT task_id, region_id, cell, since, reason FROM manual_pool WHERE task_id = $1");
pub(super) const MANUAL_POOL: Sql = setwise!(
    "SELECT p.task_id, p.region_id, p.cell, p.since, p.reason FROM ",
    rows(id int),
    " CROSS JOIN manual_pool p WHERE p.region_id = r.id AND (p.since, p.task_id) > ($2, $3) \
     AND ($4 = 0 OR p.cell = $4) ORDER BY p.since, p.task_id LIMIT $5"
);
pub(super) const COUNT_POOL: Sql = setwise!(
    "SELECT COUNT(*), MIN(p.since) FROM ",
    rows(id int),
    " CROSS JOIN manual_pool p WHERE p.region_id = r.id"
);

/// A task in the manual pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pooled {
    /// Which task.
    pub task: TaskId,
    /// Its region.
    pub region: RegionId,
    /// The H3 cell of its pickup, resolution 7.
    pub cell: i64,
    /// Since when.
    pub since: Timestamp,
    /// Why.
    pub reason: PoolReason,
}

/// Which tasks of the manual pool.
#[derive(Clone, Copy, Debug)]
pub struct PoolListing<'a> {
    /// The regions that the reader may see.
    pub regions: &'a [RegionId],
    /// Only those in this cell.
    pub cell: Option<i64>,
    /// Beyond the last one of the page before.
    pub beyond: Option<(Timestamp, TaskId)>,
    /// At most so many.
    pub limit: i64,
}

type Row = (i64, i64, i64, i64, String);

fn pooled((task, region, cell, since, reason): Row) -> Result<Pooled> {
    Ok(Pooled {
        task: TaskId(task),
        region: RegionId(region),
        cell,
        since: Timestamp(since),
        reason: read("manual_pool", "reason", task, &reason, PoolReason::parse)?,
    })
}

impl Tx {
    /// Puts a task into the manual pool; one that is there stays as it is.
    pub async fn enter_pool(&mut self, pooled: &Pooled) -> Result<()> {
        let Pooled { task, region, cell, since, reason } = *pooled;
        execute!(self, ENTER, task.0, region.0, cell, since.0, reason.as_str());
        Ok(())
    }

    /// Takes tasks out of it. Returns how many were there.
    pub async fn leave_pool(&mut self, tasks: &[TaskId]) -> Result<u64> {
        if tasks.is_empty() {
            return Ok(0);
        }
        Ok(execute!(self, LEAVE, super::load::ids(tasks.iter().map(|task| task.0))))
    }

    /// Since when and why a task is in the manual pool, if it is.
    pub async fn pooled(&mut self, task: TaskId) -> Result<Option<Pooled>> {
        fetch!(self, Row, POOLED, task.0).pop().map(pooled).transpose()
    }

    /// A page of the manual pool, the oldest first.
    pub async fn manual_pool(&mut self, listing: &PoolListing<'_>) -> Result<Vec<Pooled>> {
        let (since, task) =
            listing.beyond.map_or((i64::MIN, i64::MIN), |(since, task)| (since.0, task.0));
        let regions = region_rows(listing.regions);
        let cell = listing.cell.unwrap_or(0);
        let found = fetch!(self, Row, MANUAL_POOL, &regions, since, task, cell, listing.limit);
        found.into_iter().map(pooled).collect()
    }

    /// How many tasks of `regions` are in it, and since when the oldest.
    pub async fn count_pool(&mut self, regions: &[RegionId]) -> Result<(i64, Option<Timestamp>)> {
        let found = fetch!(self, (i64, Option<i64>), COUNT_POOL, region_rows(regions)).pop();
        let (count, oldest) = found.unwrap_or_default();
        Ok((count, oldest.map(Timestamp)))
    }
}
