//! The judge of recorded runs: against an independent judge, and against faults made by hand.

mod cases;
mod lines;
mod random;
mod second_judge;
mod speed;
mod tape;

use dispatch_desk::domain::history::{Broken, History, Line, Recording, Verdict, judge};
use rand::{RngExt, SeedableRng, rngs::StdRng};

use self::random::Shape;
use crate::{desk::TASK, rounds};

fn recorded(lines: Vec<Line>) -> Result<History, Broken> {
    let mut recording = Recording::default();
    for line in lines {
        recording.push(line)?;
    }
    Ok(recording.finish())
}

fn log(lines: &[Line]) -> Vec<dispatch_desk::domain::event::Event> {
    lines
        .iter()
        .filter_map(|line| match line {
            Line::Event(logged) => Some(logged.event.clone()),
            _ => None,
        })
        .collect()
}

fn explain(lines: &[Line], verdict: &Verdict) -> String {
    let lines: Vec<String> =
        lines.iter().map(|line| serde_json::to_string(line).expect("lines are JSON")).collect();
    let findings: Vec<String> = verdict.findings.iter().map(ToString::to_string).collect();
    format!("findings:\n{}\nrecording:\n{}", findings.join("\n"), lines.join("\n"))
}

#[derive(Default)]
struct Tally {
    sound: u32,
    unsound: u32,
    unreadable: u32,
}

/// Has both judges judge `wanted` runs, every other one spoiled.
fn agree(seed: u64, wanted: u32) -> Tally {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut tally = Tally::default();
    let mut spoiled = false;
    while tally.sound + tally.unsound < wanted {
        spoiled = !spoiled;
        let shape = Shape {
            task: TASK,
            // The second judge takes very long to find that eight have no order, so eight are rare.
            clients: if rng.random_bool(0.05) {
                rng.random_range(6..=8)
            } else {
                rng.random_range(2..=5)
            },
            requests: rng.random_range(2..14),
            may_end: true,
            first_process: 0,
        };
        let mut lines = random::run(&mut rng, shape);
        if spoiled {
            random::spoil(&mut rng, &mut lines);
        }
        let Ok(history) = recorded(lines.clone()) else {
            assert!(spoiled, "a true recording can be read");
            tally.unreadable += 1;
            continue;
        };
        let verdict = judge(&history);
        let ours = verdict.is_sound();
        let theirs = second_judge::is_linearizable(&history, log(&lines));
        assert_eq!(ours, theirs, "seed {seed}: ours, theirs\n{}", explain(&lines, &verdict));
        assert!(ours || spoiled, "a true run is sound; seed {seed}\n{}", explain(&lines, &verdict));
        if ours {
            tally.sound += 1;
        } else {
            tally.unsound += 1;
        }
    }
    tally
}

#[test]
fn both_judges_agree_on_random_runs_half_of_them_spoiled() {
    const SEEDS: u64 = 8;
    let each = rounds(20_000, 200_000) / 8;
    let tallies: Vec<Tally> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..SEEDS).map(|seed| scope.spawn(move || agree(seed, each))).collect();
        threads.into_iter().map(|thread| thread.join().expect("the judges agree")).collect()
    });
    let sum = |count: fn(&Tally) -> u32| tallies.iter().map(count).sum::<u32>();
    let (sound, unsound) = (sum(|tally| tally.sound), sum(|tally| tally.unsound));
    let unreadable = sum(|tally| tally.unreadable);
    println!("agreed on {sound} sound and {unsound} unsound runs; {unreadable} were unreadable");
    assert!(
        unsound > (sound + unsound) / 6,
        "the faults did harm: {unsound} unsound, {sound} sound"
    );
}
