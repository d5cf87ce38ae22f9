//! One transaction: lock and load, decide, write, number.

mod judge;
mod load;
mod rounds;
mod write;

use super::{
    Error, Job, Shared,
    reply::{Draft, Reply},
};
use crate::{
    domain::{
        command::Actor,
        decide::Denial,
        id::{RiderId, TaskId},
    },
    fault::fail_point,
    store::{self, EventRow, RiderChange, Tx},
};

/// What a batch comes to for one job.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It has an answer.
    Reply(Reply),
    /// It has none, and nothing is stored.
    Error(Error),
    /// Its task is held by another transaction; it has to wait.
    Later,
}

/// What a batch comes to.
#[derive(Debug)]
pub(super) struct Batch {
    /// For each job, in order.
    pub(super) outcomes: Vec<Outcome>,
    /// The number of the last event, if any was written.
    pub(super) head: Option<i64>,
    /// Whether there is anything to commit.
    pub(super) writes: bool,
    /// Whether any offer was made.
    pub(super) offers: bool,
    /// The tasks that are over, ended by it or before it: known for sure once it is committed.
    pub(super) over: Vec<TaskId>,
    /// Only for the planted fault: events that are written after the commit.
    pub(super) stray_events: Vec<EventRow>,
}

impl Batch {
    /// A batch without jobs.
    pub(super) const fn empty() -> Self {
        Self {
            outcomes: Vec::new(),
            head: None,
            writes: false,
            offers: false,
            over: Vec::new(),
            stray_events: Vec::new(),
        }
    }
}

/// The decision on one job, before the numbers are known.
enum Decided {
    Denied(Denial),
    KeyReused,
    Replay(Reply),
    SameAs(usize),
    Later,
    Draft(Box<Draft>),
}

/// Decides `jobs` in order and writes what was decided. A change of a rider, if any, comes before.
pub(super) async fn run(
    tx: &mut Tx,
    jobs: &[Job],
    rider_change: Option<(RiderId, &RiderChange, &Actor)>,
    shared: &Shared,
) -> store::Result<Batch> {
    let (key, positions) = (&shared.settings.ticket_key, &shared.positions);
    let mut world = load::load(tx, jobs, rider_change, key, positions).await?;
    fail_point!("after-load");
    let mut decided: Vec<Decided> = Vec::with_capacity(jobs.len());
    for (index, job) in jobs.iter().enumerate() {
        decided.push(judge::decide_job(&mut world, index, job));
    }
    judge::name_the_first(tx, &world, &mut decided).await?;
    write::write(tx, &world, jobs, decided, rider_change, &shared.settings).await
}
