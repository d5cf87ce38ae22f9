//! A client of a stream that checks every link of its chain of numbers.

use std::time::Duration;

use dispatch_desk::domain::command::Actor;
use serde_json::Value;

use crate::http::{Face, token_of};

/// Whatever is waited for comes within this time, or the test fails.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// One frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    pub id: Option<i64>,
    pub name: String,
    pub data: Value,
    pub retry: Option<u64>,
}

impl Frame {
    fn parse(text: &str) -> Self {
        let field = |name: &str| {
            let lines = text.lines().filter_map(|line| line.split_once(": "));
            lines.filter(|(known, _)| *known == name).map(|(_, value)| value).collect::<Vec<_>>()
        };
        let data = field("data");
        assert_eq!(data.len(), 1, "{text:?}");
        Self {
            id: field("id").first().map(|id| id.parse().expect("a number")),
            name: field("event").first().expect("each frame has a name").to_string(),
            data: serde_json::from_str(data[0]).expect("JSON"),
            retry: field("retry").first().map(|retry| retry.parse().expect("a number")),
        }
    }

    /// A number in its data.
    #[track_caller]
    pub fn number(&self, name: &str) -> i64 {
        self.data[name].as_i64().unwrap_or_else(|| panic!("no {name} in {self:?}"))
    }
}

/// An open stream.
#[derive(Debug)]
pub struct Stream {
    response: reqwest::Response,
    buffer: Vec<u8>,
    /// Up to which number the chain reaches; none before the first word.
    pub at: Option<i64>,
    /// The numbers of the events that came.
    pub numbers: Vec<i64>,
}

/// A request for a stream.
pub fn request(origin: &str, path: &str) -> reqwest::RequestBuilder {
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    client.get(format!("{origin}{path}"))
}

impl Stream {
    /// Takes an answer that is to be a stream.
    #[track_caller]
    pub fn of(response: reqwest::Response) -> Self {
        assert_eq!(response.status().as_u16(), 200, "{response:?}");
        let header = |name: &str| response.headers()[name].to_str().expect("text").to_owned();
        assert_eq!(header("content-type"), "text/event-stream; charset=utf-8");
        Self { response, buffer: Vec::new(), at: None, numbers: Vec::new() }
    }

    /// Opens a stream with the token of one of the cast.
    pub async fn open(origin: &str, who: &Actor, query: &str) -> Self {
        let path = format!("/api/v1/stream{query}");
        let request = request(origin, &path).bearer_auth(token_of(who));
        Self::of(request.send().await.expect("an answer"))
    }

    /// The same at the first server of a face, with the first word read.
    pub async fn begun(face: &Face, who: &Actor, query: &str) -> Self {
        let mut stream = Self::open(&face.origins[0], who, query).await;
        assert_eq!(stream.next().await.name, "hello");
        stream
    }

    pub fn headers(&self) -> &reqwest::header::HeaderMap {
        self.response.headers()
    }

    /// The next frame; none at the end of the stream, or when the connection breaks.
    pub async fn maybe(&mut self) -> Option<Frame> {
        loop {
            if let Some(end) = self.buffer.windows(2).position(|two| two == b"\n\n") {
                let rest = self.buffer.split_off(end + 2);
                let frame = std::mem::replace(&mut self.buffer, rest);
                let frame = Frame::parse(std::str::from_utf8(&frame).expect("UTF-8"));
                self.follow(&frame);
                return Some(frame);
            }
            match self.response.chunk().await {
                Ok(Some(more)) => self.buffer.extend(more),
                Ok(None) | Err(_) => return None,
            }
        }
    }

    /// The next frame, within the patience.
    pub async fn next(&mut self) -> Frame {
        let next = tokio::time::timeout(PATIENCE, self.maybe()).await.expect("something comes");
        next.expect("the stream goes on")
    }

    /// The next frame that is no heartbeat.
    pub async fn word(&mut self) -> Frame {
        loop {
            let frame = self.next().await;
            if frame.name != "ping" {
                return frame;
            }
        }
    }

    /// Reads until the chain reaches a number, and returns the events that came.
    pub async fn until(&mut self, number: i64) -> Vec<Frame> {
        let mut events = Vec::new();
        while self.at.is_none_or(|at| at < number) {
            let frame = self.next().await;
            if frame.name == "event" {
                events.push(frame);
            }
        }
        events
    }

    /// Lets heartbeats come until the chain reaches a number, and returns the frames that came beside.
    pub async fn beats(&mut self, face: &Face, number: i64) -> Vec<Frame> {
        let mut frames = Vec::new();
        while self.at.is_none_or(|at| at < number) {
            face.advance_ms(15_000).await;
            loop {
                let frame = self.next().await;
                if frame.name == "ping" {
                    break;
                }
                frames.push(frame);
            }
        }
        frames
    }

    /// The same for somebody who sees nothing of what happened.
    pub async fn sees_nothing(&mut self, face: &Face, through: i64) {
        let frames = self.beats(face, through).await;
        let quiet = ["hello", "through"];
        assert!(frames.iter().all(|frame| quiet.contains(&frame.name.as_str())), "{frames:?}");
    }

    /// Reads to its end, and returns the frames that came.
    pub async fn rest(&mut self) -> Vec<Frame> {
        let mut frames = Vec::new();
        while let Some(frame) =
            tokio::time::timeout(PATIENCE, self.maybe()).await.expect("it comes to its end")
        {
            frames.push(frame);
        }
        frames
    }

    /// Each link of the chain starts where the last one ended.
    fn follow(&mut self, frame: &Frame) {
        match frame.name.as_str() {
            "hello" | "reset" => self.at = Some(frame.number("after")),
            "event" => {
                let number = frame.number("number");
                assert_eq!(self.at, Some(number - 1), "a gap, or a double: {frame:?}");
                self.at = Some(number);
                self.numbers.push(number);
            }
            "through" | "changes" => {
                assert_eq!(self.at, Some(frame.number("after")), "a gap, or a double: {frame:?}");
                self.at = Some(frame.number("through"));
            }
            "ping" | "pool" | "bye" => {
                assert_eq!(frame.id, None, "{frame:?}");
                return;
            }
            other => panic!("no such frame: {other}"),
        }
        assert_eq!(frame.id, self.at, "{frame:?}");
    }
}
