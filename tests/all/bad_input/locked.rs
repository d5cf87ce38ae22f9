//! Too much at once, and a database that somebody else keeps to themselves: BUSY, and nothing has happened.

use std::time::{Duration, Instant};

use dispatch_desk::engine::executor::{Error, Settings};
use sqlx::Connection;

use crate::{contract::raw::Raw, harness::*};

/// A full queue turns away at once. On PostgreSQL the lane waits for R1's row, on SQLite for the one writer.
async fn a_full_queue_turns_away(database: Database) {
    let settings = Settings { queue: 1, lanes: 1, batch: 1, ..Settings::default() };
    let desk = Desk::with(database, settings).await;
    let task = desk.create().await;
    let mut held = desk.db.begin().await.unwrap();
    held.lock_riders(&[dispatch_desk::domain::id::RiderId(1)]).await.unwrap();
    let (mut waiting, mut turned_away) = (Vec::new(), None);
    for _ in 0..100 {
        let command = desk.change(rider(1), task, 1, GRAB);
        match desk.executor.submit(command.clone()) {
            Ok(answer) => waiting.push((command, answer)),
            Err(error) => {
                assert_eq!(error, Error::Busy);
                turned_away = Some(command);
                break;
            }
        }
        tokio::task::yield_now().await;
    }
    let turned_away = turned_away.expect("one is turned away");
    assert!((1..=2).contains(&waiting.len()), "one at work and one waiting: {}", waiting.len());
    held.rollback().await.unwrap();
    let mut codes = Vec::new();
    for (_, answer) in &mut waiting {
        codes.push(answer.await.unwrap().unwrap().answer().unwrap().code);
    }
    assert_eq!(codes[0], None);
    assert!(codes[1..].iter().all(|code| code.as_deref() == Some("ALREADY_YOURS")), "{codes:?}");
    // It has left no trace, and its key is as good as new.
    let attempts = desk.read().await.attempts_of(task).await.unwrap();
    assert_eq!(attempts.len(), 1 + waiting.len(), "its creation, and those");
    let late = desk.send(turned_away).await;
    assert_eq!(late.came.code(), "ALREADY_YOURS");
    assert!(!node::back(&late.came).replayed);
}

#[tokio::test]
async fn a_full_queue_turns_away_on_sqlite() {
    a_full_queue_turns_away(Database::Sqlite).await;
}

#[tokio::test]
async fn a_full_queue_turns_away_on_postgres() {
    a_full_queue_turns_away(Database::Postgres).await;
}

/// Another program keeps the file to itself for longer than anybody waits. Everybody hears of it after one wait,
/// not one after the other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_another_program_has_locked_is_busy_and_then_free() {
    let patience = Duration::from_millis(100);
    let desk = Desk::with(Database::Sqlite, Settings { patience, ..Settings::default() }).await;
    let tasks = desk.create_many(8).await;
    let raw = Raw::of(&desk).await;
    let before = raw.dump_all().await;

    let mut other = sqlx::SqliteConnection::connect(&desk.home.url).await.unwrap();
    sqlx::query("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    let since = Instant::now();
    let grabs: Vec<_> = (1..)
        .zip(&tasks)
        .map(|(number, task)| desk.change(rider(number), *task, 1, GRAB))
        .collect();
    let sent = desk.race(&[desk.here()], grabs).await;
    let waited = since.elapsed();
    let codes: Vec<_> = sent.iter().map(|sent| sent.came.code()).collect();
    assert_eq!(codes, ["BUSY"; 8]);
    // SQLite itself waits for 5 s; a first one may have set out alone, so there may be two such waits.
    assert!(waited < Duration::from_secs(14), "eight commands waited for {waited:?}");
    assert!(desk.read().await.task(tasks[0]).await.unwrap().is_some(), "readers go on");
    sqlx::query("ROLLBACK").execute(&mut other).await.unwrap();
    assert_eq!(raw.dump_all().await, before);

    for sent in &sent {
        let again = desk.again(sent).await;
        assert!(again.came.is_success() && !node::back(&again.came).replayed, "{again:?}");
    }
    assert_eq!(desk.executor.pulse().health(), dispatch_desk::engine::health::Health::Ready);
    universal::check_except_errors(&desk).await;
}

/// On PostgreSQL one rider who is held elsewhere keeps nobody else waiting for good.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rider_who_is_held_elsewhere_is_busy_and_the_others_are_served() {
    let patience = Duration::from_millis(100);
    let settings = Settings { patience, lanes: 1, ..Settings::default() };
    let desk = Desk::with(Database::Postgres, settings).await;
    let tasks = desk.create_many(8).await;
    let mut held = desk.db.begin().await.unwrap();
    held.lock_riders(&[dispatch_desk::domain::id::RiderId(1)]).await.unwrap();
    let grabs: Vec<_> = (1..)
        .zip(&tasks)
        .map(|(number, task)| desk.change(rider(number), *task, 1, GRAB))
        .collect();
    let sent = desk.race(&[desk.here()], grabs).await;
    let codes: Vec<_> = sent.iter().map(|sent| sent.came.code()).collect();
    assert_eq!(codes, ["BUSY", "", "", "", "", "", "", ""]);
    held.rollback().await.unwrap();
    assert!(desk.again(&sent[0]).await.came.is_success());
    universal::check_except_errors(&desk).await;
}
