//! Regions, policies, riders and staff: what decisions rest on.

use super::{
    error::Result,
    rows::{RiderRow, StaffRow},
    sql::Sql,
    tx::{Tx, execute, fetch},
};
use crate::domain::{
    command::Role,
    facts::{Duty, Rider, Staff},
    geo::Area,
    id::{RegionId, RiderId, StaffId, Timestamp},
    policy::Policy,
    task::Vehicle,
};

const ADD_REGION: Sql =
    Sql::same("INSERT INTO region (id, name, time_zone, area) VALUES ($1, $2, $3, $4)");
const ADD_POLICY: Sql =
    Sql::same("INSERT INTO policy (region_id, version, starts_at, rules) VALUES ($1, $2, $3, $4)");
const ADD_RIDER: Sql = Sql::same(
    "INSERT INTO rider (id, region_id, name, capacity, duty, vehicle) VALUES ($1, $2, $3, $4, $5, $6)",
);
const ADD_STAFF: Sql = Sql::same("INSERT INTO staff (id, name, role) VALUES ($1, $2, $3)");
const ADD_TO_THOSE_WITH_ALL: Sql = Sql::same(
    "INSERT INTO staff_region (staff_id, region_id) SELECT s.id, $1 FROM staff s WHERE s.role IN ('admin', 'auditor') \
     AND EXISTS (SELECT 1 FROM staff_region o WHERE o.staff_id = s.id) AND NOT EXISTS (SELECT 1 FROM region g \
     WHERE g.id <> $1 AND NOT EXISTS (SELECT 1 FROM staff_region o WHERE o.staff_id = s.id AND o.region_id = g.id)) \
     ON CONFLICT DO NOTHING",
);
const ADD_STAFF_REGION: Sql = Sql::same(
    "INSERT INTO staff_region (staff_id, region_id) VALUES ($1, $2) ON CONFLICT DO NOTHING",
);
const RIDER: Sql = Sql::same(
    "SELECT id, region_id, capacity, duty, disabled, vehicle, risk_rejected FROM rider WHERE id = $1",
);
const STAFF: Sql = Sql::same("SELECT id, role, disabled FROM staff WHERE id = $1");
const CHANGE_RIDER: Sql = Sql::same(
    "UPDATE rider SET duty = COALESCE($2, duty), disabled = COALESCE($3, disabled), \
     capacity = COALESCE($4, capacity), region_id = COALESCE($5, region_id), \
     risk_rejected = COALESCE($6, risk_rejected), vehicle = COALESCE($7, vehicle), name = COALESCE($8, name), \
     phone = NULLIF(COALESCE($9, phone), ''), revision = revision + 1 WHERE id = $1",
);
const DISABLE_STAFF: Sql =
    Sql::same("UPDATE staff SET disabled = $2, revision = revision + 1 WHERE id = $1");
const NEXT_IDS: Sql = Sql::same(
    "SELECT (SELECT COALESCE(MAX(id), 0) + 1 FROM region), (SELECT COALESCE(MAX(id), 0) + 1 FROM rider), \
     (SELECT COALESCE(MAX(id), 0) + 1 FROM staff)",
);
/// What a change of a rider changes; `None` leaves it.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct RiderChange {
    /// On duty, paused, off.
    pub duty: Option<Duty>,
    /// Shut out, or let in again.
    pub disabled: Option<bool>,
    /// How many tasks and offers at once.
    pub capacity: Option<u32>,
    /// Works somewhere else now.
    pub region: Option<RegionId>,
    /// Kept from grabbing by the region's risk policy.
    pub risk_rejected: Option<bool>,
    /// How they move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vehicle: Option<Vehicle>,
    /// How they are called. The log has that it changed, not what it is.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "changed")]
    pub name: Option<String>,
    /// How they are reached; an empty one is none. The log has that it changed, not what it is.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "changed")]
    pub phone: Option<String>,
    /// The number of the last change that this one is based on; none changes whatever is there.
    #[serde(skip)]
    pub revision: Option<i64>,
}

/// Personal data stays out of the log.
#[expect(clippy::ref_option, reason = "the derive asks for a function that takes it")]
fn changed<S: serde::Serializer>(
    _: &Option<String>,
    to: S,
) -> std::result::Result<S::Ok, S::Error> {
    to.serialize_str("changed")
}

impl RiderChange {
    /// Whether it ends the rider's waiting offers: a shut account and another region do, a break does not.
    pub const fn ends_offers(&self) -> bool {
        matches!(self.disabled, Some(true)) || self.region.is_some()
    }
}

impl Tx {
    /// Adds a region.
    pub async fn add_region(
        &mut self,
        id: RegionId,
        name: &str,
        time_zone: chrono_tz::Tz,
        area: &Area,
    ) -> Result<()> {
        let area = serde_json::to_string(area).expect("an area has only text keys");
        execute!(self, ADD_REGION, id.0, name, time_zone.name(), area);
        Ok(())
    }

    /// Adds a version of a region's policy, in force from `starts_at`. Its number is `policy.version`.
    pub async fn add_policy(
        &mut self,
        region: RegionId,
        starts_at: Timestamp,
        policy: &Policy,
    ) -> Result<()> {
        let rules = serde_json::to_string(policy).expect("a policy has only text keys");
        execute!(self, ADD_POLICY, region.0, policy.version, starts_at.0, rules);
        Ok(())
    }

    /// Adds a rider who is on duty.
    pub async fn add_rider(
        &mut self,
        id: RiderId,
        region: RegionId,
        name: &str,
        capacity: u32,
        vehicle: Option<Vehicle>,
    ) -> Result<()> {
        let vehicle = vehicle.map(Vehicle::as_str);
        execute!(
            self,
            ADD_RIDER,
            id.0,
            region.0,
            name,
            i64::from(capacity),
            Duty::On.as_str(),
            vehicle
        );
        Ok(())
    }

    /// Adds a member of staff.
    pub async fn add_staff(
        &mut self,
        id: StaffId,
        name: &str,
        role: Role,
        regions: &[RegionId],
    ) -> Result<()> {
        execute!(self, ADD_STAFF, id.0, name, role.as_str());
        for region in regions {
            execute!(self, ADD_STAFF_REGION, id.0, region.0);
        }
        Ok(())
    }

    /// Makes a region one of somebody's.
    pub async fn add_staff_region(&mut self, id: StaffId, region: RegionId) -> Result<()> {
        execute!(self, ADD_STAFF_REGION, id.0, region.0);
        Ok(())
    }

    /// Makes a new region one of the admins and auditors who have all others. Returns how many they are.
    pub async fn add_region_to_those_with_all(&mut self, region: RegionId) -> Result<u64> {
        Ok(execute!(self, ADD_TO_THOSE_WITH_ALL, region.0))
    }

    /// One rider, without the places held.
    pub async fn rider(&mut self, id: RiderId) -> Result<Option<Rider>> {
        fetch!(self, RiderRow, RIDER, id.0).pop().map(RiderRow::rider).transpose()
    }

    /// One member of staff, without the regions.
    pub async fn staff(&mut self, id: StaffId) -> Result<Option<Staff>> {
        fetch!(self, StaffRow, STAFF, id.0).pop().map(StaffRow::staff).transpose()
    }

    /// Changes a rider. Use [`Executor::change_rider`](crate::engine::executor::Executor::change_rider), which
    /// also withdraws the offers that the change ends.
    pub async fn change_rider(&mut self, id: RiderId, change: &RiderChange) -> Result<u64> {
        Ok(execute!(
            self,
            CHANGE_RIDER,
            id.0,
            change.duty.map(Duty::as_str),
            change.disabled.map(i64::from),
            change.capacity.map(i64::from),
            change.region.map(|region| region.0),
            change.risk_rejected.map(i64::from),
            change.vehicle.map(Vehicle::as_str),
            change.name.as_deref(),
            change.phone.as_deref(),
        ))
    }

    /// Shuts a member of staff out, or lets them in again.
    pub async fn disable_staff(&mut self, id: StaffId, disabled: bool) -> Result<u64> {
        Ok(execute!(self, DISABLE_STAFF, id.0, i64::from(disabled)))
    }

    /// The first region, rider and member of staff that there is no number of yet.
    pub async fn next_ids(&mut self) -> Result<(RegionId, RiderId, StaffId)> {
        let found = fetch!(self, (i64, i64, i64), NEXT_IDS);
        let (region, rider, staff) = found.first().copied().unwrap_or((1, 1, 1));
        Ok((RegionId(region), RiderId(rider), StaffId(staff)))
    }
}
