//! Members of staff and riders as admins keep them: with the revision that a change names, and how they sign in.

use serde::Serialize;
use sqlx::FromRow;

use super::{
    access::columns,
    accounts::{RiderAccount, StaffAccount},
    error::Result,
    rows::{LoggedEvent, StaffRow},
    sql::{Sql, rows, setwise},
    tx::{Tx, execute, fetch},
};
use crate::domain::{
    actor::{Actor, Role},
    admin::AdminSubject,
    id::{RegionId, RiderId, StaffId, Timestamp},
};

/// The columns of a member of staff, as [`StaffRecordRow`] reads them.
macro_rules! staff {
    ($tail:literal) => {
        Sql::same(concat!(
            "SELECT s.id, s.role, s.disabled, s.name, s.revision, p.login, f.confirmed_at AS factor_at, ",
            "(SELECT MAX(w.seen_at) FROM web_session w WHERE w.actor_kind = 'staff' ",
            "AND w.actor_id = CAST(s.id AS TEXT)) AS seen_at ",
            "FROM staff s LEFT JOIN staff_password p ON p.staff_id = s.id ",
            "LEFT JOIN staff_factor f ON f.staff_id = s.id ",
            $tail
        ))
    };
}

const STAFF_RECORD: Sql = staff!("WHERE s.id = $1");
const STAFF_AFTER: Sql = staff!("WHERE s.id > $1 ORDER BY s.id LIMIT $2");
const ALL_STAFF_REGIONS: Sql =
    Sql::same("SELECT staff_id, region_id FROM staff_region ORDER BY staff_id, region_id");
const CHANGE_STAFF: Sql = Sql::same(
    "UPDATE staff SET name = $3, role = $4, disabled = $5, revision = revision + 1 \
     WHERE id = $1 AND revision = $2",
);
const CLEAR_REGIONS: Sql = Sql::same("DELETE FROM staff_region WHERE staff_id = $1");
const PUT_REGIONS: Sql = setwise!(
    "INSERT INTO staff_region (staff_id, region_id) SELECT r.staff, r.region FROM ",
    rows(staff int, region int),
    " WHERE true"
);
// The rows are locked, so that two admins can not shut each other out at once.
const LOCK_ADMINS: Sql = Sql {
    sqlite: "SELECT id FROM staff WHERE role = 'admin' AND disabled = 0 ORDER BY id",
    postgres: "SELECT id FROM staff WHERE role = 'admin' AND disabled = 0 ORDER BY id FOR NO KEY UPDATE",
};
const ANY_STAFF: Sql = Sql::same("SELECT COUNT(*) FROM (SELECT id FROM staff LIMIT 1) AS s");
const RIDER_REVISION: Sql = Sql::same("SELECT revision FROM rider WHERE id = $1");
const SET_RIDER_PASSWORD: Sql = Sql::same(
    "INSERT INTO rider_password (rider_id, phone, phc, set_at) VALUES ($1, $2, $3, $4) \
     ON CONFLICT (rider_id) DO UPDATE SET phone = excluded.phone, phc = excluded.phc, set_at = excluded.set_at",
);
const RIDER_PASSWORD: Sql = Sql::same("SELECT rider_id, phc FROM rider_password WHERE phone = $1");
const FORGET_RIDER_PASSWORD: Sql = Sql::same("DELETE FROM rider_password WHERE rider_id = $1");
const END_LINKS_OF: Sql =
    Sql::same("DELETE FROM sign_in_link WHERE actor_kind = $1 AND actor_id = $2");
const CHANGES_OF: Sql = Sql::same(
    "SELECT number, event_id, kind, subject, region_id, task_id, from_revision, to_revision, action, \
     actor_kind, actor_id, rider_id, mode, reason, key_hash, occurred_at, detail_version, detail \
     FROM dispatch_event WHERE subject = $1 AND (kind = $2 OR (kind = 'admin' AND detail LIKE $3)) \
     ORDER BY number DESC LIMIT $4",
);

/// A member of staff as admins keep them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaffRecord {
    /// Name, role, regions, and whether the account is shut.
    pub account: StaffAccount,
    /// The number of its last change.
    pub revision: i64,
    /// The name to sign in with; none while no password was set.
    pub login: Option<String>,
    /// Since when a second factor counts.
    pub factor_at: Option<Timestamp>,
    /// When a session of theirs was last used.
    pub seen_at: Option<Timestamp>,
}

#[derive(Debug, FromRow)]
struct StaffRecordRow {
    #[sqlx(flatten)]
    staff: StaffRow,
    name: String,
    revision: i64,
    login: Option<String>,
    factor_at: Option<i64>,
    seen_at: Option<i64>,
}

impl StaffRecordRow {
    fn record(self, regions: &[(i64, i64)]) -> Result<StaffRecord> {
        let mut staff = self.staff.staff()?;
        let own = regions.iter().filter(|(of, _)| *of == staff.id.0);
        staff.regions = own.map(|(_, region)| RegionId(*region)).collect();
        Ok(StaffRecord {
            account: StaffAccount { name: self.name, staff },
            revision: self.revision,
            login: self.login,
            factor_at: self.factor_at.map(Timestamp),
            seen_at: self.seen_at.map(Timestamp),
        })
    }
}

/// What a member of staff is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaffChange<'a> {
    /// The name.
    pub name: &'a str,
    /// What they may do.
    pub role: Role,
    /// Where.
    pub regions: &'a [RegionId],
    /// Whether the account is shut.
    pub disabled: bool,
}

/// A rider as admins keep them.
#[derive(Clone, Debug, PartialEq)]
pub struct RiderRecord {
    /// Name, phone, and what decisions rest on.
    pub account: RiderAccount,
    /// The number of its last change.
    pub revision: i64,
}

impl Tx {
    /// A member of staff as admins keep them.
    pub async fn staff_record(&mut self, id: StaffId) -> Result<Option<StaffRecord>> {
        let found = fetch!(self, StaffRecordRow, STAFF_RECORD, id.0).pop();
        let regions = fetch!(self, (i64, i64), ALL_STAFF_REGIONS);
        found.map(|row| row.record(&regions)).transpose()
    }

    /// Up to `limit` members of staff with larger numbers than `after`, those that are shut out too.
    pub async fn staff_after(&mut self, after: StaffId, limit: i64) -> Result<Vec<StaffRecord>> {
        let regions = fetch!(self, (i64, i64), ALL_STAFF_REGIONS);
        let found = fetch!(self, StaffRecordRow, STAFF_AFTER, after.0, limit);
        found.into_iter().map(|row| row.record(&regions)).collect()
    }

    /// Changes a member of staff who is still at `revision`. Returns 0 if they are not.
    pub async fn change_staff(
        &mut self,
        id: StaffId,
        revision: i64,
        change: &StaffChange<'_>,
    ) -> Result<u64> {
        #[derive(Serialize)]
        struct Row {
            staff: i64,
            region: i64,
        }
        let (role, disabled) = (change.role.as_str(), i64::from(change.disabled));
        let changed = execute!(self, CHANGE_STAFF, id.0, revision, change.name, role, disabled);
        if changed == 1 {
            execute!(self, CLEAR_REGIONS, id.0);
            let regions: Vec<_> =
                change.regions.iter().map(|region| Row { staff: id.0, region: region.0 }).collect();
            execute!(self, PUT_REGIONS, rows(&regions));
        }
        Ok(changed)
    }

    /// Locks the admins who are not shut out, and says who they are.
    pub async fn lock_admins(&mut self) -> Result<Vec<StaffId>> {
        let found = fetch!(self, (i64,), LOCK_ADMINS);
        Ok(found.into_iter().map(|(id,)| StaffId(id)).collect())
    }

    /// Whether there is any member of staff. While there is none, the desk is to be set up.
    pub async fn has_staff(&mut self) -> Result<bool> {
        let found = fetch!(self, (i64,), ANY_STAFF);
        Ok(found.first().is_some_and(|(count,)| *count > 0))
    }

    /// A rider as admins keep them.
    pub async fn rider_record(&mut self, id: RiderId) -> Result<Option<RiderRecord>> {
        let Some(account) = self.rider_account(id).await? else { return Ok(None) };
        let revision = self.rider_revision(id).await?.unwrap_or(1);
        Ok(Some(RiderRecord { account, revision }))
    }

    /// The number of a rider's last change.
    pub async fn rider_revision(&mut self, id: RiderId) -> Result<Option<i64>> {
        let found = fetch!(self, (i64,), RIDER_REVISION, id.0);
        Ok(found.first().map(|(revision,)| *revision))
    }

    /// Sets the number and the hashed password that a rider signs in with.
    ///
    /// # Errors
    /// [`Error::Moved`](super::Error::Moved) if somebody else signs in with that number.
    pub async fn set_rider_password(
        &mut self,
        rider: RiderId,
        phone: &str,
        phc: &str,
        at: Timestamp,
    ) -> Result<()> {
        execute!(self, SET_RIDER_PASSWORD, rider.0, phone, phc, at.0);
        Ok(())
    }

    /// Which rider signs in with `phone`, with the hashed password.
    pub async fn rider_password(&mut self, phone: &str) -> Result<Option<(RiderId, String)>> {
        let found = fetch!(self, (i64, String), RIDER_PASSWORD, phone).pop();
        Ok(found.map(|(rider, phc)| (RiderId(rider), phc)))
    }

    /// Takes a rider's password away. Returns 0 if there was none.
    pub async fn forget_rider_password(&mut self, rider: RiderId) -> Result<u64> {
        Ok(execute!(self, FORGET_RIDER_PASSWORD, rider.0))
    }

    /// Ends all links that were made for `actor`.
    pub async fn end_links_of(&mut self, actor: &Actor) -> Result<u64> {
        let (kind, of) = columns(Some(actor));
        Ok(execute!(self, END_LINKS_OF, kind, &of))
    }

    /// What was done to one of the desk's own things, the latest first. Things of different kinds share numbers: the
    /// events say which they mean.
    pub async fn changes_of(&mut self, of: AdminSubject, limit: i64) -> Result<Vec<LoggedEvent>> {
        // Changes of riders that go through the executor, and rules, have kinds of their own.
        let kind = match of {
            AdminSubject::Rider(_) => "rider",
            AdminSubject::Region(_) => "policy",
            AdminSubject::Desk | AdminSubject::Staff(_) | AdminSubject::Task(_) => "",
        };
        let means = format!("%\"of\":\"{}\"%", of.kind());
        Ok(fetch!(self, LoggedEvent, CHANGES_OF, of.number(), kind, &means, limit))
    }
}
