//! The mix: every client works through tasks of its own, one command after another.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use dispatch_desk::{
    domain::{
        answer::Answer,
        command::{Act, Actor, Command, RequestKey, What},
        id::{Revision, RiderId, TaskId},
        refusal::Lang,
    },
    engine::executor::Executor,
    store::Db,
};

use super::{
    baseline,
    cast::{CANCEL, D1, GRAB, NORTH, offer, order, rider, shop},
    control::percentile,
};

/// Racers of the hot task, and riders of the mix.
pub const RACERS: i64 = 5_000;
/// The first of the bench's own riders.
pub const FIRST: i64 = 10_000;

/// Adds riders enough that places never run out.
pub async fn riders(db: &Db) {
    let mut tx = db.begin().await.expect("a transaction");
    for number in 0..RACERS {
        let id = RiderId(FIRST + number);
        tx.add_rider(id, NORTH, "bench rider", 1000, None).await.expect("a rider");
    }
    tx.commit().await.expect("riders");
}

/// How commands are carried out.
pub enum Way {
    /// (a) on SQLite: one writer, as a pool of one.
    Sqlite(sqlx::SqlitePool),
    /// (a) on PostgreSQL.
    Postgres(sqlx::PgPool),
    /// (b).
    Executor(Executor),
}

impl Way {
    /// (a) on the database at `url`, set up like ours: the same durability, a writer of its own on SQLite.
    pub async fn one_by_one(url: &str) -> Self {
        use sqlx::sqlite::{
            SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous,
        };

        if url.starts_with("sqlite:") {
            let options = url
                .parse::<SqliteConnectOptions>()
                .expect("an address")
                .journal_mode(SqliteJournalMode::Wal)
                .synchronous(SqliteSynchronous::Full)
                .pragma("cache_size", "-16384")
                .pragma("wal_autocheckpoint", "4000");
            let pool = SqlitePoolOptions::new()
                .max_connections(1)
                .test_before_acquire(false)
                .connect_with(options)
                .await;
            Self::Sqlite(pool.expect("SQLite opens"))
        } else {
            let pool = sqlx::postgres::PgPoolOptions::new().max_connections(16).connect(url).await;
            Self::Postgres(pool.expect("PostgreSQL answers"))
        }
    }

    async fn execute(&self, command: Command) -> Answer {
        match self {
            Self::Sqlite(pool) => {
                baseline::sqlite::execute(pool, &command).await.expect("an answer")
            }
            Self::Postgres(pool) => {
                baseline::postgres::execute(pool, &command).await.expect("an answer")
            }
            Self::Executor(executor) => {
                let reply = executor.execute(command).await.expect("an answer");
                reply.answer().expect("JSON")
            }
        }
    }

    /// Ends it.
    pub async fn stop(self) {
        match self {
            Self::Sqlite(pool) => pool.close().await,
            Self::Postgres(pool) => pool.close().await,
            Self::Executor(executor) => executor.stop().await,
        }
    }
}

/// What one run came to.
pub struct Run {
    /// Commands a second.
    pub rate: f64,
    /// Half of the answers came within this time.
    pub p50_ms: f64,
    /// 99 of 100 answers came within this time.
    pub p99_ms: f64,
}

static KEYS: AtomicU64 = AtomicU64::new(0);

/// A command under a key of its own.
pub fn command(actor: Actor, what: What) -> Command {
    // Keys as clients make them: unguessable, so without any order.
    let number = KEYS.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let key = RequestKey::parse(&format!("{number:016x}-bench"));
    Command { actor, key, lang: Lang::En, what }
}

/// A change under a key of its own.
pub fn change(actor: Actor, task: TaskId, revision: i64, act: Act) -> Command {
    command(actor, What::Change { task, revision: Revision(revision), act })
}

/// Runs the mix with `in_flight` clients for `time`.
pub async fn mix(way: &Way, in_flight: usize, time: Duration) -> Run {
    let start = Instant::now();
    let clients = (0..in_flight).map(|client| client_of(way, client, start, time));
    let mut latencies: Vec<f64> = futures_util::future::join_all(clients).await.concat();
    let elapsed = start.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a count of commands")]
    let rate = latencies.len() as f64 / elapsed;
    latencies.sort_by(f64::total_cmp);
    Run { rate, p50_ms: percentile(&latencies, 0.5), p99_ms: percentile(&latencies, 0.99) }
}

/// One client: orders a task and brings it to an end, again and again. Two stories take turns: an offer that is
/// accepted and then cancelled, and a grab that is delivered; in both a second rider comes too late.
async fn client_of(way: &Way, client: usize, start: Instant, time: Duration) -> Vec<f64> {
    let client = i64::try_from(client).expect("a small number");
    let (me, other) = (FIRST + client, FIRST + client + 1_000);
    let mut latencies = Vec::new();
    for round in client.. {
        let asked = Instant::now();
        let created = way.execute(command(shop(), What::Create(Box::new(order())))).await;
        latencies.push(asked.elapsed().as_secs_f64() * 1e3);
        let task = created.task.expect("a task").id;
        let story = if round % 2 == 0 {
            vec![
                (D1, 1, offer(me)),
                (rider(other), 2, GRAB),
                (rider(me), 2, Act::Accept),
                (rider(other), 1, GRAB),
                (D1, 3, CANCEL),
            ]
        } else {
            vec![
                (rider(me), 1, GRAB),
                (rider(other), 1, GRAB),
                (rider(me), 2, Act::Arrive),
                (rider(me), 3, Act::PickUp),
                (rider(me), 4, Act::Deliver),
            ]
        };
        for (actor, revision, act) in story {
            let asked = Instant::now();
            way.execute(change(actor, task, revision, act)).await;
            latencies.push(asked.elapsed().as_secs_f64() * 1e3);
        }
        if start.elapsed() > time {
            break;
        }
    }
    latencies
}

/// All racers grab one new task. Returns the milliseconds until the last answer, and how many won.
pub async fn race(executor: &Executor, round: i64) -> (f64, usize) {
    let created = executor.execute(command(shop(), What::Create(Box::new(order())))).await;
    let task = created.expect("an answer").answer().expect("JSON").task.expect("a task").id;
    let commands: Vec<_> = (0..RACERS)
        .map(|number| change(rider(FIRST + (number + round) % RACERS), task, 1, GRAB))
        .collect();
    let start = Instant::now();
    let answers = commands.into_iter().map(|command| executor.execute(command));
    let answers = futures_util::future::join_all(answers).await;
    let ms = start.elapsed().as_secs_f64() * 1e3;
    let won = answers
        .into_iter()
        .filter(|answer| answer.as_ref().expect("an answer").status == 200)
        .count();
    (ms, won)
}
