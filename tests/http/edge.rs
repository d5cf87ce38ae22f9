//! S21, S07: connections at the edge: how long, how large, how many, and whose.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use dispatch_desk::web::{Limits, Networks};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
};

use crate::{
    harness::*,
    http::{Face, token_of},
};

/// A connection from an address of this machine.
async fn connect(from: &str, to: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(SocketAddr::new(from.parse().expect("an address"), 0)).expect("a free port");
    socket.connect(to.parse().expect("an address")).await.expect("it listens")
}

/// Everything that comes until the other side closes, however it does so.
async fn heard(stream: &mut TcpStream) -> String {
    let mut heard = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(20), async {
        let mut some = [0; 4096];
        while let Ok(read @ 1..) = stream.read(&mut some).await {
            heard.extend_from_slice(&some[..read]);
        }
    });
    let ended = ended.await;
    let heard = String::from_utf8_lossy(&heard).into_owned();
    assert!(ended.is_ok(), "it never closed: {heard}");
    heard
}

async fn say(address: &str, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    // Whoever is refused may be cut off while still sending.
    let _ = stream.write_all(bytes).await;
    heard(&mut stream).await
}

fn status(heard: &str) -> u16 {
    let status = heard.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
    status.unwrap_or_default()
}

/// Ours: with all that every answer carries, and its number in the body.
#[track_caller]
fn is_ours(heard: &str, code: &str) {
    assert!(heard.contains(&format!("\"code\":\"{code}\"")), "no {code}: {heard}");
    for header in
        ["content-security-policy: ", "x-content-type-options: nosniff", "cache-control: no-store"]
    {
        assert!(heard.contains(header), "no {header}: {heard}");
    }
    let id = heard.split("x-request-id: ").nth(1).and_then(|rest| rest.get(..32)).expect("an id");
    assert!(heard.contains(&format!("\"request_id\":\"{id}\"")), "{heard}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_head_that_is_too_long_is_refused_in_our_own_words() {
    let http = Face::of(Desk::open(Database::Sqlite).await).await;
    let head = |target: &str, more: &str| {
        format!("GET {target} HTTP/1.1\r\nhost: x\r\ncookie: a=b\r\n{more}\r\n").into_bytes()
    };
    let long = |length: usize| format!("x-long: {}\r\n", "x".repeat(length));
    let many = |count: usize| "a: b\r\n".repeat(count);
    // Just within: host and cookie are two lines of the hundred.
    let close = "connection: close\r\n";
    for more in [long(31 * 1024) + close, many(97) + close] {
        let heard = say(http.address(), &head("/healthz", &more)).await;
        assert_eq!(status(&heard), 200, "{heard}");
    }
    // The connection is closed with the answer.
    for more in [long(33 * 1024), many(99), many(200), long(60 * 1024)] {
        let heard = say(http.address(), &head("/healthz", &more)).await;
        assert_eq!(status(&heard), 431, "{heard}");
        is_ours(&heard, "HEAD_TOO_LARGE");
    }
    let target = |length: usize| format!("/healthz?x={}", "y".repeat(length));
    let heard = say(http.address(), &head(&target(8 * 1024 - 11), close)).await;
    assert_eq!(status(&heard), 200, "{heard}");
    let heard = say(http.address(), &head(&target(8 * 1024 - 10), "")).await;
    assert_eq!(status(&heard), 414, "{heard}");
    is_ours(&heard, "URI_TOO_LONG");
    // Beyond what the server reads at all, the status alone is said.
    for (bytes, expected) in
        [(head("/healthz", &long(80 * 1024)), 431), (head("/healthz", &many(300)), 431)]
    {
        let heard = say(http.address(), &bytes).await;
        assert!([0, expected].contains(&status(&heard)), "{heard}");
    }
    http.anonymous("GET", "/healthz").await.is(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_two_servers_could_read_in_two_ways_is_not_read_at_all() {
    let http = Face::of(Desk::open(Database::Sqlite).await).await;
    let task = http.create().await;
    let post = |lines: &str, body: &str| {
        format!(
            "POST /api/v1/tasks/{}/cancel HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\nidempotency-key: smuggled\r\n{lines}\r\n\r\n{body}",
            task.0,
            token_of(&D1)
        )
    };
    for (lines, body) in [
        ("content-length: 14\r\ncontent-length: 15", "{\"revision\":1}"),
        ("content-length: 14, 15", "{\"revision\":1}"),
        ("content-length: +14", "{\"revision\":1}"),
        ("content-length: 0x0e", "{\"revision\":1}"),
        ("content-length: 14\r\nx-folded: a\r\n b", "{\"revision\":1}"),
        ("content-length: 14\r\nx: a\rb", "{\"revision\":1}"),
        ("content-length : 14", "{\"revision\":1}"),
        ("transfer-encoding: chunked, identity", "e\r\n{\"revision\":1}\r\n0\r\n\r\n"),
    ] {
        let heard = say(http.address(), post(lines, body).as_bytes()).await;
        assert_eq!(status(&heard), 400, "{lines}: {heard}");
        assert_eq!(heard.matches("HTTP/1.1 ").count(), 1, "{lines}: {heard}");
    }
    // A length and chunks: whatever is made of the first request, a second one is not read from the same connection.
    let first = "GET /healthz HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n";
    let second = post("content-length: 14", "{\"revision\":1}");
    let heard = say(http.address(), format!("{first}{second}").as_bytes()).await;
    assert_eq!(heard.matches("HTTP/1.1 ").count(), 1, "{heard}");
    // No other version is spoken.
    for preface in ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET / HTTP/3.0\r\nhost: x\r\n\r\n"] {
        let heard = say(http.address(), preface.as_bytes()).await;
        assert!([0, 400].contains(&status(&heard)), "{heard}");
    }
    let upgrade = "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: upgrade, http2-settings, close\r\n\
                   upgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n\r\n";
    assert_eq!(status(&say(http.address(), upgrade.as_bytes()).await), 200);
    assert_eq!(http.task(task).await.revision.0, 1, "nothing was done by any of it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn methods_for_proxies_are_not_taken() {
    let http = Face::of(Desk::open(Database::Sqlite).await).await;
    for line in ["TRACE / HTTP/1.1", "TRACE /nowhere HTTP/1.1", "CONNECT evil.example:443 HTTP/1.1"]
    {
        let request = format!("{line}\r\nhost: x\r\nx-secret: seen\r\nconnection: close\r\n\r\n");
        let heard = say(http.address(), request.as_bytes()).await;
        assert_eq!(status(&heard), 405, "{heard}");
        assert!(heard.contains("allow: ") && !heard.contains("seen"), "{heard}");
        is_ours(&heard, "METHOD_NOT_ALLOWED");
    }
}

/// Counts also those on this machine.
fn counted(limits: Limits) -> Limits {
    Limits { uncounted: Networks::default(), ..limits }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_with_too_many_connections_is_turned_away_and_others_are_served() {
    let limits = counted(Limits { per_peer: 3, ..Limits::default() });
    let http = Face::with(Desk::open(Database::Sqlite).await, limits).await;
    let get = b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n";
    let mut kept = Vec::new();
    for _ in 0..3 {
        let mut stream = connect("127.0.0.2", http.address()).await;
        stream.write_all(get).await.expect("it is taken");
        let mut some = [0; 15];
        stream.read_exact(&mut some).await.expect("an answer");
        assert_eq!(&some, b"HTTP/1.1 200 OK");
        kept.push(stream);
    }
    let mut fourth = connect("127.0.0.2", http.address()).await;
    // It may be cut off before it has said anything.
    let _ =
        fourth.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
    let told = heard(&mut fourth).await;
    assert!([0, 503].contains(&status(&told)), "{told}");
    // Another peer has places of its own.
    let mut other = connect("127.0.0.3", http.address()).await;
    other
        .write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        .await
        .expect("it is taken");
    assert_eq!(status(&heard(&mut other).await), 200);
    // Who goes leaves a place.
    drop(kept.pop());
    let served = async {
        loop {
            let mut stream = connect("127.0.0.2", http.address()).await;
            let _ = stream
                .write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
                .await;
            if status(&heard(&mut stream).await) == 200 {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(10), served).await.expect("there is a place again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn those_who_send_half_a_head_hold_nobody_up_and_are_cut_off() {
    let limits = counted(Limits { head: Duration::from_secs(4), ..Limits::default() });
    let http = Face::with(Desk::open(Database::Sqlite).await, limits).await;
    let mut half = Vec::new();
    let began = Instant::now();
    // Ten peers with thirty connections each: no more than each may have.
    for number in 0..300 {
        let mut stream = connect(&format!("127.0.0.{}", 10 + number % 10), http.address()).await;
        stream
            .write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\nx-slow: ")
            .await
            .expect("it is taken");
        half.push(stream);
    }
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let mut took = Vec::new();
    for _ in 0..20 {
        let since = Instant::now();
        let got = client
            .get(format!("http://{}/healthz", http.address()))
            .send()
            .await
            .expect("an answer");
        took.push(since.elapsed());
        assert_eq!(got.status().as_u16(), 200);
    }
    took.sort();
    println!("300 half heads: /healthz median {:?}, longest {:?}", took[10], took[19]);
    // The machine may be busy with other tests; the median is not a matter of luck.
    assert!(took[10] < Duration::from_millis(100), "{took:?}");
    let mut answered = 0;
    for stream in &mut half {
        answered += usize::from(status(&heard(stream).await) == 200);
    }
    assert_eq!(answered, 0);
    let all = began.elapsed();
    assert!(all < Duration::from_secs(15), "cut off within {all:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_drips_is_not_waited_for() {
    let limits = Limits { whole_body: Duration::from_millis(700), ..Limits::default() };
    let http = Face::with(Desk::open(Database::Sqlite).await, limits).await;
    let task = http.create().await;
    let path = format!("/api/v1/tasks/{}/cancel", task.0);
    let whole = http.post(&D1, &path, &json!({ "revision": 1, "reason": "x".repeat(200) })).raw();
    let (head, drops) = whole.split_at(whole.len() - 200);
    let mut stream = TcpStream::connect(http.address()).await.expect("it listens");
    stream.write_all(head).await.expect("it is taken");
    let drops = drops.to_vec();
    let (mut reads, mut writes) = stream.into_split();
    // A byte now and then: no single one of them is late.
    let dripping = tokio::spawn(async move {
        let mut ticks = tokio::time::interval(Duration::from_millis(100));
        for byte in drops {
            ticks.tick().await;
            if writes.write_all(&[byte]).await.is_err() {
                return;
            }
        }
    });
    let mut got = vec![0; 4096];
    let read = tokio::time::timeout(Duration::from_secs(15), reads.read(&mut got)).await;
    let read = read.expect("it is answered before the body has come").expect("an answer");
    let heard = String::from_utf8_lossy(&got[..read]).into_owned();
    dripping.abort();
    assert_eq!(status(&heard), 408, "{heard}");
    is_ours(&heard, "TIMED_OUT");
    assert_eq!(http.task(task).await.revision.0, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_takes_only_so_long_in_all() {
    let limits = Limits { request: Duration::from_millis(300), ..Limits::default() };
    let http = Face::with(Desk::open(Database::Sqlite).await, limits).await;
    let task = http.create().await;
    let whole = http
        .post(&D1, &format!("/api/v1/tasks/{}/cancel", task.0), &json!({ "revision": 1 }))
        .raw();
    let mut stream = TcpStream::connect(http.address()).await.expect("it listens");
    stream.write_all(&whole[..whole.len() - 3]).await.expect("it is taken");
    let mut got = vec![0; 4096];
    let read = tokio::time::timeout(Duration::from_secs(9), stream.read(&mut got)).await;
    let read = read.expect("it is answered in time").expect("an answer");
    let heard = String::from_utf8_lossy(&got[..read]).into_owned();
    // Whether it was done is not known: it may have been under way.
    assert_eq!(status(&heard), 503, "{heard}");
    is_ours(&heard, "UNKNOWN");
}

for_each_database!(a_body_is_bounded_by_what_its_route_needs, |desk| async move {
    let http = Face::of(desk).await;
    let task = http.create().await;
    let before = http.read().await.head().await.expect("it can be read").0;
    let padded = |length: usize| format!("{{\"revision\":1{}}}", " ".repeat(length - 14));
    let path = format!("/api/v1/tasks/{}/withdraw", task.0);
    let send = |body: String| {
        http.request("POST", &D1, &path).key("k-size").bytes("application/json", body)
    };
    send(padded(64 * 1024)).await.refused("NOT_OFFERED");
    send(padded(64 * 1024 + 1)).await.problem(413, "BODY_TOO_LARGE");
    // Declared, and not sent: refused at once, by the word alone.
    let head = |path: &str, length: &str| {
        format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\nidempotency-key: k\r\n\
             content-type: application/json\r\nconnection: close\r\n{length}\r\n\r\n",
            token_of(&D1)
        )
    };
    for path in [path.as_str(), "/api/v1/tasks", "/api/v1/bulk", "/import", "/sign-in", "/nowhere"]
    {
        let since = Instant::now();
        let mut stream = TcpStream::connect(http.address()).await.expect("it listens");
        stream
            .write_all(head(path, "content-length: 2147483648").as_bytes())
            .await
            .expect("it is taken");
        let mut got = vec![0; 4096];
        let read = stream.read(&mut got).await.expect("an answer");
        let heard = String::from_utf8_lossy(&got[..read]).into_owned();
        assert_eq!(status(&heard), 413, "{path}: {heard}");
        is_ours(&heard, "BODY_TOO_LARGE");
        assert!(since.elapsed() < Duration::from_secs(5), "{path}");
    }
    // Not declared, and endless: refused as soon as it is too long.
    for (path, pieces) in [(path.as_str(), 2_u32), ("/api/v1/tasks", 17)] {
        let mut stream = TcpStream::connect(http.address()).await.expect("it listens");
        stream
            .write_all(head(path, "transfer-encoding: chunked").as_bytes())
            .await
            .expect("it is taken");
        let piece = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
        for _ in 0..pieces {
            stream.write_all(piece.as_bytes()).await.expect("it is taken");
        }
        let mut got = vec![0; 4096];
        let read = tokio::time::timeout(Duration::from_secs(9), stream.read(&mut got)).await;
        let read = read.expect("it is answered while the body goes on").expect("an answer");
        let heard = String::from_utf8_lossy(&got[..read]).into_owned();
        assert_eq!(status(&heard), 413, "{path}: {heard}");
    }
    assert_eq!(http.read().await.head().await.expect("it can be read").0, before);
});
