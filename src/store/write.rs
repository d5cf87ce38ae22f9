//! Writing what was decided, set-wise. [`Tx::apply`] is the only thing that changes a task's row, and it
//! takes decided changes only.

use std::collections::HashSet;

use serde::Serialize;

use super::{
    error::{Error, Result},
    sql::{Sql, rows, setwise},
    tx::{Tx, execute, fetch},
};
use crate::{
    domain::{
        decide::{DetailEdit, Transition},
        id::TaskId,
        task::{Mode, Slot, Stage, Task},
    },
    fault::{Fault, planted},
};

const PARK: Sql = setwise!(
    "UPDATE task SET rider_slot = -task.id FROM ",
    rows(id int, loaded int),
    " WHERE task.id = r.id AND task.revision = r.loaded"
);

const UPDATE: Sql = setwise!(
    "UPDATE task SET state = r.state, rider_id = r.rider, rider_slot = r.slot, stage = r.stage, mode = r.mode, \
     offer_until = r.until, revision = r.made, changed_at = r.at, changed_by_kind = r.by_kind, \
     changed_by_id = r.by_id FROM ",
    rows(id int, loaded int, state text, rider int, slot int, stage text, mode text, until int, made int, at int,
         by_kind text, by_id text),
    " WHERE task.id = r.id AND task.revision = r.loaded"
);

const EDIT_TASK: Sql = setwise!(
    "UPDATE task SET release_at = COALESCE(r.release_at, task.release_at), \
     priority = COALESCE(r.priority, task.priority) FROM ",
    rows(id int, release_at int, priority int),
    " WHERE task.id = r.id"
);

const EDIT_DETAIL: Sql = setwise!(
    "UPDATE task_detail SET detail_revision = r.made, note = COALESCE(r.note, task_detail.note), \
     pickup_address = COALESCE(r.pickup_address, task_detail.pickup_address), \
     dropoff_address = COALESCE(r.dropoff_address, task_detail.dropoff_address), \
     due_at = COALESCE(r.due_at, task_detail.due_at) FROM ",
    rows(id int, loaded int, made int, note text, pickup_address text, dropoff_address text, due_at int),
    " WHERE task_detail.task_id = r.id AND task_detail.detail_revision = r.loaded"
);

const TASK_NUMBERS: Sql =
    Sql::same("UPDATE task_counter SET number = number + $1 WHERE id = 1 RETURNING number");

const NUMBERS: Sql = Sql::same(
    "UPDATE event_counter SET number = number + $1, attempt = attempt + $2 WHERE id = 1 RETURNING number, attempt",
);

/// What a naive log does: numbers are given out at insert, not at commit. Only for the planted fault.
const SEQUENCE: Sql = Sql {
    sqlite: "SELECT 0, 0",
    postgres: "SELECT CAST(MAX(v.n) AS BIGINT), CAST(MAX(v.a) AS BIGINT) FROM \
               (SELECT nextval('planted_number') AS n, nextval('planted_attempt') AS a \
                FROM generate_series(1, GREATEST($1, $2))) v",
};

/// A task with what was decided for it in this transaction, in order.
#[derive(Clone, Copy, Debug)]
pub struct Steps<'a> {
    /// The row as it was loaded.
    pub before: &'a Task,
    /// What was decided; at least one step.
    pub steps: &'a [Transition],
}

impl Steps<'_> {
    /// The row as it will be.
    pub fn after(&self) -> &Task {
        self.steps.last().map_or(self.before, Transition::after)
    }
}

#[derive(Serialize)]
struct NetTask {
    id: i64,
    loaded: i64,
    state: &'static str,
    rider: Option<i64>,
    slot: Option<Slot>,
    stage: Option<&'static str>,
    mode: Option<&'static str>,
    until: Option<i64>,
    made: i64,
    at: i64,
    by_kind: &'static str,
    by_id: Option<String>,
}

impl NetTask {
    fn of(change: &Steps<'_>) -> Self {
        let Task { id, revision, state, changed_at, changed_by, .. } = change.after();
        Self {
            id: id.0,
            loaded: change.before.revision.0,
            state: state.name().as_str(),
            rider: state.rider().map(|rider| rider.0),
            slot: state.held().map(|(_, slot)| slot),
            stage: state.stage().map(Stage::as_str),
            mode: state.mode().map(Mode::as_str),
            until: state.offer_until().map(|until| until.0),
            made: revision.0,
            at: changed_at.0,
            by_kind: changed_by.kind(),
            by_id: changed_by.id(),
        }
    }
}

impl Tx {
    /// Writes decided changes: one net row per task and offer, each only if the task is still at the
    /// revision that it was loaded at.
    ///
    /// `token` makes the unguessable token of a new offer.
    ///
    /// # Errors
    /// [`Error::Moved`] if any row was not at its revision any more; then nothing may be committed.
    pub async fn apply(
        &mut self,
        changes: &[Steps<'_>],
        token: impl FnMut() -> Result<String>,
    ) -> Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        self.park(changes).await?;
        let net: Vec<_> = changes.iter().map(NetTask::of).collect();
        let sql = UPDATE.unguarded_if(planted(Fault::WriteWithoutRevision));
        let moved = execute!(self, sql, rows(&net));
        all_moved("task", moved, net.len())?;
        self.write_offers(changes, token).await
    }

    /// Takes places out of the way that change hands within this transaction: a unique index is checked
    /// row by row, so a place must be free before it is taken again.
    async fn park(&mut self, changes: &[Steps<'_>]) -> Result<()> {
        #[derive(Serialize)]
        struct Row {
            id: i64,
            loaded: i64,
        }
        let changes = || {
            let held =
                |change: &Steps<'_>| (change.before.state.held(), change.after().state.held());
            changes.iter().map(move |change| (change.before, held(change)))
        };
        let taken: HashSet<_> =
            changes().filter(|(_, (from, to))| from != to).filter_map(|(_, (_, to))| to).collect();
        let parked: Vec<_> = changes()
            .filter(|(_, (from, to))| from != to && from.is_some_and(|from| taken.contains(&from)))
            .map(|(task, _)| Row { id: task.id.0, loaded: task.revision.0 })
            .collect();
        if parked.is_empty() {
            return Ok(());
        }
        let moved = execute!(self, PARK, rows(&parked));
        all_moved("task", moved, parked.len())
    }

    /// Writes decided edits of details; several on one task in order.
    ///
    /// # Errors
    /// [`Error::Moved`] if the details were not at their revision any more.
    pub async fn apply_edits(&mut self, edits: &[&DetailEdit]) -> Result<()> {
        #[derive(Serialize)]
        struct Row<'a> {
            id: i64,
            loaded: i64,
            made: i64,
            note: Option<&'a String>,
            pickup_address: Option<&'a String>,
            dropoff_address: Option<&'a String>,
            due_at: Option<i64>,
            release_at: Option<i64>,
            priority: Option<i64>,
        }
        // One UPDATE changes a row once, so the n-th edit of each task goes into the n-th statement.
        let mut waves: Vec<(HashSet<TaskId>, Vec<Row<'_>>)> = Vec::new();
        for edit in edits {
            let (event, changes) = (edit.event(), edit.changes());
            let row = Row {
                id: event.task.0,
                loaded: event.to.0 - 1,
                made: event.to.0,
                note: changes.note.as_ref(),
                pickup_address: changes.pickup_address.as_ref(),
                dropoff_address: changes.dropoff_address.as_ref(),
                due_at: changes.due_at.map(|at| at.0),
                release_at: changes.release_at.map(|at| at.0),
                priority: changes.priority,
            };
            match waves.iter_mut().find(|(tasks, _)| !tasks.contains(&event.task)) {
                Some((tasks, wave)) => {
                    tasks.insert(event.task);
                    wave.push(row);
                }
                None => waves.push((HashSet::from([event.task]), vec![row])),
            }
        }
        for (_, wave) in waves {
            let moved = execute!(self, EDIT_DETAIL, rows(&wave));
            all_moved("task_detail", moved, wave.len())?;
            let decisive: Vec<_> = wave
                .into_iter()
                .filter(|row| row.release_at.is_some() || row.priority.is_some())
                .collect();
            if !decisive.is_empty() {
                execute!(self, EDIT_TASK, rows(&decisive));
            }
        }
        Ok(())
    }

    /// Takes `count` task numbers and returns the first.
    pub async fn take_task_numbers(&mut self, count: i64) -> Result<i64> {
        let taken = fetch!(self, (i64,), TASK_NUMBERS, count);
        let (last,) = taken.first().ok_or_else(|| no_counter("task_counter"))?;
        Ok(last - count + 1)
    }

    /// Takes numbers for events and attempts and returns the first of each.
    ///
    /// It locks the counter until the commit, so it comes last before the inserts: the order of
    /// numbers is the order of commits, and none is left out.
    pub async fn take_numbers(&mut self, events: i64, attempts: i64) -> Result<(i64, i64)> {
        let sql = if planted(Fault::NumberFromSequence) { SEQUENCE } else { NUMBERS };
        let taken = fetch!(self, (i64, i64), sql, events, attempts);
        let (event, attempt) = taken.first().ok_or_else(|| no_counter("event_counter"))?;
        Ok((event - events + 1, attempt - attempts + 1))
    }
}

fn no_counter(table: &'static str) -> Error {
    Error::Corrupt { table, column: "id", row: "1".to_owned(), value: "no row".to_owned() }
}

pub(super) fn all_moved(table: &'static str, moved: u64, wanted: usize) -> Result<()> {
    if u64::try_from(wanted) == Ok(moved) {
        Ok(())
    } else {
        Err(Error::Moved(format!("{moved} of {wanted} rows of {table} were at their revision")))
    }
}
