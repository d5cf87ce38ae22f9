//! Two nodes on one PostgreSQL: hints between them may be lost, numbers may not.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use sqlx::{Connection, PgConnection};

use crate::{
    client::Stream,
    harness::*,
    http::token_of,
    program::{Program, client, create, prepared},
};

/// Ends every session that listens, again and again. Returns how many it has ended.
async fn kill_listeners(url: String, stopped: Arc<AtomicBool>) -> usize {
    let mut connection = PgConnection::connect(&url).await.expect("PostgreSQL can be reached");
    let mut pace = tokio::time::interval(Duration::from_millis(200));
    let mut killed = 0;
    while !stopped.load(Ordering::SeqCst) {
        pace.tick().await;
        let gone: Vec<(bool,)> = sqlx::query_as(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
             WHERE datname = current_database() AND query ILIKE 'listen%'",
        )
        .fetch_all(&mut connection)
        .await
        .expect("it may");
        killed += gone.len();
    }
    killed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_gap_and_little_delay_while_every_listener_is_killed() {
    let home = prepared(Database::Postgres).await;
    let (one, two) = (Program::here(&home.url).await, Program::here(&home.url).await);
    let mut streams = vec![
        Stream::open(&one.origin, &D1, "?after=0").await,
        Stream::open(&two.origin, &D2, "?after=0").await,
    ];
    let stopped = Arc::new(AtomicBool::new(false));
    let killer = tokio::spawn(kill_listeners(home.url.clone(), Arc::clone(&stopped)));
    let committed = Arc::new(Mutex::new(HashMap::new()));
    let write = {
        let (origin, committed) = (one.origin.clone(), Arc::clone(&committed));
        let count = rounds(200, 1_000);
        tokio::spawn(async move {
            let http = client();
            let mut pace = tokio::time::interval(Duration::from_millis(20));
            let mut last = 0;
            for number in 0..count {
                pace.tick().await;
                let event = create(&http, &origin, &format!("k-{number}")).await;
                let event = event.expect("it is answered");
                committed.lock().unwrap().insert(event, Instant::now());
                last = event;
            }
            last
        })
    };
    let mut came = HashMap::new();
    // Both streams are read beside the writer; the one at the other node is timed.
    let (near, far) = streams.split_at_mut(1);
    let read_near = async {
        while near[0].numbers.len() < rounds(200, 1_000) {
            near[0].next().await;
        }
    };
    let read_far = async {
        while far[0].numbers.len() < rounds(200, 1_000) {
            let frame = far[0].next().await;
            if frame.name == "event" {
                came.insert(frame.number("number"), Instant::now());
            }
        }
    };
    let (last, ..) = tokio::join!(write, read_near, read_far);
    let last = last.expect("the writer returns");
    stopped.store(true, Ordering::SeqCst);
    let killed = killer.await.expect("the killer returns");
    for stream in &streams {
        assert_eq!(stream.numbers, (1..=last).collect::<Vec<_>>());
    }
    let committed = committed.lock().unwrap().clone();
    let delays = came.iter().map(|(number, at)| at.saturating_duration_since(committed[number]));
    let mut delays: Vec<_> = delays.collect();
    delays.sort();
    let (p50, worst) = (delays[delays.len() / 2], delays[delays.len() - 1]);
    println!(
        "{killed} listeners killed, {last} events at the other node: p50 {p50:?}, worst {worst:?}"
    );
    assert!(killed > 5, "{killed}");
    assert!(worst <= Duration::from_secs(2), "the poll and a second: {worst:?}");
    drop(streams);
    one.stop().await;
    two.stop().await;
}

/// Reads the log page by page until it has all of `last`.
async fn pull(origin: String, last: Arc<Mutex<Option<i64>>>) -> Vec<i64> {
    let http = client();
    let (mut numbers, mut after) = (Vec::new(), 0);
    loop {
        let end = *last.lock().unwrap();
        let url = format!("{origin}/api/v1/events?limit=7&after={after}");
        let page = http.get(url).bearer_auth(token_of(&D1)).send().await.expect("an answer");
        let page: serde_json::Value = page.json().await.expect("JSON");
        assert_eq!(page["after"], after, "each page starts where the last one ended");
        let items = page["items"].as_array().expect("a list");
        numbers.extend(items.iter().map(|item| item["number"].as_i64().expect("a number")));
        after = page["through"].as_i64().expect("a number");
        if end.is_some_and(|end| after >= end) {
            return numbers;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_reads_while_two_nodes_write_has_every_number_in_order() {
    let home = prepared(Database::Postgres).await;
    let nodes = [Program::here(&home.url).await, Program::here(&home.url).await];
    let mut streams = Vec::new();
    for (number, who) in [&D1, &D2, &SUPERVISOR, &AUDITOR, &ADMIN].into_iter().enumerate() {
        streams.push(Stream::open(&nodes[number % 2].origin, who, "?after=0").await);
    }
    let count = rounds(400, 12_000);
    let last = Arc::new(Mutex::new(None));
    let readers: Vec<_> = (0..5)
        .map(|reader| tokio::spawn(pull(nodes[reader % 2].origin.clone(), Arc::clone(&last))))
        .collect();
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let origin = nodes[writer % 2].origin.clone();
            tokio::spawn(async move {
                let http = client();
                let mut last = 0;
                for number in 0..count / 8 {
                    let key = format!("n-{writer}-{number}");
                    last = create(&http, &origin, &key).await.expect("it is answered");
                }
                last
            })
        })
        .collect();
    let pushed: Vec<_> = streams
        .into_iter()
        .map(|mut stream| {
            let wanted = i64::try_from(count / 8 * 8).unwrap();
            tokio::spawn(async move {
                stream.until(wanted).await;
                stream.numbers
            })
        })
        .collect();
    let mut end = 0;
    for writer in writers {
        end = end.max(writer.await.expect("a writer returns"));
    }
    *last.lock().unwrap() = Some(end);
    let all: Vec<_> = (1..=end).collect();
    for reader in readers.into_iter().chain(pushed) {
        assert_eq!(reader.await.expect("a reader returns"), all);
    }
    for node in nodes {
        node.stop().await;
    }
}
