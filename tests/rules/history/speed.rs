//! The judge takes time in proportion to the run, and little of it.

use std::time::Instant;

use dispatch_desk::domain::{
    history::{History, Line, judge},
    id::TaskId,
};
use rand::{SeedableRng, rngs::StdRng};

use super::{random, random::Shape, recorded};

/// A run of about `requests` requests by 200 clients on `tasks` tasks.
fn long_run(tasks: usize, requests: usize) -> Vec<Line> {
    let mut rng = StdRng::seed_from_u64(11);
    let each = requests / tasks;
    let ids = 1_i64..;
    let mut lines = Vec::with_capacity(requests * 3);
    for (id, number) in ids.zip(0..tasks) {
        let shape = Shape {
            task: TaskId(id),
            clients: 200.min(each),
            requests: each,
            may_end: tasks > 1,
            // Far enough from those of the task before, who may have been replaced.
            first_process: u64::try_from(number * (each + 200)).expect("not that many"),
        };
        lines.extend(random::run(&mut rng, shape));
    }
    lines
}

fn judge_aloud(lines: Vec<Line>, about: &str) -> History {
    let history = recorded(lines).expect("a true recording can be read");
    let began = Instant::now();
    let verdict = judge(&history);
    println!(
        "{about}: {} requests and {} events judged in {:?}",
        verdict.requests,
        verdict.events,
        began.elapsed()
    );
    let findings: Vec<String> = verdict.findings.iter().map(ToString::to_string).collect();
    assert!(verdict.is_sound(), "{findings:#?}");
    history
}

#[test]
fn twenty_thousand_requests_are_judged() {
    judge_aloud(long_run(1, 23_000), "one task");
    judge_aloud(long_run(100, 23_000), "a hundred tasks");
}

#[test]
#[ignore = "prints a figure: run it in release"]
fn a_million_operations_are_judged_quickly() {
    // Some requests of a run are lost and judged by nobody, so a few more are sent.
    for (tasks, about) in [(1, "one task"), (10_000, "ten thousand tasks")] {
        let history = judge_aloud(long_run(tasks, 1_120_000), about);
        assert!(history.ops().len() >= 1_000_000, "{}", history.ops().len());
    }
}
