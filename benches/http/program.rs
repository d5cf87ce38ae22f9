//! The program itself, started on a database.

use std::{net::SocketAddr, process::Stdio};

use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

/// A running `dispatch-desk serve`.
#[derive(Debug)]
pub struct Program {
    child: Child,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Program {
    /// Starts it; returns once it has said where it listens.
    pub async fn start(url: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_dispatch-desk"))
            .args(["serve", "--listen", "127.0.0.1:0", "--database", url])
            .env("RUST_LOG", "warn")
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the program starts");
        let output = child.stdout.take().expect("its output is ours");
        let line = BufReader::new(output).lines().next_line().await.expect("it says where");
        let line = line.expect("a line");
        let address = line.trim_start_matches("http://").parse().expect("an address");
        Self { child, address }
    }

    /// What it has in memory, in MiB.
    pub fn memory_mib(&self) -> f64 {
        let id = self.child.id().expect("it runs");
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).expect("a process");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok());
        kib.unwrap_or(0.0) / 1_024.0
    }

    /// Ends it in good order.
    pub async fn stop(mut self) {
        let id = self.child.id().expect("it runs").to_string();
        Command::new("kill").arg(id).status().await.expect("kill");
        self.child.wait().await.expect("it ends");
    }
}
