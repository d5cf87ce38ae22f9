//! What lies between: proxies that would hold a stream back, and networks that swallow everything without a word.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use dispatch_desk::{
    engine::{
        executor::{Executor, Settings},
        hub,
    },
    store::{Db, Time},
    web::{Desk as WebDesk, Limits, Origin, Server},
};

use crate::{
    client::{Stream, request},
    harness::*,
    http::token_of,
    program::{Program, client, create, prepared},
};

/// Whether something that not every machine has is here. Where `CI_REQUIRE_BROWSER` is set, everything has to be.
fn is_here(test: &str, what: &str, here: bool) -> bool {
    let required = std::env::var("CI_REQUIRE_BROWSER").is_ok_and(|value| value == "1");
    assert!(here || !required, "{test} needs {what}");
    if !here {
        eprintln!("{test} SKIPPED: no {what}");
    }
    here
}

/// A process that ends with the test.
struct Beside(std::process::Child);

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts nginx in a folder, with its own defaults for proxies, on a free port.
async fn nginx(folder: &Path, upstream: &str) -> (Beside, String) {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let place = folder.display();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|of| format!("{of}_temp_path {place}/{of};"))
        .concat();
    let configuration = format!(
        "daemon off; master_process off; pid {place}/pid; error_log {place}/error.log; events {{}} \
         http {{ access_log off; {temporary} gzip on; \
         server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass {upstream}; }} }} }}"
    );
    std::fs::write(folder.join("nginx.conf"), configuration).unwrap();
    let child = Command::new("nginx")
        .args(["-p", &place.to_string(), "-c", "nginx.conf"])
        .stderr(Stdio::null())
        .spawn()
        .expect("nginx starts");
    let beside = Beside(child);
    let address = format!("127.0.0.1:{port}");
    let since = Instant::now();
    while tokio::net::TcpStream::connect(&address).await.is_err() {
        assert!(since.elapsed() < Duration::from_secs(10), "nginx does not listen");
        tokio::task::yield_now().await;
    }
    (beside, format!("http://{address}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_proxy_with_its_defaults_holds_nothing_back_and_cuts_nothing_off() {
    let here = Command::new("nginx").arg("-v").stderr(Stdio::null()).status().is_ok();
    if !is_here("the test of the proxy", "nginx (apt-get install nginx-light)", here) {
        return;
    }
    let home = prepared(Database::Sqlite).await;
    let program = Program::here(&home.url).await;
    let folder = tempfile::tempdir().unwrap();
    let (nginx, origin) = nginx(folder.path(), &program.origin).await;
    let request = request(&origin, "/api/v1/stream?after=0").bearer_auth(token_of(&D1));
    let answer = request.header("accept-encoding", "gzip").send().await.expect("an answer");
    let mut stream = Stream::of(answer);
    assert!(stream.headers().get("content-encoding").is_none(), "{:?}", stream.headers());
    assert_eq!(stream.next().await.name, "hello");
    let http = client();
    // With the full rounds it is silent for longer than a proxy waits for an answer: the heartbeats keep it.
    let silence = Duration::from_secs(u64::try_from(rounds(2, 75)).unwrap());
    for number in 1..=2 {
        let since = Instant::now();
        create(&http, &origin, &format!("p-{number}")).await.expect("it is answered");
        let event = stream.word().await;
        let took = since.elapsed();
        assert_eq!(event.number("number"), number);
        assert!(took < Duration::from_secs(1), "{took:?}");
        println!("through nginx an event takes {took:?}");
        let quiet = async {
            loop {
                assert_eq!(stream.next().await.name, "ping");
            }
        };
        // Nothing but heartbeats comes, and the end does not either.
        let _ = tokio::time::timeout(silence, quiet).await;
    }
    drop((stream, nginx));
    program.stop().await;
}

fn ip(arguments: &str) -> bool {
    let arguments = arguments.split(' ');
    Command::new("ip")
        .args(arguments)
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// A network of its own, with one line to this machine.
struct Elsewhere {
    name: String,
    line: String,
}

impl Elsewhere {
    /// The end of the line on this side.
    const HERE: &str = "10.213.7.1";

    fn make() -> Option<Self> {
        let name = format!("desk{}", std::process::id());
        let there = Self { line: format!("{name}a"), name };
        let Self { name, line } = &there;
        let steps = [
            format!("netns add {name}"),
            format!("link add {line} type veth peer name {name}b netns {name}"),
            format!("addr add {}/30 dev {line}", Self::HERE),
            format!("link set {line} up"),
            format!("-n {name} addr add 10.213.7.2/30 dev {name}b"),
            format!("-n {name} link set {name}b up"),
        ];
        steps.iter().all(|step| ip(step)).then_some(there)
    }

    /// Swallows everything from now on, both ways, and says so to nobody.
    fn cut(&self) {
        assert!(ip(&format!("-n {} link set {}b down", self.name, self.name)));
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        ip(&format!("link del {}", self.line));
        ip(&format!("netns del {}", self.name));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn peers_who_are_gone_without_a_word_are_forgotten() {
    let Some(elsewhere) = Elsewhere::make() else {
        is_here("the test of dead peers", "right to make networks (root, ip)", false);
        return;
    };
    let home = prepared(Database::Sqlite).await;
    let db = Db::open(&home.url, Time::System).await.expect("it opens");
    let executor = Executor::start(db, Settings::default());
    let full = rounds(0, 1) == 1;
    let live = if full {
        hub::Settings::default()
    } else {
        hub::Settings { heartbeat_ms: 1_500, ..hub::Settings::default() }
    };
    let silence = if full { Limits::default().silence } else { Duration::from_secs(2) };
    let limits = Limits { silence, ..Limits::default() };
    let listener = tokio::net::TcpListener::bind((Elsewhere::HERE, 0)).await.expect("its address");
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let desk = WebDesk::live(executor, Origin::parse(&origin).unwrap(), live);
    let server = Server::start(desk, listener, limits).expect("it serves");

    // More than one peer may have connections: streams are counted as streams.
    let riders = rounds(10, 60);
    let mut clients = Vec::new();
    for number in 1..=riders {
        let url = format!("{origin}/api/v1/stream");
        let token = token_of(&rider(i64::try_from(number).unwrap()));
        let mut command = Command::new("ip");
        command.args([
            "netns",
            "exec",
            &elsewhere.name,
            "curl",
            "-sN",
            "-Z",
            "--parallel-immediate",
        ]);
        command.args(["-H", &format!("Authorization: Bearer {token}"), &url, &url, &url, &url]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        clients.push(Beside(command.spawn().expect("curl starts")));
        let since = Instant::now();
        while server.hub().figures().open < number * 4 {
            assert!(since.elapsed() < Duration::from_secs(30), "{:?}", server.hub().figures());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    let wanted = riders * 4;
    elsewhere.cut();
    let since = Instant::now();
    while server.hub().figures().open > 0 {
        assert!(since.elapsed() < Duration::from_mins(1), "{:?}", server.hub().figures());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    println!("{wanted} streams of dead peers were given up after {:?}", since.elapsed());
    drop(clients);
    server.stop().await;
}
