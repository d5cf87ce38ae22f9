//! A full disk (F10): what can not be stored is said not to be, reads go on, and once there is room again so do
//! commands, without a restart.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use dispatch_desk::{
    domain::command::{Command, What},
    engine::{executor::Settings, health::Health},
};

use crate::harness::{
    Database, Desk,
    desk::Home,
    load::Load,
    node::{Node, Other, Start},
    order, raw,
    record::Came,
    shop, trace, universal,
};

/// A disk of a few megabytes in memory, which only root can make.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        mount(folder.path(), "size=16m").then_some(Self(folder))
    }

    fn enlarge(&self) {
        assert!(mount(self.0.path(), "remount,size=64m"), "the small disk grows");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a connection may still be closing its file.
        let _ = std::process::Command::new("umount").arg("--lazy").arg(self.0.path()).status();
    }
}

fn mount(folder: &Path, options: &str) -> bool {
    let arguments = ["-t", "tmpfs", "-o", options, "tmpfs"];
    let mounted = std::process::Command::new("mount").args(arguments).arg(folder).output();
    mounted.is_ok_and(|mounted| mounted.status.success())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_loses_nothing_and_recovers_without_a_restart() {
    let Some(small) = SmallDisk::mount() else {
        eprintln!("no small disk can be mounted here: failing writes stand in for it");
        return writes_fail_for_a_while().await;
    };
    let home = Home::at(format!("sqlite://{}/desk.db", small.0.path().display()));
    let desk = Desk::in_home(Database::Sqlite, home, Settings::default()).await;
    let here = desk.here();
    let load = Arc::new(Load::heavy(8_000));
    let clients = load.start(std::slice::from_ref(&here), 16);
    // Until the disk is so full that nothing fits.
    let mut refused = 0;
    while refused < 20 {
        let sent = load.once(&here).await;
        refused += usize::from(sent.came == Came::Error("UNAVAILABLE".to_owned()));
    }
    load.stop();
    clients.join_all().await;
    let sent = load.recorder.sent();
    let answers = |sent: &&_| matches!(came(sent), Came::Back(_));
    let acknowledged = sent.iter().filter(answers).count();
    for sent in &sent {
        let stored = answers(&sent) || sent.came == Came::Error("UNAVAILABLE".to_owned());
        assert!(stored, "{:?}", sent.came);
    }
    println!("F10: {acknowledged} of {} commands fitted on the disk", sent.len());
    assert!(acknowledged > 100);

    // A large order still does not fit; the node says so, and reads and replays go on.
    let mut large = order();
    large.note = Some("n".repeat(200_000));
    let what = What::Create(Box::new(large));
    let large = Command { key: Some(load.recorder.fresh_key()), ..desk.command(shop(), what) };
    let came = here.execute(large.clone()).await;
    assert_eq!(came, Came::Error("UNAVAILABLE".to_owned()));
    assert_eq!(desk.executor.pulse().health(), Health::Unready);
    let first = &sent[0];
    let task = first.came.answer().task.expect("the first command created a task").id;
    assert_eq!(desk.events(task).await.first().map(|event| event.to_revision), Some(Some(1)));
    let again = here.execute(first.command.clone()).await;
    assert_eq!(again.answer(), first.came.answer());

    small.enlarge();
    let freed = Instant::now();
    while !matches!(here.execute(large.clone()).await, Came::Back(_)) {
        assert!(freed.elapsed() < Duration::from_secs(5), "there is room, and still no answer");
    }
    assert_eq!(desk.executor.pulse().health(), Health::Ready);
    let settled = load.settle(&here, 0).await;
    println!("F10: once there was room: {settled:?}");
    assert_eq!(settled.acknowledged, acknowledged);
    let came = here.execute(large.clone()).await;
    desk.recorder.note(large, 0, 0, came);

    let desk = in_good_order(desk, load).await;
    desk.executor.stop().await;
    desk.db.close().await;
}

fn came(sent: &crate::harness::record::Sent) -> &Came {
    &sent.came
}

/// Everything that holds after every case, told by the record of the load.
async fn in_good_order(desk: Desk, load: Arc<Load>) -> Desk {
    let Ok(load) = Arc::try_unwrap(load) else { panic!("all clients are gone") };
    for sent in desk.recorder.sent() {
        load.recorder.note(sent.command, sent.invoked_ns, sent.returned_ns, sent.came);
    }
    let desk = Desk { recorder: load.recorder, ..desk };
    universal::check_except_errors(&desk).await;
    assert_eq!(raw::integrity(&desk.home.url).await, "ok");
    desk
}

/// The same without a disk of our own: for a while every write to the log of the file fails as on a full disk.
async fn writes_fail_for_a_while() {
    let home = Home::new(Database::Sqlite).await;
    raw::prepare(&home.url).await;
    let file = home.url.trim_start_matches("sqlite://").to_owned();
    let wal = format!("{file}-wal");
    let under = trace::under_failing(Path::new(&wal), "pwrite64", "ENOSPC", "900..940");
    let child = Other::start(&home.url, &Start { under, ..Start::default() }).await;
    let node = Node::There(Arc::clone(&child));
    let load = Arc::new(Load::default());
    let (mut failed, mut since) = (0, 0);
    // Until it has failed, and 20 commands after that were answered.
    for _ in 0..8_000 {
        let sent = load.once(&node).await;
        match &sent.came {
            Came::Back(_) => since += usize::from(failed > 0),
            Came::Error(code) if code == "UNAVAILABLE" => (failed, since) = (failed + 1, 0),
            other => panic!("{other:?}"),
        }
        if since == 20 {
            break;
        }
    }
    println!("F10 by failing writes: {failed} commands could not be stored");
    assert!(failed > 0, "writes failed, commands did not");
    assert_eq!(since, 20, "commands go on after the disk was freed");
    child.stop().await;
    let child = Other::start(&home.url, &Start::default()).await;
    let settled = load.settle(&Node::There(Arc::clone(&child)), 0).await;
    assert_eq!((settled.had_counted, settled.had_not), (0, failed));
    child.stop().await;
    let desk =
        Desk::reopen(Database::Sqlite, home, crate::harness::record::Recorder::default()).await;
    in_good_order(desk, load).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_that_finds_no_room_is_no_answer_and_no_end() {
    writes_fail_for_a_while().await;
}
