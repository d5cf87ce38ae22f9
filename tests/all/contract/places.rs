//! Places that change hands within one transaction: a unique index looks at each row by itself.

use dispatch_desk::{
    domain::{
        decide::Transition,
        id::TaskId,
        policy::Region,
        task::{Slot, Task},
    },
    store::{Steps, Tx},
};

use super::{
    raw::Raw,
    steps::{holding, north, step, tokens, write_tasks},
};
use crate::harness::*;

/// Offers `task` to a rider, at the lowest place outside of `held`.
async fn asked(tx: &mut Tx, region: &Region, task: &Task, to: i64, held: &[Slot]) -> Transition {
    let to_rider = holding(tx, to, held).await;
    step(region, &D1, task, &offer(to), &to_rider)
}

/// Withdraws an offer and makes another one.
async fn moved(
    tx: &mut Tx,
    region: &Region,
    task: &Task,
    to: i64,
    held: &[Slot],
) -> [Transition; 2] {
    let anybody = holding(tx, to, held).await;
    let withdrawn = step(region, &D1, task, &WITHDRAW, &anybody);
    let again = asked(tx, region, withdrawn.after(), to, held).await;
    [withdrawn, again]
}

/// Three offers: R1 holds 1 and 2 at its places 0 and 1, R2 holds 3 at its place 0.
async fn three_offers(tx: &mut Tx, numbers: [i64; 3]) -> (Region, Vec<Task>) {
    let region = north(tx).await;
    let tasks = write_tasks(tx, &numbers).await;
    let made = [
        asked(tx, &region, &tasks[0], 1, &[]).await,
        asked(tx, &region, &tasks[1], 1, &[0]).await,
        asked(tx, &region, &tasks[2], 2, &[]).await,
    ];
    let changes: Vec<_> = tasks
        .iter()
        .zip(&made)
        .map(|(before, step)| Steps { before, steps: std::slice::from_ref(step) })
        .collect();
    tx.apply(&changes, tokens("made")).await.unwrap();
    let offered: Vec<_> = made.iter().map(|step| step.after().clone()).collect();
    assert_eq!(places(&offered), [(1, 0), (1, 1), (2, 0)]);
    (region, offered)
}

fn places(tasks: &[Task]) -> Vec<(i64, Slot)> {
    let held = |task: &Task| task.state.held().map(|(rider, slot)| (rider.0, slot));
    tasks.iter().filter_map(held).collect()
}

for_each_database!(two_offers_swap_their_places, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    let (region, tasks) = three_offers(&mut tx, [1, 2, 3]).await;
    let first = moved(&mut tx, &region, &tasks[0], 1, &[0]).await;
    let second = moved(&mut tx, &region, &tasks[1], 1, &[]).await;
    let changes =
        [Steps { before: &tasks[0], steps: &first }, Steps { before: &tasks[1], steps: &second }];
    tx.apply(&changes, tokens("swap")).await.unwrap();
    let after = tx.lock_tasks(&[1, 2, 3].map(TaskId)).await.unwrap();
    assert_eq!(places(&after), [(1, 1), (1, 0), (2, 0)]);
});

for_each_database!(three_offers_move_round_in_a_circle, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    // Among them a number whose parking place is the smallest that there is.
    let (region, tasks) = three_offers(&mut tx, [1, 2, i64::MAX]).await;
    let first = moved(&mut tx, &region, &tasks[0], 1, &[0]).await;
    let second = moved(&mut tx, &region, &tasks[1], 2, &[]).await;
    let third = moved(&mut tx, &region, &tasks[2], 1, &[]).await;
    let steps = [first, second, third];
    // In either order: no order of single rows would do.
    let mut changes: Vec<_> =
        tasks.iter().zip(&steps).map(|(before, steps)| Steps { before, steps }).collect();
    changes.reverse();
    tx.apply(&changes, tokens("circle")).await.unwrap();
    let after = tx.lock_tasks(&[1, 2, i64::MAX].map(TaskId)).await.unwrap();
    assert_eq!(places(&after), [(1, 1), (2, 0), (1, 0)]);
    let parked = Raw::of(&desk);
    tx.commit().await.unwrap();
    let parked = parked.await.number("SELECT COUNT(*) FROM task WHERE rider_slot < 0").await;
    assert_eq!(parked, 0, "nothing stays parked");
});

for_each_database!(a_place_is_freed_and_taken_by_another_task, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    let (region, tasks) = three_offers(&mut tx, [1, 2, 3]).await;
    let free = write_tasks(&mut tx, &[4]).await.remove(0);
    let one = holding(&mut tx, 1, &[]).await;
    let withdrawn = [step(&region, &D1, &tasks[0], &WITHDRAW, &one)];
    let grabbed = [step(&region, &rider(1), &free, &GRAB, &holding(&mut tx, 1, &[1]).await)];
    let changes =
        [Steps { before: &free, steps: &grabbed }, Steps { before: &tasks[0], steps: &withdrawn }];
    tx.apply(&changes, tokens("next")).await.unwrap();
    let after = tx.lock_tasks(&[1, 2, 3, 4].map(TaskId)).await.unwrap();
    assert_eq!(places(&after), [(1, 1), (2, 0), (1, 0)]);
});
