//! Nodes: the executor of this process, or one in another process on the same database.
//!
//! The other process is this test binary again, told to run [`serve_on_standard_input`]: one command a line in, one
//! answer a line out. What it has printed survives its death, so the parent's memory is the honest record of what was
//! acknowledged.

use std::{
    collections::HashMap,
    process::Stdio,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use dispatch_desk::{
    clock::ManualClock,
    domain::{command::Command, id::Timestamp},
    engine::executor::{Executor, Settings},
    store::{Db, Time},
};
use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{Child, ChildStdin},
    sync::oneshot,
};

use super::{
    cast::NOON,
    desk::Desk,
    record::{Came, Returned},
};

#[derive(Debug, Serialize, Deserialize)]
struct Question {
    id: u64,
    command: Command,
}

#[derive(Debug, Serialize, Deserialize)]
struct Response {
    id: u64,
    came: Came,
}

/// Where commands can be sent.
#[derive(Clone, Debug)]
pub enum Node {
    /// This process.
    Here(Executor),
    /// Another process.
    There(Arc<Other>),
}

impl Node {
    /// Has a command decided.
    pub async fn execute(&self, command: Command) -> Came {
        match self {
            Self::Here(executor) => executor.execute(command).await.into(),
            Self::There(other) => other.execute(command).await,
        }
    }
}

type Waiting = Arc<Mutex<HashMap<u64, oneshot::Sender<Came>>>>;

/// An executor in another process.
#[derive(Debug)]
pub struct Other {
    input: tokio::sync::Mutex<Option<ChildStdin>>,
    child: tokio::sync::Mutex<Child>,
    waiting: Waiting,
    next: AtomicU64,
    pid: u32,
}

/// How another process is started.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// Environment for it: fail-points, planted faults.
    pub env: Vec<(String, String)>,
    /// Whether it uses the system's clock; else the manual one of the database.
    pub system_time: bool,
    /// A program to run it under (strace), with its arguments.
    pub under: Vec<String>,
}

impl Other {
    /// Starts another process on the database at `url`.
    pub async fn start(url: &str, start: &Start) -> Arc<Self> {
        let exe = std::env::current_exe().expect("this test binary");
        let mut command = match start.under.split_first() {
            None => tokio::process::Command::new(&exe),
            Some((program, arguments)) => {
                let mut command = tokio::process::Command::new(program);
                command.args(arguments).arg(&exe);
                command
            }
        };
        command
            .args(["--exact", "harness::node::serve_on_standard_input", "--ignored", "--nocapture"])
            .env("DISPATCH_TEST_NODE", url)
            .env("DISPATCH_TEST_NODE_TIME", if start.system_time { "system" } else { "manual" })
            .envs(start.env.iter().cloned())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true);
        let mut child = command.spawn().expect("another process starts");
        let input = child.stdin.take().expect("its input is ours");
        let mut output = BufReader::new(child.stdout.take().expect("its output is ours")).lines();
        let waiting: Waiting = Arc::default();
        let (ready, is_ready) = oneshot::channel();
        tokio::spawn({
            let waiting = Arc::clone(&waiting);
            async move {
                let mut ready = Some(ready);
                while let Ok(Some(line)) = output.next_line().await {
                    if line.ends_with("NODE READY") {
                        let _ = ready.take().map(|ready| ready.send(()));
                    } else if let Ok(response) = serde_json::from_str::<Response>(&line) {
                        let asked = waiting.lock().expect("never poisoned").remove(&response.id);
                        let _ = asked.map(|asked| asked.send(response.came));
                    }
                }
                // Whoever still waits learns that nothing comes.
                waiting.lock().expect("never poisoned").clear();
            }
        });
        is_ready.await.expect("the other process gets ready");
        let pid = child.id().expect("it runs");
        let (input, child) = (tokio::sync::Mutex::new(Some(input)), tokio::sync::Mutex::new(child));
        Arc::new(Self { input, child, waiting, next: AtomicU64::new(0), pid })
    }

    /// Its process id; of the program it runs under, if any.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Has a command decided there. [`Came::Nothing`] if the process died first.
    pub async fn execute(&self, command: Command) -> Came {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        self.waiting.lock().expect("never poisoned").insert(id, sender);
        let line = serde_json::to_string(&Question { id, command }).expect("a command is JSON");
        let written = match self.input.lock().await.as_mut() {
            Some(input) => input.write_all(format!("{line}\n").as_bytes()).await.is_ok(),
            None => false,
        };
        if !written {
            self.waiting.lock().expect("never poisoned").remove(&id);
        }
        answer.await.unwrap_or(Came::Nothing)
    }

    /// Kills it at once (SIGKILL) and waits until it is gone.
    pub async fn kill(&self) {
        let mut child = self.child.lock().await;
        let _ = child.start_kill();
        let _ = child.wait().await;
    }

    /// Closes its input, which ends it in good order, and waits.
    pub async fn stop(&self) {
        // Dropped, not shut down: that would leave the pipe open.
        drop(self.input.lock().await.take());
        let _ = self.child.lock().await.wait().await;
    }
}

impl Desk {
    /// This process's executor as a node.
    pub fn here(&self) -> Node {
        Node::Here(self.executor.clone())
    }

    /// The nodes that a race runs through: on PostgreSQL two processes, on SQLite the one that there can be.
    pub async fn nodes(&self) -> Vec<Node> {
        match self.database {
            super::Database::Sqlite => vec![self.here()],
            super::Database::Postgres => {
                let there = Other::start(&self.home.url, &Start::default()).await;
                vec![self.here(), Node::There(there)]
            }
        }
    }
}

/// The other process: not a test. Serves until its input ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "the other process of tests with two; started by them"]
async fn serve_on_standard_input() {
    let Ok(url) = std::env::var("DISPATCH_TEST_NODE") else { return };
    let system = std::env::var("DISPATCH_TEST_NODE_TIME").is_ok_and(|time| time == "system");
    let time = if system { Time::System } else { Time::Manual(Arc::new(ManualClock::at(NOON))) };
    #[cfg(feature = "faults")]
    super::planting::from_environment();
    let db = Db::open(&url, time).await.expect("the database opens");
    let executor = Executor::start(db.clone(), Settings::default());
    let (sender, mut responses) = tokio::sync::mpsc::unbounded_channel::<String>();
    let writer = tokio::spawn(async move {
        let mut output = tokio::io::stdout();
        while let Some(line) = responses.recv().await {
            let _ = output.write_all(line.as_bytes()).await;
            let _ = output.flush().await;
        }
    });
    let _ = sender.send("\nNODE READY\n".to_owned());
    let mut input = BufReader::new(tokio::io::stdin()).lines();
    let mut asked = tokio::task::JoinSet::new();
    while let Ok(Some(line)) = input.next_line().await {
        let question: Question = serde_json::from_str(&line).expect("a question is JSON");
        let (executor, sender) = (executor.clone(), sender.clone());
        asked.spawn(async move {
            let came = executor.execute(question.command).await.into();
            let response = Response { id: question.id, came };
            let line = serde_json::to_string(&response).expect("a response is JSON");
            let _ = sender.send(format!("{line}\n"));
        });
    }
    while asked.join_next().await.is_some() {}
    executor.stop().await;
    drop(sender);
    let _ = writer.await;
    db.close().await;
}

/// The clock of a desk, read.
pub fn time_of(desk: &Desk) -> Timestamp {
    dispatch_desk::clock::Clock::now(&*desk.clock)
}

/// An answer that came, with what goes beside it.
#[track_caller]
pub fn back(came: &Came) -> &Returned {
    match came {
        Came::Back(returned) => returned,
        other => panic!("no answer but {other:?}"),
    }
}
