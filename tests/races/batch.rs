//! Several commands in one batch, for certain.
//!
//! The tests run on one thread: what is submitted without waiting in between ends up in one batch.

use dispatch_desk::{domain::command::Command, engine::executor::Settings};

use crate::harness::{
    record::{Sent, now_ns},
    *,
};

/// A desk whose commands all share one lane, and with it the batch.
pub async fn desk_of_one_lane(database: Database) -> Desk {
    Desk::with(database, Settings { lanes: 1, ..Settings::default() }).await
}

/// Has all commands decided in one batch, and proves that it was one: whoever is answered first finds everyone
/// else answered too.
pub async fn in_one_batch(desk: &Desk, commands: Vec<Command>) -> Vec<Sent> {
    let invoked = now_ns();
    let asked: Vec<_> = commands
        .into_iter()
        .map(|command| (desk.executor.submit(command.clone()).expect("there is room"), command))
        .collect();
    let mut sent = Vec::new();
    for (mut answer, command) in asked {
        let came = if sent.is_empty() {
            answer.await.expect("a lane answers")
        } else {
            answer.try_recv().expect("a batch answers everyone at once")
        };
        sent.push(desk.recorder.note(command, invoked, now_ns(), came.into()));
    }
    sent
}

/// Makes two tests of one, each on one thread: on SQLite and on PostgreSQL.
macro_rules! on_one_thread {
    ($name:ident, |$database:ident| $body:expr) => {
        async fn $name($database: Database) {
            $body.await
        }

        mod $name {
            use crate::harness::Database;

            #[tokio::test]
            async fn on_sqlite() {
                super::$name(Database::Sqlite).await;
            }

            #[tokio::test]
            async fn on_postgres() {
                super::$name(Database::Postgres).await;
            }
        }
    };
}

pub(super) use on_one_thread;
