//! Planted faults of the store: its locks, its guard, its numbers. Another line of defence may hide them from the
//! outside, so they are looked for where they are.

use dispatch_desk::{
    clock::Clock,
    domain::{
        decide::{Verdict, decide},
        facts::Facts,
        id::{Revision, RiderId},
        policy::{Policy, Region},
        refusal::Code,
    },
    engine::executor::{Executor, Settings},
    fault::Fault,
    store::{Error, Steps},
};
use sqlx::Executor as _;

use super::planted::caught;
use crate::harness::{
    CANCEL, Database, Desk, GRAB, NORTH,
    record::{Came, now_ns},
    rider, shop,
};

async fn a_stale_change_is_not_written(desk: &Desk) -> Result<(), String> {
    let task = desk.create().await;
    let stale = desk.task(task).await;
    let area = dispatch_desk::domain::geo::Area::Circle {
        centre: dispatch_desk::domain::geo::Place { lat: 31.2, lng: 121.5 },
        radius_m: 1.0,
    };
    let time_zone = chrono_tz::Asia::Shanghai;
    let region = Region { id: NORTH, time_zone, area, policy: Policy::default() };
    let facts = Facts {
        staff: None,
        me: None,
        rider: None,
        region: &region,
        own_offers: &[],
        round: None,
        alone: None,
        hand_backs_today: 0,
    };
    let decision = decide(&stale, &shop(), Revision(1), &CANCEL, &facts, desk.clock.now());
    let Verdict::Apply(cancel) = decision.verdict else { panic!("{:?}", decision.verdict) };
    desk.done(rider(1), task, 1, GRAB).await;

    let mut tx = desk.db.begin().await.expect("a transaction");
    let steps = Steps { before: &stale, steps: &[*cancel] };
    let written = tx.apply(&[steps], || Ok("token".to_owned())).await;
    tx.rollback().await.expect("nothing of it is kept");
    match written {
        Err(Error::Moved(_)) => Ok(()),
        other => Err(format!("a change of revision 1 was written over revision 2: {other:?}")),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_without_the_revision_is_found() {
    for database in [Database::Sqlite, Database::Postgres] {
        let reason = "was written over revision 2";
        caught(database, Fault::WriteWithoutRevision, reason, a_stale_change_is_not_written).await;
    }
}

async fn a_locked_task_is_left_out(desk: &Desk) -> Result<(), String> {
    let task = desk.create().await;
    let (mut first, mut second) =
        (desk.db.begin().await.expect("one"), desk.db.begin().await.expect("another"));
    let held = first.lock_tasks(&[task]).await.expect("it can be locked");
    assert_eq!(held.len(), 1);
    let seen = second.lock_tasks(&[task]).await.expect("it need not be waited for");
    if seen.is_empty() { Ok(()) } else { Err("two transactions hold one task".to_owned()) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_load_without_a_lock_is_found() {
    let reason = "two transactions hold one task";
    caught(Database::Postgres, Fault::LoadWithoutLock, reason, a_locked_task_is_left_out).await;
}

async fn capacity_is_held_and_not_only_read(desk: &Desk) -> Result<(), String> {
    let task = desk.create().await;
    // Somebody lowers the rider's capacity, and has not committed yet.
    let mut admin = desk.beside().await;
    admin.execute("BEGIN; UPDATE rider SET capacity = 0 WHERE id = 1").await.expect("lowered");
    let grab = desk.change(rider(1), task, 1, GRAB);
    let mut answer = desk.executor.submit(grab).expect("there is room");
    // Until the grab has either been answered or waits for the rider.
    let early = loop {
        if let Ok(early) = answer.try_recv() {
            break Some(early);
        }
        let (waiting,): (i64,) = sqlx::query_as(
            "SELECT COUNT(*) FROM pg_stat_activity WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))",
        )
        .fetch_one(&mut admin)
        .await
        .expect("PostgreSQL knows who waits");
        if waiting > 0 {
            break None;
        }
    };
    admin.execute("COMMIT").await.expect("committed");
    let came = Came::from(match early {
        Some(early) => early,
        None => answer.await.expect("an answer"),
    });
    let rider = desk.read().await.rider(RiderId(1)).await.expect("read").expect("there");
    match came.code() {
        code if code == Code::RiderAtCapacity.as_str() => Ok(()),
        _ => Err(format!("a rider with a capacity of {} got a task: {came:?}", rider.capacity)),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rider_without_a_lock_is_found() {
    let reason = "with a capacity of 0 got a task";
    let scenario = capacity_is_held_and_not_only_read;
    caught(Database::Postgres, Fault::RidersWithoutLock, reason, scenario).await;
}

/// What a reader with a cursor sees of two nodes, one of which is slow between its number and its commit.
async fn a_reader_misses_nothing(desk: &Desk) -> Result<(), String> {
    // Only the planted fault takes its numbers from here.
    let sequences = "CREATE SEQUENCE planted_number; CREATE SEQUENCE planted_attempt";
    desk.sql("", sequences).await;
    let lock = i64::try_from(now_ns() & 0x7fff_ffff).expect("31 bits");
    let slow = format!(
        "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         PERFORM pg_advisory_xact_lock({lock}); RETURN NEW; END $$; \
         CREATE TRIGGER slow BEFORE INSERT ON command_outcome FOR EACH ROW \
         WHEN (NEW.request_key = 'slow') EXECUTE FUNCTION slow()"
    );
    let (one, two) = (desk.create().await, desk.create().await);
    desk.sql("", &slow).await;
    let other = Executor::start(desk.db.clone(), Settings::default());
    let mut brake = desk.beside().await;
    run(&mut brake, format!("SELECT pg_advisory_lock({lock})")).await;

    let mut slow = desk.change(rider(1), one, 1, GRAB);
    slow.key = Some(Desk::key("slow"));
    let slow = desk.executor.submit(slow).expect("there is room");
    while blocked(&mut brake, "pg_backend_pid() = ANY (pg_blocking_pids(a.pid))").await == 0 {}
    let mut quick = other.submit(desk.change(rider(2), two, 1, GRAB)).expect("there is room");
    // Until the quick one is done, or waits for the slow one's number.
    let behind = "EXISTS (SELECT 1 FROM pg_stat_activity b WHERE b.pid = ANY (pg_blocking_pids(a.pid)) \
                  AND pg_backend_pid() = ANY (pg_blocking_pids(b.pid)))";
    let mut early = None;
    while early.is_none() && blocked(&mut brake, behind).await == 0 {
        early = quick.try_recv().ok();
    }
    let mut seen = Vec::new();
    read_on(desk, &mut seen).await;
    run(&mut brake, format!("SELECT pg_advisory_unlock({lock})")).await;
    slow.await.expect("an answer").expect("done");
    match early {
        Some(early) => early.expect("done"),
        None => quick.await.expect("an answer").expect("done"),
    };
    read_on(desk, &mut seen).await;
    let mut all = Vec::new();
    let mut tx = desk.read().await;
    all.extend(tx.events_after(0, 1_000).await.expect("read").iter().map(|event| event.number));
    if seen == all { Ok(()) } else { Err(format!("the reader saw {seen:?} of {all:?}")) }
}

async fn run(connection: &mut sqlx::PgConnection, sql: String) {
    connection.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(sql))).await.expect("it can be run");
}

async fn blocked(connection: &mut sqlx::PgConnection, condition: &str) -> i64 {
    let sql = format!("SELECT COUNT(*) FROM pg_stat_activity a WHERE {condition}");
    let (count,): (i64,) = sqlx::query_as(sqlx::AssertSqlSafe(sql))
        .fetch_one(connection)
        .await
        .expect("PostgreSQL knows who waits");
    count
}

/// Reads on from the last number that was seen.
async fn read_on(desk: &Desk, seen: &mut Vec<i64>) {
    let after = seen.last().copied().unwrap_or_default();
    let mut tx = desk.read().await;
    seen.extend(
        tx.events_after(after, 1_000).await.expect("read").iter().map(|event| event.number),
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_number_from_a_sequence_is_found() {
    let reason = "the reader saw";
    caught(Database::Postgres, Fault::NumberFromSequence, reason, a_reader_misses_nothing).await;
}
