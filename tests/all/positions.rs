//! Where riders are: noted at once, written a moment later, and where they are found after a change.

use std::time::Duration;

use dispatch_desk::{
    domain::{
        command::Actor,
        fix::{DeviceMark, Fix},
        geo::Place,
        id::{RegionId, RiderId},
        policy::Policy,
        refusal::Ineligible,
    },
    engine::{executor::Executor, positions::Positions},
    store::RiderChange,
};

use crate::{contract::raw::Raw, harness::*};

const HERE: Place = Place { lat: 31.2304, lng: 121.4737 };

fn fix(seq: i64) -> Fix {
    Fix::new(seq, NOON.plus_ms(seq), HERE)
}

/// Who is near in the index.
async fn near(executor: &Executor, region: RegionId) -> Vec<i64> {
    let locator = executor.positions().locator();
    let found = locator.nearest(region, HERE, 100.0, 500, &|_| true).await.unwrap();
    found.iter().map(|near| near.rider.0).collect()
}

/// What the database knows.
async fn stored(desk: &Desk, rider: i64) -> Option<i64> {
    let account = desk.read().await.rider_account(RiderId(rider)).await.unwrap();
    account.and_then(|account| account.fix).map(|fix| fix.seq)
}

for_each_database!(a_position_is_found_at_once_and_written_later, |desk| async move {
    let positions = desk.executor.positions();
    let note = async |rider, fixes: &[Fix]| {
        let noted = positions.note(NORTH, RiderId(rider), None, fixes).await;
        (noted.newer, noted.kept)
    };
    // In any order; of equal numbers the first counts.
    let message = [fix(2), fix(9), fix(5), fix(9)];
    assert_eq!(note(1, &message).await, (vec![true, true, true, false], true));
    assert_eq!(note(1, &[fix(9), fix(3)]).await, (vec![false, false], false));
    assert_eq!(note(1, &[]).await, (vec![], false));
    assert_eq!(note(1, &[fix(4), fix(10)]).await, (vec![false, true], true));
    assert_eq!(near(&desk.executor, NORTH).await, [1]);
    assert_eq!(stored(&desk, 1).await, None);
    assert_eq!(positions.seen_at(RiderId(1)), Some(fix(10).at));

    assert_eq!(positions.write_all(&desk.db).await.unwrap(), 1);
    assert_eq!((stored(&desk, 1).await, positions.seen_at(RiderId(1))), (Some(10), None));
    assert_eq!(positions.write_all(&desk.db).await.unwrap(), 0);
    // What another node wrote counts as known.
    let noted = positions.note(NORTH, RiderId(2), Some(fix(50)), &[fix(49), fix(51)]).await;
    assert_eq!((noted.newer, noted.kept), (vec![false, true], true));
    let noted = positions.note(NORTH, RiderId(2), Some(fix(90)), &[fix(52)]).await;
    assert_eq!((noted.newer, noted.kept), (vec![false], false));
});

for_each_database!(many_positions_are_written_in_chunks, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    for rider in 10_000..12_500 {
        tx.add_rider(RiderId(rider), NORTH, "r", 1, None).await.unwrap();
    }
    tx.commit().await.unwrap();
    let positions = desk.executor.positions();
    for seq in 1..=3 {
        for rider in 10_000..12_500 {
            positions.note(NORTH, RiderId(rider), None, &[fix(seq)]).await;
        }
    }
    assert_eq!(positions.write_all(&desk.db).await.unwrap(), 2_500, "the last of each rider");
    assert_eq!(stored(&desk, 12_499).await, Some(3));
    let written = Raw::of(&desk).await.number("SELECT COUNT(*) FROM rider_location").await;
    assert_eq!(written, 2_500);
    // A desk that starts now knows all of them.
    let fresh = Positions::default();
    assert_eq!(fresh.load(&desk.db).await.unwrap(), 2_500);
    assert_eq!(fresh.locator().count().await.unwrap(), 2_500);
    assert_eq!(fresh.locator().of(RiderId(11_000)).await.unwrap(), Some(fix(3)));
});

for_each_database!(what_waits_is_written_in_the_background_and_at_the_end, |desk| async move {
    let positions = desk.executor.positions();
    let (stop, writing) = positions.start(desk.db.clone());
    positions.note(NORTH, RiderId(1), None, &[fix(1)]).await;
    for _ in 0..2_000 {
        if stored(&desk, 1).await == Some(1) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(stored(&desk, 1).await, Some(1), "it is written by itself");
    for seq in 2..50 {
        positions.note(NORTH, RiderId(1), None, &[fix(seq)]).await;
        positions.note(NORTH, RiderId(seq), None, &[fix(seq)]).await;
    }
    stop.send_replace(true);
    writing.await.unwrap();
    assert_eq!((stored(&desk, 1).await, stored(&desk, 49).await), (Some(49), Some(49)));
});

for_each_database!(what_can_not_be_written_waits, |desk| async move {
    let positions = desk.executor.positions();
    positions.note(NORTH, RiderId(1), None, &[fix(1)]).await;
    let raw = Raw::of(&desk).await;
    raw.run("ALTER TABLE rider_location RENAME TO elsewhere").await.unwrap();
    assert!(positions.write_all(&desk.db).await.is_err());
    positions.note(NORTH, RiderId(1), None, &[fix(2)]).await;
    positions.note(NORTH, RiderId(2), None, &[fix(1)]).await;
    assert!(positions.write_all(&desk.db).await.is_err());
    raw.run("ALTER TABLE elsewhere RENAME TO rider_location").await.unwrap();
    assert_eq!(positions.write_all(&desk.db).await.unwrap(), 2);
    assert_eq!((stored(&desk, 1).await, stored(&desk, 2).await), (Some(2), Some(1)));
});

for_each_database!(riders_are_found_where_they_work_and_not_when_shut_out, |desk| async move {
    let (executor, positions) = (&desk.executor, desk.executor.positions());
    for rider in 1..=4 {
        positions.note(NORTH, RiderId(rider), None, &[fix(rider)]).await;
    }
    let change = async |rider, change: RiderChange| {
        executor.change_rider(&Actor::System, RiderId(rider), &change).await.unwrap();
    };
    let shut = |disabled| RiderChange { disabled: Some(disabled), ..RiderChange::default() };
    // Before anything is written: what waits of somebody who is shut out is forgotten with them.
    change(1, shut(true)).await;
    change(2, RiderChange { region: Some(SOUTH), ..RiderChange::default() }).await;
    assert_eq!((near(executor, NORTH).await, near(executor, SOUTH).await), (vec![3, 4], vec![2]));
    assert_eq!(positions.write_all(&desk.db).await.unwrap(), 3);
    assert_eq!(stored(&desk, 1).await, None);

    // After it: they are found again when they are let in again.
    change(3, shut(true)).await;
    assert_eq!(near(executor, NORTH).await, [4]);
    change(3, shut(false)).await;
    change(1, shut(false)).await;
    assert_eq!(near(executor, NORTH).await, [3, 4]);
    change(4, RiderChange { capacity: Some(9), ..RiderChange::default() }).await;
    assert_eq!(near(executor, NORTH).await, [3, 4]);

    change(3, shut(true)).await;
    executor.erase_rider(&Actor::System, RiderId(3)).await.unwrap();
    assert_eq!((near(executor, NORTH).await, stored(&desk, 3).await), (vec![4], None));
    assert_eq!(positions.locator().of(RiderId(3)).await.unwrap(), None);
});

for_each_database!(a_position_counts_from_when_it_came, |desk| async move {
    let strict = Policy { version: 2, position_max_age_ms: Some(60_000), ..Policy::default() };
    desk.policy(NORTH, NOON, strict).await;
    let task = desk.create().await;
    desk.not_eligible(task, 1, offer(1), Ineligible::StalePosition).await;
    let device = DeviceMark::of("telephone");
    let now = Fix { device, ..fix(1) };
    desk.executor.positions().note(NORTH, RiderId(1), None, &[now]).await;
    desk.done(D1, task, 1, offer(1)).await;
    assert_eq!(stored(&desk, 1).await, None, "it is not written yet");
    desk.check().await;
});
