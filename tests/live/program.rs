//! The program as it is started on a machine: one node or several on one database, on the machine's own time.

use std::{process::Stdio, time::Duration};

use dispatch_desk::store::{Db, Time};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

use crate::{
    harness::{cast, desk::Home, *},
    http::{give_tokens, order_body, token_of},
};

/// A running node.
#[derive(Debug)]
pub struct Program {
    child: Child,
    pub origin: String,
}

/// A database with the cast and their tokens in it.
pub async fn prepared(database: Database) -> Home {
    let home = Home::new(database).await;
    let db = Db::open(&home.url, Time::System).await.expect("a new database opens");
    cast::enter(&db).await.expect("the cast enters");
    give_tokens(&db).await;
    db.close().await;
    home
}

impl Program {
    /// Starts a node that listens there.
    pub async fn start(url: &str, listen: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dispatch-desk"));
        command
            .args(["serve", "--listen", listen, "--database", url])
            .env("RUST_LOG", "warn")
            .stdout(Stdio::piped())
            .kill_on_drop(true);
        let mut child = command.spawn().expect("the program starts");
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().expect("its output is ours"));
        output.read_line(&mut line).await.expect("it says where it listens");
        let origin = line.trim().to_owned();
        assert!(origin.starts_with("http://"), "{origin}");
        Self { child, origin }
    }

    /// On a free port of this machine.
    pub async fn here(url: &str) -> Self {
        Self::start(url, "127.0.0.1:0").await
    }

    /// Where it listens, without a scheme.
    pub fn address(&self) -> &str {
        self.origin.trim_start_matches("http://")
    }

    /// Asks it to end, and waits until it has.
    pub async fn stop(mut self) {
        let pid = self.child.id().expect("it runs").to_string();
        let sent = std::process::Command::new("kill").args(["-TERM", &pid]).status();
        assert!(sent.is_ok_and(|sent| sent.success()));
        let ended = tokio::time::timeout(Duration::from_secs(10), self.child.wait()).await;
        assert!(ended.expect("it ends in time").expect("a status").success());
    }
}

/// Orders one task under a key, at whichever of the nodes answers. Returns its number in the log.
pub async fn create(http: &reqwest::Client, origin: &str, key: &str) -> Option<i64> {
    let body = order_body(&order(), Some(key.to_owned()));
    let sent = http.post(format!("{origin}/api/v1/tasks")).bearer_auth(token_of(&shop()));
    let answer = sent.json(&body).send().await.ok()?;
    let answer: Value = answer.json().await.ok()?;
    answer["event"]["number"].as_i64()
}

pub fn client() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().expect("a client")
}
