//! The program is told to end while many read and commands are under way (C33).

use std::time::{Duration, Instant};

use sqlx::{Connection, Executor as _, SqliteConnection};

use crate::{
    client::{PATIENCE, Stream},
    harness::*,
    http::{order_body, token_of},
    program::{Program, client, create, prepared},
};

const STREAMS: usize = 50;
const COMMANDS: usize = 20;

/// Orders a task under a key, and returns the answer as it came.
async fn order_it(origin: String, key: String) -> (u16, String) {
    let body = order_body(&order(), Some(key));
    let sent = client().post(format!("{origin}/api/v1/tasks")).bearer_auth(token_of(&shop()));
    let answer = sent.json(&body).send().await.expect("it is answered");
    (answer.status().as_u16(), answer.text().await.expect("all of it"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_reads_is_told_and_what_was_begun_is_answered() {
    let home = prepared(Database::Sqlite).await;
    let program = Program::here(&home.url).await;
    let (origin, address) = (program.origin.clone(), program.address().to_owned());
    assert!(create(&client(), &origin, "first").await.is_some());
    let mut streams = Vec::new();
    for number in 0..STREAMS {
        // So many of one person would find no place.
        let reader =
            if number < 4 { D1 } else { rider(i64::try_from(number).unwrap() % RIDERS + 1) };
        let mut stream = Stream::open(&origin, &reader, "").await;
        assert_eq!(stream.next().await.name, "hello");
        streams.push(stream);
    }
    // Somebody else writes, so that the commands are under way for as long as we like.
    let mut other = SqliteConnection::connect(&home.url).await.unwrap();
    other.execute("BEGIN IMMEDIATE").await.unwrap();
    let keys = || (0..COMMANDS).map(|number| format!("c-{number}"));
    let begun: Vec<_> = keys().map(|key| tokio::spawn(order_it(origin.clone(), key))).collect();
    let waiting = async || {
        let answer = client().get(format!("{origin}/healthz")).send().await;
        answer.is_ok_and(|answer| answer.status().is_success())
    };
    // Each has its own connection; once more of them are answered than there are commands, those have been read.
    for _ in 0..=COMMANDS {
        assert!(waiting().await);
    }
    assert!(begun.iter().all(|command| !command.is_finished()), "all are under way");
    let told = Instant::now();
    let ended = tokio::spawn(async move {
        program.stop().await;
        told.elapsed()
    });
    for stream in &mut streams {
        let rest = tokio::time::timeout(PATIENCE, stream.rest()).await.expect("it ends");
        let last = rest.last().expect("a word of farewell");
        assert_eq!((last.name.as_str(), &last.data["reason"]), ("bye", &"stopping".into()));
    }
    let farewell = told.elapsed();
    assert!(farewell < Duration::from_secs(1), "the streams ended after {farewell:?}");
    assert!(begun.iter().all(|command| !command.is_finished()), "they are still under way");
    other.execute("COMMIT").await.unwrap();
    other.close().await.unwrap();
    let mut answers = Vec::new();
    for command in begun {
        answers.push(command.await.unwrap());
    }
    assert!(answers.iter().all(|(status, _)| *status == 201), "{answers:?}");
    let ended = ended.await.unwrap();
    println!(
        "{STREAMS} streams ended after {farewell:?}, {COMMANDS} commands were answered, it ended after {ended:?}"
    );
    assert!(ended < Duration::from_secs(10));
    // The same requests have the same answers, whoever gives them.
    let program = Program::start(&home.url, &address).await;
    for (key, answer) in keys().zip(answers) {
        assert_eq!(order_it(program.origin.clone(), key).await, answer);
    }
    program.stop().await;
}
