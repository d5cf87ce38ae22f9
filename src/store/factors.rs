//! The second factor of staff, and what is there for when it is lost.

use serde::Serialize;

use super::{
    error::Result,
    sql::{Sql, rows, setwise},
    tx::{Tx, execute, fetch},
};
use crate::domain::id::{StaffId, Timestamp};

const FACTOR: Sql =
    Sql::same("SELECT secret, confirmed_at, last_step FROM staff_factor WHERE staff_id = $1");
const PUT_FACTOR: Sql = Sql::same(
    "INSERT INTO staff_factor (staff_id, secret, made_at) VALUES ($1, $2, $3) \
     ON CONFLICT (staff_id) DO UPDATE SET secret = excluded.secret, made_at = excluded.made_at, \
     confirmed_at = NULL, last_step = 0",
);
const CONFIRM_FACTOR: Sql = Sql::same(
    "UPDATE staff_factor SET confirmed_at = $2, last_step = $3 WHERE staff_id = $1 AND confirmed_at IS NULL",
);
// Compare and swap: of two who send the same code at once, one gets in.
const USE_STEP: Sql = Sql::same(
    "UPDATE staff_factor SET last_step = $2 WHERE staff_id = $1 AND last_step < $2 AND confirmed_at IS NOT NULL",
);
const REMOVE_FACTOR: Sql = Sql::same("DELETE FROM staff_factor WHERE staff_id = $1");
const REMOVE_CODES: Sql = Sql::same("DELETE FROM recovery_code WHERE staff_id = $1");
const ADD_CODES: Sql = setwise!(
    "INSERT INTO recovery_code (staff_id, hash) SELECT r.staff, r.hash FROM ",
    rows(staff int, hash text),
    " WHERE true"
);
const USE_CODE: Sql = Sql::same(
    "UPDATE recovery_code SET used_at = $3 WHERE staff_id = $1 AND hash = $2 AND used_at IS NULL",
);
const CODES_LEFT: Sql =
    Sql::same("SELECT COUNT(*) FROM recovery_code WHERE staff_id = $1 AND used_at IS NULL");
const DESK_RULE: Sql = Sql::same("SELECT factor_required, revision FROM desk_rule WHERE id = 1");
const SET_DESK_RULE: Sql = Sql::same(
    "UPDATE desk_rule SET factor_required = $2, revision = revision + 1 WHERE id = 1 AND revision = $1",
);

/// A second factor as it is kept.
#[derive(Clone, PartialEq, Eq)]
pub struct Factor {
    /// The shared secret, in base 32 (RFC 4648).
    pub secret: String,
    /// Since when it counts; none while it was never confirmed by a code.
    pub confirmed_at: Option<Timestamp>,
    /// The last step that was used.
    pub last_step: i64,
}

impl std::fmt::Debug for Factor {
    /// Without the secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Factor").field("confirmed_at", &self.confirmed_at).finish_non_exhaustive()
    }
}

/// What holds for the whole desk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeskRule {
    /// Whether all staff need a second factor.
    pub factor_required: bool,
    /// The number of its last change.
    pub revision: i64,
}

impl Tx {
    /// The second factor of a member of staff, confirmed or not.
    pub async fn factor(&mut self, staff: StaffId) -> Result<Option<Factor>> {
        let found = fetch!(self, (String, Option<i64>, i64), FACTOR, staff.0).pop();
        Ok(found.map(|(secret, confirmed_at, last_step)| Factor {
            secret,
            confirmed_at: confirmed_at.map(Timestamp),
            last_step,
        }))
    }

    /// Keeps a new factor, which does not count until it is confirmed.
    pub async fn put_factor(&mut self, staff: StaffId, secret: &str, at: Timestamp) -> Result<()> {
        execute!(self, PUT_FACTOR, staff.0, secret, at.0);
        Ok(())
    }

    /// Makes a factor count. Returns 0 if there is none, or it counts already.
    pub async fn confirm_factor(
        &mut self,
        staff: StaffId,
        at: Timestamp,
        step: i64,
    ) -> Result<u64> {
        Ok(execute!(self, CONFIRM_FACTOR, staff.0, at.0, step))
    }

    /// Uses the code of `step` up. Returns 0 if it, or a later one, was used before.
    pub async fn use_step(&mut self, staff: StaffId, step: i64) -> Result<u64> {
        Ok(execute!(self, USE_STEP, staff.0, step))
    }

    /// Takes the factor away, with its recovery codes. Returns 0 if there was none.
    pub async fn remove_factor(&mut self, staff: StaffId) -> Result<u64> {
        execute!(self, REMOVE_CODES, staff.0);
        Ok(execute!(self, REMOVE_FACTOR, staff.0))
    }

    /// Puts these recovery codes, by their hashes, into the place of all before.
    pub async fn put_codes(&mut self, staff: StaffId, hashes: &[String]) -> Result<()> {
        #[derive(Serialize)]
        struct Row<'a> {
            staff: i64,
            hash: &'a str,
        }
        execute!(self, REMOVE_CODES, staff.0);
        let codes: Vec<_> = hashes.iter().map(|hash| Row { staff: staff.0, hash }).collect();
        execute!(self, ADD_CODES, rows(&codes));
        Ok(())
    }

    /// Uses a recovery code up. Returns 0 if there is none of that hash, or it was used before.
    pub async fn use_code(&mut self, staff: StaffId, hash: &str, at: Timestamp) -> Result<u64> {
        Ok(execute!(self, USE_CODE, staff.0, hash, at.0))
    }

    /// How many recovery codes are left.
    pub async fn codes_left(&mut self, staff: StaffId) -> Result<i64> {
        let found = fetch!(self, (i64,), CODES_LEFT, staff.0);
        Ok(found.first().map_or(0, |(left,)| *left))
    }

    /// What holds for the whole desk.
    pub async fn desk_rule(&mut self) -> Result<DeskRule> {
        let found = fetch!(self, (i64, i64), DESK_RULE).pop();
        let (required, revision) = found.unwrap_or((0, 1));
        Ok(DeskRule { factor_required: required != 0, revision })
    }

    /// Changes what holds for the whole desk, if it is still at `revision`. Returns 0 if it is not.
    pub async fn set_desk_rule(&mut self, revision: i64, factor_required: bool) -> Result<u64> {
        Ok(execute!(self, SET_DESK_RULE, revision, i64::from(factor_required)))
    }
}
