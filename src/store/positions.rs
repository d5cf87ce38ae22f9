//! Where riders were last seen: written set-wise, read in pages.

use serde::Serialize;
use sqlx::FromRow;

use super::{
    error::Result,
    sql::{Sql, rows, setwise},
    tx::{Tx, execute, fetch},
};
use crate::domain::{
    fix::{DeviceMark, Fix},
    geo::Place,
    id::{RegionId, RiderId, Timestamp},
};

// Riders are joined: one who was erased meanwhile must not keep the others from being written, and of one who is shut
// out nothing more is kept. The last condition is `Fix::follows`.
const PUT_FIXES: Sql = setwise!(
    "INSERT INTO rider_location (rider_id, seq, at, taken_at, lat, lng, accuracy_m, device) \
     SELECT r.rider, r.seq, r.at, r.taken_at, r.lat, r.lng, r.accuracy_m, r.device FROM ",
    rows(rider int, seq int, at int, taken_at int, lat real, lng real, accuracy_m real, device int),
    " JOIN rider d ON d.id = r.rider WHERE d.disabled = 0 ON CONFLICT (rider_id) DO UPDATE SET seq = excluded.seq, \
     at = excluded.at, taken_at = excluded.taken_at, lat = excluded.lat, lng = excluded.lng, \
     accuracy_m = excluded.accuracy_m, device = excluded.device \
     WHERE (excluded.device = rider_location.device AND excluded.seq > rider_location.seq) \
     OR (excluded.device <> rider_location.device AND excluded.at >= rider_location.at)"
);
const FIXES_AFTER: Sql = Sql::same(
    "SELECT d.region_id, l.rider_id, l.seq, l.at, l.taken_at, l.lat, l.lng, l.accuracy_m, l.device \
     FROM rider_location l JOIN rider d ON d.id = l.rider_id WHERE l.rider_id > $1 AND d.disabled = 0 \
     ORDER BY l.rider_id LIMIT $2",
);

/// A rider who may ride, with their region and last known position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Located {
    /// The region that they work in.
    pub region: RegionId,
    /// The rider.
    pub rider: RiderId,
    /// Where they were last seen.
    pub fix: Fix,
}

#[derive(Serialize)]
struct FixRow {
    rider: i64,
    seq: i64,
    at: i64,
    taken_at: i64,
    lat: f64,
    lng: f64,
    accuracy_m: Option<f64>,
    device: i64,
}

#[derive(Debug, FromRow)]
struct LocatedRow {
    region_id: i64,
    rider_id: i64,
    seq: i64,
    at: i64,
    taken_at: Option<i64>,
    lat: f64,
    lng: f64,
    accuracy_m: Option<f64>,
    device: i64,
}

impl LocatedRow {
    fn located(self) -> Located {
        let fix = Fix {
            seq: self.seq,
            at: Timestamp(self.at),
            taken_at: Timestamp(self.taken_at.unwrap_or(self.at)),
            place: Place { lat: self.lat, lng: self.lng },
            accuracy_m: self.accuracy_m,
            device: DeviceMark(self.device),
        };
        Located { region: RegionId(self.region_id), rider: RiderId(self.rider_id), fix }
    }
}

impl Tx {
    /// Keeps the positions of riders, each of whom is named once. One that does not [follow](Fix::follows) the known one
    /// is left out, and so is one of a rider who is shut out or not there. Returns how many were kept.
    pub async fn put_fixes(&mut self, fixes: &[(RiderId, Fix)]) -> Result<u64> {
        let row = |(rider, fix): &(RiderId, Fix)| FixRow {
            rider: rider.0,
            seq: fix.seq,
            at: fix.at.0,
            taken_at: fix.taken_at.0,
            lat: fix.place.lat,
            lng: fix.place.lng,
            accuracy_m: fix.accuracy_m,
            device: fix.device.0,
        };
        let fixes: Vec<_> = fixes.iter().map(row).collect();
        Ok(execute!(self, PUT_FIXES, rows(&fixes)))
    }

    /// Keeps one position of a device that says nothing of itself, as [`put_fixes`](Self::put_fixes) does.
    pub async fn put_fix(
        &mut self,
        rider: RiderId,
        seq: i64,
        at: Timestamp,
        place: Place,
    ) -> Result<u64> {
        self.put_fixes(&[(rider, Fix::new(seq, at, place))]).await
    }

    /// The last known positions of up to `limit` riders with larger numbers than `after`, who are not shut out, by number.
    pub async fn fixes(&mut self, after: RiderId, limit: i64) -> Result<Vec<Located>> {
        let found = fetch!(self, LocatedRow, FIXES_AFTER, after.0, limit);
        Ok(found.into_iter().map(LocatedRow::located).collect())
    }
}
