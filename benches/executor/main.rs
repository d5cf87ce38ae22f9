//! The executor against the way of the seeds, in one run, with the controls printed.
//!
//! `cargo bench --bench executor` needs nothing for SQLite; for PostgreSQL it needs `TEST_POSTGRES_URL` (a server whose data
//! may be lost). `BENCH_SECONDS` (default 2) is the length of one run, `BENCH_RUNS` (default 5) how many of them the
//! median is taken of, `BENCH_EVENTS` (default 2000000) the size of the large log. `BENCH_ONLY` runs one part alone:
//! `throughput`, `growth`, `hot` or `storm`.

mod baseline;
#[path = "../../tests/harness/cast.rs"]
#[expect(dead_code, reason = "the bench needs a part of the cast")]
mod cast;
mod control;
mod grow;
mod load;
mod storm;

use std::{path::Path, time::Duration};

use control::{machine, median, syncs_per_second};
use dispatch_desk::{
    engine::executor::{Executor, Settings},
    store::{Db, Time},
};
use load::{Run, Way};

/// Long enough for SQLite's log to reach its full size and be written again from its start.
const WARM_UP: Duration = Duration::from_millis(1_500);
const IN_FLIGHT: [usize; 3] = [1, 16, 256];

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[tokio::main]
async fn main() {
    // `cargo test --benches` runs it too; then it only shows that it starts.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    println!("# {}; {}", machine(), rustc());
    println!("# disk before: {:.0} syncs/s of 4 KiB", syncs_per_second(folder.path()));
    let postgres = std::env::var("TEST_POSTGRES_URL").ok();
    if postgres.is_none() {
        println!("# TEST_POSTGRES_URL is not set: PostgreSQL is left out");
    }
    let only = std::env::var("BENCH_ONLY").unwrap_or_default();
    let wanted = |part: &str| only.is_empty() || only == part;
    if wanted("throughput") {
        throughput(folder.path(), postgres.as_deref()).await;
    }
    if wanted("growth") {
        growth(folder.path(), postgres.as_deref()).await;
    }
    if wanted("hot") {
        hot(folder.path(), postgres.as_deref()).await;
    }
    if wanted("storm") {
        beside_a_storm(folder.path(), postgres.as_deref()).await;
    }
    println!("# disk after: {:.0} syncs/s of 4 KiB", syncs_per_second(folder.path()));
}

fn rustc() -> String {
    let version = std::process::Command::new("rustc").arg("--version").output();
    version.map_or_else(
        |_| String::new(),
        |out| String::from_utf8_lossy(&out.stdout).trim().to_owned(),
    )
}

/// A database with its cast, and its name with the version.
async fn open(folder: &Path, postgres: Option<&str>, name: &str) -> (Db, String, String) {
    let url = match postgres {
        None => format!("sqlite://{}/{name}.db", folder.display()),
        Some(base) => schema(base, name).await,
    };
    let db = Db::open(&url, Time::System).await.expect("the database opens");
    cast::enter(&db).await.expect("the cast enters");
    load::riders(&db).await;
    let product = if postgres.is_some() { "PostgreSQL" } else { "SQLite" };
    let version = db.version().await.expect("a version");
    let version = version.split_whitespace().next().unwrap_or_default().to_owned();
    (db, url, format!("{product} {version}"))
}

async fn schema(base: &str, name: &str) -> String {
    let name = format!("bench_{name}_{}", std::process::id());
    let pool = sqlx::PgPool::connect(base).await.expect("PostgreSQL answers");
    let create = sqlx::AssertSqlSafe(format!("CREATE SCHEMA {name}"));
    sqlx::query(create).execute(&pool).await.expect("a schema of our own");
    let joint = if base.contains('?') { '&' } else { '?' };
    format!("{base}{joint}options=-c%20search_path%3D{name}")
}

/// (a) one transaction per command against (b) the executor.
async fn throughput(folder: &Path, postgres: Option<&str>) {
    let (seconds, runs) =
        (Duration::from_secs(number("BENCH_SECONDS", 2)), number("BENCH_RUNS", 5));
    println!("\n| database | in flight | way | commands/s (min–max) | p50 ms | p99 ms | × (a) |");
    println!("|---|---|---|---|---|---|---|");
    for database in std::iter::once(None).chain(postgres.map(Some)) {
        for in_flight in IN_FLIGHT {
            let mut rates: [Vec<Run>; 2] = [Vec::new(), Vec::new()];
            let mut product = String::new();
            // The two ways take turns, so that a slow spell of the disk meets both.
            for run in 0..runs {
                for (index, way) in ["a", "b"].into_iter().enumerate() {
                    let name = format!("{way}_{in_flight}_{run}");
                    let (db, url, found) = open(folder, database, &name).await;
                    product = found;
                    let way = match index {
                        0 => Way::one_by_one(&url).await,
                        _ => Way::Executor(Executor::start(db.clone(), Settings::default())),
                    };
                    // A log that still grows costs more at each sync; both ways start with one that is grown.
                    load::mix(&way, 64, WARM_UP).await;
                    rates[index].push(load::mix(&way, in_flight, seconds).await);
                    way.stop().await;
                    db.close().await;
                }
            }
            let base = median(rates[0].iter().map(|run| run.rate).collect());
            for (runs, way) in rates.iter().zip(["(a) one by one", "(b) executor"]) {
                print_row(&product, in_flight, way, runs, base);
            }
        }
    }
}

fn print_row(product: &str, in_flight: usize, way: &str, runs: &[Run], base: f64) {
    let of = |value: fn(&Run) -> f64| runs.iter().map(value).collect::<Vec<_>>();
    let rates = of(|run| run.rate);
    let (low, high) = rates
        .iter()
        .fold((f64::MAX, 0.0f64), |(low, high), rate| (low.min(*rate), high.max(*rate)));
    let rate = median(rates);
    println!(
        "| {product} | {in_flight} | {way} | {rate:.0} ({low:.0}–{high:.0}) | {:.2} | {:.2} | {:.1} |",
        median(of(|run| run.p50_ms)),
        median(of(|run| run.p99_ms)),
        rate / base,
    );
}

/// The executor on a small log and on a large one.
async fn growth(folder: &Path, postgres: Option<&str>) {
    let (seconds, runs) =
        (Duration::from_secs(number("BENCH_SECONDS", 2)), number("BENCH_RUNS", 5));
    let large = i64::try_from(number("BENCH_EVENTS", 2_000_000)).expect("a size");
    println!("\n| database | events in the log | commands/s at 256 in flight | × the small log |");
    println!("|---|---|---|---|");
    for database in std::iter::once(None).chain(postgres.map(Some)) {
        let mut sizes = Vec::new();
        for (index, events) in [10_000, large].into_iter().enumerate() {
            let (db, url, product) = open(folder, database, &format!("grown_{index}")).await;
            grow::to(&url, events).await;
            sizes.push((events, db, product, Vec::new()));
        }
        for _ in 0..runs {
            for (_, db, _, rates) in &mut sizes {
                let way = Way::Executor(Executor::start(db.clone(), Settings::default()));
                rates.push(load::mix(&way, 256, seconds).await.rate);
                way.stop().await;
            }
        }
        let small = median(sizes[0].3.clone());
        for (events, db, product, rates) in sizes {
            let rate = median(rates);
            println!("| {product} | {events} | {rate:.0} | {:.2} |", rate / small);
            db.close().await;
        }
    }
}

/// 5,000 riders grab one task.
async fn hot(folder: &Path, postgres: Option<&str>) {
    println!("\n| database | racers on one task | all answered after ms (5 rounds) | winners |");
    println!("|---|---|---|---|");
    for database in std::iter::once(None).chain(postgres.map(Some)) {
        let (db, _, product) = open(folder, database, "hot").await;
        let executor = Executor::start(db.clone(), Settings::default());
        let (mut times, mut winners) = (Vec::new(), 0);
        for round in 0..5 {
            let (ms, won) = load::race(&executor, round).await;
            times.push(format!("{ms:.0}"));
            winners += won;
        }
        println!("| {product} | {} | {} | {winners} in 5 rounds |", load::RACERS, times.join(", "));
        executor.stop().await;
        db.close().await;
    }
}

/// Ordinary commands on a thousand tasks, while others do nothing but grab one that is over: with marks and without.
async fn beside_a_storm(folder: &Path, postgres: Option<&str>) {
    let (seconds, runs) =
        (Duration::from_secs(number("BENCH_SECONDS", 2)), number("BENCH_RUNS", 5));
    println!(
        "\n| database | beside {} clients who grab one finished task | commands/s | p50 ms (min–max) | p99 ms (min–max) | grabs/s | turned away |",
        storm::STORMERS
    );
    println!("|---|---|---|---|---|---|---|");
    let ways = [("without marks", 0), ("with marks", Settings::default().hot)];
    for database in std::iter::once(None).chain(postgres.map(Some)) {
        let mut all = [Vec::new(), Vec::new()];
        let mut product = String::new();
        // The two ways take turns, so that a slow spell of the disk meets both.
        for run in 0..runs {
            for (index, (_, hot)) in ways.iter().enumerate() {
                let (db, _, found) = open(folder, database, &format!("storm_{index}_{run}")).await;
                product = found;
                let settings = Settings { hot: *hot, ..Settings::default() };
                let executor = Executor::start(db.clone(), settings);
                all[index].push(storm::beside(&executor, seconds).await);
                executor.stop().await;
                db.close().await;
            }
        }
        for ((name, _), runs) in ways.iter().zip(&all) {
            println!(
                "| {product} | {name} | {:.0} | {} | {} | {:.0} | {} |",
                median(runs.iter().map(|run| run.ordinary.rate).collect()),
                spread(runs.iter().map(|run| run.ordinary.p50_ms).collect()),
                spread(runs.iter().map(|run| run.ordinary.p99_ms).collect()),
                median(runs.iter().map(|run| run.grabs).collect()),
                runs.iter().map(|run| run.turned_away).sum::<u64>(),
            );
        }
    }
}

/// The middle one of several runs, and the ends.
fn spread(values: Vec<f64>) -> String {
    let ends = |(low, high): (f64, f64), value: &f64| (low.min(*value), high.max(*value));
    let (low, high) = values.iter().fold((f64::MAX, 0.0), ends);
    format!("{:.2} ({low:.2}–{high:.2})", median(values))
}
