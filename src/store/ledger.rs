//! The ledger of rounds: who was asked, how far away, what they answered, who was left out and why.

use serde::Serialize;
use sqlx::FromRow;

use super::{
    error::Result,
    rounds::small,
    rows::read,
    sql::{Sql, rows, setwise},
    tx::{Tx, execute, fetch},
};
use crate::domain::{
    id::{RiderId, TaskId, Timestamp},
    rank::{Factors, LeftOut},
    round::RoundAnswer,
};

const ASK: Sql = setwise!(
    "INSERT INTO round_candidate (round_id, rider_id, rank, distance_m, factors, excluded_reason, nonce, \
     sent_at, until) SELECT r.round, r.rider, r.rank, r.distance, r.factors, r.excluded, r.nonce, r.visible, \
     r.until FROM ",
    rows(round int, rider int, rank int, distance int, factors text, excluded text, nonce text, visible int,
         until int),
    " WHERE true"
);
const LEDGER: Sql = Sql::same(
    "SELECT c.round_id, c.rider_id, c.rank, c.distance_m, c.factors, c.excluded_reason, c.nonce, c.sent_at, \
     c.until, c.shown_at, c.answered_at, c.answer FROM round n \
     JOIN round_candidate c ON c.round_id = n.id WHERE n.task_id = $1 \
     ORDER BY n.step, c.rank IS NULL, c.rank, c.distance_m IS NULL, c.distance_m, c.rider_id",
);
const DECLINE: Sql = Sql::same(
    "UPDATE round_candidate SET answer = 'declined', answered_at = $3 WHERE round_id = $1 AND rider_id = $2 \
     AND nonce IS NOT NULL AND answer IS NULL AND until > $3",
);
const SHOWN: Sql = setwise!(
    "UPDATE round_candidate SET shown_at = r.at FROM ",
    rows(round int, rider int, at int),
    " WHERE round_candidate.round_id = r.round AND round_candidate.rider_id = r.rider \
     AND round_candidate.shown_at IS NULL AND round_candidate.nonce IS NOT NULL"
);
pub(super) const TICKETS: Sql = Sql::same(
    "SELECT n.task_id, n.id AS round_id, n.step, n.radius_m, c.nonce, c.sent_at, c.until, c.shown_at \
     FROM round_candidate c JOIN round n ON n.id = c.round_id AND n.status = 'running' AND n.kind = 'broadcast' \
     WHERE c.rider_id = $1 AND c.until > $2 AND c.nonce IS NOT NULL AND c.sent_at <= $2 AND c.answer IS NULL \
     ORDER BY c.until, n.task_id",
);
/// One line of a round's ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerLine {
    /// Which round.
    pub round: i64,
    /// Who.
    pub rider: RiderId,
    /// Metres to the pickup, as far as it is known.
    pub distance_m: Option<u32>,
    /// Asked, or left out.
    pub asked: std::result::Result<Asked, LeftOut>,
}

/// What was asked of a member of a round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Place in the order.
    pub rank: u32,
    /// What it rests on.
    pub factors: Factors,
    /// What the ticket is made of.
    pub nonce: String,
    /// From when on it is shown.
    pub sent_at: Timestamp,
    /// The ticket's deadline.
    pub until: Timestamp,
    /// When the rider's page first had it.
    pub shown_at: Option<Timestamp>,
    /// What was answered, and when; none is silence.
    pub answered: Option<(RoundAnswer, Timestamp)>,
}

/// A ticket that a rider holds now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldTicket {
    /// For which task.
    pub task: TaskId,
    /// The round.
    pub round: i64,
    /// The first, second … of this task.
    pub step: u32,
    /// What it is made of.
    pub nonce: String,
    /// Its deadline.
    pub until: Timestamp,
    /// When it was first shown.
    pub shown_at: Option<Timestamp>,
}

#[derive(Debug, FromRow)]
struct LedgerRow {
    round_id: i64,
    rider_id: i64,
    rank: Option<i64>,
    distance_m: Option<i64>,
    factors: Option<String>,
    excluded_reason: Option<String>,
    nonce: Option<String>,
    sent_at: Option<i64>,
    until: Option<i64>,
    shown_at: Option<i64>,
    answered_at: Option<i64>,
    answer: Option<String>,
}

impl LedgerRow {
    fn line(self) -> Result<LedgerLine> {
        let (table, row) = ("round_candidate", self.round_id);
        let distance = |metres| small(table, "distance_m", row, metres);
        let asked = match (&self.excluded_reason, self.nonce) {
            (Some(reason), _) => Err(read(table, "excluded_reason", row, reason, LeftOut::parse)?),
            (None, nonce) => {
                let factors = self.factors.unwrap_or_default();
                let answer = self
                    .answer
                    .map(|answer| read(table, "answer", row, &answer, RoundAnswer::parse))
                    .transpose()?;
                Ok(Asked {
                    rank: small(table, "rank", row, self.rank.unwrap_or(-1))?,
                    factors: read(table, "factors", row, &factors, |json| {
                        serde_json::from_str(json).ok()
                    })?,
                    nonce: nonce.unwrap_or_default(),
                    sent_at: Timestamp(self.sent_at.unwrap_or_default()),
                    until: Timestamp(self.until.unwrap_or_default()),
                    shown_at: self.shown_at.map(Timestamp),
                    answered: answer.zip(self.answered_at.map(Timestamp)),
                })
            }
        };
        Ok(LedgerLine {
            round: self.round_id,
            rider: RiderId(self.rider_id),
            distance_m: self.distance_m.map(distance).transpose()?,
            asked,
        })
    }
}

impl Tx {
    /// Writes the ledger of a new round.
    pub(super) async fn insert_ledger(&mut self, ledger: &[LedgerLine]) -> Result<()> {
        #[derive(Serialize)]
        struct Row {
            round: i64,
            rider: i64,
            rank: Option<u32>,
            distance: Option<u32>,
            factors: Option<String>,
            excluded: Option<&'static str>,
            nonce: Option<String>,
            visible: Option<i64>,
            until: Option<i64>,
        }
        let row = |line: &LedgerLine| {
            let asked = line.asked.as_ref().ok();
            Row {
                round: line.round,
                rider: line.rider.0,
                rank: asked.map(|asked| asked.rank),
                distance: line.distance_m,
                factors: asked.map(|asked| {
                    serde_json::to_string(&asked.factors).expect("factors have only text keys")
                }),
                excluded: line.asked.as_ref().err().map(|reason| reason.as_str()),
                nonce: asked.map(|asked| asked.nonce.clone()),
                visible: asked.map(|asked| asked.sent_at.0),
                until: asked.map(|asked| asked.until.0),
            }
        };
        let lines: Vec<_> = ledger.iter().map(row).collect();
        if !lines.is_empty() {
            execute!(self, ASK, rows(&lines));
        }
        Ok(())
    }

    /// The ledger of all rounds of a task: those who were asked in their order, then those who were left out.
    pub async fn ledger_of(&mut self, task: TaskId) -> Result<Vec<LedgerLine>> {
        fetch!(self, LedgerRow, LEDGER, task.0).into_iter().map(LedgerRow::line).collect()
    }

    /// Notes that a member of a round does not want the task. Returns whether the ticket was still open.
    pub async fn decline_round(
        &mut self,
        round: i64,
        rider: RiderId,
        at: Timestamp,
    ) -> Result<bool> {
        Ok(execute!(self, DECLINE, round, rider.0, at.0) > 0)
    }

    /// Notes when members' pages first had their tickets.
    pub async fn note_shown(&mut self, shown: &[(i64, RiderId, Timestamp)]) -> Result<()> {
        #[derive(Serialize)]
        struct Row {
            round: i64,
            rider: i64,
            at: i64,
        }
        let shown: Vec<_> = shown
            .iter()
            .map(|(round, rider, at)| Row { round: *round, rider: rider.0, at: at.0 })
            .collect();
        execute!(self, SHOWN, rows(&shown));
        Ok(())
    }

    /// The tickets that a rider can use at `now`, the most urgent first.
    pub async fn tickets(&mut self, rider: RiderId, now: Timestamp) -> Result<Vec<HeldTicket>> {
        #[derive(FromRow)]
        struct Row {
            task_id: i64,
            round_id: i64,
            step: i64,
            nonce: String,
            until: i64,
            shown_at: Option<i64>,
        }
        let ticket = |row: Row| {
            Ok(HeldTicket {
                task: TaskId(row.task_id),
                round: row.round_id,
                step: small("round", "step", row.round_id, row.step)?,
                nonce: row.nonce,
                until: Timestamp(row.until),
                shown_at: row.shown_at.map(Timestamp),
            })
        };
        fetch!(self, Row, TICKETS, rider.0, now.0).into_iter().map(ticket).collect()
    }
}
