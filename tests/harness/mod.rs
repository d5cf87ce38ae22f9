//! A desk to test with: an executor on either database, with a clock that only moves when told to, a cast of
//! people, barrier races, a record of everything that was asked and answered, and the checks that must hold
//! after every case.
//!
//! ```ignore
//! for_each_database!(a_second_grab_is_refused, |desk| async move {
//!     let task = desk.create().await;
//!     desk.done(rider(1), task, 1, GRAB).await;
//!     desk.refused(rider(2), task, 1, GRAB, Code::TakenByOther).await;
//!     desk.check().await;
//! });
//! ```

#![allow(dead_code, unused_imports, unused_macros, reason = "not every test binary uses all of it")]

pub mod cast;
pub mod cluster;
pub mod desk;
pub mod load;
pub mod node;
#[cfg(feature = "faults")]
pub mod planting;
pub mod race;
pub mod raw;
pub mod record;
pub mod rounds;
pub mod site;
pub mod synced;
pub mod trace;
pub mod universal;

pub use cast::*;
pub use desk::{Database, Desk};
pub use rounds::{a_round, members, round, signed};
pub use site::Site;

/// Makes two tests of one: on SQLite and on PostgreSQL.
macro_rules! for_each_database {
    ($name:ident, |$desk:ident| $body:expr) => {
        // A function and a module of one name: the case keeps its file's own scope.
        async fn $name($desk: $crate::harness::Desk) {
            $body.await
        }

        mod $name {
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_sqlite() {
                let desk = $crate::harness::Desk::open($crate::harness::Database::Sqlite).await;
                super::$name(desk).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_postgres() {
                let desk = $crate::harness::Desk::open($crate::harness::Database::Postgres).await;
                super::$name(desk).await;
            }
        }
    };
}

pub(crate) use for_each_database;

/// Whether the full rounds are wanted (`DISPATCH_TEST_ROUNDS=full`), or the reduced ones.
pub fn rounds(reduced: usize, full: usize) -> usize {
    let wanted = std::env::var("DISPATCH_TEST_ROUNDS").unwrap_or_default();
    if wanted == "full" { full } else { reduced }
}
