//! Regions, policies, riders, staff, positions and rounds.

use dispatch_desk::{
    domain::{
        command::Role,
        facts::Duty,
        geo::{Area, Place},
        id::{RegionId, RiderId, StaffId, Timestamp},
        policy::{Policy, RegionMode},
        round::RoundKind,
        task::Vehicle,
    },
    store::{Error, RiderChange, Round},
};

use super::{
    raw::Raw,
    steps::{region, write_tasks},
};
use crate::harness::*;

const EAST: RegionId = RegionId(7);
const CENTRE: Place = Place { lat: -89.999_999, lng: 179.123_456_789_012_34 };

for_each_database!(a_region_comes_back_with_its_zone_and_its_area, |desk| async move {
    let ring = [(31.0, 121.2), (31.0, 121.6), (31.5, 121.6)];
    let ring = Area::Polygon(ring.map(|(lat, lng)| Place { lat, lng }).to_vec());
    let circle = Area::Circle { centre: CENTRE, radius_m: 0.1 };
    let mut tx = desk.db.begin().await.unwrap();
    tx.add_region(EAST, "东区 'east' \"x\"", chrono_tz::America::New_York, &ring).await.unwrap();
    tx.add_region(RegionId(i64::MAX), "last", chrono_tz::UTC, &circle).await.unwrap();
    let east = region(&mut tx, EAST).await;
    assert_eq!((east.time_zone, &east.area), (chrono_tz::America::New_York, &ring));
    // A region without any policy has the default.
    assert_eq!(east.policy, Policy::default());
    let last = region(&mut tx, RegionId(i64::MAX)).await;
    assert_eq!((last.id, &last.area), (RegionId(i64::MAX), &circle));
    let twice = tx.add_region(EAST, "again", chrono_tz::UTC, &ring).await;
    assert!(matches!(twice, Err(Error::Moved(_))), "{twice:?}");
});

for_each_database!(the_newest_policy_that_has_started_is_in_force, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    let rules = |version, mode| Policy { version, mode, grace_ms: version, ..Policy::default() };
    // The cast has given the north version 1 from the beginning of time.
    let (now, later) = (NOON, NOON.plus_ms(1));
    tx.add_policy(NORTH, later, &rules(3, RegionMode::Immediate)).await.unwrap();
    tx.add_policy(NORTH, now, &rules(2, RegionMode::Immediate)).await.unwrap();
    for (at, version) in [(Timestamp(0), 1), (now.plus_ms(-1), 1), (now, 2), (later, 3)] {
        let locked = tx.lock_regions(&[], &[SOUTH, NORTH, NORTH]).await.unwrap();
        let regions = tx.policies(locked, at).await.unwrap();
        let found: Vec<_> = regions.iter().map(|found| (found.id, found.policy.version)).collect();
        assert_eq!(found, [(NORTH, version), (SOUTH, 1)], "sorted by id, at {at}");
    }
    // A version once given is never given again.
    let again = tx.add_policy(NORTH, later, &rules(2, RegionMode::Reserve)).await;
    assert!(matches!(again, Err(Error::Moved(_))), "{again:?}");
});

for_each_database!(a_region_is_found_by_its_tasks_too, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    let tasks = write_tasks(&mut tx, &[1, i64::MAX]).await;
    let tasks: Vec<_> = tasks.iter().map(|task| task.id).collect();
    let locked = tx.lock_regions(&tasks, &[]).await.unwrap();
    let found = tx.policies(locked, NOON).await.unwrap();
    assert_eq!(found.iter().map(|region| region.id).collect::<Vec<_>>(), [NORTH]);
    // Missing tasks and regions have none, and nothing is asked for without any.
    let missing = [dispatch_desk::domain::id::TaskId(99)];
    let locked = tx.lock_regions(&missing, &[RegionId(99)]).await.unwrap();
    assert_eq!(tx.policies(locked, NOON).await.unwrap(), []);
    let locked = tx.lock_regions(&[], &[]).await.unwrap();
    assert_eq!(tx.policies(locked, NOON).await.unwrap(), []);
});

for_each_database!(a_rider_comes_back_as_changed, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    let id = RiderId(9_007_199_254_740_993);
    tx.add_rider(id, NORTH, "骑手", 5, Some(Vehicle::Van)).await.unwrap();
    let rider = tx.rider(id).await.unwrap().expect("just added");
    assert_eq!((rider.id, rider.region, rider.capacity), (id, NORTH, 5));
    assert_eq!((rider.duty, rider.disabled, rider.vehicle), (Duty::On, false, Some(Vehicle::Van)));
    assert_eq!((rider.risk_rejected, rider.last_fix_at, rider.held.len()), (false, None, 0));

    let change = RiderChange { duty: Some(Duty::Paused), ..RiderChange::default() };
    assert_eq!(tx.change_rider(id, &change).await.unwrap(), 1);
    let change = RiderChange {
        disabled: Some(true),
        capacity: Some(0),
        region: Some(SOUTH),
        risk_rejected: Some(true),
        ..RiderChange::default()
    };
    assert_eq!(tx.change_rider(id, &change).await.unwrap(), 1);
    let rider = tx.rider(id).await.unwrap().expect("still there");
    assert_eq!((rider.duty, rider.vehicle), (Duty::Paused, Some(Vehicle::Van)), "left alone");
    assert_eq!((rider.disabled, rider.capacity, rider.region), (true, 0, SOUTH));
    assert!(rider.risk_rejected);
    // The number next to it is another rider, whom no rounding may touch.
    let next = RiderId(9_007_199_254_740_992);
    assert_eq!(tx.rider(next).await.unwrap(), None);
    assert_eq!(tx.change_rider(next, &change).await.unwrap(), 0);
});

for_each_database!(a_rider_of_a_missing_region_is_refused, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    let added = tx.add_rider(RiderId(500), RegionId(99), "nobody", 1, None).await;
    assert!(matches!(added, Err(Error::Rejected(_))), "foreign keys are kept: {added:?}");
});

for_each_database!(staff_come_back_with_their_regions, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    let id = StaffId(i64::MAX);
    tx.add_staff(id, "调度 O'Neil", Role::Supervisor, &[SOUTH, NORTH]).await.unwrap();
    let alone = tx.staff(id).await.unwrap().expect("just added");
    assert_eq!((alone.id, alone.role, alone.disabled), (id, Role::Supervisor, false));
    assert_eq!(tx.staff(StaffId(i64::MAX - 1)).await.unwrap(), None);

    assert_eq!(tx.disable_staff(id, true).await.unwrap(), 1);
    assert_eq!(tx.disable_staff(StaffId(0), true).await.unwrap(), 0);
    let mut locked = tx.lock_staff(&[id, StaffId(1), StaffId(77)]).await.unwrap();
    assert_eq!(locked.iter().map(|staff| staff.id.0).collect::<Vec<_>>(), [1, i64::MAX]);
    let mut last = locked.remove(1);
    last.regions.sort();
    assert_eq!((last.disabled, last.regions), (true, vec![NORTH, SOUTH]));
    assert_eq!(locked[0].regions, [NORTH]);
    assert_eq!(tx.disable_staff(id, false).await.unwrap(), 1);
    assert!(!tx.staff(id).await.unwrap().expect("still there").disabled);
    assert_eq!(tx.lock_staff(&[]).await.unwrap(), []);
});

for_each_database!(an_older_position_never_replaces_a_newer_one, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    let rider = RiderId(1);
    let mut kept = Vec::new();
    for (seq, at, lat) in [(5, 50, 31.5), (4, 60, 31.4), (5, 70, 31.6), (6, 40, 31.230_400_1)] {
        let place = Place { lat, lng: 121.473_700_000_000_01 };
        kept.push(tx.put_fix(rider, seq, Timestamp(at), place).await.unwrap());
    }
    assert_eq!(kept, [1, 0, 0, 1], "by sequence, whatever the time says");
    let mut riders = tx.lock_riders(&[rider, RiderId(2)]).await.unwrap();
    tx.load_places(&mut riders).await.unwrap();
    tx.load_fixes(&mut riders).await.unwrap();
    assert_eq!(riders[0].last_fix_at, Some(Timestamp(40)));
    assert_eq!(riders[1].last_fix_at, None);
    let off_the_map = tx.put_fix(rider, 7, Timestamp(80), Place { lat: 90.1, lng: 0.0 }).await;
    assert!(matches!(off_the_map, Err(Error::Rejected(_))), "{off_the_map:?}");
});

for_each_database!(a_round_gives_each_rider_a_ticket_of_their_own, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    let tasks = write_tasks(&mut tx, &[1, 2]).await;
    let (one, two) = (tasks[0].id, tasks[1].id);
    let until = NOON.plus_ms(20_000);
    a_round(&mut tx, i64::MAX, one, (NOON, until), &[(1, "券一"), (2, "b'\"")]).await;
    let asked = [(one, RiderId(1)), (one, RiderId(2)), (one, RiderId(3)), (two, RiderId(1))];
    let mut found = tx.running_rounds(&asked).await.unwrap();
    found.sort_by_key(|member| member.rider);
    let found: Vec<_> = found
        .iter()
        .map(|member| (member.task.0, member.rider.0, member.round, member.until, &member.nonce))
        .map(|(task, rider, round, until, nonce)| {
            (task, rider, round, until, nonce.as_ref().map(|(nonce, _)| nonce.as_str()))
        })
        .collect();
    // The round runs for everybody; who was not asked has no ticket for it.
    let expected = [(1, Some("券一")), (2, Some("b'\"")), (3, None)];
    assert_eq!(found, expected.map(|(rider, nonce)| (1, rider, i64::MAX, until, nonce)));
    assert_eq!(tx.running_rounds(&[]).await.unwrap(), []);
    // One that asks a single rider is that rider's alone, and needs no ticket of others.
    assert_eq!(tx.exclusive_rounds(&asked).await.unwrap(), []);
    let alone = Round { kind: RoundKind::Exclusive, ..round(7, two, NOON, until) };
    tx.insert_round(&alone, &members(&alone, &[(1, "c")])).await.unwrap();
    assert_eq!(tx.exclusive_rounds(&asked).await.unwrap(), [(two, RiderId(1), 7)]);
    assert_eq!(tx.exclusive_rounds(&[(two, RiderId(2))]).await.unwrap(), []);
    assert_eq!(tx.exclusive_rounds(&[]).await.unwrap(), []);
    tx.commit().await.unwrap();

    let raw = Raw::of(&desk).await;
    raw.run("UPDATE round SET status = 'exhausted', ended_at = until").await.unwrap();
    assert_eq!(desk.read().await.running_rounds(&asked).await.unwrap(), [], "it is over");
    assert_eq!(desk.read().await.exclusive_rounds(&asked).await.unwrap(), [], "and so is this");
});

for_each_database!(whoever_comes_next_gets_the_next_number, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    let (region, rider, staff) = tx.next_ids().await.unwrap();
    // The cast: two regions, riders up to the foreign one, six members of staff.
    assert_eq!((region, rider, staff), (RegionId(3), RiderId(FOREIGN_RIDER + 1), StaffId(7)));
    tx.add_rider(rider, NORTH, "next", 1, None).await.unwrap();
    assert_eq!(tx.next_ids().await.unwrap().1, RiderId(FOREIGN_RIDER + 2));
});
