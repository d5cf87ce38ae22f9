//! A Redis of the test's own: on a free port, in a temporary folder, gone at the end.

use std::{
    net::TcpListener,
    process::{Child, Command, Stdio},
    time::Duration,
};

use dispatch_desk::locate::{Locator, redis::Index};

pub struct Server {
    child: Child,
    pub url: String,
    folder: tempfile::TempDir,
}

impl Server {
    /// Starts one and waits until it answers.
    pub async fn start() -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        Self::on(port, tempfile::tempdir().unwrap()).await
    }

    async fn on(port: u16, folder: tempfile::TempDir) -> Self {
        let child = Command::new("redis-server")
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""])
            .args(["--appendonly", "no", "--dir", folder.path().to_str().unwrap()])
            .stdout(Stdio::null())
            .spawn()
            .expect("redis-server is installed: scripts/test installs it");
        let server = Self { child, url: format!("redis://127.0.0.1:{port}"), folder };
        let index = Index::open(&server.url, "ready").unwrap();
        for _ in 0..1_000 {
            if index.count().await.is_ok() {
                return server;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("redis-server does not answer");
    }

    /// An index with keys of its own, filled with nobody.
    pub async fn index(&self, name: &str) -> Locator {
        let locator = Locator::Redis(Index::open(&self.url, name).unwrap());
        locator.begin("nobody").await.unwrap();
        assert!(locator.filled("nobody").await.unwrap());
        locator
    }

    fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    /// It is there and does not answer.
    pub fn pause(&self) {
        self.signal("-STOP");
    }

    pub fn go_on(&self) {
        self.signal("-CONT");
    }

    /// It is gone; another one, which knows nothing, comes in its place.
    pub async fn replace(mut self) -> Self {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let port = self.url.rsplit(':').next().unwrap().parse().unwrap();
        Self::on(port, std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap())).await
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
