//! What it is compared with: Redis, asked as its manual says.

use std::{
    net::TcpListener,
    process::{Child, Command, Stdio},
    time::Duration,
};

use dispatch_desk::domain::{fix::Fix, id::RiderId};
use redis::{Client, aio::MultiplexedConnection, cmd, pipe};

use super::{City, NEAREST, RADIUS_M, Took, timed};

pub struct Rival {
    child: Child,
    pub url: String,
    _folder: tempfile::TempDir,
}

impl Rival {
    pub async fn start() -> Self {
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let port = free.expect("a free port").port();
        let folder = tempfile::tempdir().expect("a temporary folder");
        let child = Command::new("redis-server")
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""])
            .args(["--appendonly", "no", "--dir", &folder.path().display().to_string()])
            .stdout(Stdio::null())
            .spawn()
            .expect("redis-server is installed");
        let rival = Self { child, url: format!("redis://127.0.0.1:{port}"), _folder: folder };
        for _ in 0..500 {
            if rival.client().get_multiplexed_async_connection().await.is_ok() {
                return rival;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("redis-server does not answer");
    }

    fn client(&self) -> Client {
        Client::open(self.url.as_str()).expect("an address")
    }

    async fn connection(&self) -> MultiplexedConnection {
        self.client().get_multiplexed_async_connection().await.expect("a connection")
    }

    async fn info(&self, section: &str, field: &str) -> String {
        let mut connection = self.connection().await;
        let info: String =
            cmd("INFO").arg(section).query_async(&mut connection).await.expect("an answer");
        let found = info.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
        found.unwrap_or_default().to_owned()
    }

    pub async fn version(&self) -> String {
        self.info("server", "redis_version").await
    }

    pub async fn used_mib(&self) -> f64 {
        self.info("memory", "used_memory").await.parse::<f64>().unwrap_or_default() / 1_048_576.0
    }

    pub async fn fill(&self, all: &[(RiderId, Fix)]) {
        let mut connection = self.connection().await;
        for chunk in all.chunks(1_000) {
            note(&mut connection, chunk).await;
        }
    }

    pub async fn searches(&self, fixes: u32) -> Took {
        let connection = self.connection().await;
        let ask = async |from: dispatch_desk::domain::geo::Place| {
            let mut connection = connection.clone();
            let found: Vec<(String, f64)> = cmd("GEOSEARCH")
                .arg("riders")
                .arg("FROMLONLAT")
                .arg(from.lng)
                .arg(from.lat)
                .arg("BYRADIUS")
                .arg(RADIUS_M)
                .arg("m")
                .arg("ASC")
                .arg("COUNT")
                .arg(NEAREST)
                .arg("WITHDIST")
                .query_async(&mut connection)
                .await
                .expect("an answer");
            found.len()
        };
        let (client, mut city) = (self.client(), City::new(3));
        let mut noting: Option<MultiplexedConnection> = None;
        timed(fixes, ask, async move |more| {
            if noting.is_none() {
                noting = client.get_multiplexed_async_connection().await.ok();
            }
            let chunk: Vec<_> = (0..more).map(|_| city.fix(0)).collect();
            if let Some(connection) = &mut noting {
                note(connection, &chunk).await;
            }
        })
        .await
    }
}

/// Many in one message: cheaper for Redis than one by one.
async fn note(connection: &mut MultiplexedConnection, chunk: &[(RiderId, Fix)]) {
    let mut pipeline = pipe();
    for (rider, fix) in chunk {
        let place = fix.place;
        pipeline.cmd("GEOADD").arg("riders").arg(place.lng).arg(place.lat).arg(rider.0).ignore();
    }
    pipeline.query_async::<()>(connection).await.expect("an answer");
}

impl Drop for Rival {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
