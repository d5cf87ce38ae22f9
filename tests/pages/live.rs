//! Pages that follow what happens: they name their number, their streams end with the session, and asking by themselves
//! keeps no session alive.

use std::time::{Duration, Instant};

use dispatch_desk::domain::{command::NewTask, id::TaskId};
use reqwest::{Method, Response};
use serde_json::Value;

use crate::{
    browser::{Browser, Page, select},
    harness::{D1, GRAB, SOUTH, Site, offer, order, rider},
};

/// What a page says of itself for its script.
fn said(page: &Page, name: &str) -> String {
    let document = page.document();
    let live = document.select(&select("#live")).next().expect("a live page");
    live.attr(&format!("data-{name}")).unwrap_or_default().to_owned()
}

/// An open stream of a page.
struct Stream {
    answer: Response,
    text: String,
}

impl Stream {
    async fn open(browser: &Browser, path: &str) -> Self {
        let answer = browser.request(Method::GET, path).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 200, "{path}");
        Self { answer, text: String::new() }
    }

    /// The next frame: its name and its data; none at the end.
    async fn next(&mut self) -> Option<(String, Value)> {
        loop {
            if let Some((frame, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    frame.lines().find_map(|line| line.strip_prefix(name)).expect("it is there")
                };
                let told =
                    (field("event: ").to_owned(), serde_json::from_str(field("data: ")).unwrap());
                let rest = rest.to_owned();
                self.text = rest;
                return Some(told);
            }
            let more = tokio::time::timeout(Duration::from_secs(20), self.answer.chunk()).await;
            match more.expect("something comes").ok().flatten() {
                Some(more) => self.text.push_str(std::str::from_utf8(&more).unwrap()),
                None => return None,
            }
        }
    }

    async fn named(&mut self, name: &str) -> Value {
        let (what, data) = self.next().await.expect("it goes on");
        assert_eq!(what, name, "{data}");
        data
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_names_its_number_and_its_stream_goes_on_from_there() {
    let site = Site::open().await;
    let task = site.order(order()).await;
    let mut dora = Browser::enter(&site, &D1).await;
    let mut ron = Browser::enter(&site, &rider(1)).await;
    let mut anna = Browser::new(&site);
    let mut desk = dora.clone();
    let tracking = site.tracking(task).await;
    for (browser, path, stream) in [
        (&mut dora, "/board", "/board/stream".to_owned()),
        (&mut desk, &*format!("/tasks/{task}"), "/board/stream".to_owned()),
        (&mut ron, "/rider", "/rider/stream".to_owned()),
        (&mut anna, &*tracking, format!("{tracking}/stream")),
    ] {
        let page = browser.get(path).await;
        let (head, _) = site.desk.read().await.head().await.unwrap();
        assert_eq!(said(&page, "number"), head.to_string(), "{path}");
        assert_eq!(said(&page, "stream"), stream, "{path}");
        let mut open = Stream::open(browser, &format!("{stream}?after={head}")).await;
        assert_eq!(open.named("hello").await["after"], head, "{path}");
    }
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_board_is_told_at_once_and_then_what_has_gathered_of_its_regions() {
    let site = Site::open().await;
    let dora = Browser::enter(&site, &D1).await;
    let mut stream = Stream::open(&dora, "/board/stream").await;
    let mut at = stream.named("hello").await["after"].as_i64().unwrap();
    let since = Instant::now();
    let first = site.order(order()).await;
    let told = stream.named("changes").await;
    assert_eq!(told["tasks"], serde_json::json!([first.0]));
    assert_eq!(told["actions"], serde_json::json!(["create"]));
    assert_eq!(told["after"], at);
    at = told["through"].as_i64().unwrap();
    let foreign = site.desk.create_with(NewTask { region: SOUTH, ..order() }).await;
    let tasks = site.desk.create_many(100).await;
    let (head, _) = site.desk.read().await.head().await.unwrap();
    let (mut named, mut frames): (Vec<TaskId>, _) = (Vec::new(), 1u32);
    while at < head {
        let told = stream.named("changes").await;
        assert_eq!(told["after"], at, "each goes on from where the last one ended");
        at = told["through"].as_i64().unwrap();
        named.extend(
            told["tasks"].as_array().unwrap().iter().map(|id| TaskId(id.as_i64().unwrap())),
        );
        frames += 1;
    }
    named.sort();
    assert_eq!(named, tasks);
    assert!(!named.contains(&foreign));
    let most = 2 + u32::try_from(since.elapsed().as_millis() / 250).unwrap();
    assert!(frames <= most, "{frames} frames, at most {most}");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn signing_out_ends_the_streams_of_the_session_and_no_others() {
    let site = Site::open().await;
    let mut dora = Browser::enter(&site, &D1).await;
    let elsewhere = Browser::enter(&site, &D1).await;
    let mut mine = Stream::open(&dora, "/board/stream").await;
    let mut other = Stream::open(&elsewhere, "/board/stream").await;
    mine.named("hello").await;
    other.named("hello").await;
    let page = dora.get("/board").await;
    dora.send(&page.form("/sign-out")).await;
    let since = Instant::now();
    assert_eq!(mine.named("bye").await["reason"], "rights");
    assert!(mine.next().await.is_none());
    assert!(since.elapsed() < Duration::from_secs(15), "{:?}", since.elapsed());
    site.order(order()).await;
    other.named("changes").await;
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_is_no_activity_and_ends_with_the_session() {
    let site = Site::open().await;
    let mut dora = Browser::enter(&site, &D1).await;
    let mut stream = Stream::open(&dora, "/board/stream").await;
    stream.named("hello").await;
    // What a page asks for by itself is none either.
    for _ in 0..5 {
        site.desk.advance_ms(11 * 60_000).await;
        let fetch = dora.request(Method::GET, "/board").header("x-by-itself", "1");
        assert_eq!(dora.once(fetch).await.status.as_u16(), 200);
        Stream::open(&dora, "/board/stream").await.named("hello").await;
    }
    site.desk.advance_ms(5 * 60_000).await;
    while let Some((name, data)) = stream.next().await {
        assert!(name == "ping" || (name == "bye" && data["reason"] == "rights"), "{name} {data}");
    }
    assert!(dora.get("/board").await.path.starts_with("/sign-in"), "an hour has passed");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_card_that_is_gone_is_gone_with_the_reason_and_nobodys_name() {
    let site = Site::open().await;
    let tasks = site.desk.create_many(4).await;
    let foreign = site.desk.create_with(NewTask { region: SOUTH, ..order() }).await;
    let mut ron = Browser::enter(&site, &rider(1)).await;
    site.desk.done(rider(2), tasks[0], 1, GRAB).await;
    site.desk.done(D1, tasks[1], 1, offer(3)).await;
    site.desk.done(rider(1), tasks[2], 1, GRAB).await;
    let seen: Vec<_> = tasks.iter().chain([&foreign]).map(TaskId::to_string).collect();
    let page = ron.get(&format!("/rider?seen={}", seen.join("."))).await;
    let gone = page.text_of("[aria-labelledby=pool] .gone");
    assert!(gone.contains(&format!("{} taken by another rider", tasks[0])), "{gone}");
    assert!(gone.contains(&format!("{} offered to another rider", tasks[1])), "{gone}");
    // One's own, what is still there, and what is of another region are no loss.
    for id in [tasks[2], tasks[3], foreign] {
        assert!(!gone.contains(&id.to_string()), "{gone}");
    }
    page.hides("rider 2").hides("rider 3").hides("R2").hides("R3");
    ron.get("/rider?seen=T999999.x..T1%00").await.is(200);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_card_that_moved_to_the_next_page_is_not_gone() {
    let site = Site::open().await;
    let tasks = site.desk.create_many(21).await;
    // The first one is reserved for another, so the page shows the others.
    site.desk.done(D1, tasks[0], 1, offer(2)).await;
    let mut ron = Browser::enter(&site, &rider(1)).await;
    let seen: Vec<_> = tasks[1..].iter().map(ToString::to_string).collect();
    let path = format!("/rider?seen={}", seen.join("."));
    let last = seen.last().unwrap();
    ron.get(&path).await.is(200).says(last).hides("No longer open");
    // It is open again and comes first; the last one is as open as before.
    site.desk.done(rider(2), tasks[0], 2, crate::harness::DECLINE).await;
    let page = ron.get(&path).await;
    page.is(200).hides("No longer open");
    assert!(!page.text_of("main").contains(last), "it is on the next page");
    // One that is taken is gone, wherever it was.
    site.desk.done(rider(3), tasks[20], 1, crate::harness::GRAB).await;
    ron.get(&path).await.is(200).says("No longer open").says("taken by another rider");
    site.close().await;
}
