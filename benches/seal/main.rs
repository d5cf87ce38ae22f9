//! How long it takes to seal a log, and to check it against its seals, with the controls printed.
//!
//! `cargo bench --bench seal` needs nothing for SQLite; for PostgreSQL it needs `TEST_POSTGRES_URL` (a server whose data may
//! be lost). `BENCH_ROWS` (default 1000000) is how many rows the log has, half of them events and half attempts;
//! `BENCH_RUNS` (default 3) is how many checks the median is taken of.

#[path = "../../tests/harness/cast.rs"]
#[expect(dead_code, reason = "the bench needs a part of the cast")]
mod cast;
#[path = "../executor/control.rs"]
#[expect(dead_code, reason = "no disk is measured here")]
mod control;
#[path = "../executor/grow.rs"]
mod grow;

use std::time::Instant;

use control::{machine, median};
use dispatch_desk::{
    domain::{
        id::RiderId,
        seal::{Key, Keys},
    },
    engine::{
        sealer::{CHUNK, Sealer, Step},
        verify::verify,
    },
    store::{Db, Scratch, Time},
};

fn number(name: &str, default: u32) -> u32 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[tokio::main]
async fn main() {
    // `cargo test --benches` runs it too; then it only shows that it starts.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let today = dispatch_desk::clock::Clock::now(&dispatch_desk::clock::SystemClock).to_string();
    println!("# {}; {}", machine(), today.split('T').next().unwrap_or_default());
    println!(
        "\n| database | rows | chunk of a seal | seals | seal s | verify s (min–max) | verify rows/s |"
    );
    println!("|---|---|---|---|---|---|---|");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let url = format!("sqlite://{}/desk.db", folder.path().display());
    measure(&url).await;
    match std::env::var("TEST_POSTGRES_URL") {
        Ok(server) => {
            let name = format!("bench_seal_{}", std::process::id());
            let scratch = Scratch::make(&server, &name).await.expect("a database of our own");
            measure(scratch.url()).await;
            scratch.remove().await.expect("it is removed");
        }
        Err(_) => println!("# TEST_POSTGRES_URL is not set: PostgreSQL is left out"),
    }
}

async fn measure(url: &str) {
    let rows = number("BENCH_ROWS", 1_000_000);
    let db = Db::open(url, Time::System).await.expect("the database opens");
    cast::enter(&db).await.expect("the cast enters");
    let mut tx = db.begin().await.expect("a transaction");
    for rider in 10_000..15_000 {
        tx.add_rider(RiderId(rider), cast::NORTH, "rider", 9, None).await.expect("a rider");
    }
    tx.commit().await.expect("riders");
    grow::to(url, i64::from(rows / 2)).await;
    let keys = Keys::one(Key::new([7; 32]));
    let began = Instant::now();
    let sealer = Sealer::new(db.clone(), keys.clone(), CHUNK);
    assert_eq!(sealer.seal_all().await.expect("seals"), Step::Nothing);
    let sealing = began.elapsed().as_secs_f64();
    let (mut took, mut seals) = (Vec::new(), 0);
    for _ in 0..number("BENCH_RUNS", 3).max(1) {
        let began = Instant::now();
        let report = verify(&db, &keys, &[], |_| ()).await.expect("a check");
        took.push(began.elapsed().as_secs_f64());
        assert_eq!(report.finding, None);
        assert_eq!(report.events + report.attempts, u64::from(rows / 2) * 2);
        seals = report.seals;
    }
    let (least, most) = took.iter().fold((f64::MAX, 0.0_f64), |(a, b), s| (a.min(*s), b.max(*s)));
    let middle = median(took);
    let product = if url.starts_with("sqlite") { "SQLite" } else { "PostgreSQL" };
    let version = db.version().await.expect("a version");
    let version = version.split_whitespace().next().unwrap_or_default();
    println!(
        "| {product} {version} | {rows} | {CHUNK} | {seals} | {sealing:.2} | {middle:.2} ({least:.2}–{most:.2}) | {:.0} |",
        f64::from(rows) / middle
    );
    db.close().await;
}
