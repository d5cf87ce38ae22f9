//! How dispatching goes in a region over a while: what a page of measures is made from. Each statement goes along the
//! time, or along the rounds of the region, and no further than the window.

use sqlx::FromRow;

use super::{
    error::Result,
    sql::Sql,
    tx::{Tx, fetch},
};
use crate::domain::id::{RegionId, Timestamp};

/// The sign before the region keeps SQLite from walking along its index instead of along the time.
const DID: Sql = Sql::same(
    "SELECT e.action AS name, COUNT(*) AS count FROM dispatch_event e WHERE e.occurred_at >= $2 \
     AND e.occurred_at < $3 AND +e.region_id = $1 AND e.kind = 'task' GROUP BY e.action ORDER BY e.action",
);
const TRIED: Sql = Sql::same(
    "SELECT a.verb, a.code, COUNT(*) AS count FROM attempt a JOIN task t ON t.id = a.task_id WHERE a.at >= $2 \
     AND a.at < $3 AND +t.region_id = $1 GROUP BY a.verb, a.code ORDER BY a.verb, a.code",
);
const CONTENDED: Sql = Sql::same(
    "SELECT COUNT(*) AS tasks, CAST(COALESCE(SUM(c.n), 0) AS BIGINT) AS sum, COALESCE(MAX(c.n), 0) AS most FROM \
     (SELECT COUNT(DISTINCT a.actor_id) AS n FROM attempt a JOIN task t ON t.id = a.task_id WHERE a.at >= $2 \
     AND a.at < $3 AND +t.region_id = $1 AND a.verb = 'grab' GROUP BY a.task_id) c",
);
const REASSIGNED: Sql = Sql::same(
    "SELECT COUNT(*) AS tasks, CAST(COALESCE(SUM(c.n), 0) AS BIGINT) AS sum, COALESCE(MAX(c.n), 0) AS most FROM \
     (SELECT COUNT(*) AS n FROM dispatch_event e WHERE e.occurred_at >= $2 AND e.occurred_at < $3 \
     AND +e.region_id = $1 AND e.action = 'reassign' GROUP BY e.task_id) c",
);
const ROUNDS: Sql = Sql::same(
    "SELECT n.step, COUNT(*) AS rounds, CAST(SUM(CASE WHEN n.status = 'placed' THEN 1 ELSE 0 END) AS BIGINT) AS placed, \
     CAST(SUM(CASE WHEN EXISTS (SELECT 1 FROM round_candidate c WHERE c.round_id = n.id AND c.nonce IS NOT NULL) \
     THEN 0 ELSE 1 END) AS BIGINT) AS empty FROM round n WHERE n.region_id = $1 AND n.started_at >= $2 \
     AND n.started_at < $3 AND n.kind = 'broadcast' GROUP BY n.step ORDER BY n.step",
);
const FIRST_BATCH: Sql = Sql::same(
    "SELECT COUNT(*) AS sent, CAST(COALESCE(SUM(CASE WHEN c.answer IS NULL THEN 0 ELSE 1 END), 0) AS BIGINT) AS hit \
     FROM round n JOIN round_candidate c ON c.round_id = n.id WHERE n.region_id = $1 AND n.started_at >= $2 \
     AND n.started_at < $3 AND n.kind = 'broadcast' AND n.step = 1 AND c.nonce IS NOT NULL",
);
const TICKETS_SHOWN: Sql = Sql::same(
    "SELECT COUNT(*) AS sent, CAST(COALESCE(SUM(CASE WHEN c.shown_at IS NULL THEN 0 ELSE 1 END), 0) AS BIGINT) AS hit \
     FROM round n JOIN round_candidate c ON c.round_id = n.id WHERE n.region_id = $1 AND n.started_at >= $2 \
     AND n.started_at < $3 AND n.kind = 'broadcast' AND c.nonce IS NOT NULL",
);
const OFFERS_SHOWN: Sql = Sql::same(
    "SELECT COUNT(*) AS sent, CAST(COALESCE(SUM(CASE WHEN o.shown_at IS NULL THEN 0 ELSE 1 END), 0) AS BIGINT) AS hit \
     FROM dispatch_event e JOIN offer o ON o.task_id = e.task_id AND o.revision = e.to_revision \
     WHERE e.occurred_at >= $2 AND e.occurred_at < $3 AND +e.region_id = $1 AND e.action IN ('offer', 'reassign')",
);
const WAITED: Sql = Sql::same(
    "SELECT (SELECT MIN(o.occurred_at) FROM dispatch_event o WHERE o.task_id = e.task_id \
     AND o.action IN ('grab', 'accept', 'assign')) - e.occurred_at FROM dispatch_event e WHERE e.occurred_at >= $2 \
     AND e.occurred_at < $3 AND +e.region_id = $1 AND e.action = 'create' ORDER BY e.occurred_at DESC, e.number DESC \
     LIMIT $4",
);

/// A region over a while.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Which region.
    pub region: RegionId,
    /// Not before this instant.
    pub from: Timestamp,
    /// Before this instant.
    pub until: Timestamp,
}

/// Something that happened to a number of tasks, several times to some.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromRow)]
pub struct Spread {
    /// To how many tasks.
    pub tasks: i64,
    /// How often in all.
    pub sum: i64,
    /// How often to one, at most.
    pub most: i64,
}

/// So many were sent, and so many of these came to something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromRow)]
pub struct Share {
    /// All of them.
    pub sent: i64,
    /// Those that came to it.
    pub hit: i64,
}

/// The broadcast rounds of one step: the first of each task, the second …
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromRow)]
pub struct StepRounds {
    /// Which step, from 1.
    pub step: i64,
    /// How many rounds.
    pub rounds: i64,
    /// Of these, the ones in which somebody took the task.
    pub placed: i64,
    /// Of these, the ones in which nobody could be asked.
    pub empty: i64,
}

/// What happened in a window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measures {
    /// Events of tasks, by action.
    pub did: Vec<(String, i64)>,
    /// Attempts on tasks, by verb and by what came of them.
    pub tried: Vec<(String, String, i64)>,
    /// How many riders tried to grab a task.
    pub contended: Spread,
    /// How often a task was reassigned.
    pub reassigned: Spread,
    /// Broadcast rounds, by step.
    pub rounds: Vec<StepRounds>,
    /// Tickets of first rounds, and those that were answered.
    pub first_batch: Share,
    /// Tickets and offers, and those that a rider's page has shown.
    pub shown: Share,
    /// Of each task that was created, the latest first: how long until somebody had it, in milliseconds; none if nobody
    /// has had it.
    pub waited_ms: Vec<Option<i64>>,
}

impl Measures {
    /// The most tasks whose waiting is looked at, the latest.
    pub const MOST_WAITED: i64 = 20_000;
    /// What attempts come to that are no refusals.
    pub const GOOD: [&'static str; 3] = ["done", "ALREADY_DONE", "ALREADY_YOURS"];

    /// How many grabs there were, or how many of them got the task.
    pub fn grabs(&self, won: bool) -> i64 {
        let grabs = self.tried.iter().filter(|(verb, ..)| verb == "grab");
        let counted = grabs.filter(|(_, code, _)| !won || Self::GOOD.contains(&code.as_str()));
        counted.map(|(.., count)| count).sum()
    }
}

impl Tx {
    /// Measures a window.
    pub async fn measures(&mut self, window: Window) -> Result<Measures> {
        let (region, from, until) = (window.region.0, window.from.0, window.until.0);
        macro_rules! found {
            ($row:ty, $sql:expr) => {
                fetch!(self, $row, $sql, region, from, until)
            };
        }
        let tickets = found!(Share, TICKETS_SHOWN).pop().unwrap_or_default();
        let offers = found!(Share, OFFERS_SHOWN).pop().unwrap_or_default();
        let most = Measures::MOST_WAITED;
        let waited = fetch!(self, (Option<i64>,), WAITED, region, from, until, most);
        Ok(Measures {
            did: found!((String, i64), DID),
            tried: found!((String, String, i64), TRIED),
            contended: found!(Spread, CONTENDED).pop().unwrap_or_default(),
            reassigned: found!(Spread, REASSIGNED).pop().unwrap_or_default(),
            rounds: found!(StepRounds, ROUNDS),
            first_batch: found!(Share, FIRST_BATCH).pop().unwrap_or_default(),
            shown: Share { sent: tickets.sent + offers.sent, hit: tickets.hit + offers.hit },
            waited_ms: waited.into_iter().map(|(ms,)| ms).collect(),
        })
    }
}
