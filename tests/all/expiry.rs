//! The release of lapsed offers by itself: on time, never early, and never held up by one bad task.

use std::{sync::Arc, time::Duration};

use dispatch_desk::{
    clock::ManualClock,
    domain::{
        id::{TaskId, Timestamp},
        task::StateName,
    },
    engine::{
        executor::{Executor, Settings},
        expiry::{Expiry, Swept},
    },
    store::{Db, Time},
};
use sqlx::Executor as _;

use crate::harness::*;

/// A task offered to the rider of that number, for 30 s.
async fn offered(desk: &Desk, number: i64) -> TaskId {
    let task = desk.create().await;
    desk.done(D1, task, 1, offer(number)).await;
    task
}

async fn offered_to_many(desk: &Desk, count: i64) -> Vec<TaskId> {
    let tasks = desk.create_many(usize::try_from(count).expect("a small number")).await;
    let invited = (1..).zip(&tasks).map(|(number, task)| desk.done(D1, *task, 1, offer(number)));
    futures_util::future::join_all(invited).await;
    tasks
}

async fn state(desk: &Desk, task: TaskId) -> StateName {
    desk.task(task).await.state.name()
}

/// When the task's last event happened, after the deadline of its offer.
async fn lag_ms(desk: &Desk, task: TaskId) -> i64 {
    let events = desk.events(task).await;
    let [.., invited, released] = &events[..] else { panic!("{events:?}") };
    assert_eq!((invited.action.as_str(), released.action.as_str()), ("offer", "expire"));
    released.occurred_at - (invited.occurred_at + 30_000)
}

/// Returns once the executor has committed that many events in all.
async fn until_logged(desk: &Desk, events: i64) {
    let mut head = desk.executor.head();
    let logged = head.wait_for(|head| *head >= events);
    let waited = tokio::time::timeout(Duration::from_secs(20), logged).await;
    waited.expect("the release comes").expect("the executor is there");
}

async fn head(desk: &Desk) -> i64 {
    desk.read().await.head().await.expect("the counter can be read").0
}

for_each_database!(nothing_is_released_before_its_deadline, |desk| async move {
    let task = offered(&desk, 1).await;
    let expiry = Expiry::new(desk.executor.clone(), 10);
    desk.advance_ms(29_999).await;
    assert_eq!(expiry.run_once().await.expect("deadlines can be read"), Swept::default());
    assert_eq!(state(&desk, task).await, StateName::Offered);
    desk.advance_ms(1).await;
    let swept = expiry.run_once().await.expect("deadlines can be read");
    assert_eq!(swept, Swept { released: 1, ..Swept::default() });
    assert_eq!(lag_ms(&desk, task).await, 0);
    desk.check().await;
});

for_each_database!(it_sleeps_until_the_next_deadline_and_hears_of_new_offers, |desk| async move {
    let (_expiry, stop, running) = Expiry::start(desk.executor.clone());
    // It runs before there is any offer, so it has to hear of this one.
    let early = offered(&desk, 1).await;
    desk.advance_ms(10_000).await;
    let late = offered(&desk, 2).await;
    let before = head(&desk).await;
    for (ms, released) in [(19_999, 0), (1, 1), (9_999, 1), (1, 2)] {
        desk.advance_ms(ms).await;
        until_logged(&desk, before + released).await;
        assert_eq!(head(&desk).await, before + released, "released too early");
    }
    assert_eq!((lag_ms(&desk, early).await, lag_ms(&desk, late).await), (0, 0));
    drop(stop);
    running.await.expect("it ends when told to");
    desk.check().await;
});

for_each_database!(
    a_clock_that_jumps_releases_nothing_early_and_nothing_twice,
    |desk| async move {
        let (_expiry, stop, running) = Expiry::start(desk.executor.clone());
        let task = offered(&desk, 1).await;
        let before = head(&desk).await;
        // Back by an hour: the offer waits longer, by the clock that made it.
        desk.advance_ms(-3_600_000).await;
        desk.advance_ms(3_600_000 + 29_999).await;
        assert_eq!(state(&desk, task).await, StateName::Offered);
        // Forward by a day: it is released once.
        desk.advance_ms(86_400_000).await;
        until_logged(&desk, before + 1).await;
        assert!(lag_ms(&desk, task).await >= 0);
        // Back again: the released task stays released, and the log of a task never runs backwards.
        desk.advance_ms(-86_400_000).await;
        desk.done(rider(2), task, 3, GRAB).await;
        let events = desk.events(task).await;
        assert!(events.is_sorted_by_key(|event| event.occurred_at), "{events:?}");
        drop(stop);
        running.await.expect("it ends when told to");
        desk.check().await;
    }
);

for_each_database!(
    what_lapsed_while_nobody_was_there_is_released_at_the_start,
    |desk| async move {
        let tasks = offered_to_many(&desk, 50).await;
        desk.advance_ms(1).await;
        let waiting = offered(&desk, 51).await;
        desk.executor.stop().await;
        // The next process starts long after the deadlines of all but one.
        desk.advance_ms(29_999).await;
        let clock = Arc::new(ManualClock::at(Timestamp(NOON.0 + 30_000)));
        let time = Time::Manual(clock);
        let db = Db::open(&desk.home.url, time).await.expect("it opens again");
        let next = Executor::start(db, Settings::default());
        let swept = Expiry::new(next, 7).run_once().await.expect("deadlines can be read");
        assert_eq!(swept, Swept { released: 50, ..Swept::default() });
        for task in tasks {
            assert_eq!(lag_ms(&desk, task).await, 0);
        }
        assert_eq!(state(&desk, waiting).await, StateName::Offered);
        desk.check().await;
    }
);

/// C16: one row that can not be released, the first in line.
async fn one_bad_row(desk: Desk, page: i64) {
    let bad = offered(&desk, 60).await;
    desk.advance_ms(1).await;
    let tasks = offered_to_many(&desk, 50).await;
    desk.spoil(bad).await;
    desk.advance_ms(30_000).await;
    let expiry = Expiry::new(desk.executor.clone(), page);
    let swept = expiry.run_once().await.expect("deadlines can be read");
    assert_eq!(swept, Swept { released: 50, failed: 1, skipped: 0 });
    assert_eq!(expiry.failures(), 1);
    for task in tasks {
        assert_eq!(state(&desk, task).await, StateName::Open);
    }
    assert_eq!(state(&desk, bad).await, StateName::Offered);
    // It is left alone for a second, and by then it fails again; it holds up nobody either way.
    let swept = expiry.run_once().await.expect("deadlines can be read");
    assert_eq!((swept.released, swept.failed + swept.skipped), (0, 1));

    desk.mend().await;
    let fresh = Expiry::new(desk.executor.clone(), page);
    let swept = fresh.run_once().await.expect("deadlines can be read");
    assert_eq!(swept, Swept { released: 1, ..Swept::default() });
    assert_eq!(state(&desk, bad).await, StateName::Open);
    desk.check().await;
}

for_each_database!(one_bad_row_keeps_no_other_waiting_one_at_a_time, |desk| one_bad_row(desk, 1));
for_each_database!(one_bad_row_keeps_no_other_waiting_in_a_batch, |desk| one_bad_row(desk, 256));

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_that_somebody_holds_keeps_no_other_waiting() {
    let settings = Settings { patience: Duration::from_millis(100), ..Settings::default() };
    let desk = Desk::with(Database::Postgres, settings).await;
    let held = offered(&desk, 60).await;
    desk.advance_ms(1).await;
    let tasks = offered_to_many(&desk, 50).await;
    desk.advance_ms(30_000).await;
    let mut holder = desk.beside().await;
    let lock = format!("BEGIN; SELECT 1 FROM task WHERE id = {} FOR UPDATE", held.0);
    holder.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(lock))).await.expect("it is held");

    let expiry = Expiry::new(desk.executor.clone(), 1);
    let swept = expiry.run_once().await.expect("deadlines can be read");
    assert_eq!(swept, Swept { released: 50, failed: 1, skipped: 0 });
    for task in tasks {
        assert_eq!(state(&desk, task).await, StateName::Open);
    }
    let busy = desk.send(desk.change(D1, held, 2, WITHDRAW)).await.came;
    assert_eq!(busy, record::Came::Error("BUSY".to_owned()));

    holder.execute("ROLLBACK").await.expect("it is let go");
    let swept = Expiry::new(desk.executor.clone(), 1).run_once().await.expect("read");
    assert_eq!(swept, Swept { released: 1, ..Swept::default() });
    universal::check_except_errors(&desk).await;
}

for_each_database!(one_bad_command_of_a_batch_fails_alone, |desk| async move {
    let tasks = desk.create_many(60).await;
    let bad = tasks[37];
    desk.spoil(bad).await;
    let grabs = (1..).zip(&tasks).map(|(number, task)| desk.change(rider(number), *task, 1, GRAB));
    let sent = futures_util::future::join_all(grabs.map(|grab| desk.send(grab))).await;
    for (task, sent) in tasks.iter().zip(&sent) {
        if *task == bad {
            assert_eq!(sent.came, record::Came::Error("FAULTY".to_owned()));
        } else {
            assert!(sent.came.is_success(), "{task}: {:?}", sent.came);
        }
    }
    // Nothing was stored under its key, so once the row is mended the same request is done.
    desk.mend().await;
    assert!(desk.again(&sent[37]).await.came.is_success());
    universal::check_except_errors(&desk).await;
});
