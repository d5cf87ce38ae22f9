//! People and regions as pages and scripts show them: with their names.

use std::collections::HashMap;

use sqlx::FromRow;

use super::{
    error::Result,
    lists::region_rows,
    load::ids,
    rows::{RegionRow, RiderRow, StaffRow},
    sql::{Sql, setwise},
    tx::{Tx, fetch},
};
use crate::domain::{
    admin::AdminSubject,
    facts::{Rider, Staff},
    fix::{DeviceMark, Fix},
    geo::Place,
    id::{RegionId, RiderId, StaffId, Timestamp},
    policy::Region,
};

const ALL_REGIONS: Sql = Sql::same("SELECT id, time_zone, area FROM region ORDER BY id");
const REGION_NAMES: Sql = Sql::same("SELECT id, name FROM region ORDER BY id");
const STAFF_ACCOUNT: Sql = Sql::same("SELECT id, role, disabled, name FROM staff WHERE id = $1");
const REGIONS_OF: Sql =
    Sql::same("SELECT region_id FROM staff_region WHERE staff_id = $1 ORDER BY region_id");
pub(super) const RIDER_ACCOUNT: Sql = Sql::same(
    "SELECT d.id, d.region_id, d.capacity, d.duty, d.disabled, d.vehicle, d.risk_rejected, d.name, d.phone, \
     l.seq, l.at AS fix_at, l.taken_at, l.lat, l.lng, l.accuracy_m, l.device, \
     (SELECT COUNT(*) FROM task t WHERE t.rider_id = d.id AND t.rider_slot IS NOT NULL) AS holds \
     FROM rider d LEFT JOIN rider_location l ON l.rider_id = d.id WHERE d.id = $1",
);
pub(super) const RIDERS_OF: Sql = setwise!(
    "SELECT d.id, d.region_id, d.capacity, d.duty, d.disabled, d.vehicle, d.risk_rejected, d.name, d.phone, \
     l.seq, l.at AS fix_at, l.taken_at, l.lat, l.lng, l.accuracy_m, l.device, \
     (SELECT COUNT(*) FROM task t WHERE t.rider_id = d.id AND t.rider_slot IS NOT NULL) AS holds \
     FROM rider d LEFT JOIN rider_location l ON l.rider_id = d.id WHERE d.region_id IN (SELECT r.id FROM ",
    rows(id int),
    ") AND d.disabled = 0 AND d.id > $2 ORDER BY d.id LIMIT $3"
);
const RIDERS_KEPT: Sql = setwise!(
    "SELECT d.id, d.region_id, d.capacity, d.duty, d.disabled, d.vehicle, d.risk_rejected, d.name, d.phone, \
     l.seq, l.at AS fix_at, l.taken_at, l.lat, l.lng, l.accuracy_m, l.device, \
     (SELECT COUNT(*) FROM task t WHERE t.rider_id = d.id AND t.rider_slot IS NOT NULL) AS holds \
     FROM rider d LEFT JOIN rider_location l ON l.rider_id = d.id WHERE d.region_id IN (SELECT r.id FROM ",
    rows(id int),
    ") AND d.id > $2 ORDER BY d.id LIMIT $3"
);
const REGIONS_OF_RIDERS: Sql = setwise!(
    "SELECT d.id, d.region_id FROM ",
    rows(id int),
    " CROSS JOIN rider d WHERE d.id = r.id ORDER BY d.id"
);
const RIDER_NAMES: Sql =
    setwise!("SELECT d.id, d.name FROM ", rows(id int), " CROSS JOIN rider d WHERE d.id = r.id");
const STAFF_NAMES: Sql =
    setwise!("SELECT s.id, s.name FROM ", rows(id int), " CROSS JOIN staff s WHERE s.id = r.id");

/// A region with its name and the rules in force.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedRegion {
    /// Its name.
    pub name: String,
    /// The region.
    pub region: Region,
}

/// A member of staff with their regions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaffAccount {
    /// The name.
    pub name: String,
    /// Role, regions, and whether the account is shut.
    pub staff: Staff,
}

/// A rider as staff see one.
#[derive(Clone, Debug, PartialEq)]
pub struct RiderAccount {
    /// The name.
    pub name: String,
    /// The phone number.
    pub phone: Option<String>,
    /// Region, capacity, duty; without the numbers of the places held.
    pub rider: Rider,
    /// How many tasks and offers the rider holds.
    pub holds: i64,
    /// Where the rider was last seen.
    pub fix: Option<Fix>,
}

impl RiderAccount {
    /// Where the rider was last seen, on the map.
    pub fn place(&self) -> Option<Place> {
        self.fix.map(|fix| fix.place)
    }

    /// How many more tasks or offers the rider could hold.
    pub fn free(&self) -> i64 {
        (i64::from(self.rider.capacity) - self.holds).max(0)
    }
}

#[derive(Debug, FromRow)]
struct StaffAccountRow {
    #[sqlx(flatten)]
    staff: StaffRow,
    name: String,
}

#[derive(Debug, FromRow)]
struct RiderAccountRow {
    #[sqlx(flatten)]
    rider: RiderRow,
    name: String,
    phone: Option<String>,
    seq: Option<i64>,
    fix_at: Option<i64>,
    taken_at: Option<i64>,
    lat: Option<f64>,
    lng: Option<f64>,
    accuracy_m: Option<f64>,
    device: Option<i64>,
    holds: i64,
}

impl RiderAccountRow {
    fn fix(&self) -> Option<Fix> {
        let at = Timestamp(self.fix_at?);
        Some(Fix {
            seq: self.seq?,
            at,
            taken_at: self.taken_at.map_or(at, Timestamp),
            place: Place { lat: self.lat?, lng: self.lng? },
            accuracy_m: self.accuracy_m,
            device: DeviceMark(self.device?),
        })
    }

    fn account(self) -> Result<RiderAccount> {
        let fix = self.fix();
        let mut rider = self.rider.rider()?;
        rider.last_fix_at = fix.map(|fix| fix.at);
        Ok(RiderAccount { name: self.name, phone: self.phone, rider, holds: self.holds, fix })
    }
}

/// The names of those who did something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// By rider.
    pub riders: HashMap<RiderId, String>,
    /// By member of staff.
    pub staff: HashMap<StaffId, String>,
}

impl Tx {
    /// All regions with the rules in force at `now`. A region without any policy has the default.
    pub async fn regions(&mut self, now: Timestamp) -> Result<Vec<NamedRegion>> {
        let names: HashMap<_, _> = fetch!(self, (i64, String), REGION_NAMES).into_iter().collect();
        let all = fetch!(self, RegionRow, ALL_REGIONS);
        let in_force = self.in_force(all, now).await?.into_iter();
        let with_name = |region: Region| {
            let name = names.get(&region.id.0).cloned().unwrap_or_default();
            NamedRegion { name, region }
        };
        Ok(in_force.map(with_name).collect())
    }

    /// A member of staff with their regions.
    pub async fn staff_account(&mut self, id: StaffId) -> Result<Option<StaffAccount>> {
        let Some(row) = fetch!(self, StaffAccountRow, STAFF_ACCOUNT, id.0).pop() else {
            return Ok(None);
        };
        let regions = fetch!(self, (i64,), REGIONS_OF, id.0);
        let mut staff = row.staff.staff()?;
        staff.regions = regions.into_iter().map(|(region,)| RegionId(region)).collect();
        Ok(Some(StaffAccount { name: row.name, staff }))
    }

    /// Where these riders work, shut out or not.
    pub async fn regions_of_riders(
        &mut self,
        riders: &[RiderId],
    ) -> Result<Vec<(RiderId, RegionId)>> {
        let wanted = ids(riders.iter().map(|rider| rider.0));
        let found = fetch!(self, (i64, i64), REGIONS_OF_RIDERS, wanted);
        Ok(found.into_iter().map(|(rider, region)| (RiderId(rider), RegionId(region))).collect())
    }

    /// The one region that a person belongs to, whose staff may read of what was done about them; none if there are
    /// several, or it is about no person.
    pub async fn region_of(&mut self, subject: AdminSubject) -> Result<Option<RegionId>> {
        Ok(match subject {
            AdminSubject::Rider(rider) => {
                self.regions_of_riders(&[rider]).await?.pop().map(|(_, region)| region)
            }
            AdminSubject::Staff(staff) => match fetch!(self, (i64,), REGIONS_OF, staff.0)[..] {
                [(region,)] => Some(RegionId(region)),
                _ => None,
            },
            AdminSubject::Desk | AdminSubject::Region(_) | AdminSubject::Task(_) => None,
        })
    }

    /// A rider with name, position and how many tasks are held.
    pub async fn rider_account(&mut self, id: RiderId) -> Result<Option<RiderAccount>> {
        fetch!(self, RiderAccountRow, RIDER_ACCOUNT, id.0)
            .pop()
            .map(RiderAccountRow::account)
            .transpose()
    }

    /// Up to `limit` riders of `regions` who are not shut out, with larger numbers than `after`.
    pub async fn riders_of(
        &mut self,
        regions: &[RegionId],
        after: RiderId,
        limit: i64,
    ) -> Result<Vec<RiderAccount>> {
        fetch!(self, RiderAccountRow, RIDERS_OF, region_rows(regions), after.0, limit)
            .into_iter()
            .map(RiderAccountRow::account)
            .collect()
    }

    /// The same, with those who are shut out: for whoever keeps them.
    pub async fn riders_kept(
        &mut self,
        regions: &[RegionId],
        after: RiderId,
        limit: i64,
    ) -> Result<Vec<RiderAccount>> {
        fetch!(self, RiderAccountRow, RIDERS_KEPT, region_rows(regions), after.0, limit)
            .into_iter()
            .map(RiderAccountRow::account)
            .collect()
    }

    /// The names of these riders and members of staff.
    pub async fn names(&mut self, riders: &[RiderId], staff: &[StaffId]) -> Result<Names> {
        let mut names = Names::default();
        if !riders.is_empty() {
            let wanted = ids(riders.iter().map(|rider| rider.0));
            let found = fetch!(self, (i64, String), RIDER_NAMES, &wanted);
            let named = found.into_iter().map(|(id, name)| (RiderId(id), name));
            // A rider whose name was erased is called by the number.
            names.riders = named.filter(|(id, name)| *name != id.to_string()).collect();
        }
        if !staff.is_empty() {
            let wanted = ids(staff.iter().map(|staff| staff.0));
            let found = fetch!(self, (i64, String), STAFF_NAMES, &wanted);
            names.staff = found.into_iter().map(|(id, name)| (StaffId(id), name)).collect();
        }
        Ok(names)
    }
}
