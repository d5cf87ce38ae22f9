//! How long the exact check of a history takes, with its controls printed.
//!
//! `cargo bench --bench judge`. A million requests by 200 clients are judged, once as the story of one task and once as that
//! of ten thousand; the general checker of linearizability judges a burst of a few racers beside it, since it can not
//! judge more. `BENCH_RUNS` (default 5) is how many runs the median is taken of.

#[path = "../executor/control.rs"]
#[expect(dead_code, reason = "no disk is measured here")]
mod control;
#[path = "../../tests/rules/desk.rs"]
#[expect(dead_code, reason = "the bench needs a part of the desk")]
mod desk;
#[path = "../../tests/rules/history/random.rs"]
#[expect(dead_code, reason = "nothing is spoiled here")]
mod random;
#[path = "../../tests/rules/history/second_judge.rs"]
mod second_judge;

use std::time::Instant;

use control::{machine, median};
use dispatch_desk::domain::{
    event::Event,
    history::{History, Line, Recording, judge},
    id::TaskId,
};
use rand::{SeedableRng, rngs::StdRng};
use random::Shape;

/// The entries of the log in a recording.
fn log(lines: &[Line]) -> Vec<Event> {
    let event = |line: &Line| match line {
        Line::Event(logged) => Some(logged.event.clone()),
        _ => None,
    };
    lines.iter().filter_map(event).collect()
}

fn read(lines: Vec<Line>) -> History {
    let mut recording = Recording::default();
    for line in lines {
        recording.push(line).expect("a true recording can be read");
    }
    recording.finish()
}

/// A run of about `requests` requests by `clients` clients on `tasks` tasks.
fn run_of(tasks: usize, requests: usize, clients: usize) -> Vec<Line> {
    let mut rng = StdRng::seed_from_u64(11);
    let each = requests / tasks;
    let mut lines = Vec::with_capacity(requests * 3);
    for (id, number) in (desk::TASK.0..).zip(0..tasks) {
        let shape = Shape {
            task: TaskId(id),
            clients: clients.min(each),
            requests: each,
            may_end: tasks > 1,
            first_process: u64::try_from(number * (each + clients)).expect("not that many"),
        };
        lines.extend(random::run(&mut rng, shape));
    }
    lines
}

fn main() {
    // `cargo test --benches` runs it too; then it only shows that it starts.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let runs = std::env::var("BENCH_RUNS").ok().and_then(|text| text.parse().ok()).unwrap_or(5);
    println!("{}", machine());
    println!("\n| requests | events | tasks | clients | judge | ms (min–max) |");
    println!("|---|---|---|---|---|---|");
    for tasks in [1, 10_000] {
        // Some requests of a run are lost and judged by nobody, so a few more are sent.
        let history = read(run_of(tasks, 1_120_000, 200));
        assert!(history.ops().len() >= 1_000_000, "{}", history.ops().len());
        let (mut took, mut events) = (Vec::new(), 0);
        for _ in 0..runs {
            let began = Instant::now();
            let verdict = judge(&history);
            took.push(began.elapsed().as_secs_f64() * 1_000.0);
            assert!(verdict.is_sound(), "a true run is sound");
            events = verdict.events;
        }
        row(history.ops().len(), events, tasks, 200, "ours", took);
    }
    for clients in [4, 8] {
        let lines = run_of(1, 24, clients);
        let (log, history) = (log(&lines), read(lines));
        let (mut ours, mut theirs, mut events) = (Vec::new(), Vec::new(), 0);
        for _ in 0..runs {
            let began = Instant::now();
            let verdict = judge(&history);
            ours.push(began.elapsed().as_secs_f64() * 1_000.0);
            events = verdict.events;
            let began = Instant::now();
            assert!(second_judge::is_linearizable(&history, log.clone()), "a true run is sound");
            theirs.push(began.elapsed().as_secs_f64() * 1_000.0);
        }
        row(history.ops().len(), events, 1, clients, "ours", ours);
        row(history.ops().len(), events, 1, clients, "stateright", theirs);
    }
}

fn row(requests: usize, events: usize, tasks: usize, clients: usize, judge: &str, took: Vec<f64>) {
    let (least, most) =
        took.iter().fold((f64::MAX, 0.0_f64), |(a, b), ms| (a.min(*ms), b.max(*ms)));
    println!(
        "| {requests} | {events} | {tasks} | {clients} | {judge} | {:.3} ({least:.3}–{most:.3}) |",
        median(took)
    );
}
