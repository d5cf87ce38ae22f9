//! Decided changes for cases that write them themselves, without the executor.

use dispatch_desk::{
    domain::{
        command::{Act, Actor, DetailChanges, NewTask},
        decide::{Creation, DetailEdit, Transition, Verdict, create, decide, edit},
        facts::{Facts, Rider},
        id::{RegionId, Revision, TaskId, Timestamp},
        policy::Region,
        task::Task,
    },
    store::{Created, Result, Tx},
};

use crate::harness::*;

/// The north, as it stands.
pub async fn north(tx: &mut Tx) -> Region {
    region(tx, NORTH).await
}

/// A region, as it stands.
pub async fn region(tx: &mut Tx, id: RegionId) -> Region {
    let now = tx.now().await.expect("the store has a clock");
    let locked = tx.lock_regions(&[], &[id]).await.expect("regions can be locked");
    tx.policies(locked, now).await.expect("policies can be read").remove(0)
}

/// A rider with the places that `held` says.
pub async fn holding(tx: &mut Tx, number: i64, held: &[u32]) -> Rider {
    let id = dispatch_desk::domain::id::RiderId(number);
    let rider = tx.rider(id).await.expect("riders can be read").expect("the rider exists");
    Rider { held: held.to_vec(), ..rider }
}

/// The change that `act` makes of `task`, at noon. `rider` is the one who acts or who is named.
pub fn step(region: &Region, actor: &Actor, task: &Task, act: &Act, rider: &Rider) -> Transition {
    let facts = Facts {
        staff: None,
        me: actor.rider().map(|_| rider),
        rider: Some(rider),
        region,
        own_offers: &[],
        round: None,
        alone: None,
        hand_backs_today: 0,
    };
    match decide(task, actor, task.revision, act, &facts, NOON).verdict {
        Verdict::Apply(step) => *step,
        other => panic!("{act:?} does not apply to {task:?}: {other:?}"),
    }
}

/// The creation of task `id` like `new`.
pub fn creation(region: &Region, id: i64, new: &NewTask) -> Creation {
    match create(&shop(), new, TaskId(id), None, Some(region), NOON).expect("the shop may") {
        Verdict::Apply(creation) => *creation,
        other => panic!("it is not created: {other:?}"),
    }
}

/// An edit of `task` at detail revision `present`.
pub fn edited(task: &Task, present: i64, changes: &DetailChanges) -> DetailEdit {
    let present = Revision(present);
    match edit(task, present, present, &D1, changes, Timestamp(NOON.0 + 1)) {
        Verdict::Apply(edit) => *edit,
        other => panic!("it is not edited: {other:?}"),
    }
}

/// Writes new open tasks of the shop under these numbers, and returns them.
pub async fn write_tasks(tx: &mut Tx, numbers: &[i64]) -> Vec<Task> {
    let region = north(tx).await;
    let created: Vec<_> = numbers.iter().map(|id| creation(&region, *id, &order())).collect();
    let keys: Vec<_> = numbers.iter().map(|id| format!("key-{id}")).collect();
    let rows: Vec<_> = created
        .iter()
        .zip(&keys)
        .map(|(creation, key)| Created {
            creation,
            request_key: key,
            fingerprint: "f",
            tracking_token: format!("tracking-{key}"),
        })
        .collect();
    tx.insert_tasks(&rows).await.expect("tasks are inserted");
    created.iter().map(|creation| creation.after().clone()).collect()
}

/// Makes tokens that tell themselves apart: `token-1`, `token-2`, …
pub fn tokens(prefix: &str) -> impl FnMut() -> Result<String> {
    let mut last = 0;
    let prefix = prefix.to_owned();
    move || {
        last += 1;
        Ok(format!("{prefix}-{last}"))
    }
}
