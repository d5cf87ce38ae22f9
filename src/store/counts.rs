//! What a board counts.

use super::{
    error::Result,
    lists::region_rows,
    sql::{Sql, setwise},
    tx::{Tx, fetch},
};
use crate::domain::{
    command::Verb,
    id::{RegionId, Timestamp},
    task::{Stage, StateName},
};

/// Counts region by region, each by its index.
macro_rules! counted {
    ($from_where:literal) => {
        setwise!(
            @text concat!("SELECT CAST(COALESCE(SUM((SELECT COUNT(*) FROM ", $from_where, ")), 0) AS BIGINT) FROM "),
            rows(id int),
            ""
        )
    };
}

pub(super) const COUNT_FREE: Sql =
    counted!("task t WHERE t.region_id = r.id AND t.state = $2 AND t.stage IS NULL");
pub(super) const COUNT_STAGED: Sql =
    counted!("task t WHERE t.region_id = r.id AND t.state = 'assigned' AND t.stage = $2");
pub(super) const COUNT_EXPIRING: Sql = setwise!(
    "SELECT COUNT(*) FROM task t WHERE t.state = 'offered' AND t.offer_until <= $2 AND t.region_id IN \
     (SELECT r.id FROM ",
    rows(id int),
    ")"
);
pub(super) const COUNT_ENDED: Sql = counted!(
    "dispatch_event e WHERE e.region_id = r.id AND e.action = $2 AND e.occurred_at >= $3 \
     AND e.action IN ('deliver', 'cancel', 'decline', 'expire')"
);
/// The refusals first, whatever the planner knows: there are few, and tasks many.
pub(super) const COUNT_REFUSED: Sql = setwise!(
    "SELECT COUNT(*) FROM (SELECT a.number FROM attempt a CROSS JOIN task t WHERE t.id = a.task_id AND a.at >= $2 \
     AND a.code NOT IN ('done', 'ALREADY_DONE', 'ALREADY_YOURS') AND t.region_id IN (SELECT r.id FROM ",
    rows(id int),
    ") LIMIT $3) AS counted"
);

/// What a board counts, for the regions of its reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Tasks that nobody has.
    pub open: i64,
    /// Tasks that wait for their invited rider.
    pub offered: i64,
    /// Of these, the ones whose deadline is near or past.
    pub expiring: i64,
    /// Tasks whose owner has not picked up yet.
    pub assigned: i64,
    /// Tasks in their owner's hands.
    pub picked_up: i64,
    /// Delivered today.
    pub delivered: i64,
    /// Cancelled today.
    pub cancelled: i64,
    /// Offers declined lately.
    pub declined: i64,
    /// Offers that lapsed lately.
    pub expired: i64,
    /// Refusals today, [`Counts::MOST_REFUSED`] at most.
    pub refused: i64,
}

impl Counts {
    /// Refusals are counted up to here: whoever has more does not need the exact figure, and a board must be quick.
    pub const MOST_REFUSED: i64 = 1_000;
}

/// Since when, and until when, a board counts.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// The beginning of the day.
    pub today: Timestamp,
    /// The beginning of "lately".
    pub lately: Timestamp,
    /// Offers whose deadline is not after this are near it.
    pub soon: Timestamp,
}

impl Tx {
    /// Counts the tasks of `regions`, and what happened to them.
    pub async fn counts(&mut self, regions: &[RegionId], span: &Span) -> Result<Counts> {
        let regions = region_rows(regions);
        let regions = regions.as_str();
        Ok(Counts {
            open: self.count_free(regions, StateName::Open).await?,
            offered: self.count_free(regions, StateName::Offered).await?,
            expiring: one(&fetch!(self, (i64,), COUNT_EXPIRING, regions, span.soon.0)),
            assigned: self.count_staged(regions, Stage::Waiting).await?
                + self.count_staged(regions, Stage::AtPickup).await?,
            picked_up: self.count_staged(regions, Stage::PickedUp).await?,
            delivered: self.count_ended(regions, Verb::Deliver, span.today).await?,
            cancelled: self.count_ended(regions, Verb::Cancel, span.today).await?,
            declined: self.count_ended(regions, Verb::Decline, span.lately).await?,
            expired: self.count_ended(regions, Verb::Expire, span.lately).await?,
            refused: one(&fetch!(
                self,
                (i64,),
                COUNT_REFUSED,
                regions,
                span.today.0,
                Counts::MOST_REFUSED
            )),
        })
    }

    async fn count_free(&mut self, regions: &str, state: StateName) -> Result<i64> {
        Ok(one(&fetch!(self, (i64,), COUNT_FREE, regions, state.as_str())))
    }

    async fn count_staged(&mut self, regions: &str, stage: Stage) -> Result<i64> {
        Ok(one(&fetch!(self, (i64,), COUNT_STAGED, regions, stage.as_str())))
    }

    async fn count_ended(&mut self, regions: &str, verb: Verb, since: Timestamp) -> Result<i64> {
        Ok(one(&fetch!(self, (i64,), COUNT_ENDED, regions, verb.as_str(), since.0)))
    }
}

fn one(rows: &[(i64,)]) -> i64 {
    rows.first().map_or(0, |(count,)| *count)
}
