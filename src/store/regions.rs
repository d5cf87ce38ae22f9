//! Regions and their rules as admins keep them.

use sqlx::FromRow;

use super::{
    error::Result,
    rows::{RegionRow, read},
    sql::Sql,
    tx::{Tx, execute, fetch},
};
use crate::domain::{
    geo::Area,
    id::{RegionId, Timestamp},
    policy::{Policy, Region},
};

const REGION_RECORD: Sql = Sql::same(
    "SELECT id, time_zone, area, name, revision, retention_days FROM region WHERE id = $1",
);
const CHANGE_REGION: Sql = Sql::same(
    "UPDATE region SET name = $3, time_zone = $4, area = $5, retention_days = $6, revision = revision + 1 \
     WHERE id = $1 AND revision = $2",
);
const POLICIES_OF: Sql = Sql::same(
    "SELECT version, starts_at, rules FROM policy WHERE region_id = $1 ORDER BY version DESC LIMIT $2",
);

/// A region as admins keep it.
#[derive(Clone, Debug, PartialEq)]
pub struct RegionRecord {
    /// Its name.
    pub name: String,
    /// Number, zone, area; its policy is the default one.
    pub region: Region,
    /// The number of its last change.
    pub revision: i64,
    /// How many days personal data stays after a task is over; none keeps it.
    pub retention_days: Option<i64>,
}

#[derive(Debug, FromRow)]
struct RegionRecordRow {
    #[sqlx(flatten)]
    region: RegionRow,
    name: String,
    revision: i64,
    retention_days: Option<i64>,
}

/// What a region is to be.
#[derive(Clone, Debug)]
pub struct RegionChange<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its time zone.
    pub time_zone: chrono_tz::Tz,
    /// Where its tasks are picked up.
    pub area: &'a Area,
    /// How many days personal data stays after a task is over; none keeps it.
    pub retention_days: Option<i64>,
}

/// One version of a region's rules, with when it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatedPolicy {
    /// From when on.
    pub starts_at: Timestamp,
    /// The rules.
    pub policy: Policy,
}

impl Tx {
    /// A region as admins keep it.
    pub async fn region_record(&mut self, id: RegionId) -> Result<Option<RegionRecord>> {
        let Some(row) = fetch!(self, RegionRecordRow, REGION_RECORD, id.0).pop() else {
            return Ok(None);
        };
        Ok(Some(RegionRecord {
            name: row.name,
            region: row.region.region(Policy::default())?,
            revision: row.revision,
            retention_days: row.retention_days,
        }))
    }

    /// Changes a region that is still at `revision`. Returns 0 if it is not.
    pub async fn change_region(
        &mut self,
        id: RegionId,
        revision: i64,
        change: &RegionChange<'_>,
    ) -> Result<u64> {
        let area = serde_json::to_string(change.area).expect("an area has only text keys");
        Ok(execute!(
            self,
            CHANGE_REGION,
            id.0,
            revision,
            change.name,
            change.time_zone.name(),
            &area,
            change.retention_days
        ))
    }

    /// Up to `limit` versions of a region's rules, the latest first.
    pub async fn policies_of(&mut self, region: RegionId, limit: i64) -> Result<Vec<DatedPolicy>> {
        fetch!(self, (i64, i64, String), POLICIES_OF, region.0, limit)
            .into_iter()
            .map(|(version, starts_at, rules)| {
                let policy = read("policy", "rules", region.0, &rules, |json| {
                    let policy: Policy = serde_json::from_str(json).ok()?;
                    Some(Policy { version, ..policy })
                })?;
                Ok(DatedPolicy { starts_at: Timestamp(starts_at), policy })
            })
            .collect()
    }
}
