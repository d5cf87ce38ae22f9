//! What live streams cost, with the controls printed.
//!
//! `cargo bench --bench streams`. The program itself is started (`serve`), in a process of its own, and followed over
//! loopback by `BENCH_STREAMS` (default 5000) streams of riders, from the same cores. Two questions, `BENCH_ROUNDS` (default 60)
//! times each, a little apart so that the streams are idle: how long from sending a command until it stands on the stream
//! of the rider whom it concerns, and until all of them have heard that there is a task to grab. Controls: how long until
//! the command itself was answered, the same with one stream, and the same bytes from one task to as many bare sockets.

#[path = "../../tests/harness/cast.rs"]
#[expect(dead_code, reason = "the bench needs a part of the cast")]
mod cast;
mod client;
#[path = "../executor/control.rs"]
#[expect(dead_code, reason = "the bench needs a part of the controls")]
mod control;
#[path = "../http/program.rs"]
mod program;

use std::time::{Duration, Instant};

use client::{Commands, Ears, bare_sockets};
use control::{machine, percentile, syncs_per_second};
use dispatch_desk::{
    admin,
    domain::{command::Actor, id::RiderId},
    store::{Db, Time},
};
use program::Program;

/// One session may have so many streams.
const PER_TOKEN: usize = 4;
/// Between two rounds, so that nothing is on its way when the next one begins.
const APART: Duration = Duration::from_millis(350);
/// The numbers of the bench's own riders start here.
const FIRST_RIDER: i64 = 10_000;
/// A rider with one place.
const SINGLE: i64 = 9_999;

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[tokio::main]
async fn main() {
    // `cargo test --benches` runs it too; then it only shows that it starts.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let (streams, rounds) = (number("BENCH_STREAMS", 5_000), number("BENCH_ROUNDS", 60));
    let handles = rlimit::increase_nofile_limit(u64::MAX).expect("the limit can be asked for");
    assert!(handles > 2 * streams as u64 + 1_000, "{handles} file handles are too few");
    let folder = tempfile::tempdir_in(".").expect("a folder on the disk to be measured");
    println!("{}", machine());
    println!("disk before: {:.0} syncs of 4 KiB a second", syncs_per_second(folder.path()));
    let url = format!("sqlite://{}/streams.db", folder.path().display());
    let riders = streams.div_ceil(PER_TOKEN);
    let (desk, tokens) = people(&url, riders).await;
    println!("\n| streams | | p50 ms | p99 ms | most ms |\n|---|---|---|---|---|");
    for count in [1, streams] {
        let program = Program::start(&url).await;
        let before = program.memory_mib();
        let ears = Ears::open(program.address, &tokens, count).await;
        let memory = program.memory_mib() - before;
        let mut commands = Commands::connect(program.address, &desk).await;
        offers(&mut commands, &ears, rounds, count).await;
        hints(&mut commands, &ears, rounds, count).await;
        frees(&mut commands, rounds, count).await;
        if count > 1 {
            let each =
                memory * 1_024.0 / f64::from(u32::try_from(count).expect("streams are fewer"));
            println!(
                "\nmemory: {memory:.0} MiB more with {count} streams, {each:.1} KiB each; {before:.0} MiB before\n"
            );
        }
        drop(ears);
        program.stop().await;
    }
    line(streams, "bare sockets, the same bytes", bare_sockets(streams, rounds, APART).await);
    println!("\ndisk after: {:.0} syncs of 4 KiB a second", syncs_per_second(folder.path()));
}

fn line(streams: usize, what: &str, mut took: Vec<f64>) {
    took.sort_by(f64::total_cmp);
    let (p50, p99) = (percentile(&took, 0.5), percentile(&took, 0.99));
    let most = took.last().copied().unwrap_or_default();
    println!("| {streams} | {what} | {p50:.1} | {p99:.1} | {most:.1} |");
}

/// A new database with riders in it; a dispatcher's token, and one of each rider.
async fn people(url: &str, riders: usize) -> (String, Vec<String>) {
    let db = Db::open(url, Time::System).await.expect("a new database opens");
    cast::enter(&db).await.expect("the cast enters");
    let mut tx = db.begin().await.expect("begins");
    let numbers: Vec<_> = (FIRST_RIDER..).take(riders).collect();
    tx.add_rider(RiderId(SINGLE), cast::NORTH, "single", 1, None).await.expect("a rider");
    for number in &numbers {
        let name = format!("rider {number}");
        tx.add_rider(RiderId(*number), cast::NORTH, &name, 90, None).await.expect("a rider");
    }
    tx.commit().await.expect("commits");
    let desk = admin::token(&db, &cast::D1, "bench").await.expect("a token");
    let mut tokens = Vec::new();
    for number in numbers {
        let rider = Actor::Rider(RiderId(number));
        tokens.push(admin::token(&db, &rider, "bench").await.expect("a token"));
    }
    db.close().await;
    (desk, tokens)
}

fn ms(from: Instant, to: Instant) -> f64 {
    to.saturating_duration_since(from).as_secs_f64() * 1_000.0
}

/// An offer for one rider after the other: until it stands on all of that rider's streams.
async fn offers(commands: &mut Commands, ears: &Ears, rounds: usize, count: usize) {
    let (mut told, mut answered) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let task = commands.create().await;
        tokio::time::sleep(APART).await;
        let rider = (round * 7) % count.div_ceil(PER_TOKEN);
        let listening = Ears::of_rider(rider, count);
        let sent = Instant::now();
        let wait = ears.heard("event", sent, listening);
        let number = i64::try_from(rider).expect("a number");
        let offer = commands.offer(task, FIRST_RIDER + number);
        let (heard, ()) = tokio::join!(wait, offer);
        answered.push(ms(sent, commands.answered_at));
        told.extend(heard.into_iter().map(|at| ms(sent, at)));
        tokio::time::sleep(APART).await;
    }
    line(count, "offer sent → on the streams of its rider", told);
    line(count, "control: offer sent → answered", answered);
}

/// A rider whose only place is taken by an offer: until that is cancelled and the next offer to the same rider is made.
async fn frees(commands: &mut Commands, rounds: usize, count: usize) {
    let (mut freed, mut cancelled) = (Vec::new(), Vec::new());
    let mut held = commands.create().await;
    commands.offer(held, SINGLE).await;
    for _ in 0..rounds {
        let next = commands.create().await;
        tokio::time::sleep(APART).await;
        let sent = Instant::now();
        commands.cancel(held).await;
        cancelled.push(ms(sent, commands.answered_at));
        commands.offer(next, SINGLE).await;
        freed.push(ms(sent, commands.answered_at));
        held = next;
    }
    commands.cancel(held).await;
    line(count, "cancel sent → the rider's place is free, and answered", cancelled);
    line(count, "cancel sent → the next offer to that rider is answered", freed);
}

/// A new task: until all riders of the region have heard that the pool has changed.
async fn hints(commands: &mut Commands, ears: &Ears, rounds: usize, count: usize) {
    let (mut told, mut answered) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        tokio::time::sleep(APART).await;
        let sent = Instant::now();
        let wait = ears.heard("pool", sent, 0..count);
        let (heard, _) = tokio::join!(wait, commands.create());
        answered.push(ms(sent, commands.answered_at));
        told.extend(heard.into_iter().map(|at| ms(sent, at)));
    }
    line(count, "task sent → every stream was hinted", told);
    line(count, "control: task sent → answered", answered);
}
