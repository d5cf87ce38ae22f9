//! kill -9 under load, again and again (F5): what was answered is there, and what was not is decided by asking again.

use std::{sync::Arc, time::Duration};

use crate::harness::{
    Database, Desk,
    desk::Home,
    load::{Load, Settled},
    node::{Node, Other, Start},
    raw, rounds, universal,
};

async fn kill_again_and_again(database: Database, kills: usize) {
    let home = Home::new(database).await;
    raw::prepare(&home.url).await;
    let load = Arc::new(Load::default());
    let mut settled = Settled::default();
    let mut answered = 0;
    for _ in 0..kills {
        let from = load.recorder.sent().len();
        let other = Other::start(&home.url, &Start::default()).await;
        let clients = load.start(&[Node::There(Arc::clone(&other))], 16);
        load.until_answered(from, 20).await;
        // The moment of the kill is the point of the test, not something it waits for.
        let life = Duration::from_millis(rand::random_range(0..400));
        tokio::time::sleep(life).await;
        other.kill().await;
        clients.join_all().await;

        let next = Node::There(Other::start(&home.url, &Start::default()).await);
        settled = settled.and(load.settle(&next, from).await);
        answered += load.recorder.sent().len() - from;
        let Node::There(next) = &next else { unreachable!("it is another process") };
        next.stop().await;
    }
    println!("F5 on {database:?}: {kills} kills, {answered} commands sent, {settled:?}");
    assert!(settled.acknowledged >= kills * 20, "hardly any load: {settled:?}");
    assert!(settled.had_counted + settled.had_not > 0, "no kill hit a command: {settled:?}");

    let Ok(load) = Arc::try_unwrap(load) else { panic!("all clients are gone") };
    let desk = Desk::reopen(database, home, load.recorder).await;
    universal::check_except_errors(&desk).await;
    if database == Database::Sqlite {
        assert_eq!(raw::integrity(&desk.home.url).await, "ok");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_acknowledged_command_survives_kill_9_on_sqlite() {
    kill_again_and_again(Database::Sqlite, rounds(10, 200)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_acknowledged_command_survives_kill_9_on_postgres() {
    kill_again_and_again(Database::Postgres, rounds(10, 100)).await;
}
