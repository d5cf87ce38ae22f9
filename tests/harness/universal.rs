//! What must hold after every case, whatever it was about.
//!
//! | | |
//! |---|---|
//! | U1 | no errors except where the case causes them (it clears them with [`forgive`]) |
//! | U2 | each task's event revisions are 1, 2, 3, … and the last one is the row's |
//! | U3 | every success has exactly one event with its key; a refusal, a replay and an error have none of their own |
//! | U4 | no rider holds more tasks than the capacity allows |
//! | U5 | numbers of events and attempts are dense, the log folds to the rows (the seals come with the sealer) |
//! | U6 | the recorded history is one that a single desk could have produced |

use std::collections::HashMap;

use dispatch_desk::{
    domain::{
        command::What,
        fingerprint::key_hash,
        history::{Line, Recording, judge},
        id::{RiderId, TaskId},
    },
    engine::reconcile::reconcile,
};

use super::{cast::CAPACITY, desk::Desk, record::Came};

/// Runs all checks on everything that the desk recorded.
pub async fn check(desk: &Desk) {
    let errors: Vec<_> = desk
        .recorder
        .sent()
        .into_iter()
        .filter(|sent| {
            matches!(&sent.came, Came::Error(code)
                if ["BUSY", "UNAVAILABLE", "FAULTY"].contains(&code.as_str()))
        })
        .collect();
    assert!(errors.is_empty(), "U1: errors came back: {errors:#?}");
    check_except_errors(desk).await;
}

/// The same where the case has caused errors: U2 to U6.
pub async fn check_except_errors(desk: &Desk) {
    let report = reconcile(&desk.db, |_| ()).await.expect("everything can be read");
    assert!(report.differences.is_empty(), "U2, U5: {:#?}", report.differences);

    let mut logged: HashMap<String, usize> = HashMap::new();
    let mut held: HashMap<i64, u32> = HashMap::new();
    let mut tx = desk.read().await;
    let mut after = 0;
    loop {
        let events = tx.events_after(after, 1_000).await.expect("the log can be read");
        let Some(last) = events.last() else { break };
        after = last.number;
        for event in events {
            if let Some(hash) = event.key_hash {
                *logged.entry(hash).or_default() += 1;
            }
        }
    }
    let mut after = TaskId(0);
    loop {
        let tasks = tx.tasks_after(after, 1_000).await.expect("tasks can be read");
        let Some((last, _)) = tasks.last() else { break };
        after = *last;
        for (_, task) in tasks {
            if let Some((rider, _)) = task.expect("a whole row").state.held() {
                *held.entry(rider.0).or_default() += 1;
            }
        }
    }
    for (rider, held) in held {
        // A case may have raised it; one that was lowered counts for what comes after.
        let rider = tx.rider(RiderId(rider)).await.expect("a rider can be read");
        let rider = rider.expect("who holds a task is known");
        let capacity = rider.capacity.max(CAPACITY);
        assert!(held <= capacity, "U4: {} holds {held}, and {capacity} are allowed", rider.id);
    }

    let mut done: HashMap<String, bool> = HashMap::new();
    for sent in desk.recorder.sent() {
        let Some(key) = &sent.command.key else { continue };
        let hash = key_hash(&sent.command.actor.principal(), key);
        let event = match &sent.came {
            Came::Back(returned) => returned.answer().event.is_some(),
            // A refused key says nothing of the request that owns it.
            Came::Error(code) if code == "REQUEST_KEY_REUSED" => continue,
            Came::Error(_) => false,
            // Unknown: it may have counted.
            Came::Nothing => continue,
        };
        let before = done.entry(hash).or_default();
        *before |= event;
    }
    for (hash, done) in &done {
        let events = logged.get(hash).copied().unwrap_or_default();
        assert_eq!(events, usize::from(*done), "U3: key {hash} has {events} events, done: {done}");
    }
    super::universal::history(desk).await;
}

/// U6: the exact judge over the recorded run and the log of its tasks.
async fn history(desk: &Desk) {
    let mut recording = Recording::default();
    let mut lines: Vec<Line> = Vec::new();
    for sent in desk.recorder.sent() {
        let process = u64::from(sent.process);
        // An edit has a revision line of its own and is no part of this.
        let Some(asked) = Line::asked(process, sent.invoked_ns, &sent.command) else { continue };
        lines.push(asked);
        lines.push(match &sent.came {
            Came::Back(returned) => Line::answered(process, sent.returned_ns, &returned.answer()),
            Came::Error(code) if code == "UNAVAILABLE" => {
                Line::unknown(process, sent.returned_ns, Some(503))
            }
            Came::Error(code) => {
                Line::turned_away(process, sent.returned_ns, 400, Some(code.clone()))
            }
            Came::Nothing => Line::unknown(process, sent.returned_ns, None),
        });
    }
    let mut tx = desk.read().await;
    for task in tasks(desk) {
        for logged in tx.events_of(task).await.expect("the log can be read") {
            if let Some(event) = logged.task_event().expect("a whole event") {
                lines.push(Line::logged(event, logged.key_hash));
            }
        }
    }
    for line in lines {
        recording.push(line).expect("U6: the recording is whole");
    }
    let verdict = judge(&recording.finish());
    let findings: Vec<_> = verdict.findings.iter().map(ToString::to_string).collect();
    assert!(verdict.is_sound(), "U6: {findings:#?}");
}

/// The tasks that the record is about.
pub fn tasks(desk: &Desk) -> Vec<TaskId> {
    let mut tasks: Vec<_> = desk
        .recorder
        .sent()
        .into_iter()
        .filter_map(|sent| match &sent.command.what {
            What::Create(_) => match &sent.came {
                Came::Back(returned) => returned.answer().task.map(|task| task.id),
                Came::Error(_) | Came::Nothing => None,
            },
            What::Change { task, .. } | What::Edit { task, .. } => Some(*task),
        })
        .collect();
    tasks.sort_unstable();
    tasks.dedup();
    tasks
}
