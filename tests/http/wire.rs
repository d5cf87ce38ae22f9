//! Below JSON: what a connection may and may not do.

use std::time::Duration;

use dispatch_desk::web::Limits;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{
    harness::*,
    http::{Face, token_of},
};

/// Sends bytes and reads until the other side closes, at most so long.
async fn say(address: &str, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    stream.write_all(bytes).await.expect("it is taken");
    listen(&mut stream).await
}

async fn listen(stream: &mut TcpStream) -> String {
    let mut heard = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut heard)).await;
    assert!(ended.is_ok(), "it never closed: {}", String::from_utf8_lossy(&heard));
    String::from_utf8_lossy(&heard).into_owned()
}

fn status(heard: &str) -> u16 {
    let status = heard.strip_prefix("HTTP/1.1 ").or_else(|| heard.strip_prefix("HTTP/1.0 "));
    status.and_then(|rest| rest.get(..3)?.parse().ok()).unwrap_or_default()
}

fn carries_what_every_answer_must(heard: &str) {
    for header in [
        "server-time: 2026-",
        "x-request-id: ",
        "content-security-policy: default-src 'none'",
        "x-content-type-options: nosniff",
    ] {
        assert!(heard.contains(header), "no {header}: {heard}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_without_one_host_is_refused() {
    let http = Face::of(Desk::open(Database::Sqlite).await).await;
    for head in [
        "GET /api/v1/time HTTP/1.1\r\nconnection: close\r\n\r\n",
        "GET /api/v1/time HTTP/1.0\r\n\r\n",
        "GET /api/v1/time HTTP/1.1\r\nhost: a\r\nhost: b\r\nconnection: close\r\n\r\n",
    ] {
        let heard = say(http.address(), head.as_bytes()).await;
        assert_eq!(status(&heard), 400, "{heard}");
        assert!(heard.contains("\"code\":\"HOST_MISSING\""), "{heard}");
        carries_what_every_answer_must(&heard);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_http_is_refused_and_the_connection_closed() {
    let http = Face::of(Desk::open(Database::Sqlite).await).await;
    let long = format!("GET / HTTP/1.1\r\nhost: x\r\nx-long: {}\r\n\r\n", "x".repeat(70_000));
    let many = format!("GET / HTTP/1.1\r\nhost: x\r\n{}\r\n", "a: b\r\n".repeat(200));
    let path = format!("GET /{} HTTP/1.1\r\nhost: x\r\n\r\n", "x".repeat(70_000));
    for (bytes, expected) in [
        (&b"hello\r\n\r\n"[..], 400),
        (b"GET / HTTP/9.9\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nhost : x\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nhost: x\r\n folded: y\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nhost: x\r\nx: a\x00b\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello", 400),
        (b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: -5\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip\r\n\r\n", 400),
        (long.as_bytes(), 431),
        (many.as_bytes(), 431),
        (path.as_bytes(), 431),
    ] {
        let heard = say(http.address(), bytes).await;
        // It is refused by a status, and nothing stands behind it that could be taken for another answer.
        let ours = [expected, 414].contains(&status(&heard));
        assert!(
            ours,
            "{expected}: {heard} to {}",
            String::from_utf8_lossy(&bytes[..60.min(bytes.len())])
        );
        assert_eq!(heard.matches("HTTP/1.1 ").count(), 1, "{heard}");
    }
    http.anonymous("GET", "/healthz").await.is(200);
}

for_each_database!(bodies_may_come_in_pieces, |desk| async move {
    let http = Face::of(desk).await;
    let task = http.create().await;
    let head = |length: &str| {
        format!(
            "POST /api/v1/tasks/{}/cancel HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\nidempotency-key: k\r\nconnection: close\r\n{length}\r\n\r\n",
            task.0,
            token_of(&D1)
        )
    };
    let chunked = format!(
        "{}3\r\n{{\"r\r\nb\r\nevision\":1}}\r\n0\r\n\r\n",
        head("transfer-encoding: chunked")
    );
    let heard = say(http.address(), chunked.as_bytes()).await;
    assert_eq!(status(&heard), 200, "{heard}");
    // Byte by byte, in packets of their own: it is the same request.
    let whole = format!("{}{{\"revision\":1}}", head("content-length: 14"));
    let mut stream = TcpStream::connect(http.address()).await.expect("it listens");
    stream.set_nodelay(true).expect("small packets");
    for byte in whole.as_bytes() {
        stream.write_all(&[*byte]).await.expect("it is taken");
    }
    let again = listen(&mut stream).await;
    assert!(status(&again) == 200 && again.contains("idempotency-replayed: true"), "{again}");
    // A chunked body that never ends is cut at the limit.
    let mut stream = TcpStream::connect(http.address()).await.expect("it listens");
    stream.write_all(head("transfer-encoding: chunked").as_bytes()).await.expect("it is taken");
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    for _ in 0..24 {
        stream.write_all(chunk.as_bytes()).await.expect("it is taken");
    }
    stream.write_all(b"0\r\n\r\n").await.expect("it is taken");
    let heard = listen(&mut stream).await;
    assert!(status(&heard) == 413 && heard.contains("BODY_TOO_LARGE"), "{heard}");
    // A broken chunk is no body.
    let broken = format!("{}xyz\r\n", head("transfer-encoding: chunked"));
    let heard = say(http.address(), broken.as_bytes()).await;
    assert!([400, 408].contains(&status(&heard)), "{heard}");
});

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_wrong_method_is_told_which_ones_there_are() {
    let http = Face::of(Desk::open(Database::Sqlite).await).await;
    for (path, allowed) in [
        ("/api/v1/tasks", &["GET", "POST"][..]),
        ("/api/v1/tasks/1", &["GET"]),
        ("/api/v1/tasks/1/grab", &["POST"]),
        ("/api/v1/tasks/1/detail", &["PATCH"]),
        ("/api/v1/bulk", &["POST"]),
        ("/api/v1/rider/pool", &["GET"]),
        ("/api/v1/track/x/cancel", &["POST"]),
        ("/api/v1/time", &["GET"]),
        ("/healthz", &["GET"]),
        ("/api/v1/openapi.json", &["GET"]),
    ] {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"] {
            if allowed.contains(&method) {
                continue;
            }
            let got = http.request(method, &D1, path).await.problem(405, "METHOD_NOT_ALLOWED");
            for method in allowed {
                assert!(got.headers["allow"].contains(method), "{got:#?}");
            }
        }
        if allowed.contains(&"GET") {
            let got = http.request("HEAD", &D1, path).await;
            assert_eq!(got.body, "");
            assert!(got.status < 405, "{got:#?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_is_too_slow_is_cut_off() {
    let limits = Limits {
        head: Duration::from_millis(300),
        body: Duration::from_millis(300),
        ..Limits::default()
    };
    let http = Face::with(Desk::open(Database::Sqlite).await, limits).await;
    let task = http.create().await;
    // Half a head.
    let heard = say(http.address(), b"GET /api/v1/time HTTP/1.1\r\nhost: x\r\n").await;
    assert!([0, 408].contains(&status(&heard)), "{heard}");
    // Half a body: nothing was done, and the client is told so.
    let cancel =
        http.post(&D1, &format!("/api/v1/tasks/{}/cancel", task.0), &json!({ "revision": 1 }));
    let whole = cancel.raw();
    let heard = say(http.address(), &whole[..whole.len() - 3]).await;
    assert!(status(&heard) == 408 && heard.contains("\"code\":\"TIMED_OUT\""), "{heard}");
    carries_what_every_answer_must(&heard);
    assert_eq!(http.task(task).await.revision.0, 1);
    // A connection on which nothing comes, after an answer and before any.
    assert_eq!(say(http.address(), b"").await, "");
    let heard = say(http.address(), b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert_eq!(status(&heard), 200, "{heard}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_clients_than_there_may_be_wait_at_the_door() {
    let limits = Limits { connections: 3, head: Duration::from_millis(500), ..Limits::default() };
    let http = Face::with(Desk::open(Database::Sqlite).await, limits).await;
    let mut idle = Vec::new();
    for _ in 0..5 {
        idle.push(TcpStream::connect(http.address()).await.expect("the system takes it"));
    }
    // Those that say nothing are cut off, and then it is this one's turn.
    http.anonymous("GET", "/healthz").await.is(200);
}
