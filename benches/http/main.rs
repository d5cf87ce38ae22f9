//! What the HTTP face costs, with its controls printed.
//!
//! `cargo bench --bench http`. The program itself is started (`serve`), and asked over loopback. Four questions: grabs
//! on 64 kept connections, against the same through one connection; the board with 10,000 open tasks,
//! against the board with 100; the board while two hundred people sign in, against the same alone; start-up and memory
//! with 10,000 live tasks and a million events, against an empty desk.
//! `BENCH_SECONDS` (default 5) is the length of a run, `BENCH_RUNS` (default 3) how many runs the median is taken of,
//! `BENCH_EVENTS` (default 1000000) the size of the large log. `BENCH_ONLY` runs one part alone: `grabs`, `board`, `crowd` or
//! `start`.

#[path = "../../tests/harness/cast.rs"]
#[expect(dead_code, reason = "the bench needs a part of the cast")]
mod cast;
mod client;
#[path = "../executor/control.rs"]
mod control;
mod crowd;
#[path = "../executor/grow.rs"]
mod grow;
mod program;

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use client::Connection;
use control::{machine, median, percentile, syncs_per_second};
use dispatch_desk::{
    admin,
    domain::{
        command::{Actor, Command, RequestKey, What},
        id::{RiderId, StaffId, TaskId},
        refusal::Lang,
    },
    engine::executor::{Executor, Settings},
    store::{Db, Time},
};
use program::Program;

/// How many connections grab at once.
const CONNECTIONS: i64 = 64;
/// How many riders they speak for, in turn: nobody holds thousands of tasks.
const RIDERS: i64 = 1_280;
/// How many tasks each of them has room for.
const PLACES: u32 = 40;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[tokio::main]
async fn main() {
    // `cargo test --benches` runs it too; then it only shows that it starts.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let folder = tempfile::tempdir_in(".").expect("a folder on the disk to be measured");
    let seconds = Duration::from_secs(number("BENCH_SECONDS", 5));
    let runs = number("BENCH_RUNS", 3);
    println!("{}", machine());
    println!("disk before: {:.0} syncs of 4 KiB a second", syncs_per_second(folder.path()));
    let only = std::env::var("BENCH_ONLY").ok();
    let wanted = |part: &str| only.as_deref().is_none_or(|only| only == part);
    if wanted("grabs") {
        grabs(folder.path(), seconds, runs).await;
    }
    if wanted("board") {
        board(folder.path()).await;
    }
    if wanted("crowd") {
        crowd::crowd(folder.path()).await;
    }
    if wanted("start") {
        start_up(folder.path()).await;
    }
    println!("\ndisk after: {:.0} syncs of 4 KiB a second", syncs_per_second(folder.path()));
}

/// A database with the cast, a log of `events` and `tasks` open tasks. Returns its address.
async fn desk(
    folder: &Path,
    name: &str,
    tasks: usize,
    capacity: u32,
    events: i64,
) -> (String, Vec<TaskId>) {
    let url = format!("sqlite://{}/{name}.db", folder.display());
    let db = Db::open(&url, Time::System).await.expect("a new database opens");
    cast::enter(&db).await.expect("the cast enters");
    let mut tx = db.begin().await.expect("begins");
    for rider in 1_000..1_000 + RIDERS {
        let name = format!("rider {rider}");
        tx.add_rider(RiderId(rider), cast::NORTH, &name, capacity, None).await.expect("a rider");
    }
    if events > 0 {
        for rider in 10_000..15_000 {
            tx.add_rider(RiderId(rider), cast::NORTH, "past", 1, None).await.expect("a rider");
        }
    }
    tx.commit().await.expect("commits");
    if events > 0 {
        grow::to(&url, events).await;
    }
    let executor = Executor::start(db.clone(), Settings::default());
    let mut created = Vec::with_capacity(tasks);
    for chunk in (0..tasks).collect::<Vec<_>>().chunks(256) {
        let asked = chunk.iter().map(|task| {
            let key = RequestKey::parse(&format!("bench-{task}")).expect("a key");
            let what = What::Create(Box::new(cast::order()));
            let command = Command { actor: cast::shop(), key: Some(key), lang: Lang::En, what };
            executor.execute(command)
        });
        for reply in futures_util::future::join_all(asked).await {
            let answer = reply.expect("an answer").answer().expect("our own");
            created.push(answer.task.expect("a task").id);
        }
    }
    executor.stop().await;
    db.close().await;
    (url, created)
}

async fn tokens(url: &str, actors: &[Actor]) -> Vec<String> {
    let db = Db::open(url, Time::System).await.expect("opens");
    let mut tokens = Vec::new();
    for actor in actors {
        tokens.push(admin::token(&db, actor, "bench").await.expect("a token"));
    }
    db.close().await;
    tokens
}

struct Took {
    rate: f64,
    p50_ms: f64,
    p99_ms: f64,
}

/// Task after task is grabbed over `connections`, each asking for the next as soon as it is answered.
async fn run_of_grabs(folder: &Path, name: &str, connections: i64, most: Duration) -> Took {
    let wanted = if connections == 1 { 4_000 } else { 40_000 };
    let (url, tasks) = desk(folder, name, wanted, PLACES, 0).await;
    let riders: Vec<_> = (0..RIDERS).map(|rider| cast::rider(1_000 + rider)).collect();
    let tokens = tokens(&url, &riders).await;
    let share = tokens.len() / usize::try_from(connections).expect("a number of connections");
    let program = Program::start(&url).await;
    let (tasks, next) = (Arc::new(tasks), Arc::new(AtomicUsize::new(0)));
    let began = Instant::now();
    let riders = tokens.chunks(share).map(|tokens| {
        let mut tokens = Vec::from(tokens).into_iter().cycle();
        let (tasks, next, address) = (Arc::clone(&tasks), Arc::clone(&next), program.address);
        tokio::spawn(async move {
            let mut connection = Connection::open(address).await;
            let mut took = Vec::new();
            while began.elapsed() < most {
                let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
                let path = format!("/api/v1/tasks/{}/grab", task.0);
                let key = format!("grab-{}", task.0);
                let token = tokens.next().expect("riders come round again");
                let sent = Instant::now();
                let (status, body) = connection.post(&path, &token, &key, "{\"revision\":1}").await;
                assert_eq!(status, 200, "{body}");
                took.push(sent.elapsed());
            }
            took
        })
    });
    let mut all: Vec<Duration> = Vec::new();
    for rider in riders.collect::<Vec<_>>() {
        all.extend(rider.await.expect("a rider ends"));
    }
    let lasted = began.elapsed().as_secs_f64();
    program.stop().await;
    let mut all: Vec<_> = all.iter().map(|took| took.as_secs_f64() * 1_000.0).collect();
    all.sort_by(f64::total_cmp);
    #[expect(clippy::cast_precision_loss, reason = "a count of requests")]
    let rate = all.len() as f64 / lasted;
    Took { rate, p50_ms: percentile(&all, 0.5), p99_ms: percentile(&all, 0.99) }
}

async fn grabs(folder: &Path, seconds: Duration, runs: u64) {
    println!("\n| connections | grabs/s (min–max) | p50 ms | p99 ms |");
    println!("|---|---|---|---|");
    let mut results: Vec<(i64, Vec<Took>)> = vec![(1, Vec::new()), (CONNECTIONS, Vec::new())];
    for run in 0..runs {
        for (connections, took) in &mut results {
            let name = format!("grabs_{connections}_{run}");
            took.push(run_of_grabs(folder, &name, *connections, seconds).await);
        }
    }
    for (connections, took) in results {
        let of = |figure: fn(&Took) -> f64| median(took.iter().map(figure).collect());
        let rates = || took.iter().map(|took| took.rate);
        let (least, most) = (rates().fold(f64::MAX, f64::min), rates().fold(0.0, f64::max));
        println!(
            "| {connections} | {:.0} ({least:.0}–{most:.0}) | {:.2} | {:.2} |",
            of(|took| took.rate),
            of(|took| took.p50_ms),
            of(|took| took.p99_ms)
        );
    }
}

async fn board(folder: &Path) {
    println!("\n| open tasks | board page p50 ms | p99 ms | bytes | API list of 100, p50 ms |");
    println!("|---|---|---|---|---|");
    for tasks in [100, 10_000] {
        let (url, _) = desk(folder, &format!("board_{tasks}"), tasks, 3, 0).await;
        let staff = Actor::Staff(StaffId(1));
        let db = Db::open(&url, Time::System).await.expect("opens");
        let link = admin::link(&db, &staff, 3_600_000, 1).await.expect("a link");
        db.close().await;
        let token = tokens(&url, &[staff]).await.remove(0);
        let program = Program::start(&url).await;
        let mut connection = Connection::open(program.address).await;
        let cookie = connection.sign_in(&link).await;
        let (mut pages, mut lists, mut bytes) = (Vec::new(), Vec::new(), 0);
        for _ in 0..300 {
            let sent = Instant::now();
            let (status, body) = connection.get("/board", &format!("Cookie: {cookie}")).await;
            pages.push(sent.elapsed().as_secs_f64() * 1_000.0);
            assert_eq!(status, 200);
            bytes = body.len();
            let sent = Instant::now();
            let header = format!("Authorization: Bearer {token}");
            let (status, _) = connection.get("/api/v1/tasks?state=open", &header).await;
            lists.push(sent.elapsed().as_secs_f64() * 1_000.0);
            assert_eq!(status, 200);
        }
        pages.sort_by(f64::total_cmp);
        println!(
            "| {tasks} | {:.2} | {:.2} | {bytes} | {:.2} |",
            median(pages.clone()),
            percentile(&pages, 0.99),
            median(lists)
        );
        program.stop().await;
    }
}

async fn start_up(folder: &Path) {
    println!(
        "\n| live tasks | events | ready after ms | memory MiB, ready | memory MiB, after 300 boards |"
    );
    println!("|---|---|---|---|---|");
    let events = i64::try_from(number("BENCH_EVENTS", 1_000_000)).expect("a size");
    for (live, events) in [(0_usize, 0), (10_000, events)] {
        let (url, _) = desk(folder, &format!("start_{live}"), live, 3, events).await;
        let staff = Actor::Staff(StaffId(1));
        let db = Db::open(&url, Time::System).await.expect("opens");
        let link = admin::link(&db, &staff, 3_600_000, 1).await.expect("a link");
        db.close().await;
        let began = Instant::now();
        let program = Program::start(&url).await;
        let mut connection = Connection::open(program.address).await;
        while connection.get("/readyz", "X: y").await.0 != 200 {}
        let ready = began.elapsed().as_secs_f64() * 1_000.0;
        let before = program.memory_mib();
        let cookie = connection.sign_in(&link).await;
        for _ in 0..300 {
            connection.get("/board", &format!("Cookie: {cookie}")).await;
        }
        let after = program.memory_mib();
        println!("| {live} | {events} | {ready:.0} | {before:.1} | {after:.1} |");
        program.stop().await;
    }
}
