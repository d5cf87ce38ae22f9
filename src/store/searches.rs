//! Tasks that the desk finds somebody for by itself: when it has to do something next; grabs that wait for the end of a
//! fair window; and how far the log has been followed.

use serde::Serialize;

use super::{
    error::Result,
    rows::read,
    sql::{Sql, rows, setwise},
    tx::{Tx, execute, fetch},
};
use crate::domain::{
    command::Command,
    id::{RiderId, TaskId, Timestamp},
};

/// Begun anew only if no round has been run since: a log that is read twice starts nothing twice.
const BEGIN: Sql = setwise!(
    "INSERT INTO search (task_id, due_at, search) SELECT r.task, r.due, \
     (SELECT COALESCE(MAX(n.search), 0) + 1 FROM round n WHERE n.task_id = r.task) FROM ",
    rows(task int, due int, since int),
    " WHERE NOT EXISTS (SELECT 1 FROM round n WHERE n.task_id = r.task AND n.started_at >= r.since) \
     ON CONFLICT (task_id) DO NOTHING"
);
const SET: Sql = Sql::same(
    "INSERT INTO search (task_id, due_at, search) VALUES ($1, $2, $3) \
     ON CONFLICT (task_id) DO UPDATE SET due_at = excluded.due_at, search = excluded.search",
);
const HURRY: Sql = setwise!(
    "UPDATE search SET due_at = r.due FROM ",
    rows(task int, due int),
    " WHERE search.task_id = r.task AND search.due_at > r.due"
);
const SEARCHING: Sql =
    setwise!("SELECT s.task_id FROM ", rows(id int), " CROSS JOIN search s WHERE s.task_id = r.id");
const END: Sql = setwise!(
    "DELETE FROM search WHERE task_id IN (SELECT r.id FROM ",
    rows(id int),
    ")"
);
const OF: Sql = Sql::same("SELECT due_at, search FROM search WHERE task_id = $1");
pub(super) const DUE: Sql = Sql::same(
    "SELECT task_id, due_at FROM search WHERE due_at <= $1 ORDER BY due_at, task_id LIMIT $2",
);
pub(super) const NEXT_DUE: Sql = Sql::same(
    "SELECT due_at FROM (SELECT due_at FROM search WHERE due_at > $1 ORDER BY due_at LIMIT 1) AS s \
     UNION ALL \
     SELECT due_at FROM (SELECT due_at FROM grab_intent WHERE due_at > $1 ORDER BY due_at LIMIT 1) AS i",
);
const CURSOR: Sql = Sql::same("SELECT number FROM log_cursor WHERE reader = $1");
const SET_CURSOR: Sql = Sql::same(
    "INSERT INTO log_cursor (reader, number) VALUES ($1, $2) \
     ON CONFLICT (reader) DO UPDATE SET number = excluded.number WHERE excluded.number > log_cursor.number",
);
const INTEND: Sql = Sql::same(
    "INSERT INTO grab_intent (round_id, principal, request_key, fingerprint, rider_id, command, at, due_at) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, \
     COALESCE((SELECT MIN(i.due_at) FROM grab_intent i WHERE i.round_id = $1), $8)) \
     ON CONFLICT (principal, request_key) DO NOTHING",
);
const INTENT: Sql = Sql::same(
    "SELECT fingerprint, due_at FROM grab_intent WHERE principal = $1 AND request_key = $2",
);
pub(super) const DUE_INTENTS: Sql = Sql::same(
    "SELECT i.round_id, i.rider_id, i.command, i.principal, i.request_key FROM grab_intent i \
     JOIN round_candidate c ON c.round_id = i.round_id AND c.rider_id = i.rider_id \
     WHERE i.due_at <= $1 ORDER BY i.due_at, i.round_id, c.rank, i.at, i.request_key LIMIT $2",
);
const INTENT_DONE: Sql =
    Sql::same("DELETE FROM grab_intent WHERE principal = $1 AND request_key = $2");
const RESET: Sql = Sql::same(
    "INSERT INTO decline_reset (task_id, at) VALUES ($1, $2) \
     ON CONFLICT (task_id) DO UPDATE SET at = excluded.at WHERE excluded.at > decline_reset.at",
);

/// A task whose search begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begin {
    /// Which task.
    pub task: TaskId,
    /// When the first round is due.
    pub due: Timestamp,
    /// Not if a round was run at or after this instant.
    pub since: Timestamp,
}

/// A grab that waits for the end of a fair window.
#[derive(Clone, Debug)]
pub struct Intent {
    /// The round that it was made in.
    pub round: i64,
    /// Who wants it.
    pub rider: RiderId,
    /// What was sent: it is executed as it came, under its own key.
    pub command: Command,
    /// The scope of the key.
    pub principal: String,
    /// The key.
    pub request_key: String,
}

impl Tx {
    /// Begins searches, but not those that have had a round since. Returns how many are new.
    pub async fn begin_searches(&mut self, begin: &[Begin]) -> Result<u64> {
        #[derive(Serialize)]
        struct Row {
            task: i64,
            due: i64,
            since: i64,
        }
        if begin.is_empty() {
            return Ok(0);
        }
        let begin: Vec<_> = begin
            .iter()
            .map(|begin| Row { task: begin.task.0, due: begin.due.0, since: begin.since.0 })
            .collect();
        Ok(execute!(self, BEGIN, rows(&begin)))
    }

    /// Says when the search for a task has to do something next, and how often it has begun.
    pub async fn set_search(&mut self, task: TaskId, due: Timestamp, search: u32) -> Result<()> {
        execute!(self, SET, task.0, due.0, i64::from(search));
        Ok(())
    }

    /// Makes searches do something earlier. Tasks without a search are left alone, and so are those that are due before
    /// that. Returns how many are due earlier now.
    pub async fn hurry(&mut self, tasks: &[(TaskId, Timestamp)]) -> Result<u64> {
        #[derive(Serialize)]
        struct Row {
            task: i64,
            due: i64,
        }
        if tasks.is_empty() {
            return Ok(0);
        }
        let tasks: Vec<_> =
            tasks.iter().map(|(task, due)| Row { task: task.0, due: due.0 }).collect();
        Ok(execute!(self, HURRY, rows(&tasks)))
    }

    /// Which of `tasks` somebody is looked for.
    pub async fn searching(&mut self, tasks: &[TaskId]) -> Result<Vec<TaskId>> {
        if tasks.is_empty() {
            return Ok(Vec::new());
        }
        let wanted = super::load::ids(tasks.iter().map(|task| task.0));
        let found = fetch!(self, (i64,), SEARCHING, wanted);
        Ok(found.into_iter().map(|(task,)| TaskId(task)).collect())
    }

    /// Ends the searches for tasks. Returns how many there were.
    pub async fn end_searches(&mut self, tasks: &[TaskId]) -> Result<u64> {
        if tasks.is_empty() {
            return Ok(0);
        }
        Ok(execute!(self, END, super::load::ids(tasks.iter().map(|task| task.0))))
    }

    /// When the search for a task has to do something next, and how often it has begun; none if there is none.
    pub async fn search_of(&mut self, task: TaskId) -> Result<Option<(Timestamp, u32)>> {
        let found = fetch!(self, (i64, i64), OF, task.0).pop();
        let count = |search: i64| u32::try_from(search).unwrap_or(u32::MAX);
        Ok(found.map(|(due, search)| (Timestamp(due), count(search))))
    }

    /// Up to `limit` tasks whose search has to do something by `now`.
    pub async fn due_searches(
        &mut self,
        now: Timestamp,
        limit: i64,
    ) -> Result<Vec<(TaskId, Timestamp)>> {
        let found = fetch!(self, (i64, i64), DUE, now.0, limit);
        Ok(found.into_iter().map(|(task, due)| (TaskId(task), Timestamp(due))).collect())
    }

    /// The first instant after `after` at which a search or a fair window has to do something.
    pub async fn next_search(&mut self, after: Timestamp) -> Result<Option<Timestamp>> {
        let found = fetch!(self, (i64,), NEXT_DUE, after.0);
        Ok(found.into_iter().map(|(due,)| Timestamp(due)).min())
    }

    /// How far a reader that acts on the log has come.
    pub async fn log_cursor(&mut self, reader: &str) -> Result<i64> {
        Ok(fetch!(self, (i64,), CURSOR, reader).first().map_or(0, |(number,)| *number))
    }

    /// Notes how far it has come. It never goes back.
    pub async fn set_log_cursor(&mut self, reader: &str, number: i64) -> Result<()> {
        execute!(self, SET_CURSOR, reader, number);
        Ok(())
    }

    /// Keeps a grab until the window of its round ends: at `due`, or when that of the round's first grab does.
    pub async fn intend(
        &mut self,
        intent: &Intent,
        fingerprint: &str,
        at: Timestamp,
        due: Timestamp,
    ) -> Result<()> {
        let command = serde_json::to_string(&intent.command).expect("a command has only text keys");
        execute!(
            self,
            INTEND,
            intent.round,
            &intent.principal,
            &intent.request_key,
            fingerprint,
            intent.rider.0,
            command,
            at.0,
            due.0
        );
        Ok(())
    }

    /// The fingerprint of a waiting grab, and when its window ends.
    pub async fn intent(
        &mut self,
        principal: &str,
        request_key: &str,
    ) -> Result<Option<(String, Timestamp)>> {
        let found = fetch!(self, (String, i64), INTENT, principal, request_key).pop();
        Ok(found.map(|(fingerprint, due)| (fingerprint, Timestamp(due))))
    }

    /// Grabs whose window has ended by `now`, the best of each round first.
    pub async fn due_intents(&mut self, now: Timestamp, limit: i64) -> Result<Vec<Intent>> {
        let found = fetch!(self, (i64, i64, String, String, String), DUE_INTENTS, now.0, limit);
        let intent = |(round, rider, command, principal, request_key): (i64, i64, String, _, _)| {
            let command = read("grab_intent", "command", round, &command, |json| {
                serde_json::from_str(json).ok()
            })?;
            Ok(Intent { round, rider: RiderId(rider), command, principal, request_key })
        };
        found.into_iter().map(intent).collect()
    }

    /// Forgets a grab that has its answer.
    pub async fn intent_done(&mut self, principal: &str, request_key: &str) -> Result<()> {
        execute!(self, INTENT_DONE, principal, request_key);
        Ok(())
    }

    /// Makes what riders declined so far count no more for a task.
    pub async fn reset_declines(&mut self, task: TaskId, at: Timestamp) -> Result<()> {
        execute!(self, RESET, task.0, at.0);
        Ok(())
    }
}
