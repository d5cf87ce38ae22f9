//! Who is nearest: ours against Redis `GEOSEARCH` on the same data in one run, with the controls printed.
//!
//! `cargo bench --bench locate` needs `redis-server`, which it starts by itself. `BENCH_SEARCHES` (default
//! 3000) is how many searches are timed each time; `BENCH_SECONDS` (default 60) how long 60,000 fixes/s last.

mod city;
#[path = "../executor/control.rs"]
#[expect(dead_code, reason = "no middle of runs is taken")]
mod control;
mod pace;
mod rival;

use std::time::{Duration, Instant};

use city::{City, RIDERS};
use control::{machine, percentile, syncs_per_second};
use dispatch_desk::{
    clock::{Clock, SystemClock},
    domain::{
        fix::Fix,
        geo::{Area, Place},
        id::{RegionId, RiderId},
    },
    engine::positions::Positions,
    locate::{Locator, redis::Index},
    store::{Db, Time},
};
use pace::paced;
use rival::Rival;

const CITY: RegionId = RegionId(1);
const RADIUS_M: f64 = 2_000.0;
const NEAREST: usize = 30;

fn number(name: &str, default: u32) -> u32 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn load() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').next().unwrap_or_default().to_owned()
}

/// Resident memory of this process, in MiB.
fn resident_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<f64>().ok());
    kib.unwrap_or_default() / 1_024.0
}

#[tokio::main]
async fn main() {
    // `cargo test --benches` runs it too; then it only shows that it starts.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let today = SystemClock.now().to_string();
    let rival = Rival::start().await;
    println!("# {}; {}", machine(), today.split('T').next().unwrap_or_default());
    println!("# Redis {}; load {} at the start", rival.version().await, load());

    let mut city = City::new(1);
    let all: Vec<(RiderId, Fix)> = (1..=RIDERS)
        .map(|rider| (RiderId(rider), Fix { place: city.place(), ..city.fix(0).1 }))
        .collect();
    let before = resident_mib();
    let ours = Locator::default();
    for (rider, fix) in &all {
        assert!(ours.note(CITY, *rider, *fix).await.expect("in this process"));
    }
    let ours_mib = resident_mib() - before;
    let before = rival.used_mib().await;
    rival.fill(&all).await;
    let rival_mib = rival.used_mib().await - before;
    let shared = Locator::Redis(Index::open(&rival.url, "ours").expect("an address"));
    shared.begin("bench").await.expect("an answer");
    for (rider, fix) in &all {
        assert!(shared.note(CITY, *rider, *fix).await.expect("an answer"));
    }
    assert!(shared.filled("bench").await.expect("an answer"));
    agree(&ours, &shared).await;

    println!(
        "\n| nearest {NEAREST} of {RIDERS} within 2 km | fixes/s beside it | p50 µs | p99 µs | × |"
    );
    println!("|---|---|---|---|---|");
    for fixes in [0, 20_000] {
        let rivals = rival.searches(fixes).await;
        let mine = searches(&ours, fixes).await;
        let sharing = searches(&shared, 0).await;
        row("Redis GEOSEARCH", &rivals, &rivals);
        row("ours, in memory", &mine, &rivals);
        if fixes == 0 {
            row("ours, on Redis (exact order)", &sharing, &rivals);
        }
    }
    println!("\n| memory for {RIDERS} riders | MiB |\n|---|---|");
    println!(
        "| Redis, places alone | {rival_mib:.1} |\n| ours, with all of each position | {ours_mib:.1} |"
    );
    flood().await;
    println!("# load {} at the end", load());
}

/// How long each of many searches took, and how many fixes a second there really were.
pub struct Took {
    fixes: f64,
    sorted_us: Vec<f64>,
}

fn row(what: &str, took: &Took, control: &Took) {
    let p99 = percentile(&took.sorted_us, 0.99);
    println!(
        "| {what} | {:.0} | {:.0} | {p99:.0} | {:.1} |",
        took.fixes,
        percentile(&took.sorted_us, 0.5),
        percentile(&control.sorted_us, 0.5) / percentile(&took.sorted_us, 0.5)
    );
}

/// Both find the same riders in the same order.
async fn agree(one: &Locator, other: &Locator) {
    let mut city = City::new(2);
    for _ in 0..100 {
        let from = city.place();
        let ask = async |locator: &Locator| {
            locator.nearest(CITY, from, RADIUS_M, NEAREST, &|_| true).await.expect("an answer")
        };
        assert_eq!(ask(one).await, ask(other).await, "{from:?}");
    }
}

async fn searches(locator: &Locator, fixes: u32) -> Took {
    let ask = async |from: Place| {
        let found = locator.nearest(CITY, from, RADIUS_M, NEAREST, &|_| true).await;
        found.expect("an answer").len()
    };
    let writer = locator.clone();
    let mut seq = i64::from(fixes);
    let (mut city, noting) = (City::new(3), writer);
    timed(fixes, ask, async move |more| {
        for _ in 0..more {
            seq += 1;
            let (rider, fix) = city.fix(seq);
            noting.note(CITY, rider, fix).await.expect("an answer");
        }
    })
    .await
}

/// Times searches one after another, while so many fixes a second come in.
pub async fn timed(
    fixes: u32,
    ask: impl AsyncFn(Place) -> usize,
    note: impl AsyncFnMut(u32) + Send + 'static,
) -> Took {
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let noting = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async move {
            let began = Instant::now();
            let far = began + Duration::from_hours(1);
            let done = std::cell::Cell::new(0_u64);
            let mut note = note;
            tokio::select! {
                _ = stopped => {}
                _ = paced(fixes, far, async |more| {
                    note(more).await;
                    done.set(done.get() + u64::from(more));
                }) => {}
            }
            #[expect(clippy::cast_precision_loss, reason = "a rate")]
            let rate = done.get() as f64 / began.elapsed().as_secs_f64();
            rate
        })
    });
    tokio::time::sleep(Duration::from_millis(500)).await;
    let (mut city, mut sorted_us, mut found) = (City::new(4), Vec::new(), 0);
    for _ in 0..number("BENCH_SEARCHES", 3_000) {
        let from = city.place();
        let began = Instant::now();
        found += ask(from).await;
        sorted_us.push(began.elapsed().as_secs_f64() * 1e6);
    }
    assert!(found > 0, "somebody is found");
    let _ = stop.send(());
    let fixes = noting.join().expect("it notes to the end");
    sorted_us.sort_by(f64::total_cmp);
    Took { fixes, sorted_us }
}

/// 60,000 fixes a second through the index and into SQLite.
async fn flood() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let url = format!("sqlite://{}/desk.db", folder.path().display());
    let db = Db::open(&url, Time::System).await.expect("the database opens");
    let mut tx = db.begin().await.expect("a transaction");
    let centre = Place { lat: 31.2304, lng: 121.4737 };
    let area = Area::Circle { centre, radius_m: 50_000.0 };
    tx.add_region(CITY, "city", "Asia/Shanghai".parse().expect("a zone"), &area)
        .await
        .expect("a region");
    for rider in 1..=RIDERS {
        tx.add_rider(RiderId(rider), CITY, "rider", 3, None).await.expect("a rider");
    }
    tx.commit().await.expect("riders");
    let positions = Positions::default();
    let (stop, writing) = positions.start(db.clone());
    let (mut city, mut seq, mut took) = (City::new(5), 0, Vec::new());
    let seconds = number("BENCH_SECONDS", 60);
    let began = Instant::now();
    let until = began + Duration::from_secs(u64::from(seconds));
    let done = paced(60_000, until, async |more| {
        for _ in 0..more {
            seq += 1;
            let (rider, fix) = city.fix(seq);
            let began = Instant::now();
            positions.note(CITY, rider, None, &[fix]).await;
            if seq % 64 == 0 {
                took.push(began.elapsed().as_secs_f64() * 1e6);
            }
        }
    })
    .await;
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    let rate = done as f64 / began.elapsed().as_secs_f64();
    let ended = Instant::now();
    stop.send_replace(true);
    writing.await.expect("it writes to the end");
    let left_ms = ended.elapsed().as_millis();
    let mut tx = db.read().await.expect("a read");
    let mut known = 0;
    let mut after = RiderId(0);
    loop {
        let page = tx.fixes(after, 10_000).await.expect("positions");
        let Some(last) = page.last() else { break };
        after = last.rider;
        for located in page {
            let index = positions.locator().of(located.rider).await.expect("in this process");
            assert_eq!(index, Some(located.fix), "the last one of each is written");
            known += 1;
        }
    }
    took.sort_by(f64::total_cmp);
    println!("\n| 60,000 fixes/s for {seconds} s, into SQLite | |\n|---|---|");
    println!("| fixes/s reached | {rate:.0} |");
    println!(
        "| noting one, p50 / p99 µs | {:.1} / {:.1} |",
        percentile(&took, 0.5),
        percentile(&took, 0.99)
    );
    println!(
        "| riders whose last position is in the database, after {left_ms} ms more | {known} |"
    );
    println!(
        "| syncs of 4 KiB a second of the disk after it | {:.0} |",
        syncs_per_second(folder.path())
    );
    drop(tx);
    db.close().await;
}
