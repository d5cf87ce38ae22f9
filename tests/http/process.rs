//! `dispatch-desk serve` as a process: it says where it listens, and it ends in good order.

use std::{
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use dispatch_desk::{
    clock::SystemClock,
    domain::id::TaskId,
    engine::reconcile::reconcile,
    store::{Db, Time},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    process::{Child, ChildStdout, Command},
};

use crate::{
    harness::{cast, desk::Home, *},
    http::{give_tokens, order_body, token_of},
};

/// The program, as it is started on a machine.
pub struct Program {
    child: Child,
    output: BufReader<ChildStdout>,
    pub origin: String,
}

fn command(url: &str, listen: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dispatch-desk"));
    command
        .args(["serve", "--listen", listen, "--database", url])
        .env("RUST_LOG", "warn")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

impl Program {
    async fn start(url: &str) -> Self {
        Self::run(command(url, "127.0.0.1:0")).await
    }

    /// With whatever else is asked of it, and everything that it has to say in the file `log`.
    pub async fn logging(url: &str, arguments: &[&str], log: &std::path::Path) -> Self {
        let file = std::fs::File::create(log).expect("a file");
        let mut command = command(url, "127.0.0.1:0");
        command.args(arguments).env("RUST_LOG", "debug").stderr(file);
        Self::run(command).await
    }

    async fn run(mut command: Command) -> Self {
        let mut child = command.spawn().expect("the program starts");
        let mut output = BufReader::new(child.stdout.take().expect("its output is ours"));
        let mut line = String::new();
        output.read_line(&mut line).await.expect("it says where it listens");
        let origin = line.trim().to_owned();
        assert!(origin.starts_with("http://127.0.0.1:"), "{origin}");
        Self { child, output, origin }
    }

    fn address(&self) -> &str {
        self.origin.trim_start_matches("http://")
    }

    /// Asks it to end, and waits until it has.
    pub async fn stop(mut self) {
        self.signal("-TERM");
        assert_eq!(self.end(Instant::now()).await.1, Some(0));
    }

    fn signal(&self, signal: &str) {
        let pid = self.child.id().expect("it runs").to_string();
        let sent = std::process::Command::new("kill").args([signal, &pid]).status();
        assert!(sent.is_ok_and(|sent| sent.success()));
    }

    /// Waits for its end. How long it took, and what it left with.
    async fn end(&mut self, since: Instant) -> (Duration, Option<i32>) {
        let ended = tokio::time::timeout(Duration::from_secs(20), self.child.wait()).await;
        let status = ended.expect("it ends").expect("its status can be had");
        (since.elapsed(), status.code())
    }
}

pub async fn prepared() -> Home {
    let home = Home::new(Database::Sqlite).await;
    let db = Db::open(&home.url, Time::System).await.expect("a new database opens");
    cast::enter(&db).await.expect("the cast enters");
    give_tokens(&db).await;
    db.close().await;
    home
}

/// What one client was told of a command.
#[derive(Debug)]
struct Told {
    key: String,
    /// The status and the task; none if the request was not accepted.
    answer: Option<(u16, Value)>,
    /// Whether the connection broke off after the request was sent and before the answer was whole.
    cut: bool,
}

/// Creates tasks over one connection after the other until told to stop or turned away.
async fn create_until_stopped(
    origin: String,
    client: usize,
    stopped: Arc<AtomicBool>,
    answered: Arc<AtomicUsize>,
) -> Vec<Told> {
    let http = reqwest::Client::builder().no_proxy().build().expect("a client");
    let mut told = Vec::new();
    for number in 0.. {
        if stopped.load(Ordering::SeqCst) {
            break;
        }
        let key = format!("c{client}-{number}");
        let body = order_body(&order(), Some(key.clone()));
        let sent = http.post(format!("{origin}/api/v1/tasks")).bearer_auth(token_of(&shop()));
        let Ok(response) = sent.json(&body).send().await else {
            told.push(Told { key, answer: None, cut: false });
            break;
        };
        let status = response.status().as_u16();
        let text = response.text().await;
        let cut = text.is_err();
        let body = serde_json::from_str(&text.unwrap_or_default()).unwrap_or_default();
        answered.fetch_add(1, Ordering::SeqCst);
        told.push(Told { key, answer: Some((status, body)), cut });
    }
    told
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn told_to_end_under_load_it_answers_everything_that_it_accepted() {
    for round in 0..rounds(2, 20) {
        let home = prepared().await;
        let mut program = Program::start(&home.url).await;
        let ready = reqwest::get(format!("{}/readyz", program.origin)).await.expect("an answer");
        assert_eq!(ready.status().as_u16(), 200);

        // Those who say nothing and those who say half of it are there as well.
        let idle = TcpStream::connect(program.address()).await.expect("it listens");
        let mut half = TcpStream::connect(program.address()).await.expect("it listens");
        half.write_all(b"POST /api/v1/tasks HTTP/1.1\r\nhost: x\r\ncontent-le")
            .await
            .expect("it is taken");

        let (stopped, answered) = (Arc::new(AtomicBool::new(false)), Arc::<AtomicUsize>::default());
        let clients: Vec<_> = (0..16)
            .map(|client| {
                let (stopped, answered) = (Arc::clone(&stopped), Arc::clone(&answered));
                let origin = program.origin.clone();
                tokio::spawn(create_until_stopped(origin, client, stopped, answered))
            })
            .collect();
        while answered.load(Ordering::SeqCst) < 100 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        let since = Instant::now();
        program.signal("-TERM");
        if round % 2 == 1 {
            // A second one is harmless.
            program.signal("-TERM");
        }
        let mut told = Vec::new();
        for client in clients {
            told.extend(client.await.expect("a client returns"));
        }
        let (took, code) = program.end(since).await;
        assert_eq!(code, Some(0), "it ends well");
        assert!(took < Duration::from_secs(10), "{took:?}");
        let mut rest = String::new();
        program.output.read_to_string(&mut rest).await.expect("its output can be read");
        assert_eq!(rest, "", "the address is all that it prints");
        drop((idle, half));

        let db = Db::open(&home.url, Time::System).await.expect("the database opens again");
        let mut tx = db.read().await.expect("it can be read");
        let (mut done, mut away, mut stored) = (0, 0, 0);
        for told in &told {
            assert!(!told.cut, "an answer was cut: {told:?}");
            let kept = tx.card_of_order("shop", &told.key).await.expect("it can be read");
            match &told.answer {
                Some((201, body)) => {
                    let id = body["task"]["id"].as_i64().map(TaskId);
                    assert_eq!(kept.map(|card| card.task.id), id, "{told:?}");
                    done += 1;
                }
                Some((status, body)) => panic!("{status} {body}"),
                None => {
                    // It was turned away. Had it been accepted, it would have been answered.
                    away += 1;
                    stored += usize::from(kept.is_some());
                }
            }
        }
        println!("SIGTERM under load: {done} answered, {away} turned away, ended in {took:?}");
        assert_eq!(stored, 0, "what was accepted was answered");
        assert!(away > 0, "nobody was there at the end");
        tx.rollback().await.expect("nothing to undo");
        let report = reconcile(&db, |_| ()).await.expect("everything can be read");
        assert!(report.differences.is_empty(), "{:#?}", report.differences);
        db.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_port_in_use_is_said_and_ends_it_at_once() {
    let home = prepared().await;
    let taken = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = taken.local_addr().expect("it is bound").to_string();
    let output = command(&home.url, &address).output().await.expect("the program runs");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(&format!("can not listen on {address}")), "{said}");
    assert!(output.stdout.is_empty());
    // The same for what is no address, no database and no origin.
    for arguments in [
        ["--listen", "nowhere"],
        ["--database", "mysql://x"],
        ["--public-origin", "desk.example/path"],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_dispatch-desk"))
            .args(["serve", "--listen", "127.0.0.1:0", "--database", &home.url])
            .args(arguments)
            .output()
            .await
            .expect("the program runs");
        // A flag twice is an error of its own, and an error it is to be.
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(!output.stderr.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_operator_makes_on_the_command_line_works_at_once() {
    let home = Home::new(Database::Sqlite).await;
    let admin = async |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_dispatch-desk"))
            .args(["admin", "--database", &home.url])
            .args(arguments)
            .output()
            .await
            .expect("the program runs");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).expect("text").trim().to_owned()
    };
    let place =
        ["--time-zone", "Asia/Shanghai", "--centre", "31.2304,121.4737", "--radius-m", "30000"];
    let region = admin(&[&["region", "north"][..], &place[..]].concat()).await;
    let staff = admin(&["staff", "Wang", "--role", "dispatcher", "--regions", &region]).await;
    let rider = admin(&["rider", "Li", "--region", &region]).await;
    assert_eq!((region.as_str(), staff.as_str(), rider.as_str()), ("G1", "D1", "R1"));
    let program = Program::start(&home.url).await;
    // While it serves: tokens are made and ended beside it.
    let (desk, phone, shop) = (
        admin(&["token", "--staff", &staff]).await,
        admin(&["token", "--rider", &rider]).await,
        admin(&["token", "--source", "shop"]).await,
    );
    let http = reqwest::Client::builder().no_proxy().build().expect("a client");
    let post = |token: &str, path: &str, key: &str, body: &Value| {
        let ask = http.post(format!("{}{path}", program.origin)).bearer_auth(token);
        ask.header("idempotency-key", key).json(body).send()
    };
    let made = post(&shop, "/api/v1/tasks", "x", &order_body(&order(), Some("o-1".to_owned())));
    let made: Value = made.await.expect("an answer").json().await.expect("JSON");
    assert_eq!(made["outcome"], "done", "{made}");
    let on = |verb: &str| format!("/api/v1/tasks/{}/{verb}", made["task"]["id"]);
    let offer = json!({ "revision": 1, "rider_id": 1 });
    let offered = post(&desk, &on("offer"), "k1", &offer).await.expect("an answer");
    assert_eq!(offered.status().as_u16(), 200);
    let yes = post(&phone, &on("accept"), "k2", &json!({ "revision": 2 })).await;
    let yes: Value = yes.expect("an answer").json().await.expect("JSON");
    assert_eq!((&yes["task"]["state"], &yes["task"]["rider_id"]), (&json!("assigned"), &json!(1)));
    assert_eq!(admin(&["revoke", &phone]).await, "ended");
    let no = post(&phone, &on("arrive"), "k3", &json!({ "revision": 3 })).await;
    assert_eq!(no.expect("an answer").status().as_u16(), 401);
    // The time that it goes by is the machine's.
    let time: Value = http
        .get(format!("{}/api/v1/time", program.origin))
        .send()
        .await
        .expect("an answer")
        .json()
        .await
        .expect("JSON");
    let time = chrono::DateTime::parse_from_rfc3339(time["server_time"].as_str().expect("text"));
    let now = dispatch_desk::clock::Clock::now(&SystemClock);
    assert!((time.expect("a time").timestamp_millis() - now.0).abs() < 5_000);
}
