//! Keys within one batch, and batches that have nothing to write.

use dispatch_desk::{
    domain::command::{Act, Command, What},
    engine::executor::Settings,
};

use crate::{
    contract::raw::Raw,
    harness::{
        record::{Came, Returned, now_ns},
        *,
    },
};

/// A desk whose lane takes everything that is handed in before it gets to run.
pub(super) async fn desk(database: Database) -> Desk {
    Desk::with(database, Settings { lanes: 1, ..Settings::default() }).await
}

/// Hands everything in at once and returns what came, in the same order. On one thread nothing else runs until
/// all of it is in the lane.
pub(super) async fn at_once(desk: &Desk, commands: Vec<Command>) -> Vec<Came> {
    let submit = |command: Command| {
        (now_ns(), desk.executor.submit(command.clone()).expect("the queue is long"), command)
    };
    let answers: Vec<_> = commands.into_iter().map(submit).collect();
    let mut came = Vec::new();
    for (invoked, answer, command) in answers {
        let back: Came = answer.await.expect("a lane answers").into();
        came.push(desk.recorder.note(command, invoked, now_ns(), back).came);
    }
    came
}

async fn a_repeated_key_within_a_batch_replays(database: Database) {
    let desk = desk(database).await;
    let task = desk.create().await;
    let grab = desk.change(rider(1), task, 1, GRAB);
    let lost = desk.change(rider(2), task, 1, GRAB);
    let new = desk.command(shop(), What::Create(Box::new(order())));
    let mixed = vec![
        grab.clone(),
        lost.clone(),
        grab.clone(),
        new.clone(),
        lost.clone(),
        grab.clone(),
        new.clone(),
    ];
    let came = at_once(&desk, mixed).await;
    let back: Vec<&Returned> = came.iter().map(node::back).collect();
    for (first, again) in [(0, 2), (0, 5), (1, 4), (3, 6)] {
        let expected = Returned { replayed: true, ..back[first].clone() };
        assert_eq!(back[again], &expected, "{again} repeats {first}");
        assert!(!back[first].replayed);
    }
    assert_eq!((back[0].status, back[1].status, back[3].status), (200, 409, 201));
    // And so it is afterwards.
    for (command, first) in [(grab, 0), (lost, 1), (new, 3)] {
        let again = desk.send(command).await;
        assert_eq!(node::back(&again.came), &Returned { replayed: true, ..back[first].clone() });
    }
    let raw = Raw::of(&desk).await;
    assert_eq!(raw.number("SELECT COUNT(*) FROM task").await, 2);
    assert_eq!(desk.read().await.head().await.unwrap(), (3, 4), "three events, four attempts");
    desk.check().await;
}

async fn another_request_under_a_key_of_the_batch_is_turned_away(database: Database) {
    let desk = desk(database).await;
    let task = desk.create().await;
    let first = desk.change(rider(1), task, 1, GRAB);
    let under = |command: Command| Command { key: first.key.clone(), ..command };
    let commands = vec![
        first.clone(),
        under(desk.change(rider(1), task, 2, GRAB)),
        under(desk.change(rider(1), task, 2, HAND_BACK)),
        // The key of another rider is another key.
        under(desk.change(rider(2), task, 1, GRAB)),
    ];
    let came = at_once(&desk, commands).await;
    let codes: Vec<_> = came.iter().map(Came::code).collect();
    assert_eq!(codes, ["", "REQUEST_KEY_REUSED", "REQUEST_KEY_REUSED", "TAKEN_BY_OTHER"]);
    // Each was an attempt, and is kept as one.
    let attempts = desk.read().await.attempts_of(task).await.unwrap();
    let kept: Vec<_> = attempts.iter().map(|attempt| attempt.code.as_str()).collect();
    assert_eq!(kept[0], "done", "its creation");
    assert_eq!(kept[1..], ["done", "REQUEST_KEY_REUSED", "REQUEST_KEY_REUSED", "TAKEN_BY_OTHER"]);
    desk.check().await;
}

async fn refusals_write_attempts_and_no_events(database: Database) {
    let desk = desk(database).await;
    let task = desk.create().await;
    let raw = Raw::of(&desk).await;
    let rows = async || {
        let mut rows = raw.dump_all().await;
        let counted = ["attempt", "command_outcome", "event_counter"];
        rows.retain(|(table, _)| !counted.contains(&table.as_str()));
        rows
    };
    let before = rows().await;
    let refused = vec![
        desk.change(D1, task, 1, WITHDRAW),
        desk.change(rider(1), task, 2, GRAB),
        desk.change(rider(1), task, 1, Act::Arrive),
        desk.note(D1, task, 7, "x"),
        desk.change(FOREIGN_DISPATCHER, task, 1, CANCEL),
        desk.change(AUDITOR, task, 1, CANCEL),
    ];
    let came = at_once(&desk, refused).await;
    let codes: Vec<_> = came.iter().map(Came::code).collect();
    let expected =
        ["NOT_OFFERED", "STALE_REVISION", "NOT_OWNER", "STALE_REVISION", "NOT_FOUND", "FORBIDDEN"];
    assert_eq!(codes, expected);
    assert_eq!(desk.read().await.head().await.unwrap(), (1, 7), "no event, six attempts");
    assert_eq!(rows().await, before, "and nothing else but the answers");
    // Refusals are answers and kept; who has no right gets none to keep.
    assert_eq!(raw.number("SELECT COUNT(*) FROM command_outcome").await, 1 + 4);
    desk.check().await;
}

async fn replays_write_nothing(database: Database) {
    let desk = desk(database).await;
    let task = desk.create().await;
    let commands = vec![
        desk.change(rider(1), task, 1, GRAB),
        desk.change(rider(2), task, 1, GRAB),
        desk.note(D1, task, 1, "once"),
        desk.command(shop(), What::Create(Box::new(order()))),
    ];
    let first = at_once(&desk, commands.clone()).await;
    let raw = Raw::of(&desk).await;
    let before = raw.dump_all().await;
    for _ in 0..2 {
        let again = at_once(&desk, commands.clone()).await;
        for (first, again) in first.iter().zip(&again) {
            let expected = Returned { replayed: true, ..node::back(first).clone() };
            assert_eq!(node::back(again), &expected);
        }
        // Not a number is taken, not even of tasks.
        assert_eq!(raw.dump_all().await, before);
    }
    desk.check().await;
}

/// Tests on one thread: nothing runs between the first and the last of what is handed in.
macro_rules! on_both {
    ($($name:ident),+) => {
        $(mod $name {
            #[tokio::test]
            async fn on_sqlite() {
                super::super::$name(crate::harness::Database::Sqlite).await;
            }

            #[tokio::test]
            async fn on_postgres() {
                super::super::$name(crate::harness::Database::Postgres).await;
            }
        })+
    };
}

pub(super) use on_both;

mod cases {
    on_both!(
        a_repeated_key_within_a_batch_replays,
        another_request_under_a_key_of_the_batch_is_turned_away,
        refusals_write_attempts_and_no_events,
        replays_write_nothing
    );
}
