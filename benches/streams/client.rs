//! Thousands of readers, and one who acts.

use std::{
    net::SocketAddr,
    ops::Range,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    task::JoinHandle,
};

/// Who opens streams at once: not all of them in one moment.
const AT_ONCE: usize = 25;

/// What one stream has heard last: a frame's name, and when.
type Heard = (usize, &'static str, Instant);

/// Open streams, read as fast as anything comes.
pub struct Ears {
    heard: Arc<Mutex<mpsc::UnboundedReceiver<Heard>>>,
    readers: Vec<JoinHandle<()>>,
}

impl Drop for Ears {
    fn drop(&mut self) {
        self.readers.iter().for_each(JoinHandle::abort);
    }
}

const NAMES: [&str; 2] = ["event", "pool"];

async fn read(index: usize, mut stream: TcpStream, heard: mpsc::UnboundedSender<Heard>) {
    let mut buffer = [0; 4_096];
    while let Ok(length @ 1..) = stream.read(&mut buffer).await {
        let at = Instant::now();
        let text = String::from_utf8_lossy(&buffer[..length]);
        for name in NAMES {
            if text.contains(&format!("event: {name}\n")) {
                let _ = heard.send((index, name, at));
            }
        }
    }
}

impl Ears {
    /// Opens `count` streams, four with each token.
    pub async fn open(address: SocketAddr, tokens: &[String], count: usize) -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        let mut readers = Vec::new();
        let all: Vec<_> = (0..count).collect();
        for chunk in all.chunks(AT_ONCE) {
            let opened = chunk.iter().map(|index| async move {
                let mut stream = TcpStream::connect(address).await.expect("it listens");
                let token = &tokens[index / super::PER_TOKEN];
                let head = format!(
                    "GET /api/v1/stream HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {token}\r\n\r\n"
                );
                stream.write_all(head.as_bytes()).await.expect("it is taken");
                let (mut text, mut buffer) = (String::new(), [0; 2_048]);
                while !text.contains("event: hello") {
                    let length = stream.read(&mut buffer).await.expect("an answer");
                    assert!(length > 0, "no stream: {text}");
                    text.push_str(&String::from_utf8_lossy(&buffer[..length]));
                }
                (*index, stream)
            });
            for (index, stream) in futures_util::future::join_all(opened).await {
                readers.push(tokio::spawn(read(index, stream, sender.clone())));
            }
        }
        Self { heard: Arc::new(Mutex::new(receiver)), readers }
    }

    /// The streams of a rider.
    pub fn of_rider(rider: usize, count: usize) -> Range<usize> {
        let first = rider * super::PER_TOKEN;
        first..(first + super::PER_TOKEN).min(count)
    }

    /// When each of these streams has heard a frame of that name, sent after `since`.
    pub async fn heard(&self, name: &str, since: Instant, who: Range<usize>) -> Vec<Instant> {
        let (mut at, mut left) = (vec![None; who.len()], who.len());
        while left > 0 {
            let next = std::future::poll_fn(|context| {
                self.heard.lock().expect("nobody panics").poll_recv(context)
            });
            let next = tokio::time::timeout(Duration::from_secs(20), next).await;
            let (index, what, when) = next.expect("it comes").expect("the readers live");
            if what == name && when >= since && who.contains(&index) {
                let place = &mut at[index - who.start];
                left -= usize::from(place.replace(when).is_none());
            }
        }
        at.into_iter().flatten().collect()
    }
}

/// Who acts, over one kept connection.
pub struct Commands {
    stream: TcpStream,
    token: String,
    next: u32,
    /// When the last command was answered.
    pub answered_at: Instant,
}

impl Commands {
    pub async fn connect(address: SocketAddr, token: &str) -> Self {
        let stream = TcpStream::connect(address).await.expect("it listens");
        stream.set_nodelay(true).expect("it can be set");
        // Keys of another run on the same database would be replays.
        let next = u32::from(address.port());
        Self { stream, token: token.to_owned(), next: next * 10_000, answered_at: Instant::now() }
    }

    async fn post(&mut self, path: &str, body: &Value) -> Value {
        self.next += 1;
        let (body, token, key) = (body.to_string(), &self.token, self.next);
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {token}\r\n\
             idempotency-key: b-{key}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.write_all(request.as_bytes()).await.expect("it is taken");
        let (mut text, mut buffer) = (String::new(), [0; 8_192]);
        loop {
            let length = self.stream.read(&mut buffer).await.expect("an answer");
            self.answered_at = Instant::now();
            assert!(length > 0, "cut: {text}");
            text.push_str(&String::from_utf8_lossy(&buffer[..length]));
            if let Some((_, body)) = text.split_once("\r\n\r\n")
                && let Ok(body) = serde_json::from_str::<Value>(body)
            {
                assert_eq!(body["outcome"], "done", "{body}");
                return body;
            }
        }
    }

    /// Orders a task; its number.
    pub async fn create(&mut self) -> i64 {
        let stop = json!({ "lat": 31.2304, "lng": 121.4737, "address": "here" });
        let key = format!("bench-{}", self.next);
        let body = json!({ "request_key": key, "region": 1, "pickup": stop, "dropoff": stop });
        let made = self.post("/api/v1/tasks", &body).await;
        made["task"]["id"].as_i64().expect("a number")
    }

    /// Offers a new task to a rider.
    pub async fn offer(&mut self, task: i64, rider: i64) {
        let body = json!({ "revision": 1, "rider_id": rider });
        self.post(&format!("/api/v1/tasks/{task}/offer"), &body).await;
    }

    /// Cancels a task that is offered.
    pub async fn cancel(&mut self, task: i64) {
        let body = json!({ "revision": 2 });
        self.post(&format!("/api/v1/tasks/{task}/cancel"), &body).await;
    }
}

/// The floor: as many bare sockets, written to by one task, read by as many as the streams. When each has come.
pub async fn bare_sockets(count: usize, rounds: usize, apart: Duration) -> Vec<f64> {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    let (sender, mut heard) = mpsc::unbounded_channel();
    let (mut writers, mut readers) = (Vec::new(), Vec::new());
    for index in 0..count {
        let reader = TcpStream::connect(address);
        let (reader, accepted) = tokio::join!(reader, listener.accept());
        let (writer, _) = accepted.expect("it is taken");
        writer.set_nodelay(true).expect("it can be set");
        writers.push(writer);
        readers.push(tokio::spawn(read(index, reader.expect("it listens"), sender.clone())));
    }
    let mut took = Vec::new();
    for _ in 0..rounds {
        tokio::time::sleep(apart).await;
        let since = Instant::now();
        for writer in &mut writers {
            writer.write_all(b"event: pool\ndata: {}\n\n").await.expect("it is taken");
        }
        for _ in 0..count {
            let (_, _, at) = heard.recv().await.expect("the readers live");
            took.push(at.saturating_duration_since(since).as_secs_f64() * 1_000.0);
        }
    }
    readers.iter().for_each(JoinHandle::abort);
    took
}
