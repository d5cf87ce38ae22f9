//! A disk that fails: after a sync that failed, the system may forget what it could not keep, so nothing more is
//! taken until the program has been started again and has read what is really there.

use std::{path::Path, sync::Arc};

use crate::harness::{
    Database, Desk,
    desk::Home,
    load::Load,
    node::{Node, Other, Start},
    raw,
    record::Came,
    trace, universal,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_failed_sync_nothing_is_taken_until_a_restart() {
    let home = Home::new(Database::Sqlite).await;
    raw::prepare(&home.url).await;
    let wal = format!("{}-wal", home.url.trim_start_matches("sqlite://"));
    // One sync fails. All later ones would work again: that is the trap.
    let under = trace::under_failing(Path::new(&wal), "fsync,fdatasync", "EIO", "30");
    let child = Other::start(&home.url, &Start { under, ..Start::default() }).await;
    let node = Node::There(Arc::clone(&child));
    let load = Arc::new(Load::default());
    let mut failed = 0;
    for _ in 0..200 {
        match load.once(&node).await.came {
            Came::Back(_) => assert_eq!(failed, 0, "a command was taken after the disk had failed"),
            Came::Error(code) if code == "UNAVAILABLE" => failed += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!((1..200).contains(&failed), "{failed} of 200 commands failed");
    child.kill().await;

    let next = Other::start(&home.url, &Start::default()).await;
    let settled = load.settle(&Node::There(Arc::clone(&next)), 0).await;
    println!("a sync failed: {settled:?}");
    assert_eq!(settled.acknowledged, 200 - failed);
    next.stop().await;
    let Ok(load) = Arc::try_unwrap(load) else { panic!("nobody else sends") };
    let desk = Desk::reopen(Database::Sqlite, home, load.recorder).await;
    universal::check_except_errors(&desk).await;
    assert_eq!(raw::integrity(&desk.home.url).await, "ok");
}
