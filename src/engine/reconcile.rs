//! Folds the log against the rows and says what differs. It reads and repairs nothing.

use std::{collections::HashMap, fmt};

use crate::{
    domain::{
        event::{Change, DetailEvent, Event, evolve},
        id::{Revision, RiderId, TaskId},
        task::{OfferAnswer, Slot, State, Task},
    },
    store::{self, Db, LedgerOffer, LoggedEvent, Tx},
};

/// How many tasks are compared at a time.
const PAGE: i64 = 1_000;

/// One thing that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What it is about.
    pub about: String,
    /// What was found, and what the log says.
    pub what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.about, self.what)
    }
}

/// What a comparison found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How many tasks were folded.
    pub tasks: u64,
    /// How many events were read.
    pub events: u64,
    /// How many offers were compared.
    pub offers: u64,
    /// What differs; empty if all is well.
    pub differences: Vec<Difference>,
}

impl Report {
    fn differs(&mut self, about: impl fmt::Display, what: impl Into<String>) {
        self.differences.push(Difference { about: about.to_string(), what: what.into() });
    }
}

/// Compares everything, in one snapshot. `progress` is told the number of tasks done so far.
///
/// # Errors
/// If the database can not be read. A row that means nothing is a difference, not an error.
pub async fn reconcile(db: &Db, mut progress: impl FnMut(u64)) -> store::Result<Report> {
    let mut tx = db.read().await?;
    let mut report = Report::default();
    let mut places: HashMap<(RiderId, Slot), TaskId> = HashMap::new();
    let mut after = TaskId(i64::MIN);
    loop {
        let tasks = tx.tasks_after(after, PAGE).await?;
        let Some((last, _)) = tasks.last() else { break };
        let last = *last;
        let mut events = by_task(tx.events_between(after, last).await?);
        let mut offers = ledger(&mut tx, after, last).await?;
        for (id, row) in tasks {
            report.tasks += 1;
            let events = events.remove(&id).unwrap_or_default();
            let offers = offers.remove(&id).unwrap_or_default();
            match row {
                Ok(task) => {
                    let details = tx.detail_revision(id).await?;
                    compare(&mut report, &task, &events, &offers, details);
                    place(&mut report, &mut places, &task);
                }
                Err(corrupt) => report.differs(id, corrupt.to_string()),
            }
        }
        for id in events.into_keys() {
            report.differs(id, "the log tells of a task that has no row");
        }
        after = last;
        progress(report.tasks);
    }
    numbers(&mut tx, &mut report).await?;
    tx.rollback().await?;
    Ok(report)
}

fn by_task(events: Vec<LoggedEvent>) -> HashMap<TaskId, Vec<LoggedEvent>> {
    let mut tasks: HashMap<TaskId, Vec<LoggedEvent>> = HashMap::new();
    for event in events {
        tasks.entry(TaskId(event.task_id.unwrap_or_default())).or_default().push(event);
    }
    tasks
}

async fn ledger(
    tx: &mut Tx,
    after: TaskId,
    through: TaskId,
) -> store::Result<HashMap<TaskId, Vec<LedgerOffer>>> {
    let mut offers: HashMap<TaskId, Vec<LedgerOffer>> = HashMap::new();
    for offer in tx.offers_between(after, through).await? {
        offers.entry(offer.task).or_default().push(offer);
    }
    Ok(offers)
}

/// One task: its log against its row, and its offers against both.
fn compare(
    report: &mut Report,
    row: &Task,
    logged: &[LoggedEvent],
    offers: &[LedgerOffer],
    details: Option<Revision>,
) {
    report.events += u64::try_from(logged.len()).unwrap_or_default();
    report.offers += u64::try_from(offers.len()).unwrap_or_default();
    let mut folded: Option<Task> = None;
    let mut detail_revision = Revision::NONE.next();
    let mut expected: HashMap<Revision, LedgerOffer> = HashMap::new();
    for logged in logged {
        match (logged.task_event(), logged.detail_event()) {
            (Ok(Some(event)), _) => {
                if let Some(waiting) =
                    folded.as_ref().and_then(|task| expected.get_mut(&task.revision))
                {
                    waiting.answer = OfferAnswer::by(event.action);
                }
                expect_offer(&mut expected, &event);
                match evolve(folded.as_ref(), &event) {
                    Ok(after) => folded = Some(after),
                    Err(misfit) => return report.differs(row.id, misfit.to_string()),
                }
            }
            (Ok(None), Ok(Some(edit))) => fold_edit(&mut folded, &mut detail_revision, &edit),
            (Ok(None), Ok(None)) => {}
            (Err(corrupt), _) | (_, Err(corrupt)) => report.differs(row.id, corrupt.to_string()),
        }
    }
    match &folded {
        None => report.differs(row.id, "a row without any event"),
        Some(folded) if folded != row => {
            report.differs(row.id, format!("the row is {row:?}, but its log folds to {folded:?}"));
        }
        Some(_) => {}
    }
    if details != Some(detail_revision) {
        let details = details.map_or_else(|| "missing".to_owned(), |details| details.to_string());
        report.differs(
            row.id,
            format!("detail revision is {details}, the log says {detail_revision}"),
        );
    }
    for offer in offers {
        match expected.remove(&offer.revision) {
            Some(logged) if logged == *offer => {}
            Some(logged) => {
                report.differs(row.id, format!("offer {offer:?}, but the log says {logged:?}"));
            }
            None => report.differs(row.id, format!("offer {offer:?} that the log does not know")),
        }
    }
    for missing in expected.values() {
        report.differs(row.id, format!("no offer where the log says {missing:?}"));
    }
}

/// Notes the offer that an event makes.
fn expect_offer(expected: &mut HashMap<Revision, LedgerOffer>, event: &Event) {
    if let (Change::Offered { until, .. }, Some(rider)) = (&event.change, event.rider) {
        let offer = LedgerOffer {
            task: event.task,
            revision: event.to,
            rider,
            until: *until,
            answer: None,
        };
        expected.insert(event.to, offer);
    }
}

fn fold_edit(folded: &mut Option<Task>, detail_revision: &mut Revision, edit: &DetailEvent) {
    *detail_revision = edit.to;
    if let Some(task) = folded {
        task.release_at = edit.edited.release_at.unwrap_or(task.release_at);
        task.priority = edit.edited.priority.unwrap_or(task.priority);
    }
}

/// No place holds two tasks, whatever the index says.
fn place(report: &mut Report, places: &mut HashMap<(RiderId, Slot), TaskId>, task: &Task) {
    if let Some((rider, slot)) = task.state.held()
        && let Some(other) = places.insert((rider, slot), task.id)
    {
        report.differs(task.id, format!("place {slot} of {rider} also holds {other}"));
    }
    if matches!(task.state, State::Offered { .. } | State::Assigned { .. })
        && task.state.rider().is_none()
    {
        report.differs(task.id, "held by nobody");
    }
}

/// Numbers are dense: as many rows as the last number says, and the counter agrees.
async fn numbers(tx: &mut Tx, report: &mut Report) -> store::Result<()> {
    let (event, attempt) = tx.head().await?;
    let counts = tx.log_counts().await?;
    let dense = [
        ("events", counts.events, counts.last_event, event),
        ("attempts", counts.attempts, counts.last_attempt, attempt),
    ];
    for (what, rows, last, counter) in dense {
        if rows != last || last != counter {
            report.differs(
                what,
                format!("{rows} rows, the last number is {last}, the counter stands at {counter}"),
            );
        }
    }
    Ok(())
}
