//! Rounds: begun, ended, and ended by what happens to their task.

use serde::Serialize;
use sqlx::FromRow;

use super::{
    error::Result,
    ledger::LedgerLine,
    rows::read,
    sql::{Sql, rows, setwise},
    tx::{Tx, execute, fetch},
};
use crate::domain::{
    id::{RegionId, RiderId, TaskId, Timestamp},
    round::{RoundAnswer, RoundKind, RoundStatus},
};

/// The columns of a [`Round`], from `round n`.
macro_rules! rounds {
    ($tail:literal) => {
        Sql::same(concat!(
            "SELECT n.id, n.task_id, n.region_id, n.step, n.search, n.kind, n.status, n.started_at, n.until, \
             n.ended_at, n.rung, n.radius_m, n.farther, n.fair_window_ms, n.policy_version FROM round n ",
            $tail
        ))
    };
}

const NEXT: Sql =
    Sql::same("UPDATE round_counter SET number = number + 1 WHERE id = 1 RETURNING number");
const INSERT: Sql = Sql::same(
    "INSERT INTO round (id, task_id, region_id, step, search, kind, status, started_at, until, ended_at, rung, \
     radius_m, farther, fair_window_ms, policy_version) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
);
const END: Sql =
    Sql::same("UPDATE round SET status = $2, ended_at = $3 WHERE id = $1 AND status = 'running'");
/// A round that ended without anybody turns out to have been the last.
const EXHAUST: Sql =
    Sql::same("UPDATE round SET status = 'exhausted' WHERE id = $1 AND status = 'passed'");
const OF_TASK: Sql = rounds!("WHERE n.task_id = $1 ORDER BY n.step");
const ROUND: Sql = rounds!("WHERE n.id = $1");
/// SQLite's one writer has locked everything already.
const WAIT: Sql = Sql {
    sqlite: "SELECT id FROM task WHERE id = $1",
    postgres: "SELECT id FROM task WHERE id = $1 FOR NO KEY UPDATE",
};
const SEARCHED: Sql = setwise!(
    "SELECT r.id, CASE WHEN n.id IS NULL THEN 0 ELSE 1 END FROM ",
    rows(id int),
    " LEFT JOIN round n ON n.task_id = r.id AND n.status = 'running' \
     LEFT JOIN manual_pool p ON p.task_id = r.id LEFT JOIN search s ON s.task_id = r.id \
     WHERE n.id IS NOT NULL OR p.task_id IS NOT NULL OR s.task_id IS NOT NULL"
);
const ANSWERED: Sql = setwise!(
    "UPDATE round_candidate SET answer = r.said, answered_at = r.at FROM ",
    rows(task int, rider int, said text, at int),
    " JOIN round n ON n.task_id = r.task AND n.status = 'running' WHERE round_candidate.round_id = n.id \
     AND round_candidate.rider_id = r.rider AND round_candidate.nonce IS NOT NULL \
     AND round_candidate.answer IS NULL"
);
const END_OF: Sql = setwise!(
    "UPDATE round SET status = r.status, ended_at = r.at FROM ",
    rows(task int, status text, at int),
    " WHERE round.task_id = r.task AND round.status = 'running'"
);

/// A round, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// Its number.
    pub id: i64,
    /// For which task.
    pub task: TaskId,
    /// The task's region.
    pub region: RegionId,
    /// The first, second … of this task.
    pub step: u32,
    /// How often the search had begun by then.
    pub search: u32,
    /// How it asks.
    pub kind: RoundKind,
    /// Where it stands.
    pub status: RoundStatus,
    /// When it began.
    pub started_at: Timestamp,
    /// Its deadline.
    pub until: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Place in the ladder.
    pub rung: u32,
    /// Its circle; none where distance did not count.
    pub radius_m: Option<u32>,
    /// Riders on duty who were not looked at: others were nearer.
    pub farther: u32,
    /// Grabs are collected for so long; 0: the first one wins.
    pub fair_window_ms: u32,
    /// The policy that it goes by.
    pub policy_version: i64,
}

/// How a task's own change ends its running round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundEnd {
    /// Which task.
    pub task: TaskId,
    /// The round's last status.
    pub status: RoundStatus,
    /// When.
    pub at: Timestamp,
    /// Who took it through the round, and how.
    pub answer: Option<(RiderId, RoundAnswer)>,
}

/// A task that somebody is or was looked for: with a round, a search, or a place in the manual pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Searched {
    /// Which task.
    pub task: TaskId,
    /// A round runs.
    pub running: bool,
}

#[derive(Debug, FromRow)]
struct RoundRow {
    id: i64,
    task_id: i64,
    region_id: i64,
    step: i64,
    search: i64,
    kind: String,
    status: String,
    started_at: i64,
    until: i64,
    ended_at: Option<i64>,
    rung: i64,
    radius_m: Option<i64>,
    farther: i64,
    fair_window_ms: i64,
    policy_version: i64,
}

/// A small number of `table`; the database's own checks keep it from being negative.
pub(super) fn small(
    table: &'static str,
    column: &'static str,
    row: i64,
    value: i64,
) -> Result<u32> {
    read(table, column, row, &value.to_string(), |text| text.parse().ok())
}

impl RoundRow {
    fn round(self) -> Result<Round> {
        let id = self.id;
        let small = |column, value| small("round", column, id, value);
        Ok(Round {
            id,
            task: TaskId(self.task_id),
            region: RegionId(self.region_id),
            step: small("step", self.step)?,
            search: small("search", self.search)?,
            kind: read("round", "kind", id, &self.kind, RoundKind::parse)?,
            status: read("round", "status", id, &self.status, RoundStatus::parse)?,
            started_at: Timestamp(self.started_at),
            until: Timestamp(self.until),
            ended_at: self.ended_at.map(Timestamp),
            rung: small("rung", self.rung)?,
            radius_m: self.radius_m.map(|radius| small("radius_m", radius)).transpose()?,
            farther: small("farther", self.farther)?,
            fair_window_ms: small("fair_window_ms", self.fair_window_ms)?,
            policy_version: self.policy_version,
        })
    }
}

impl Tx {
    /// Takes the number of a new round.
    pub async fn take_round_number(&mut self) -> Result<i64> {
        let taken = fetch!(self, (i64,), NEXT);
        Ok(taken.first().map_or(1, |(number,)| *number))
    }

    /// Writes a new round with its ledger.
    pub async fn insert_round(&mut self, round: &Round, ledger: &[LedgerLine]) -> Result<()> {
        execute!(
            self,
            INSERT,
            round.id,
            round.task.0,
            round.region.0,
            i64::from(round.step),
            i64::from(round.search),
            round.kind.as_str(),
            round.status.as_str(),
            round.started_at.0,
            round.until.0,
            round.ended_at.map(|at| at.0),
            i64::from(round.rung),
            round.radius_m.map(i64::from),
            i64::from(round.farther),
            i64::from(round.fair_window_ms),
            round.policy_version
        );
        self.insert_ledger(ledger).await
    }

    /// Ends a running round. Returns whether it ran.
    pub async fn end_round(
        &mut self,
        round: i64,
        status: RoundStatus,
        at: Timestamp,
    ) -> Result<bool> {
        Ok(execute!(self, END, round, status.as_str(), at.0) > 0)
    }

    /// Marks a round that nobody took as the last one.
    pub async fn exhaust_round(&mut self, round: i64) -> Result<()> {
        execute!(self, EXHAUST, round);
        Ok(())
    }

    /// One round.
    pub async fn round(&mut self, round: i64) -> Result<Option<Round>> {
        fetch!(self, RoundRow, ROUND, round).pop().map(RoundRow::round).transpose()
    }

    /// The rounds of a task, the first first.
    pub async fn rounds_of(&mut self, task: TaskId) -> Result<Vec<Round>> {
        fetch!(self, RoundRow, OF_TASK, task.0).into_iter().map(RoundRow::round).collect()
    }

    /// Locks a task, and waits for whoever holds it. Returns whether there is one.
    pub async fn wait_for_task(&mut self, task: TaskId) -> Result<bool> {
        Ok(!fetch!(self, (i64,), WAIT, task.0).is_empty())
    }

    /// Which of `tasks` have a running round, are searched for or in the manual pool.
    pub async fn searched(&mut self, tasks: &[TaskId]) -> Result<Vec<Searched>> {
        let wanted = super::load::ids(tasks.iter().map(|task| task.0));
        let found = fetch!(self, (i64, i32), SEARCHED, wanted);
        let searched = |(task, running)| Searched { task: TaskId(task), running: running != 0 };
        Ok(found.into_iter().map(searched).collect())
    }

    /// Ends the running rounds of tasks that have changed, in the transaction of the change itself.
    pub async fn end_rounds(&mut self, ends: &[RoundEnd]) -> Result<()> {
        #[derive(Serialize)]
        struct Answer {
            task: i64,
            rider: i64,
            said: &'static str,
            at: i64,
        }
        #[derive(Serialize)]
        struct End {
            task: i64,
            status: &'static str,
            at: i64,
        }
        let answers: Vec<_> = ends
            .iter()
            .filter_map(|end| {
                let (rider, answer) = end.answer?;
                let (task, at) = (end.task.0, end.at.0);
                Some(Answer { task, rider: rider.0, said: answer.as_str(), at })
            })
            .collect();
        if !answers.is_empty() {
            execute!(self, ANSWERED, rows(&answers));
        }
        let ends: Vec<_> = ends
            .iter()
            .map(|end| End { task: end.task.0, status: end.status.as_str(), at: end.at.0 })
            .collect();
        if !ends.is_empty() {
            execute!(self, END_OF, rows(&ends));
        }
        Ok(())
    }
}
