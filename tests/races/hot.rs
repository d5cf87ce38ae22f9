//! Storms on one task: they turn nobody else away, every grab is decided by the database, and every attempt is kept.

use std::collections::HashSet;

use dispatch_desk::{
    domain::{
        command::{Act, Command},
        fingerprint::key_hash,
        id::{Revision, RiderId, TaskId},
        refusal::Code,
    },
    engine::executor::Settings,
};

use super::short::{clear, count_done, is_done, rider_of};
use crate::harness::{
    node::Node,
    race::Overlap,
    record::{Came, Sent},
    *,
};

/// How many grabs a storm has.
const STORM: i64 = 200;
/// Riders 1 to this many are in it; the others work.
const STORMERS: i64 = 50;
/// How many riders grab one open task.
const RACERS: i64 = 100;

fn hash_of(sent: &Sent) -> String {
    let key = sent.command.key.as_ref().expect("a rider's command has a key");
    key_hash(&sent.command.actor.principal(), key)
}

/// The hashes of the keys of all attempts at a task since it was created, and how many there are.
async fn attempts(desk: &Desk, task: TaskId) -> (HashSet<String>, usize) {
    let mut kept = desk.read().await.attempts_of(task).await.expect("attempts can be read");
    kept.retain(|attempt| attempt.verb != "create");
    let count = kept.len();
    (kept.into_iter().filter_map(|attempt| attempt.key_hash).collect(), count)
}

/// Grabs and cancels on open tasks that nobody else wants; each of them can be done.
fn work(desk: &Desk, tasks: &[TaskId]) -> Vec<Command> {
    let workers = STORMERS + 1..=RIDERS;
    let one = |(index, task): (usize, &TaskId)| match workers.clone().nth(index) {
        Some(number) => desk.change(rider(number), *task, 1, GRAB),
        None => desk.change(D1, *task, 1, CANCEL),
    };
    tasks.iter().enumerate().map(one).collect()
}

/// On one lane with room for sixteen commands, and for two that come second.
async fn a_storm_turns_nobody_else_away(database: Database) {
    let settings = Settings { queue: 16, lanes: 1, ..Settings::default() };
    let desk = Desk::with(database, settings).await;
    let nodes = [desk.here()];
    let mut overlap = Overlap::default();
    let (mut refused, mut busy, mut beside) = (0, 0, 0);
    for _ in 0..rounds(5, 50) {
        let finished = desk.create().await;
        desk.done(D1, finished, 1, CANCEL).await;
        let mut tasks = Vec::new();
        for _ in 0..15 {
            tasks.push(desk.create().await);
        }
        let mut commands: Vec<_> = (0..STORM)
            .map(|number| {
                // From old pages, from the present one, and from none that there can be.
                let revision = number % 4 + 1;
                desk.change(rider(number % STORMERS + 1), finished, revision, GRAB)
            })
            .collect();
        for (index, command) in work(&desk, &tasks).into_iter().enumerate() {
            commands.insert(index * 14, command);
        }
        let sent = desk.race(&nodes, commands).await;
        overlap.count(&sent);

        let (storm, ordinary): (Vec<_>, Vec<_>) =
            sent.into_iter().partition(|sent| sent.command.what.task() == Some(finished));
        assert_eq!((storm.len(), ordinary.len()), (200, 15));
        for sent in &ordinary {
            assert!(is_done(sent), "an ordinary command was kept back: {sent:#?}");
        }
        let mut told = HashSet::new();
        for sent in &storm {
            if let Came::Error(code) = &sent.came {
                assert_eq!(code, "BUSY", "{sent:#?}");
                busy += 1;
            } else {
                assert_eq!(sent.came.code(), Code::Cancelled.as_str(), "{sent:#?}");
                told.insert(hash_of(sent));
            }
        }
        refused += told.len();
        // The cancel was an attempt, too. Nothing is kept of those who were turned away.
        let (kept, count) = attempts(&desk, finished).await;
        assert!(told.is_subset(&kept), "a refusal without its attempt");
        assert_eq!(count, told.len() + 1);
        let meets = |one: &&Sent| storm.iter().any(|other| one.overlaps(other));
        beside += ordinary.iter().filter(meets).count();
        clear(&desk, &tasks).await;
    }
    println!(
        "a storm on a finished task: {refused} refused, {busy} turned away; {beside} ordinary commands met it"
    );
    overlap.report("a storm beside ordinary commands");
    assert!(refused > 0, "nobody was decided");
    universal::check_except_errors(&desk).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_turns_nobody_else_away_on_sqlite() {
    a_storm_turns_nobody_else_away(Database::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_turns_nobody_else_away_on_postgres() {
    a_storm_turns_nobody_else_away(Database::Postgres).await;
}

/// A hundred riders of the north who have nothing to do.
async fn racers(desk: &Desk) -> Vec<i64> {
    let numbers: Vec<_> = (1..=RACERS).map(|number| 10_000 + number).collect();
    let mut tx = desk.db.begin().await.expect("a transaction");
    for number in &numbers {
        let name = format!("racer {number}");
        tx.add_rider(RiderId(*number), NORTH, &name, CAPACITY, None).await.expect("a rider");
    }
    tx.commit().await.expect("it lasts");
    numbers
}

async fn a_hundred_grab_one(database: Database, hot: usize) {
    let desk = Desk::with(database, Settings { hot, ..Settings::default() }).await;
    // A node in another process has its own marks and goes by its own settings.
    let nodes: Vec<Node> = if hot == 0 { vec![desk.here()] } else { desk.nodes().await };
    let numbers = racers(&desk).await;
    let mut overlap = Overlap::default();
    for _ in 0..rounds(3, 50) {
        let task = desk.create().await;
        let grabs = numbers.iter().map(|number| desk.change(rider(*number), task, 1, GRAB));
        let sent = desk.race(&nodes, grabs.collect()).await;
        overlap.count(&sent);
        assert_eq!(count_done(&sent), 1, "{sent:#?}");
        let owner = sent.iter().find(|sent| is_done(sent)).map(rider_of).map(RiderId);
        let row = desk.task(task).await;
        assert_eq!((row.state.rider(), row.revision), (owner, Revision(2)));
        for lost in sent.iter().filter(|sent| !is_done(sent)) {
            let known = [Code::TakenByOther.as_str(), Code::StaleRevision.as_str()];
            assert!(known.contains(&lost.came.code().as_str()), "{lost:#?}");
        }
        // Each of them was an attempt, and is kept as one.
        let (kept, count) = attempts(&desk, task).await;
        let asked: HashSet<_> = sent.iter().map(hash_of).collect();
        assert_eq!((kept, count), (asked, sent.len()));
        assert_eq!(desk.events(task).await.len(), 2, "created and grabbed");
        clear(&desk, &[task]).await;
    }
    overlap.report("100 riders grab one task");
    desk.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_hundred_one_gets_it_on_sqlite() {
    a_hundred_grab_one(Database::Sqlite, Settings::default().hot).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_hundred_one_gets_it_on_sqlite_without_marks() {
    a_hundred_grab_one(Database::Sqlite, 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_hundred_one_gets_it_on_postgres() {
    a_hundred_grab_one(Database::Postgres, Settings::default().hot).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_hundred_one_gets_it_on_postgres_without_marks() {
    a_hundred_grab_one(Database::Postgres, 0).await;
}

/// How many grabs have gone behind everything else so far.
fn second(desk: &Desk) -> u64 {
    desk.executor.meters().read().second
}

for_each_database!(a_mark_decides_nothing, |desk| async move {
    let task = desk.create().await;
    // Whoever was refused leaves no mark, whatever revision they named.
    desk.refused(rider(1), task, 99, GRAB, Code::StaleRevision).await;
    desk.done(rider(2), task, 1, GRAB).await;
    assert_eq!(second(&desk), 0);
    desk.refused(rider(3), task, 1, GRAB, Code::TakenByOther).await;
    assert_eq!(second(&desk), 0, "that revision is gone, and the task may be open again");

    // An owner who names what is yet to come keeps nobody back.
    let again = desk.ask(rider(2), task, 1_000, GRAB).await;
    assert_eq!(again.code.as_deref(), Some("ALREADY_YOURS"));
    desk.done(rider(2), task, 2, HAND_BACK).await;
    desk.done(rider(3), task, 3, GRAB).await;
    assert_eq!(second(&desk), 0);

    // The end of a task is known from then on, and to whoever comes with whatever revision.
    for (revision, act) in [(4, Act::Arrive), (5, Act::PickUp), (6, Act::Deliver)] {
        desk.done(rider(3), task, revision, act).await;
    }
    desk.refused(rider(4), task, 7, GRAB, Code::Delivered).await;
    desk.refused(rider(4), task, 8, GRAB, Code::Delivered).await;
    assert_eq!(second(&desk), 2);
    let (_, count) = attempts(&desk, task).await;
    assert_eq!(count, 11, "all of them were attempts");
    desk.check().await;
});
