//! The order of a process's system calls, as strace tells it: was a command on the disk before it was answered?
//!
//! kill -9 can not show this, since the system keeps what a dead process has written; the order of calls can.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
    process::Command,
};

/// How to run a process under strace, so that [`judge`] can read `file`.
pub fn under_strace(file: &Path) -> Vec<String> {
    let file = file.display().to_string();
    let calls = "trace=fdatasync,fsync,pwrite64,write,writev,sendto";
    strace(&["-f", "-y", "-s", "40", "-e", calls, "-o", &file])
}

/// How to run a process under strace whose calls `call` on the file `path` fail with `error`: those that `when`
/// tells (`30` or `300..340`), counted for each thread.
pub fn under_failing(path: &Path, call: &str, error: &str, when: &str) -> Vec<String> {
    let path = path.display().to_string();
    let (trace, inject) =
        (format!("trace={call}"), format!("inject={call}:error={error}:when={when}"));
    strace(&["-f", "-qq", "-P", &path, "-e", &trace, "-e", &inject, "-o", "/dev/null"])
}

fn strace(arguments: &[&str]) -> Vec<String> {
    let works = Command::new("strace").arg("--version").output();
    assert!(
        works.is_ok_and(|works| works.status.success()),
        "strace is not there: run scripts/test, which installs it, or apt-get install strace"
    );
    std::iter::once("strace").chain(arguments.iter().copied()).map(str::to_owned).collect()
}

/// What a trace shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// How many answers were written.
    pub answers: usize,
    /// Each answer that came too early, with the reason.
    pub violations: Vec<String>,
}

#[derive(Debug, Default)]
struct State {
    written: usize,
    unsynced: bool,
    /// Syncs under way, by thread; a write meanwhile may be missed by them.
    syncs: HashMap<String, bool>,
    /// Writes under way, by thread.
    writes: HashSet<String>,
}

impl State {
    fn write(&mut self) {
        self.written += 1;
        self.unsynced = true;
        for covers in self.syncs.values_mut() {
            *covers = false;
        }
    }

    fn answer(&mut self, order: &mut Order, line: &str) {
        order.answers += 1;
        let why = if self.written == 0 {
            Some("nothing was written before it")
        } else if self.unsynced {
            Some("what was written before it was not synced")
        } else {
            None
        };
        if let Some(why) = why {
            order.violations.push(format!("{why}: {line}"));
        }
        self.written = 0;
    }
}

/// Reads a trace of a process that was sent one command at a time, each of which had to write. Before every answer there
/// must be a write to the file that ends in `-wal`, and after the last of those a sync of it that succeeded.
pub fn judge(trace: &str) -> Order {
    let (mut order, mut state) = (Order::default(), State::default());
    for line in trace.lines() {
        let (thread, call) = line.trim_start().split_once(' ').unwrap_or_default();
        let (thread, call) = (thread.to_owned(), call.trim_start());
        let unfinished = call.contains("<unfinished");
        let succeeded = call.trim_end().ends_with("= 0");
        let is_sync = call.starts_with("fdatasync(") || call.starts_with("fsync(");
        let is_write = call.starts_with("pwrite64(") || call.starts_with("write");
        if call.starts_with("<... ") {
            if state.writes.remove(&thread) {
                state.write();
            } else if state.syncs.remove(&thread) == Some(true) && succeeded {
                state.unsynced = false;
            }
        } else if call.contains("-wal>") && is_sync {
            if unfinished {
                state.syncs.insert(thread, true);
            } else if succeeded {
                state.unsynced = false;
            }
        } else if call.contains("-wal>") && is_write {
            state.write();
            if unfinished {
                state.writes.insert(thread);
            }
        } else if call.starts_with("write(1<") && call.contains(r#"{\"id\":"#) {
            state.answer(&mut order, call);
        }
    }
    order
}
