//! What is known of riders when a task looks for one. Nobody is locked for it: this proposes, the commit decides.

use std::collections::HashMap;

use serde::Serialize;

use super::{
    error::Result,
    load::ids,
    rows::RiderRow,
    sql::{Sql, rows, setwise},
    tx::{Tx, fetch},
};
use crate::domain::{
    facts::Rider,
    id::{RegionId, RiderId, TaskId, Timestamp},
    rank::Before,
};

const RIDERS: Sql = setwise!(
    "SELECT d.id, d.region_id, d.capacity, d.duty, d.disabled, d.vehicle, d.risk_rejected FROM ",
    rows(id int),
    " CROSS JOIN rider d WHERE d.id = r.id ORDER BY d.id"
);
pub(super) const ON_DUTY: Sql = Sql::same(
    "SELECT id FROM rider WHERE region_id = $1 AND duty = 'on' AND disabled = 0 ORDER BY id LIMIT $2",
);
pub(super) const COUNT_ON_DUTY: Sql =
    Sql::same("SELECT COUNT(*) FROM rider WHERE region_id = $1 AND duty = 'on' AND disabled = 0");
pub(super) const OFFERED: Sql = setwise!(
    "SELECT r.id, COUNT(*), CAST(SUM(CASE WHEN o.answer IN ('accepted', 'declined') THEN 1 ELSE 0 END) AS BIGINT) \
     FROM ",
    rows(id int, since int),
    " CROSS JOIN offer o WHERE o.rider_id = r.id AND o.offered_at >= r.since AND o.answer IS NOT NULL \
     GROUP BY r.id"
);
pub(super) const ASKED: Sql = setwise!(
    "SELECT r.id, COUNT(*), CAST(SUM(CASE WHEN c.answer IS NULL THEN 0 ELSE 1 END) AS BIGINT) FROM ",
    rows(id int, since int),
    " CROSS JOIN round_candidate c JOIN round n ON n.id = c.round_id WHERE c.rider_id = r.id \
     AND c.until >= r.since AND c.nonce IS NOT NULL AND n.kind = 'broadcast' AND n.status <> 'running' GROUP BY r.id"
);
pub(super) const LAST_WORK: Sql = setwise!(
    "SELECT r.id, MAX(e.occurred_at) FROM ",
    rows(id int, since int),
    " CROSS JOIN dispatch_event e WHERE e.rider_id = r.id AND e.occurred_at >= r.since \
     AND e.action IN ('grab', 'accept', 'assign', 'deliver', 'hand-back') GROUP BY r.id"
);
pub(super) const BEFORE: Sql = Sql::same(
    "SELECT o.rider_id, 0 FROM offer o WHERE o.task_id = $1 AND o.answer = 'declined' AND o.answered_at > \
     COALESCE((SELECT x.at FROM decline_reset x WHERE x.task_id = $1), 0) \
     UNION SELECT c.rider_id, 0 FROM round n JOIN round_candidate c ON c.round_id = n.id WHERE n.task_id = $1 \
     AND c.answer = 'declined' AND c.answered_at > \
     COALESCE((SELECT x.at FROM decline_reset x WHERE x.task_id = $1), 0) \
     UNION SELECT e.rider_id, 1 FROM dispatch_event e WHERE e.task_id = $1 AND e.action = 'hand-back' \
     AND e.rider_id IS NOT NULL AND e.occurred_at > \
     COALESCE((SELECT x.at FROM decline_reset x WHERE x.task_id = $1), 0)",
);

#[derive(Serialize)]
struct Since {
    id: i64,
    since: i64,
}

fn since(riders: &[RiderId], since: Timestamp) -> String {
    rows(&riders.iter().map(|rider| Since { id: rider.0, since: since.0 }).collect::<Vec<_>>())
}

/// How many requests a rider got, and how many of them were answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// Offers and rounds that are over.
    pub asked: u32,
    /// Those that the rider answered, with yes or no.
    pub answered: u32,
}

impl Tx {
    /// Riders as they are now, with the places that they hold; not locked.
    pub async fn riders_seen(&mut self, riders: &[RiderId]) -> Result<Vec<Rider>> {
        if riders.is_empty() {
            return Ok(Vec::new());
        }
        let found = fetch!(self, RiderRow, RIDERS, ids(riders.iter().map(|rider| rider.0)));
        let mut found = found.into_iter().map(RiderRow::rider).collect::<Result<Vec<_>>>()?;
        self.load_places(&mut found).await?;
        Ok(found)
    }

    /// Up to `limit` riders of a region who are on duty, by their numbers.
    pub async fn riders_on_duty(&mut self, region: RegionId, limit: i64) -> Result<Vec<RiderId>> {
        let found = fetch!(self, (i64,), ON_DUTY, region.0, limit);
        Ok(found.into_iter().map(|(rider,)| RiderId(rider)).collect())
    }

    /// How many riders of a region are on duty.
    pub async fn count_on_duty(&mut self, region: RegionId) -> Result<u32> {
        let found = fetch!(self, (i64,), COUNT_ON_DUTY, region.0);
        Ok(found.first().map_or(0, |(count,)| u32::try_from(*count).unwrap_or(u32::MAX)))
    }

    /// How riders have answered what they were asked since an instant.
    pub async fn requests_of(
        &mut self,
        riders: &[RiderId],
        from: Timestamp,
    ) -> Result<HashMap<RiderId, Requests>> {
        let mut requests: HashMap<RiderId, Requests> = HashMap::new();
        if riders.is_empty() {
            return Ok(requests);
        }
        let wanted = since(riders, from);
        for sql in [OFFERED, ASKED] {
            for (rider, asked, answered) in fetch!(self, (i64, i64, i64), sql, &wanted) {
                let of = requests.entry(RiderId(rider)).or_default();
                of.asked += u32::try_from(asked).unwrap_or(u32::MAX);
                of.answered += u32::try_from(answered).unwrap_or(u32::MAX);
            }
        }
        Ok(requests)
    }

    /// When riders last had to do with a task, if that was since an instant.
    pub async fn last_work_of(
        &mut self,
        riders: &[RiderId],
        from: Timestamp,
    ) -> Result<HashMap<RiderId, Timestamp>> {
        if riders.is_empty() {
            return Ok(HashMap::new());
        }
        let found = fetch!(self, (i64, i64), LAST_WORK, since(riders, from));
        Ok(found.into_iter().map(|(rider, at)| (RiderId(rider), Timestamp(at))).collect())
    }

    /// Who has declined a task, or has had it and given it back, since a dispatcher last reset that.
    pub async fn before(&mut self, task: TaskId) -> Result<HashMap<RiderId, Before>> {
        let mut before = HashMap::new();
        for (rider, gave_back) in fetch!(self, (i64, i32), BEFORE, task.0) {
            let what = if gave_back == 0 { Before::Declined } else { Before::HandedBack };
            before
                .entry(RiderId(rider))
                .and_modify(|was| {
                    // Both are true; the later one says more.
                    *was = Before::HandedBack;
                })
                .or_insert(what);
        }
        Ok(before)
    }
}
