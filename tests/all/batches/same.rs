//! The property: random lists of commands, all at once on one desk and one by one on its twin.
//!
//! Both desks start alike, have clocks of their own that show the same, and get the same commands under the same
//! keys. On the second one each command has a transaction of its own; on the first one the whole list is handed in
//! before the lane gets to run, so that it shares one. Then every answer has to be the same, byte for
//! byte, and every row but for what is unguessable.

use dispatch_desk::{
    domain::{
        command::{Act, Command, What},
        id::{RiderId, TaskId},
        policy::Policy,
        task::Stage,
    },
    engine::executor::Settings,
};
use rand::{RngExt, SeedableRng, rngs::StdRng, seq::IndexedRandom};

use super::{
    draw::{CROWD, command},
    keys::at_once,
};
use crate::{
    contract::raw::Raw,
    harness::{record::Came, *},
};

/// What differs between two desks that did the same: unguessable names alone.
const TABLES: &[(&str, &str)] = &[
    ("task", ""),
    ("task_detail", "tracking_token"),
    ("offer", "token"),
    ("dispatch_event", "event_id"),
    ("attempt", ""),
    ("command_outcome", ""),
    ("event_counter", ""),
    ("rider", ""),
];

/// Two desks that start alike.
struct Twins {
    together: Desk,
    alone: Desk,
    raw: [Raw; 2],
}

impl Twins {
    async fn new(database: Database) -> Self {
        // One lane: its order is then the order of what is handed in, on both databases. Grabs of tasks that are over would
        // go last: the same answers, and other numbers of the attempts.
        let settings = Settings { lanes: 1, hot: 0, ..Settings::default() };
        let together = Desk::with(database, settings.clone()).await;
        let alone = Desk::with(database, settings).await;
        let raw = [Raw::of(&together).await, Raw::of(&alone).await];
        // So little that a list can use it up.
        let strict = Policy { version: 2, hand_backs_per_day: 1, ..Policy::default() };
        for desk in [&together, &alone] {
            let mut tx = desk.db.begin().await.unwrap();
            tx.add_policy(NORTH, NOON, &strict).await.unwrap();
            tx.commit().await.unwrap();
        }
        Self { together, alone, raw }
    }

    /// Plays a random list on the second desk, each command by itself, and returns it with what came back. Answers
    /// to offers and expiries overtake the rest in a lane, so they come first. Now and then one comes twice.
    async fn play(
        &self,
        random: &mut StdRng,
        tasks: &[TaskId],
        name: &str,
    ) -> Vec<(Command, Came)> {
        let length = random.random_range(2..=24);
        let urgent = if random.random_bool(0.4) { random.random_range(0..=length) } else { 0 };
        let mut list: Vec<(Command, Came)> = Vec::new();
        for index in 0..length {
            let is_urgent = index < urgent;
            let twin = list.last().filter(|_| index != urgent && random.random_bool(0.08));
            // A repeated creation takes a number and leaves it unused, on the first desk alone.
            let twin = twin.filter(|(twin, _)| !matches!(twin.what, What::Create(_)));
            let next = if let Some((twin, _)) = twin {
                twin.clone()
            } else {
                let mut present = Vec::new();
                for task in tasks {
                    present.push(self.alone.task(*task).await);
                }
                command(random, &present, is_urgent, &format!("{name}-{index}"))
            };
            let came = self.alone.send(next.clone()).await.came;
            list.push((next, came));
        }
        list
    }

    /// Hands in all of a list at once on the first desk, and compares what comes back.
    async fn compare(&self, list: &[(Command, Came)], about: &str) {
        let commands = list.iter().map(|(command, _)| command.clone());
        let together = at_once(&self.together, commands.collect()).await;
        for (index, ((command, alone), together)) in list.iter().zip(together).enumerate() {
            assert_eq!(&together, alone, "{about}, command {index} {command:?} of {list:#?}");
        }
    }

    /// Compares all rows, but for what nobody can guess.
    async fn compare_rows(&self, about: &str) {
        for (table, without) in TABLES {
            let [one, other] = &self.raw;
            let (one, other) =
                tokio::join!(visible(one, table, without), visible(other, table, without));
            let first = one.iter().zip(&other).find(|(one, other)| one != other);
            let rows = (one.len(), other.len());
            assert!(one == other, "{about}: {table} differs at {first:?}, {rows:?} rows");
        }
    }

    /// In how many transactions the attempts of the first desk after number `after` were written. Only
    /// PostgreSQL can tell.
    async fn transactions(&self, after: i64) -> Option<i64> {
        let [Raw::Postgres(_), _] = &self.raw else { return None };
        let sql = format!(
            "SELECT COUNT(DISTINCT CAST(xmin AS text)) FROM attempt WHERE number > {after}"
        );
        Some(self.raw[0].number(&sql).await)
    }

    /// Does the same on both desks, at once.
    async fn both(&self, commands: Vec<Command>) -> Vec<Came> {
        let (one, other) =
            tokio::join!(at_once(&self.together, commands.clone()), at_once(&self.alone, commands));
        assert_eq!(one, other);
        assert!(one.iter().all(Came::is_success), "{one:?}");
        one
    }

    /// New open tasks, the same on both desks; for some an offer waits, of which some have lapsed already.
    async fn tasks(&self, random: &mut StdRng) -> Vec<TaskId> {
        let days = random.random_range(0..=1) * 86_400_000;
        tokio::join!(self.together.advance_ms(days), self.alone.advance_ms(days));
        let count = random.random_range(1..=5);
        let create = || self.together.command(shop(), What::Create(Box::new(order())));
        let made = self.both(std::iter::repeat_with(create).take(count).collect()).await;
        let tasks: Vec<_> =
            made.iter().map(|came| came.answer().task.expect("a task").id).collect();
        let mut offers = Vec::new();
        for (number, task) in CROWD.zip(&tasks) {
            if random.random_bool(0.6) {
                let seconds = [5, 60].choose(random).copied();
                let act = Act::Offer { rider: RiderId(number), seconds, round: None };
                offers.push(self.together.change(D1, *task, 1, act));
            }
        }
        self.both(offers).await;
        let ms = random.random_range(0..8) * 1_000;
        tokio::join!(self.together.advance_ms(ms), self.alone.advance_ms(ms));
        tasks
    }

    /// Ends everything that the crowd still holds, so that the next list finds places.
    async fn clear(&self) {
        let mut commands = Vec::new();
        for number in CROWD {
            for task in self.together.read().await.held_by(RiderId(number)).await.unwrap() {
                let in_hand = task.state.stage() == Some(Stage::PickedUp);
                let (actor, act) =
                    if in_hand { (rider(number), Act::Deliver) } else { (SUPERVISOR, CANCEL) };
                commands.push(self.together.change(actor, task.id, task.revision.0, act));
            }
        }
        self.both(commands).await;
    }
}

/// The rows of a table as text, in the order of their keys, without one column.
async fn visible(raw: &Raw, table: &str, without: &str) -> Vec<String> {
    let names = match raw {
        Raw::Sqlite(_) => format!("SELECT name FROM pragma_table_info('{table}') ORDER BY cid"),
        Raw::Postgres(_) => format!(
            "SELECT CAST(column_name AS text) FROM information_schema.columns WHERE table_name = '{table}' \
             AND table_schema = current_schema() ORDER BY ordinal_position"
        ),
    };
    let columns = raw.texts(&names).await.into_iter().filter(|name| name != without);
    let columns: Vec<_> =
        columns.map(|name| format!("COALESCE(CAST({name} AS TEXT), '-')")).collect();
    let mut rows = raw.texts(&format!("SELECT {} FROM {table}", columns.join(" || '|' || "))).await;
    rows.sort();
    rows
}

/// Random lists, one after another on the same pair of desks: what one leaves behind the next one finds.
async fn lists_come_to_the_same(database: Database, lists: usize) {
    let seed: u64 = match std::env::var("DISPATCH_TEST_SEED") {
        Ok(seed) => seed.parse().expect("a seed is a number"),
        Err(_) => rand::random(),
    };
    println!("seed {seed}: run it again with DISPATCH_TEST_SEED={seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let (mut commands, mut effects, mut shared, mut done) = (0, 0, 0, 0);
    while done < lists {
        // A pair of desks does not get too old, or comparing all rows takes all the time.
        let twins = Twins::new(database).await;
        for _ in 0..25.min(lists - done) {
            let about = format!("seed {seed}, list {done}");
            let tasks = twins.tasks(&mut random).await;
            let before = twins.together.read().await.head().await.unwrap().1;
            let list = twins.play(&mut random, &tasks, &format!("list-{done}")).await;
            twins.compare(&list, &about).await;
            shared += usize::from(twins.transactions(before).await.is_some_and(|count| count <= 1));
            commands += list.len();
            effects += list.iter().filter(|(_, came)| came.code().is_empty()).count();
            twins.compare_rows(&about).await;
            twins.clear().await;
            done += 1;
        }
        for desk in [&twins.together, &twins.alone] {
            desk.check().await;
            desk.executor.stop().await;
            desk.db.close().await;
        }
    }
    println!(
        "{database:?}: {done} lists of {commands} commands came to the same, {effects} were done"
    );
    assert!(effects * 4 > commands, "only {effects} of {commands} commands had an effect");
    if database == Database::Postgres {
        println!("{shared} lists were one transaction each");
        assert!(shared * 10 >= lists * 9, "only {shared} of {lists} lists shared a transaction");
    }
}

#[tokio::test]
async fn a_batch_comes_to_the_same_as_its_commands_one_by_one_on_sqlite() {
    lists_come_to_the_same(Database::Sqlite, rounds(50, 1_000)).await;
}

#[tokio::test]
async fn a_batch_comes_to_the_same_as_its_commands_one_by_one_on_postgres() {
    lists_come_to_the_same(Database::Postgres, rounds(40, 1_000)).await;
}
