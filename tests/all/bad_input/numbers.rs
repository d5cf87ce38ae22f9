//! Numbers: exact over the whole range, and none beyond it.

use dispatch_desk::domain::{
    command::{Act, Command, DetailChanges, NewTask, What},
    id::{Revision, TaskId, Timestamp},
};

use rand::{RngExt, SeedableRng, rngs::StdRng};

use crate::{contract::raw::Raw, harness::*};

/// The first whole number that a double does not have is one after this.
const EXACT: i64 = 9_007_199_254_740_992;

#[test]
fn a_number_that_is_no_64_bit_integer_is_no_number() {
    let command = |task: &str, revision: &str| {
        format!(
            r#"{{"actor":{{"rider":1}},"key":"k","lang":"en",
                "what":{{"change":{{"task":{task},"revision":{revision},"act":"accept"}}}}}}"#
        )
    };
    let parse = |text: String| serde_json::from_str::<Command>(&text);
    for good in ["1", "0", "-1", "9223372036854775807", "-9223372036854775808", "9007199254740993"]
    {
        let command = parse(command(good, good)).unwrap_or_else(|error| panic!("{good}: {error}"));
        let number: i64 = good.parse().unwrap();
        let What::Change { task, revision, .. } = command.what else { panic!("a change") };
        assert_eq!((task, revision), (TaskId(number), Revision(number)));
    }
    let bad = [
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775809",
        "1e3",
        "1.0",
        "\"1\"",
        "null",
        "[1]",
        "",
        "0x1",
        "01",
        "+1",
        "NaN",
    ];
    for bad in bad {
        for text in [command(bad, "1"), command("1", bad)] {
            let error = parse(text).expect_err(bad).to_string();
            assert!(
                error.contains("i64") || error.contains("expected") || error.contains("invalid"),
                "{error}"
            );
        }
    }
    let beyond = parse(command("9223372036854775808", "1")).expect_err("beyond").to_string();
    assert!(beyond.contains("integer `9223372036854775808`, expected i64"), "{beyond}");
}

for_each_database!(neighbours_beyond_the_doubles_are_told_apart, |desk| async move {
    let raw = Raw::of(&desk).await;
    raw.run(&format!("UPDATE task_counter SET number = {EXACT}")).await.unwrap();
    let task = desk.create().await;
    assert_eq!(task, TaskId(EXACT + 1));
    for near in [EXACT, EXACT + 2, -EXACT - 1, i64::MAX, i64::MIN, 0] {
        assert_eq!(desk.turned_away_at(TaskId(near)).await, "NOT_FOUND", "{near}");
    }
    desk.done(rider(1), task, 1, GRAB).await;
    for revision in [i64::MIN, -1, 0, EXACT, i64::MAX] {
        let refused = desk.ask(D1, task, revision, CANCEL).await;
        assert_eq!(refused.code.as_deref(), Some("STALE_REVISION"), "{revision}");
    }
    let next = desk.create().await;
    assert_eq!(next, TaskId(EXACT + 2));
    assert_eq!(desk.task(next).await.revision, Revision(1), "a task of its own");
    desk.check().await;
});

impl Desk {
    /// The code that a grab of a task that is not there comes back with.
    async fn turned_away_at(&self, task: TaskId) -> String {
        self.send(self.change(rider(1), task, 1, GRAB)).await.came.code()
    }
}

for_each_database!(figures_at_the_ends_of_their_range_are_kept, |desk| async move {
    let raw = Raw::of(&desk).await;
    // Times go from 1970 to the end of 9999, which is what their written form can hold.
    let ends = [(i64::MIN, 0), (EXACT + 1, 1), (i64::MAX, 253_402_300_799_999)];
    for (figure, time) in ends {
        let at = Some(Timestamp(time));
        let new = NewTask {
            release_at: at,
            ready_at: at,
            due_at: at,
            priority: figure,
            fee: Some(figure),
            ..order()
        };
        let id = desk.create_with(new).await;
        let task = desk.task(id).await;
        assert_eq!((task.release_at, task.priority), (Timestamp(time), figure));
        for (column, kept) in [("ready_at", time), ("due_at", time), ("fee", figure)] {
            let sql = format!("SELECT {column} FROM task_detail WHERE task_id = {}", id.0);
            assert_eq!(raw.number(&sql).await, kept, "{column}");
        }
    }
    desk.check().await;
});

for_each_database!(a_time_that_can_not_be_written_is_turned_away, |desk| async move {
    let task = desk.create().await;
    for time in [i64::MIN, -1, 253_402_300_800_000, i64::MAX] {
        let at = Some(Timestamp(time));
        for new in [
            NewTask { release_at: at, ..order() },
            NewTask { ready_at: at, ..order() },
            NewTask { due_at: at, ..order() },
        ] {
            let sent = desk.send(desk.command(shop(), What::Create(Box::new(new)))).await;
            assert_eq!(sent.came.code(), "TIME_OUT_OF_RANGE", "{time}");
        }
        let changes = Box::new(DetailChanges { release_at: at, ..DetailChanges::default() });
        let what = What::Edit { task, detail_revision: Revision(1), changes };
        let sent = desk.send(desk.command(D1, what)).await;
        assert_eq!(sent.came.code(), "TIME_OUT_OF_RANGE", "{time}");
    }
    desk.check().await;
});

for_each_database!(a_place_that_is_not_on_earth_is_turned_away, |desk| async move {
    let nowhere = [(f64::NAN, 121.0), (91.0, 121.0), (31.0, 180.5), (31.0, f64::INFINITY)];
    for (lat, lng) in nowhere {
        let (mut from, mut to) = (order(), order());
        (from.pickup.lat, from.pickup.lng) = (lat, lng);
        (to.dropoff.lat, to.dropoff.lng) = (lat, lng);
        for new in [from, to] {
            let sent = desk.send(desk.command(shop(), What::Create(Box::new(new)))).await;
            assert_eq!(sent.came.code(), "NOT_ON_EARTH", "{lat} {lng}");
        }
    }
    desk.check().await;
});

for_each_database!(places_are_kept_to_the_last_digit, |desk| async move {
    let mut random = StdRng::seed_from_u64(20_261_130);
    let places: Vec<(f64, f64)> = std::iter::repeat_with(|| {
        (random.random_range(31.0..31.5), random.random_range(121.2..121.7))
    })
    .take(300)
    .collect();
    let orders = places.iter().map(|(lat, lng)| {
        let mut new = order();
        (new.pickup.lat, new.pickup.lng) = (*lat, *lng);
        desk.create_with(new)
    });
    let tasks = futures_util::future::join_all(orders).await;
    let mut expected: Vec<_> = tasks.into_iter().zip(places).collect();
    expected.sort_by_key(|(task, _)| *task);
    let raw = Raw::of(&desk).await;
    let lats = raw.reals("SELECT pickup_lat FROM task_detail ORDER BY task_id").await;
    let lngs = raw.reals("SELECT pickup_lng FROM task_detail ORDER BY task_id").await;
    for ((_, place), found) in expected.into_iter().zip(lats.into_iter().zip(lngs)) {
        assert_eq!(
            (place.0.to_bits(), place.1.to_bits()),
            (found.0.to_bits(), found.1.to_bits()),
            "{place:?} {found:?}"
        );
    }
});

for_each_database!(when_the_numbers_run_out_the_command_fails_alone, |desk| async move {
    let task = desk.create().await;
    let raw = Raw::of(&desk).await;
    raw.run(&format!("UPDATE task_counter SET number = {}", i64::MAX)).await.unwrap();
    let before = raw.dump_all().await;
    let create = desk.command(shop(), What::Create(Box::new(order())));
    let (created, grabbed) =
        tokio::join!(desk.send(create), desk.send(desk.change(rider(1), task, 1, GRAB)));
    assert_eq!(created.came.code(), "FAULTY");
    assert!(grabbed.came.is_success(), "{grabbed:?}");
    assert_ne!(raw.dump_all().await, before, "the grab");
    assert_eq!(raw.number("SELECT COUNT(*) FROM task").await, 1);
    desk.done(rider(1), task, 2, Act::Arrive).await;
    universal::check_except_errors(&desk).await;
});
