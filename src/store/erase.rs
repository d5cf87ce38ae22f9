//! Erasing personal data: what is written on tasks that are over, and riders who are gone. The log stays as it is.

use serde::Serialize;

use super::{
    access::columns,
    error::Result,
    load::ids,
    sessions::without_drafts,
    sql::{Sql, rows, setwise},
    tx::{Tx, execute, fetch},
};
use crate::domain::{
    actor::Actor,
    id::{RegionId, RiderId, TaskId, Timestamp},
};

pub(super) const ERASABLE: Sql = Sql::same(
    "SELECT t.id FROM task t JOIN task_detail d ON d.task_id = t.id WHERE t.region_id = $1 \
     AND (t.state = 'cancelled' OR t.stage = 'delivered') AND t.changed_at >= $2 AND t.changed_at < $3 \
     AND d.erased_at IS NULL ORDER BY t.changed_at, t.id LIMIT $4",
);
pub(super) const COUNT_ERASABLE: Sql = Sql::same(
    "SELECT COUNT(*) FROM task t JOIN task_detail d ON d.task_id = t.id WHERE t.region_id = $1 \
     AND (t.state = 'cancelled' OR t.stage = 'delivered') AND t.changed_at < $2 AND d.erased_at IS NULL",
);
// Places are kept to a hundredth of a degree, about a kilometre: enough to see where there was work, and no address.
// A task that is over stays so for ever, so no lock is needed; one that is not over is not touched, whoever asks.
const ERASE_DETAILS: Sql = setwise!(
    "UPDATE task_detail SET pickup_lat = ROUND(pickup_lat * 100) / 100, pickup_lng = ROUND(pickup_lng * 100) / 100, \
     pickup_address = '', pickup_name = NULL, pickup_phone = NULL, dropoff_lat = ROUND(dropoff_lat * 100) / 100, \
     dropoff_lng = ROUND(dropoff_lng * 100) / 100, dropoff_address = '', dropoff_name = NULL, dropoff_phone = NULL, \
     note = NULL, tracking_token = NULL, erased_at = $2 FROM ",
    rows(id int),
    " WHERE task_detail.task_id = r.id AND task_detail.erased_at IS NULL AND EXISTS (SELECT 1 FROM task t \
     WHERE t.id = r.id AND (t.state = 'cancelled' OR t.stage = 'delivered'))"
);
// Also sessions without anything typed: a request may be under way that has just read something into it.
const NOTE_ERASURE: Sql =
    Sql::same("UPDATE web_session SET erasures = erasures + 1 WHERE actor_kind = 'staff'");
// What was typed into forms that were refused: addresses and numbers, of whichever task.
const DRAFTS: Sql = Sql {
    sqlite: "SELECT hash, data FROM web_session WHERE actor_kind = 'staff' AND data LIKE '%\"drafts\"%'",
    postgres: "SELECT hash, data FROM web_session WHERE actor_kind = 'staff' AND data LIKE '%\"drafts\"%' \
               ORDER BY hash FOR NO KEY UPDATE",
};
const FORGET_DRAFTS: Sql = setwise!(
    "UPDATE web_session SET data = r.data FROM ",
    rows(hash text, data text),
    " WHERE web_session.hash = r.hash"
);
const RETENTIONS: Sql = Sql::same(
    "SELECT id, retention_days, erased_to FROM region WHERE retention_days IS NOT NULL ORDER BY id",
);
const MARK_ERASED: Sql =
    Sql::same("UPDATE region SET erased_to = $2 WHERE id = $1 AND erased_to < $2");
const ERASE_RIDER: Sql = Sql::same(
    "UPDATE rider SET name = 'R' || CAST(id AS TEXT), phone = NULL, revision = revision + 1 WHERE id = $1 \
     AND disabled = 1 AND NOT EXISTS (SELECT 1 FROM task t WHERE t.rider_id = rider.id AND t.rider_slot IS NOT NULL)",
);
const FORGET_FIX: Sql = Sql::same("DELETE FROM rider_location WHERE rider_id = $1");
// A label may say whose telephone it was.
const END_TOKENS_OF: Sql = Sql::same(
    "UPDATE api_token SET revoked_at = COALESCE(revoked_at, $3), label = '' WHERE actor_kind = $1 AND actor_id = $2",
);

/// How long a region keeps personal data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Which region.
    pub region: RegionId,
    /// How many days after a task is over.
    pub days: i64,
    /// What was over before this instant has been erased.
    pub erased_to: Timestamp,
}

impl Tx {
    /// Up to `limit` tasks of `region` that were over at `from` or later and before `until`, the longest over first, whose
    /// personal data is still there.
    pub async fn erasable(
        &mut self,
        region: RegionId,
        from: Timestamp,
        until: Timestamp,
        limit: i64,
    ) -> Result<Vec<TaskId>> {
        let found = fetch!(self, (i64,), ERASABLE, region.0, from.0, until.0, limit);
        Ok(found.into_iter().map(|(id,)| TaskId(id)).collect())
    }

    /// How many tasks of `region` were over before `until` and still have their personal data.
    pub async fn count_erasable(&mut self, region: RegionId, until: Timestamp) -> Result<i64> {
        let found = fetch!(self, (i64,), COUNT_ERASABLE, region.0, until.0);
        Ok(found.first().map_or(0, |(count,)| *count))
    }

    /// Erases addresses, names, phones, notes and tracking links of those of `tasks` that are over, and rounds their
    /// places to about a kilometre. Returns how many were erased by this. The detail revision stays: nothing was edited.
    pub async fn erase_details(&mut self, tasks: &[TaskId], at: Timestamp) -> Result<u64> {
        if tasks.is_empty() {
            return Ok(0);
        }
        Ok(execute!(self, ERASE_DETAILS, ids(tasks.iter().map(|task| task.0)), at.0))
    }

    /// Forgets what staff typed into forms that were refused. Returns in how many sessions there was something.
    pub async fn forget_drafts(&mut self) -> Result<u64> {
        #[derive(Serialize)]
        struct Row {
            hash: String,
            data: String,
        }
        execute!(self, NOTE_ERASURE);
        let found = fetch!(self, (String, String), DRAFTS);
        let bare = |(hash, data): (String, String)| Row { hash, data: without_drafts(&data) };
        let bare: Vec<_> = found.into_iter().map(bare).collect();
        Ok(execute!(self, FORGET_DRAFTS, rows(&bare)))
    }

    /// The regions that keep personal data for so many days and no longer.
    pub async fn retentions(&mut self) -> Result<Vec<Retention>> {
        let found = fetch!(self, (i64, i64, i64), RETENTIONS);
        let retention = |(region, days, to)| Retention {
            region: RegionId(region),
            days,
            erased_to: Timestamp(to),
        };
        Ok(found.into_iter().map(retention).collect())
    }

    /// Notes that everything of `region` that was over before `to` is erased. It never goes back.
    pub async fn mark_erased(&mut self, region: RegionId, to: Timestamp) -> Result<u64> {
        Ok(execute!(self, MARK_ERASED, region.0, to.0))
    }

    /// Erases name, phone, password and position of a rider who is shut out and holds nothing, and ends their tokens,
    /// sessions and links. From then on the rider is called by the number. Returns 0 if it is not so.
    pub async fn erase_rider(&mut self, id: RiderId, at: Timestamp) -> Result<u64> {
        let erased = execute!(self, ERASE_RIDER, id.0);
        if erased == 1 {
            let rider = Actor::Rider(id);
            let (kind, of) = columns(Some(&rider));
            execute!(self, FORGET_FIX, id.0);
            self.forget_signals(id).await?;
            execute!(self, END_TOKENS_OF, kind, &of, at.0);
            self.forget_rider_password(id).await?;
            self.end_sessions_of(&rider).await?;
            self.end_links_of(&rider).await?;
        }
        Ok(erased)
    }
}
