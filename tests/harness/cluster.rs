//! A PostgreSQL of a test's own, which it may stop and start.

use std::{
    fs::OpenOptions,
    io::Write,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// How PostgreSQL is stopped.
#[derive(Clone, Copy, Debug)]
pub enum Mode {
    /// As by a power cut: no checkpoint, recovery at the next start.
    Immediate,
    /// In good order, but at once: sessions are cut off.
    Fast,
}

/// A throw-away cluster on a free port of the loopback address. It is stopped and removed when dropped.
#[derive(Debug)]
pub struct Cluster {
    bin: PathBuf,
    // In the second place: it must outlive the server.
    folder: tempfile::TempDir,
    port: u16,
}

impl Cluster {
    /// Makes and starts one.
    pub fn start() -> Self {
        let bin = std::env::var("TEST_POSTGRES_BIN").unwrap_or_else(|_| {
            panic!(
                "TEST_POSTGRES_BIN is not set: run scripts/test, or point it to the folder of initdb \
                 and pg_ctl"
            )
        });
        // Not in TMPDIR: the user postgres has to be able to go there.
        let folder = tempfile::Builder::new()
            .prefix("dispatch-desk-cluster.")
            .tempdir_in("/tmp")
            .expect("a temporary folder");
        if is_root() {
            run(Command::new("chown").arg("postgres:").arg(folder.path()));
        }
        let mut cluster = Self { bin: bin.into(), folder, port: 0 };
        let data = cluster.data();
        run(cluster
            .command("initdb")
            .args(["--username=postgres", "--encoding=UTF8", "--locale=C", "--auth=trust"])
            .arg("--pgdata")
            .arg(&data));
        cluster.configure(
            "listen_addresses = '127.0.0.1'\nunix_socket_directories = ''\nmax_connections = 100\n\
             shared_buffers = '32MB'\nfsync = on\n",
        );
        // Between finding a free port and taking it, somebody else may take it.
        for _ in 0..5 {
            cluster.port = free_port();
            cluster.configure(&format!("port = {}\n", cluster.port));
            if cluster.pg_ctl(&["start"]) {
                return cluster;
            }
        }
        let log = std::fs::read_to_string(cluster.folder.path().join("log")).unwrap_or_default();
        panic!("PostgreSQL does not start: {log}");
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// Stops it and starts it again.
    pub fn restart(&self, mode: Mode) {
        assert!(self.pg_ctl(&["restart", mode.flag()]), "PostgreSQL restarts");
    }

    /// Stops it.
    pub fn stop(&self, mode: Mode) {
        assert!(self.pg_ctl(&["stop", mode.flag()]), "PostgreSQL stops");
    }

    /// Starts it again.
    pub fn resume(&self) {
        assert!(self.pg_ctl(&["start"]), "PostgreSQL starts again");
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn configure(&self, settings: &str) {
        OpenOptions::new()
            .append(true)
            .open(self.data().join("postgresql.conf"))
            .and_then(|mut file| file.write_all(settings.as_bytes()))
            .expect("the configuration can be written");
    }

    /// A PostgreSQL program. The server refuses to run as root, so root hands over to the user postgres.
    fn command(&self, program: &str) -> Command {
        let program = self.bin.join(program);
        let mut command = if is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        // The caller's own settings for PostgreSQL must not leak in. Output goes nowhere: the server
        // would keep a pipe open.
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("PG")) {
            command.env_remove(name);
        }
        command.current_dir(self.folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn pg_ctl(&self, arguments: &[&str]) -> bool {
        let mut command = self.command("pg_ctl");
        command.arg("--pgdata").arg(self.data()).arg("--log").arg(self.folder.path().join("log"));
        command.args(["--timeout=60", "--wait"]).args(arguments);
        command.status().is_ok_and(|status| status.success())
    }
}

impl Mode {
    const fn flag(self) -> &'static str {
        match self {
            Self::Immediate => "--mode=immediate",
            Self::Fast => "--mode=fast",
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // It may be stopped already; there is nobody left to tell.
        let _ = self.pg_ctl(&["stop", Mode::Immediate.flag()]);
    }
}

fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?}: {status}");
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(Path::new("/proc/self")).is_ok_and(|me| me.uid() == 0)
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("a bound address").port()
}
