//! What a lane does when something is off, where only a fail-point can show it.

use dispatch_desk::{
    domain::id::StaffId,
    engine::{
        executor::{Error, Settings},
        health::Health,
    },
};
use fail::FailGuard;

use crate::harness::{CANCEL, D2, Database, Desk, GRAB, planting::alone, record::Came, rider};

async fn nothing_queued_is_taken_after_the_disk_failed(database: Database) {
    let _alone = alone().await;
    // One command a transaction: the others wait while the first one meets the failed disk.
    let desk = Desk::with(database, Settings { batch: 1, lanes: 1, ..Settings::default() }).await;
    let tasks = desk.create_many(20).await;
    let broken = FailGuard::new("before-commit", "1*return(broken)").expect("a fail-point");
    let waiting: Vec<_> = (1..)
        .zip(&tasks)
        .map(|(number, task)| {
            let command = desk.change(rider(number), *task, 1, GRAB);
            desk.executor.submit(command).expect("there is room in the lane")
        })
        .collect();
    for answer in futures_util::future::join_all(waiting).await {
        assert_eq!(answer.expect("an answer"), Err(Error::Unavailable { unknown: false }));
    }
    drop(broken);
    assert_eq!(desk.executor.pulse().health(), Health::Stopped);
    for task in tasks {
        assert_eq!(desk.task(task).await.revision.0, 1, "it was told that nothing was done");
    }
    desk.reconciled().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_waits_is_taken_after_the_disk_failed_on_sqlite() {
    nothing_queued_is_taken_after_the_disk_failed(Database::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_waits_is_taken_after_the_disk_failed_on_postgres() {
    nothing_queued_is_taken_after_the_disk_failed(Database::Postgres).await;
}

async fn a_lost_commit_gives_no_right(database: Database) {
    let _alone = alone().await;
    let desk = Desk::open(database).await;
    let task = desk.create().await;
    let sent = desk.send(desk.change(D2, task, 1, CANCEL)).await;
    assert!(sent.came.is_success());
    let mut tx = desk.db.begin().await.expect("a transaction");
    tx.disable_staff(StaffId(2), true).await.expect("they are shut out");
    tx.commit().await.expect("for good");
    let denied = desk.again(&sent).await.came;
    assert!(matches!(denied, Came::Error(_)), "the right is asked for before a replay: {denied:?}");

    let lost = FailGuard::new("after-commit", "1*return(lost)").expect("a fail-point");
    let came = desk.again(&sent).await.came;
    drop(lost);
    assert_eq!(came, denied, "and after a lost commit, too");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_commit_gives_no_right_to_a_replay_on_sqlite() {
    a_lost_commit_gives_no_right(Database::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_commit_gives_no_right_to_a_replay_on_postgres() {
    a_lost_commit_gives_no_right(Database::Postgres).await;
}

async fn a_panic_in_a_batch(database: Database) {
    let _alone = alone().await;
    let desk = Desk::open(database).await;
    let tasks = desk.create_many(50).await;
    // The batch panics, its halves do not: everybody gets an answer.
    let panic = FailGuard::new("after-events", "1*panic").expect("a fail-point");
    let commands: Vec<_> = (1..)
        .zip(&tasks)
        .map(|(number, task)| desk.change(rider(number), *task, 1, GRAB))
        .collect();
    let sent = futures_util::future::join_all(commands.into_iter().map(|one| desk.send(one))).await;
    drop(panic);
    let faulty = sent.iter().filter(|sent| sent.came == Came::Error("FAULTY".to_owned())).count();
    assert!(faulty <= 1, "{faulty} commands fell with the one that was alone in its batch");
    for sent in sent.iter().filter(|sent| !matches!(sent.came, Came::Back(_))) {
        assert!(desk.again(sent).await.came.is_success());
    }
    desk.reconciled().await;
    crate::harness::universal::check_except_errors(&desk).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_takes_nobody_along_on_sqlite() {
    a_panic_in_a_batch(Database::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_takes_nobody_along_on_postgres() {
    a_panic_in_a_batch(Database::Postgres).await;
}
