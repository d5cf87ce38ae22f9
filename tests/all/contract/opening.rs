//! Opening a database, and what its connections are set to.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use dispatch_desk::{
    clock::ManualClock,
    domain::id::{RegionId, RiderId, Timestamp},
    store::{Db, Error, Product, Time},
};

use super::raw::Raw;
use crate::harness::{desk::Home, record::now_ns, *};

for_each_database!(a_database_says_what_it_is, |desk| async move {
    let (product, least) = match desk.database {
        Database::Sqlite => (Product::Sqlite, Db::SQLITE_NEEDED),
        Database::Postgres => (Product::Postgres, Db::POSTGRES_NEEDED),
    };
    assert_eq!(desk.db.product(), product);
    let version = desk.db.version().await.unwrap();
    let numbers = |text: &str| -> Vec<u32> {
        let text = text.split(' ').next().unwrap_or_default();
        text.split('.').map(|part| part.parse().expect("a number")).collect()
    };
    assert!(numbers(&version) >= numbers(least), "{version} is at least {least}");
});

for_each_database!(a_reader_sees_one_moment_and_writes_nothing, |desk| async move {
    let mut reader = desk.db.read().await.unwrap();
    assert_eq!(reader.head().await.unwrap(), (0, 0));
    let task = desk.create().await;
    assert_eq!(reader.head().await.unwrap(), (0, 0), "still the moment of its first look");
    assert_eq!(reader.task(task).await.unwrap(), None);
    let mut next = desk.db.read().await.unwrap();
    assert_eq!(next.head().await.unwrap(), (1, 1));
    let written = next.add_rider(RiderId(500), NORTH, "x", 1, None).await;
    assert!(matches!(written, Err(Error::ReadOnly(_))), "{written:?}");
});

for_each_database!(a_dropped_transaction_has_done_nothing, |desk| async move {
    let raw = Raw::of(&desk).await;
    let before = raw.dump_all().await;
    let mut tx = desk.db.begin().await.unwrap();
    tx.add_rider(RiderId(500), NORTH, "x", 1, None).await.unwrap();
    tx.take_numbers(3, 3).await.unwrap();
    drop(tx);
    let mut tx = desk.db.begin().await.unwrap();
    tx.add_rider(RiderId(500), NORTH, "x", 1, None).await.unwrap();
    tx.rollback().await.unwrap();
    assert_eq!(raw.dump_all().await, before);
    let mut tx = desk.db.begin().await.unwrap();
    tx.add_rider(RiderId(500), NORTH, "x", 1, None).await.unwrap();
    tx.commit().await.unwrap();
    assert!(desk.read().await.rider(RiderId(500)).await.unwrap().is_some());
});

for_each_database!(
    whoever_gives_up_while_it_begins_leaves_no_transaction_behind,
    |desk| async move {
        // A reader that is left open would let the next one read the past, and write nothing.
        let mut given_up = 0;
        for round in 0..300_u32 {
            {
                let mut reader = std::pin::pin!(desk.db.read());
                // Let go a little later each time: before it has a connection, at the BEGIN, after it.
                let (begun, patience) = (Instant::now(), Duration::from_micros(10) * (round % 60));
                let mut ready = false;
                while !ready && begun.elapsed() < patience {
                    ready = futures_util::poll!(reader.as_mut()).is_ready();
                    tokio::task::yield_now().await;
                }
                given_up += u32::from(!ready);
            }
            // There are few connections, so one of these comes by the one that was let go of.
            for writer in 0..3 {
                let id = RiderId(100_000 + i64::from(round * 3 + writer));
                let mut tx = desk.db.begin().await.unwrap();
                tx.add_rider(id, NORTH, "x", 1, None).await.unwrap();
                tx.commit().await.unwrap();
                assert!(desk.read().await.rider(id).await.unwrap().is_some(), "{id}");
            }
        }
        assert!(given_up > 30, "only {given_up} were let go in the middle");
    }
);

for_each_database!(a_manual_clock_is_the_same_for_everybody, |desk| async move {
    // Another process on PostgreSQL starts with a clock of its own and follows the one in the database.
    let elsewhere = Arc::new(ManualClock::at(Timestamp(0)));
    let other = match desk.database {
        Database::Sqlite => desk.db.clone(),
        Database::Postgres => {
            Db::open(&desk.home.url, Time::Manual(Arc::clone(&elsewhere))).await.unwrap()
        }
    };
    for at in [NOON.plus_ms(5), NOON.plus_ms(-5), Timestamp(i64::MAX), Timestamp(0)] {
        desk.db.set_time(at).await.unwrap();
        assert_eq!(desk.read().await.now().await.unwrap(), at);
        assert_eq!(other.read().await.unwrap().now().await.unwrap(), at);
        assert_eq!(desk.db.clock().now(), at);
    }
});

/// The store's own time moves on within a transaction: it is read after the locks, not at the start.
async fn the_systems_time_goes_on(database: Database) {
    let home = Home::new(database).await;
    let db = Db::open(&home.url, Time::System).await.unwrap();
    let mut tx = db.begin().await.unwrap();
    let first = tx.now().await.unwrap();
    let machine = i64::try_from(now_ns() / 1_000_000).unwrap();
    assert!((first.0 - machine).abs() < 60_000, "milliseconds since 1970: {first} by {machine}");
    assert!((db.clock().now().0 - machine).abs() < 60_000);
    let mut looks = 0;
    while tx.now().await.unwrap() == first {
        looks += 1;
        assert!(looks < 1_000_000, "the clock stands still within a transaction");
    }
    assert!(tx.now().await.unwrap() > first);
}

#[tokio::test]
async fn the_systems_time_goes_on_on_sqlite() {
    the_systems_time_goes_on(Database::Sqlite).await;
}

#[tokio::test]
async fn the_systems_time_goes_on_on_postgres() {
    the_systems_time_goes_on(Database::Postgres).await;
}

for_each_database!(a_closed_database_takes_nothing_and_opens_again, |desk| async move {
    let task = desk.create().await;
    desk.executor.stop().await;
    desk.db.close().await;
    let begun = desk.db.begin().await.map(|_| ());
    assert!(matches!(begun, Err(Error::Unreachable(_))), "{begun:?}");
    let read = desk.db.read().await.map(|_| ());
    assert!(matches!(read, Err(Error::Unreachable(_))), "{read:?}");
    let again = Db::open(&desk.home.url, Time::System).await.unwrap();
    assert!(again.read().await.unwrap().task(task).await.unwrap().is_some());
});

/// What a connection of the store says of itself: a trigger looks, since only the session knows.
async fn spied(desk: &Desk, trigger: &str) -> Vec<String> {
    let raw = Raw::of(desk).await;
    raw.run("CREATE TABLE spied (name TEXT, value TEXT)").await.unwrap();
    raw.run(trigger).await.unwrap();
    let area = dispatch_desk::domain::geo::Area::Polygon(Vec::new());
    let mut tx = desk.db.begin().await.unwrap();
    tx.add_region(RegionId(500), "spied", chrono_tz::UTC, &area).await.unwrap();
    tx.commit().await.unwrap();
    raw.texts("SELECT name || '=' || value FROM spied ORDER BY 1").await
}

#[tokio::test]
async fn the_settings_of_sqlite_are_in_force() {
    let desk = Desk::open(Database::Sqlite).await;
    let looks = ["foreign_keys", "journal_mode", "recursive_triggers", "synchronous"];
    let looks =
        looks.map(|name| format!("INSERT INTO spied SELECT '{name}', {name} FROM pragma_{name};"));
    let trigger = format!("CREATE TRIGGER spy AFTER INSERT ON region BEGIN {} END", looks.concat());
    let found = spied(&desk, &trigger).await;
    assert_eq!(
        found,
        [
            "foreign_keys=1",
            "journal_mode=wal",
            // Without it, REPLACE would get past the triggers that keep the log as it is.
            "recursive_triggers=1",
            // FULL: every commit is synced before it returns.
            "synchronous=2",
        ]
    );
}

#[tokio::test]
async fn the_settings_of_postgres_are_in_force_whatever_the_address_says() {
    const SPY: &str = "
        CREATE FUNCTION spy() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            INSERT INTO spied SELECT name, current_setting(name) FROM unnest(ARRAY[
                'statement_timeout', 'lock_timeout', 'plan_cache_mode', 'jit', 'synchronous_commit',
                'idle_in_transaction_session_timeout', 'tcp_user_timeout', 'application_name']) AS name;
            RETURN NULL;
        END $$;
        CREATE TRIGGER spy AFTER INSERT ON region FOR EACH ROW EXECUTE FUNCTION spy()";
    let mut desk = Desk::open(Database::Postgres).await;
    let lax = "%20-c%20statement_timeout%3D0%20-c%20lock_timeout%3D0%20-c%20plan_cache_mode%3Dauto";
    let url = format!("{}{lax}", desk.home.url);
    desk.db = Db::open(&url, Time::Manual(Arc::clone(&desk.clock))).await.unwrap();
    let found = spied(&desk, SPY).await;
    assert_eq!(
        found,
        [
            "application_name=dispatch-desk",
            "idle_in_transaction_session_timeout=10s",
            "jit=off",
            "lock_timeout=2s",
            "plan_cache_mode=force_custom_plan",
            "statement_timeout=5s",
            "synchronous_commit=on",
            "tcp_user_timeout=10000",
        ]
    );
}
