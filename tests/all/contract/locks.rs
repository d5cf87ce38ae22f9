//! Locking and loading: order, empty lists, exact numbers, and tasks that somebody else holds.

use std::time::Duration;

use dispatch_desk::{
    domain::id::{RiderId, TaskId},
    store::Error,
};

use super::steps::{holding, north, step, tokens, write_tasks};
use crate::harness::*;

/// Numbers that a detour through floating point would change, and the ends of the range.
const ODD: [i64; 6] = [i64::MIN, -7, 0, 9_007_199_254_740_993, i64::MAX - 1, i64::MAX];

for_each_database!(numbers_pass_a_row_source_unchanged, |desk| async move {
    let mut tx = desk.read().await;
    assert_eq!(tx.echo(&[]).await.unwrap(), (0, None));
    for number in ODD {
        assert_eq!(tx.echo(&[number]).await.unwrap(), (1, Some(number)));
    }
    assert_eq!(tx.echo(&ODD).await.unwrap(), (6, Some(i64::MAX)));
    let many: Vec<_> = (0..5_000).map(|back| i64::MAX - back).collect();
    assert_eq!(tx.echo(&many).await.unwrap(), (5_000, Some(i64::MAX)));
});

for_each_database!(tasks_of_the_largest_numbers_are_found_exactly, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    let odd = [-7, 0, 9_007_199_254_740_993, i64::MAX];
    let written = write_tasks(&mut tx, &odd).await;
    let near = [-8, 1, 9_007_199_254_740_992, 9_007_199_254_740_994, i64::MAX - 1];
    let mut wanted: Vec<_> = odd.iter().chain(&near).copied().map(TaskId).collect();
    wanted.reverse();
    let found = tx.lock_tasks(&wanted).await.unwrap();
    assert_eq!(found, written, "exactly these, sorted by number");
    let mut existing = tx.existing(&wanted).await.unwrap();
    existing.sort_unstable();
    assert_eq!(existing, odd.map(TaskId));
    let mut details = tx.detail_revisions(&wanted).await.unwrap();
    details.sort_unstable();
    assert_eq!(details.iter().map(|(task, _)| task.0).collect::<Vec<_>>(), odd);
    for (number, task) in odd.into_iter().zip(written) {
        assert_eq!(tx.task(TaskId(number)).await.unwrap(), Some(task));
    }
});

for_each_database!(nothing_is_loaded_for_nobody, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    assert_eq!(tx.lock_riders(&[]).await.unwrap(), []);
    assert_eq!(tx.lock_tasks(&[]).await.unwrap(), []);
    assert_eq!(tx.existing(&[]).await.unwrap(), []);
    assert_eq!(tx.detail_revisions(&[]).await.unwrap(), []);
    tx.load_places(&mut []).await.unwrap();
    tx.load_fixes(&mut []).await.unwrap();
});

for_each_database!(riders_come_in_order_with_the_places_they_hold, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    let region = north(&mut tx).await;
    let tasks = write_tasks(&mut tx, &[1, 2, 3]).await;
    let (free, busy) = (holding(&mut tx, 4, &[]).await, holding(&mut tx, 4, &[0]).await);
    let grabbed = [
        step(&region, &rider(4), &tasks[0], &GRAB, &free),
        step(&region, &D1, &tasks[1], &offer(4), &busy),
    ];
    let changes: Vec<_> = tasks
        .iter()
        .zip(&grabbed)
        .map(|(before, step)| dispatch_desk::store::Steps {
            before,
            steps: std::slice::from_ref(step),
        })
        .collect();
    tx.apply(&changes, tokens("t")).await.unwrap();

    let wanted = [9, 4, 77, 1].map(RiderId);
    let mut riders = tx.lock_riders(&wanted).await.unwrap();
    assert_eq!(riders.iter().map(|rider| rider.id.0).collect::<Vec<_>>(), [1, 4, 9]);
    assert!(riders[1].held.is_empty(), "not loaded yet");
    tx.load_places(&mut riders).await.unwrap();
    riders[1].held.sort_unstable();
    assert_eq!(riders[1].held, [0, 1]);
    assert_eq!((riders[0].held.len(), riders[2].held.len()), (0, 0));
});

/// On PostgreSQL a held task is left out; on SQLite the second waits for the one writer and sees what came of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_that_another_transaction_holds_is_left_out_on_postgres() {
    let desk = Desk::open(Database::Postgres).await;
    let mut tx = desk.db.begin().await.unwrap();
    write_tasks(&mut tx, &[1, 2, 3]).await;
    tx.commit().await.unwrap();
    let all = [1, 2, 3].map(TaskId);

    let mut first = desk.db.begin().await.unwrap();
    assert_eq!(first.lock_tasks(&all[1..2]).await.unwrap().len(), 1);
    let mut second = desk.db.begin().await.unwrap();
    let left: Vec<_> = second.lock_tasks(&all).await.unwrap().iter().map(|task| task.id).collect();
    assert_eq!(left, [TaskId(1), TaskId(3)]);
    let mut exist = second.existing(&all).await.unwrap();
    exist.sort_unstable();
    assert_eq!(exist, all, "held by others or not");
    // Who only reads is not kept waiting.
    assert!(desk.read().await.task(TaskId(2)).await.unwrap().is_some());
    first.rollback().await.unwrap();
    assert_eq!(second.lock_tasks(&all).await.unwrap().len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_second_writer_waits_for_the_first_on_sqlite() {
    let desk = Desk::open(Database::Sqlite).await;
    let mut first = desk.db.begin().await.unwrap();
    let db = desk.db.clone();
    let second = tokio::spawn(async move {
        let mut tx = db.begin().await.unwrap();
        tx.lock_tasks(&[TaskId(1)]).await.unwrap()
    });
    // However long the first one takes, the second one has not begun.
    for _ in 0..100 {
        tokio::task::yield_now().await;
        assert!(!second.is_finished());
    }
    let written = write_tasks(&mut first, &[1]).await;
    assert!(!second.is_finished());
    assert_eq!(desk.read().await.task(TaskId(1)).await.unwrap(), None, "readers go on meanwhile");
    first.commit().await.unwrap();
    assert_eq!(second.await.unwrap(), written);
}

/// A rider's row is waited for, and not for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rider_who_is_held_for_too_long_is_reported_as_busy_on_postgres() {
    let desk = Desk::open(Database::Postgres).await;
    let mut first = desk.db.begin().await.unwrap();
    first.lock_riders(&[RiderId(1)]).await.unwrap();
    let mut second = desk.db.begin().await.unwrap();
    assert_eq!(second.lock_riders(&[RiderId(2)]).await.unwrap().len(), 1, "others are free");
    let waited = tokio::time::timeout(Duration::from_secs(30), second.lock_riders(&[RiderId(1)]));
    let waited = waited.await.expect("the wait has an end");
    assert!(matches!(waited, Err(Error::Busy(_))), "{waited:?}");
}
