//! What looks wrong about riders, and which telephones they use.

use serde::Serialize;
use sqlx::FromRow;

use super::{
    error::Result,
    load::ids,
    rows::read,
    sql::{Sql, rows, setwise},
    tx::{Tx, execute, fetch},
};
use crate::domain::{
    fix::DeviceMark,
    id::{RiderId, StaffId, Timestamp},
    signal::{Evidence, Signal, SignalKind},
};

const RAISE: Sql = setwise!(
    "INSERT INTO rider_signal (rider_id, kind, first_at, last_at, times, evidence) \
     SELECT r.rider, r.kind, r.at, r.at, 1, r.evidence FROM ",
    rows(rider int, kind text, at int, evidence text),
    " JOIN rider d ON d.id = r.rider WHERE true ON CONFLICT (rider_id, kind) WHERE dismissed_at IS NULL DO UPDATE SET \
     last_at = excluded.last_at, times = rider_signal.times + 1, evidence = excluded.evidence"
);
const SEE_DEVICES: Sql = setwise!(
    "INSERT INTO rider_device (device, rider_id, seen_at) SELECT r.device, r.rider, r.at FROM ",
    rows(device int, rider int, at int),
    " JOIN rider d ON d.id = r.rider WHERE true ON CONFLICT (device, rider_id) DO UPDATE SET seen_at = excluded.seen_at \
     WHERE excluded.seen_at > rider_device.seen_at"
);
const SHARERS: Sql = setwise!(
    "SELECT r.rider, v.rider_id, v.seen_at FROM ",
    rows(device int, rider int, at int),
    " CROSS JOIN rider_device v WHERE v.device = r.device AND v.rider_id <> r.rider AND v.seen_at >= r.at - $2 \
     ORDER BY r.rider, v.rider_id"
);
const SIGNALS_OF: Sql = Sql::same(
    "SELECT id, rider_id, kind, first_at, last_at, times, evidence, dismissed_at, dismissed_by FROM rider_signal \
     WHERE rider_id = $1 ORDER BY last_at DESC, id DESC LIMIT $2",
);
const OPEN_SIGNALS: Sql = setwise!(
    "SELECT s.rider_id, COUNT(*) FROM ",
    rows(id int),
    " CROSS JOIN rider_signal s WHERE s.rider_id = r.id AND s.dismissed_at IS NULL GROUP BY s.rider_id ORDER BY s.rider_id"
);
const DISMISS: Sql = Sql::same(
    "UPDATE rider_signal SET dismissed_at = $4, dismissed_by = $3 WHERE rider_id = $1 AND id = $2 \
     AND dismissed_at IS NULL",
);
pub(super) const PRUNE_DEVICES: Sql = Sql::same(
    "DELETE FROM rider_device WHERE (device, rider_id) IN \
     (SELECT v.device, v.rider_id FROM rider_device v WHERE v.seen_at < $1 ORDER BY v.seen_at LIMIT $2) AND seen_at < $1",
);
const FORGET_SIGNALS: Sql = Sql::same("DELETE FROM rider_signal WHERE rider_id = $1");
const FORGET_DEVICES: Sql = Sql::same("DELETE FROM rider_device WHERE rider_id = $1");

/// A signal as it is kept: one for each time until somebody dismisses it.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptSignal {
    /// Its number.
    pub id: i64,
    /// The last time, with its evidence.
    pub signal: Signal,
    /// The first time.
    pub first_at: Timestamp,
    /// How often.
    pub times: i64,
    /// When it was dismissed, and by whom.
    pub dismissed: Option<(Timestamp, StaffId)>,
}

/// That a rider used a telephone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// Which.
    pub device: DeviceMark,
    /// Who.
    pub rider: RiderId,
    /// When.
    pub at: Timestamp,
}

#[derive(Serialize)]
struct SightingRow {
    device: i64,
    rider: i64,
    at: i64,
}

fn sighting_rows(seen: &[Sighting]) -> String {
    let row =
        |seen: &Sighting| SightingRow { device: seen.device.0, rider: seen.rider.0, at: seen.at.0 };
    rows(&seen.iter().map(row).collect::<Vec<_>>())
}

#[derive(Debug, FromRow)]
struct SignalRow {
    id: i64,
    rider_id: i64,
    kind: String,
    first_at: i64,
    last_at: i64,
    times: i64,
    evidence: String,
    dismissed_at: Option<i64>,
    dismissed_by: Option<i64>,
}

impl SignalRow {
    fn kept(self) -> Result<KeptSignal> {
        let kind = read("rider_signal", "kind", self.id, &self.kind, SignalKind::parse)?;
        let evidence: Evidence =
            read("rider_signal", "evidence", self.id, &self.evidence, |json| {
                serde_json::from_str(json).ok()
            })?;
        let (rider, at) = (RiderId(self.rider_id), Timestamp(self.last_at));
        Ok(KeptSignal {
            id: self.id,
            signal: Signal { rider, kind, at, evidence },
            first_at: Timestamp(self.first_at),
            times: self.times,
            dismissed: self.dismissed_at.map(Timestamp).zip(self.dismissed_by.map(StaffId)),
        })
    }
}

impl Tx {
    /// Keeps signals, of each rider and kind one at most. One that nobody has dismissed is counted up, with the new
    /// evidence. Returns how many were kept.
    pub async fn raise_signals(&mut self, signals: &[Signal]) -> Result<u64> {
        #[derive(Serialize)]
        struct Row {
            rider: i64,
            kind: &'static str,
            at: i64,
            evidence: String,
        }
        let row = |signal: &Signal| Row {
            rider: signal.rider.0,
            kind: signal.kind.as_str(),
            at: signal.at.0,
            evidence: serde_json::to_string(&signal.evidence).expect("evidence has only text keys"),
        };
        Ok(execute!(self, RAISE, rows(&signals.iter().map(row).collect::<Vec<_>>())))
    }

    /// Notes which telephones riders use, each pair once.
    pub async fn see_devices(&mut self, seen: &[Sighting]) -> Result<u64> {
        Ok(execute!(self, SEE_DEVICES, sighting_rows(seen)))
    }

    /// Forgets up to `limit` pairs of rider and telephone that were last seen before `before`.
    pub async fn prune_devices(&mut self, before: Timestamp, limit: i64) -> Result<u64> {
        Ok(execute!(self, PRUNE_DEVICES, before.0, limit))
    }

    /// Who else used one of these telephones in the `within_ms` before: the rider, the other one, when.
    pub async fn sharers(
        &mut self,
        seen: &[Sighting],
        within_ms: i64,
    ) -> Result<Vec<(RiderId, RiderId, Timestamp)>> {
        let found = fetch!(self, (i64, i64, i64), SHARERS, sighting_rows(seen), within_ms);
        let sharer = |(rider, other, at)| (RiderId(rider), RiderId(other), Timestamp(at));
        Ok(found.into_iter().map(sharer).collect())
    }

    /// Up to `limit` signals of a rider, the latest first.
    pub async fn signals_of(&mut self, rider: RiderId, limit: i64) -> Result<Vec<KeptSignal>> {
        let found = fetch!(self, SignalRow, SIGNALS_OF, rider.0, limit);
        found.into_iter().map(SignalRow::kept).collect()
    }

    /// Those of `riders` who have signals that nobody has dismissed, with how many.
    pub async fn open_signals(&mut self, riders: &[RiderId]) -> Result<Vec<(RiderId, i64)>> {
        let wanted = ids(riders.iter().map(|rider| rider.0));
        let found = fetch!(self, (i64, i64), OPEN_SIGNALS, wanted);
        Ok(found.into_iter().map(|(rider, count)| (RiderId(rider), count)).collect())
    }

    /// Dismisses a signal of a rider. Returns 0 if there is none such, or it was dismissed before.
    pub async fn dismiss_signal(
        &mut self,
        rider: RiderId,
        id: i64,
        by: StaffId,
        at: Timestamp,
    ) -> Result<u64> {
        Ok(execute!(self, DISMISS, rider.0, id, by.0, at.0))
    }

    /// Forgets the signals and telephones of a rider: they hold places.
    pub(super) async fn forget_signals(&mut self, rider: RiderId) -> Result<()> {
        execute!(self, FORGET_SIGNALS, rider.0);
        execute!(self, FORGET_DEVICES, rider.0);
        Ok(())
    }
}
