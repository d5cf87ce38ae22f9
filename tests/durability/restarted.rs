//! PostgreSQL restarts under load, or is away (F11).

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use dispatch_desk::{
    clock::ManualClock,
    engine::{executor::Settings, health::Health},
    store::{Db, Error, Time},
};

use crate::harness::{
    D1, Database, Desk, NOON,
    cluster::{Cluster, Mode},
    desk::Home,
    load::{Load, Settled},
    node::{Node, Other, Start},
    offer,
    record::Came,
    rounds, universal,
};

/// A command may wait this long for a database that is away: patience, and one try to connect.
const LONGEST: Duration = Duration::from_secs(5);

fn unavailable(came: &Came) -> bool {
    *came == Came::Error("UNAVAILABLE".to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_of_postgres_loses_nothing() {
    let cluster = Arc::new(Cluster::start());
    let home = Home::at(cluster.url());
    let desk = Desk::in_home(Database::Postgres, home, Settings::default()).await;
    let there = Other::start(&desk.home.url, &Start::default()).await;
    let nodes = [desk.here(), Node::There(there)];
    let load = Arc::new(Load::default());
    let (mut settled, mut longest) = (Settled::default(), Duration::ZERO);
    let count = rounds(2, 10);
    for mode in [Mode::Immediate, Mode::Fast].repeat(count) {
        let from = load.recorder.sent().len();
        let clients = load.start(&nodes, 16);
        load.until_answered(from, 200).await;
        let server = Arc::clone(&cluster);
        tokio::task::spawn_blocking(move || server.restart(mode)).await.expect("it restarts");
        // It is back: so are both nodes, without being told.
        let back = Instant::now();
        for node in &nodes {
            while !matches!(load.once(node).await.came, Came::Back(_)) {
                assert!(back.elapsed() < LONGEST, "PostgreSQL is back, and a node is not");
            }
        }
        longest = longest.max(back.elapsed());
        load.until_answered(load.recorder.sent().len(), 100).await;
        load.stop();
        clients.join_all().await;
        settled = settled.and(load.settle(&nodes[1], from).await);
    }
    println!("F11: {count} times immediate and fast; back after at most {longest:?}; {settled:?}");
    let Ok(load) = Arc::try_unwrap(load) else { panic!("all clients are gone") };
    let desk = Desk { recorder: load.recorder, ..desk };
    universal::check_except_errors(&desk).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_postgres_is_away_commands_are_told_so_in_time() {
    let cluster = Cluster::start();
    let home = Home::at(cluster.url());
    let desk = Desk::in_home(Database::Postgres, home, Settings::default()).await;
    let tasks = desk.create_many(20).await;
    cluster.stop(Mode::Immediate);

    // They come one after another, as they do in life, and each is told in time.
    let mut waiting = tokio::task::JoinSet::new();
    for (number, task) in (1..).zip(&tasks) {
        let command = desk.change(D1, *task, 1, offer(number));
        let node = desk.here();
        waiting.spawn(async move {
            let asked = Instant::now();
            let came = node.execute(command.clone()).await;
            (command, came, asked.elapsed())
        });
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let waited = waiting.join_all().await;
    for (command, came, waited) in &waited {
        assert!(unavailable(came), "{came:?}: {command:?}");
        assert!(*waited < LONGEST, "told after {waited:?}");
    }
    let longest = waited.iter().map(|(_, _, waited)| *waited).max().unwrap_or_default();
    println!("F11: {} commands were told after at most {longest:?}", waited.len());
    assert_eq!(desk.executor.pulse().health(), Health::Unready);

    let time = Time::Manual(Arc::new(ManualClock::at(NOON)));
    let refused = Db::open(&desk.home.url, time).await;
    assert!(matches!(refused, Err(Error::Unreachable(_))), "{refused:?}");

    cluster.resume();
    for (command, _, _) in waited {
        let sent = desk.send(command).await;
        assert!(sent.came.answer().event.is_some(), "nothing was done before, now it is: {sent:?}");
    }
    assert_eq!(desk.executor.pulse().health(), Health::Ready);
    desk.check().await;
}
