//! Locking and loading the people and regions that decisions rest on.

use std::collections::HashMap;

use serde::Serialize;

use super::{
    error::Result,
    load::ids,
    rows::{RegionRow, RiderRow, StaffRow, read},
    sql::{Sql, rows, setwise},
    tx::{Tx, fetch},
};
use crate::{
    domain::{
        facts::{Rider, Staff},
        id::{RegionId, RiderId, StaffId, TaskId, Timestamp},
        policy::{Policy, Region},
    },
    fault::{Fault, planted},
};

const STAFF: Sql = setwise!(
    "SELECT s.id, s.role, s.disabled FROM ",
    rows(id int),
    " CROSS JOIN staff s WHERE s.id = r.id ORDER BY s.id",
    lock " FOR SHARE OF s"
);

const STAFF_REGIONS: Sql = setwise!(
    "SELECT s.staff_id, s.region_id FROM ",
    rows(id int),
    " CROSS JOIN staff_region s WHERE s.staff_id = r.id"
);

const REGIONS: Sql = setwise!(
    "SELECT g.id, g.time_zone, g.area FROM region g WHERE g.id IN (SELECT COALESCE(r.region, t.region_id) FROM ",
    rows(region int, task int),
    " LEFT JOIN task t ON t.id = r.task) ORDER BY g.id",
    lock " FOR SHARE OF g"
);

const POLICIES: Sql = setwise!(
    "SELECT p.region_id, p.version, p.rules FROM ",
    rows(id int, now int),
    " CROSS JOIN policy p WHERE p.region_id = r.id AND p.starts_at <= r.now ORDER BY p.region_id, p.version"
);

const RIDERS: Sql = setwise!(
    "SELECT d.id, d.region_id, d.capacity, d.duty, d.disabled, d.vehicle, d.risk_rejected FROM ",
    rows(id int),
    " CROSS JOIN rider d WHERE d.id = r.id ORDER BY d.id",
    lock " FOR NO KEY UPDATE OF d"
);

const PLACES: Sql = setwise!(
    "SELECT t.rider_id, t.rider_slot FROM ",
    rows(id int),
    " CROSS JOIN task t WHERE t.rider_id = r.id AND t.rider_slot IS NOT NULL"
);

const FIXES: Sql = setwise!(
    "SELECT l.rider_id, l.at FROM ",
    rows(id int),
    " CROSS JOIN rider_location l WHERE l.rider_id = r.id"
);
impl Tx {
    /// Locks members of staff against changes and loads them with their regions.
    pub async fn lock_staff(&mut self, staff: &[StaffId]) -> Result<Vec<Staff>> {
        if staff.is_empty() {
            return Ok(Vec::new());
        }
        let wanted = ids(staff.iter().map(|staff| staff.0));
        let found = fetch!(self, StaffRow, STAFF, &wanted);
        let mut found = found.into_iter().map(StaffRow::staff).collect::<Result<Vec<_>>>()?;
        for (staff, region) in fetch!(self, (i64, i64), STAFF_REGIONS, &wanted) {
            for found in found.iter_mut().filter(|found| found.id.0 == staff) {
                found.regions.push(RegionId(region));
            }
        }
        Ok(found)
    }

    /// Locks the regions of `tasks`, and `regions` themselves, against changes.
    pub async fn lock_regions(
        &mut self,
        tasks: &[TaskId],
        regions: &[RegionId],
    ) -> Result<LockedRegions> {
        #[derive(Serialize)]
        struct Row {
            region: Option<i64>,
            task: Option<i64>,
        }
        let tasks = tasks.iter().map(|task| Row { region: None, task: Some(task.0) });
        let regions = regions.iter().map(|region| Row { region: Some(region.0), task: None });
        let wanted = rows(&tasks.chain(regions).collect::<Vec<_>>());
        Ok(LockedRegions(fetch!(self, RegionRow, REGIONS, &wanted)))
    }

    /// The locked regions with the policies in force at `now`. A region without any policy has the default.
    pub async fn policies(
        &mut self,
        regions: LockedRegions,
        now: Timestamp,
    ) -> Result<Vec<Region>> {
        self.in_force(regions.0, now).await
    }

    /// These regions with the policies in force at `now`.
    pub(super) async fn in_force(
        &mut self,
        regions: Vec<RegionRow>,
        now: Timestamp,
    ) -> Result<Vec<Region>> {
        #[derive(Serialize)]
        struct Row {
            id: i64,
            now: i64,
        }
        let wanted: Vec<_> =
            regions.iter().map(|region| Row { id: region.id, now: now.0 }).collect();
        let rules = fetch!(self, (i64, i64, String), POLICIES, rows(&wanted));
        let region = |row: RegionRow| {
            let in_force = rules.iter().rfind(|(region, ..)| *region == row.id);
            let policy = match in_force {
                None => Policy::default(),
                Some((_, version, rules)) => read("policy", "rules", row.id, rules, |json| {
                    let policy: Policy = serde_json::from_str(json).ok()?;
                    Some(Policy { version: *version, ..policy })
                })?,
            };
            row.region(policy)
        };
        regions.into_iter().map(region).collect()
    }

    /// Locks riders and loads them, without the places they hold.
    pub async fn lock_riders(&mut self, riders: &[RiderId]) -> Result<Vec<Rider>> {
        if riders.is_empty() {
            return Ok(Vec::new());
        }
        let wanted = ids(riders.iter().map(|rider| rider.0));
        let sql = RIDERS.unlocked_if(planted(Fault::RidersWithoutLock));
        let found = fetch!(self, RiderRow, sql, &wanted);
        found.into_iter().map(RiderRow::rider).collect()
    }

    /// Loads which places locked riders hold.
    pub async fn load_places(&mut self, riders: &mut [Rider]) -> Result<()> {
        if riders.is_empty() {
            return Ok(());
        }
        let places = fetch!(self, (i64, i64), PLACES, ids(riders.iter().map(|rider| rider.id.0)));
        let index = by_id(riders);
        for (rider, place) in places {
            let text = place.to_string();
            let place = read("task", "rider_slot", rider, &text, |text| text.parse().ok())?;
            riders[index[&rider]].held.push(place);
        }
        Ok(())
    }

    /// Loads when riders were last seen. Only regions that ask for a position need it.
    pub async fn load_fixes(&mut self, riders: &mut [Rider]) -> Result<()> {
        if riders.is_empty() {
            return Ok(());
        }
        let fixes = fetch!(self, (i64, i64), FIXES, ids(riders.iter().map(|rider| rider.id.0)));
        let index = by_id(riders);
        for (rider, at) in fixes {
            riders[index[&rider]].last_fix_at = Some(Timestamp(at));
        }
        Ok(())
    }
}

/// Where each rider stands in the list.
fn by_id(riders: &[Rider]) -> HashMap<i64, usize> {
    riders.iter().enumerate().map(|(index, rider)| (rider.id.0, index)).collect()
}

/// Regions that are locked, and whose policies can now be read.
#[derive(Debug)]
pub struct LockedRegions(Vec<RegionRow>);
