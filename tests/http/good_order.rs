//! A server of this process ends in good order.

use std::time::{Duration, Instant};

use dispatch_desk::web::Limits;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{harness::*, http::Face};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn idle_connections_do_not_hold_it_and_half_sent_requests_only_so_long() {
    let farewell = Duration::from_millis(1_500);
    let limits = Limits { farewell, ..Limits::default() };
    let mut http = Face::with(Desk::open(Database::Sqlite).await, limits.clone()).await;
    // One that has had an answer and keeps the connection, and one that has said nothing.
    let mut kept = TcpStream::connect(http.address()).await.expect("it listens");
    kept.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").await.expect("it is taken");
    let mut some = [0; 64];
    assert!(kept.read(&mut some).await.expect("an answer") > 0);
    let mute = TcpStream::connect(http.address()).await.expect("it listens");
    http.anonymous("GET", "/healthz").await.is(200);
    let since = Instant::now();
    http.stop().await;
    assert!(since.elapsed() < Duration::from_secs(1), "{:?}", since.elapsed());
    drop(mute);

    let mut http = Face::with(Desk::open(Database::Sqlite).await, limits.clone()).await;
    let task = http.create().await;
    let cancel =
        http.post(&D1, &format!("/api/v1/tasks/{}/cancel", task.0), &json!({ "revision": 1 }));
    let whole = cancel.raw();
    let mut half_head = TcpStream::connect(http.address()).await.expect("it listens");
    half_head.write_all(&whole[..20]).await.expect("it is taken");
    let mut half_body = TcpStream::connect(http.address()).await.expect("it listens");
    half_body.write_all(&whole[..whole.len() - 2]).await.expect("it is taken");
    http.anonymous("GET", "/healthz").await.is(200);
    let since = Instant::now();
    http.stop().await;
    let took = since.elapsed();
    assert!(took < farewell + Duration::from_secs(1), "{took:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_on_its_way_is_finished_before_the_end() {
    let mut http = Face::of(Desk::open(Database::Sqlite).await).await;
    let task = http.create().await;
    let cancel =
        http.post(&D1, &format!("/api/v1/tasks/{}/cancel", task.0), &json!({ "revision": 1 }));
    let whole = cancel.raw();
    let mut stream = TcpStream::connect(http.address()).await.expect("it listens");
    stream.write_all(&whole[..whole.len() - 2]).await.expect("it is taken");
    http.anonymous("GET", "/healthz").await.is(200);
    let address = http.address().to_owned();
    let rest = async {
        // Once nobody new is let in, the rest of the body comes.
        while TcpStream::connect(&address).await.is_ok() {
            tokio::task::yield_now().await;
        }
        stream.write_all(&whole[whole.len() - 2..]).await.expect("it is taken");
        let mut heard = String::new();
        stream.read_to_string(&mut heard).await.expect("an answer, and then the end");
        heard
    };
    let ((), heard) = tokio::join!(http.stop(), rest);
    assert!(heard.starts_with("HTTP/1.1 200") && heard.contains("\"outcome\":\"done\""), "{heard}");
}
