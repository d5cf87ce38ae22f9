//! Connections that are cut all the time, and a server that comes and goes: nothing is missed, nothing comes twice.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use crate::{
    client::{Stream, request},
    harness::*,
    http::token_of,
    program::{Program, client, create, prepared},
};

/// Writes about a hundred events a second until told to stop. Returns how many it was told of.
async fn write(origin: String, stopped: Arc<AtomicBool>) -> usize {
    let http = client();
    let mut pace = tokio::time::interval(Duration::from_millis(10));
    let mut told = 0;
    for number in 0.. {
        if stopped.load(Ordering::SeqCst) {
            break;
        }
        pace.tick().await;
        told += usize::from(create(&http, &origin, &format!("w-{number}")).await.is_some());
    }
    told
}

/// What came in one short life of a connection; and where the next one goes on.
async fn live_for(origin: &str, cursor: i64, life: Duration, numbers: &mut Vec<i64>) -> i64 {
    let request = request(origin, "/api/v1/stream?after=0").bearer_auth(token_of(&D1));
    let Ok(answer) = request.header("last-event-id", cursor.to_string()).send().await else {
        return cursor;
    };
    if answer.status().as_u16() != 200 {
        return cursor;
    }
    let mut stream = Stream::of(answer);
    let read = async { while stream.maybe().await.is_some() {} };
    let _ = tokio::time::timeout(life, read).await;
    numbers.extend(&stream.numbers);
    stream.at.unwrap_or(cursor)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_missed_over_many_cuts_and_two_restarts() {
    let home = prepared(Database::Sqlite).await;
    let mut program = Program::here(&home.url).await;
    let address = program.address().to_owned();
    let (origin, stopped) = (program.origin.clone(), Arc::new(AtomicBool::new(false)));
    let writer = tokio::spawn(write(origin.clone(), Arc::clone(&stopped)));
    let cuts = rounds(60, 500);
    let (mut cursor, mut numbers) = (0, Vec::new());
    for cut in 0..cuts {
        cursor = live_for(&origin, cursor, Duration::from_millis(50), &mut numbers).await;
        if cut == cuts / 3 || cut == 2 * cuts / 3 {
            program.stop().await;
            program = Program::start(&home.url, &address).await;
        }
    }
    stopped.store(true, Ordering::SeqCst);
    let told = writer.await.expect("the writer returns");
    // What is left comes in one quiet life.
    let mut last = Stream::open(&origin, &D1, &format!("?after={cursor}")).await;
    let head = last.next().await.number("head");
    last.until(head).await;
    numbers.extend(&last.numbers);
    println!("{cuts} cuts, {} events, {told} answered", numbers.len());
    assert!(told > 20, "{told}");
    assert_eq!(numbers, (1..=head).collect::<Vec<_>>());
    drop(last);
    program.stop().await;
}
