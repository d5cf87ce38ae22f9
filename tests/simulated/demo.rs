//! The demo, as a newcomer runs it.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use dispatch_desk::{
    client::Client,
    engine::{seal_keys, verify::verify},
    store::{Db, Time},
};

struct Running {
    child: Child,
    printed: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        // Only if the test has failed before its end.
        let _ = self.child.kill();
    }
}

fn command(folder: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dispatch-desk"));
    command.arg("demo").arg("--folder").arg(folder).args(more);
    command.env_remove("DISPATCH_LISTEN").stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn start(folder: &Path, more: &[&str]) -> Running {
    let began = Instant::now();
    let mut child =
        command(folder, &[&["--listen", "127.0.0.1:0"], more].concat()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut printed = String::new();
    while !printed.contains("starts over.") {
        let line = lines.next().expect("it says what to try before it ends").unwrap();
        printed.push_str(&line);
        printed.push('\n');
    }
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    Running { child, printed }
}

impl Running {
    /// What follows `before` in what was printed, up to the next space.
    fn after(&self, before: &str) -> String {
        let at = self.printed.find(before).unwrap_or_else(|| panic!("{before}: {}", self.printed));
        let rest = &self.printed[at + before.len()..];
        rest.chars().take_while(|c| !c.is_whitespace()).collect()
    }

    fn origin(&self) -> String {
        format!("http://{}", self.after("http://"))
    }

    fn stop(mut self) {
        let began = Instant::now();
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        let status = self.child.wait().unwrap();
        assert_eq!(status.code(), Some(0));
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    }
}

/// How many tasks there are, and what the first event of the log is called.
async fn kept(folder: &Path) -> (u64, String) {
    let url = format!("sqlite://{}", folder.join("demo.db").display());
    let db = Db::open(&url, Time::System).await.unwrap();
    let report = dispatch_desk::engine::reconcile::reconcile(&db, |_| {}).await.unwrap();
    assert_eq!(report.differences, []);
    let mut tx = db.read().await.unwrap();
    let first = tx.events_after(0, 1).await.unwrap().remove(0).event_id;
    drop(tx);
    // All of it is sealed, under the demo's own key.
    let keys = seal_keys::read(&folder.join("demo.audit-key")).unwrap();
    let sealed = verify(&db, &keys, &[], |_| ()).await.unwrap();
    assert_eq!((&sealed.finding, sealed.unsealed_events, sealed.unsealed_attempts), (&None, 0, 0));
    db.close().await;
    (report.tasks, first)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_demo_starts_goes_on_and_starts_over() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("demo");
    let first = start(&folder, &["--pace", "20"]);
    let nobody = Client::new(&first.origin(), None).unwrap();
    let tracked = nobody.track(&first.after("/t/")).await.unwrap();
    assert!(tracked.task.id.0 > 0);
    for words in ["D1", "R1", "李明", "dispatcher", "customer", "/enter/", "派单台"] {
        assert!(first.printed.contains(words), "{words}");
    }
    let entered = first.after("/enter/");
    // Somebody else in the same folder is told so.
    let other = command(&folder, &["--listen", "127.0.0.1:0"]).output().unwrap();
    assert_eq!(other.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&other.stderr).contains("another demo runs"));
    // So is somebody who wants the same port.
    let taken = first.origin().replace("http://", "");
    let elsewhere = folder.with_extension("2");
    let other = command(&elsewhere, &["--listen", &taken]).output().unwrap();
    assert_eq!(other.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&other.stderr).contains("can not listen on"));
    tokio::time::sleep(Duration::from_millis(500)).await;
    first.stop();
    let (tasks, log) = kept(&folder).await;
    assert!(tasks >= 24, "{tasks}");

    let second = start(&folder, &[]);
    assert_ne!(second.after("/enter/"), entered, "new links");
    second.stop();
    let (more, same) = kept(&folder).await;
    assert!(more >= tasks && same == log, "the same data");

    std::fs::write(folder.join("letter.txt"), "dear").unwrap();
    let refused = command(&folder, &["--fresh", "--listen", "127.0.0.1:0"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("nothing was removed"));
    std::fs::remove_file(folder.join("letter.txt")).unwrap();
    let third = start(&folder, &["--fresh"]);
    third.stop();
    assert_ne!(kept(&folder).await.1, log, "from the beginning");
}
