//! The storm: many clients who do nothing but grab one task that is over, and beside them others who work.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use dispatch_desk::{
    domain::{command::What, id::TaskId},
    engine::executor::{Error, Executor},
};
use futures_util::future::join_all;

use super::{
    cast::{CANCEL, D1, GRAB, WITHDRAW, offer, order, rider, shop},
    control::percentile,
    load::{FIRST, Run, change, command},
};

/// How many clients grab the one task, again and again, each as soon as it is answered.
pub const STORMERS: i64 = 64;
/// How many clients work.
const WORKERS: usize = 16;
/// On how many tasks they work.
const TASKS: usize = 1_000;

/// What one run came to.
pub struct Beside {
    /// The ordinary commands.
    pub ordinary: Run,
    /// Answered grabs of the storm a second.
    pub grabs: f64,
    /// Grabs of the storm for which there was no room.
    pub turned_away: u64,
}

/// What the storm came to so far.
#[derive(Default)]
struct Storm {
    over: AtomicBool,
    answered: AtomicU64,
    turned_away: AtomicU64,
}

async fn create(executor: &Executor) -> TaskId {
    let created = executor.execute(command(shop(), What::Create(Box::new(order())))).await;
    created.expect("an answer").answer().expect("JSON").task.expect("a task").id
}

/// Works for `time` while the storm goes on.
pub async fn beside(executor: &Executor, time: Duration) -> Beside {
    let finished = create(executor).await;
    executor.execute(change(D1, finished, 1, CANCEL)).await.expect("an answer");
    let tasks = join_all((0..TASKS).map(|_| create(executor))).await;

    let storm = Arc::new(Storm::default());
    let start = Instant::now();
    let stormers: Vec<_> = (0..STORMERS)
        .map(|number| tokio::spawn(grab(executor.clone(), number, finished, Arc::clone(&storm))))
        .collect();
    let workers: Vec<_> = (0..WORKERS)
        .map(|worker| {
            let mine = tasks.iter().copied().skip(worker).step_by(WORKERS).collect();
            tokio::spawn(work(executor.clone(), mine, start, time))
        })
        .collect();
    let mut latencies = Vec::new();
    for worker in workers {
        latencies.extend(worker.await.expect("a worker returns"));
    }
    let elapsed = start.elapsed().as_secs_f64();
    let answered = storm.answered.load(Ordering::Relaxed);
    storm.over.store(true, Ordering::Relaxed);
    for stormer in stormers {
        stormer.await.expect("a stormer returns");
    }
    latencies.sort_by(f64::total_cmp);
    #[expect(clippy::cast_precision_loss, reason = "counts of commands")]
    let (rate, grabs) = (latencies.len() as f64 / elapsed, answered as f64 / elapsed);
    let (p50_ms, p99_ms) = (percentile(&latencies, 0.5), percentile(&latencies, 0.99));
    let turned_away = storm.turned_away.load(Ordering::Relaxed);
    Beside { ordinary: Run { rate, p50_ms, p99_ms }, grabs, turned_away }
}

/// One client of the storm.
async fn grab(executor: Executor, number: i64, finished: TaskId, storm: Arc<Storm>) {
    while !storm.over.load(Ordering::Relaxed) {
        match executor.execute(change(rider(FIRST + number), finished, 2, GRAB)).await {
            Ok(reply) => {
                assert_eq!(reply.status, 409, "it is over");
                storm.answered.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) => {
                assert_eq!(error, Error::Busy);
                storm.turned_away.fetch_add(1, Ordering::Relaxed);
                // It was answered at once: others are to have their turn.
                tokio::task::yield_now().await;
            }
        }
    }
}

/// One client who works: offers a task of its own to a rider, takes the offer back, and goes on with the next task.
/// Returns how long each answer took, in milliseconds.
async fn work(executor: Executor, tasks: Vec<TaskId>, start: Instant, time: Duration) -> Vec<f64> {
    let mut latencies = Vec::new();
    for revision in (1..).step_by(2) {
        for (number, task) in (FIRST + 1_000..).zip(&tasks) {
            for (revision, act) in [(revision, offer(number)), (revision + 1, WITHDRAW)] {
                let asked = Instant::now();
                let reply = executor.execute(change(D1, *task, revision, act)).await;
                latencies.push(asked.elapsed().as_secs_f64() * 1e3);
                assert_eq!(reply.expect("room for ordinary commands").status, 200);
            }
            if start.elapsed() > time {
                return latencies;
            }
        }
    }
    latencies
}
