//! People and regions with their names.

use std::collections::HashMap;

use dispatch_desk::{
    domain::{
        admin::AdminSubject,
        command::{Act, Role},
        facts::Staff,
        fix::Fix,
        geo::{Area, Place},
        id::{RegionId, RiderId, StaffId, Timestamp},
        policy::{Policy, RegionMode},
        task::Vehicle,
    },
    store::{Names, RiderAccount, RiderChange, StaffAccount},
};

use super::raw::Raw;
use crate::harness::*;

const HERE: Place = Place { lat: 31.230_400_1, lng: 121.473_700_000_000_01 };

for_each_database!(regions_come_by_number_with_their_name_and_rules, |desk| async move {
    let centre = Place { lat: 31.25, lng: -121.5 };
    let area = Area::Circle { centre, radius_m: 10.0 };
    let rules = |version, mode| Policy { version, mode, ..Policy::default() };
    let mut tx = desk.db.begin().await.unwrap();
    tx.add_region(RegionId(7), "东区 'east'", chrono_tz::America::New_York, &area).await.unwrap();
    tx.add_policy(SOUTH, NOON.plus_ms(1), &rules(2, RegionMode::Immediate)).await.unwrap();
    tx.commit().await.unwrap();
    let mut tx = desk.read().await;
    for (now, version) in [(NOON, 1), (NOON.plus_ms(1), 2)] {
        let found = tx.regions(now).await.unwrap();
        let rows: Vec<_> = found
            .iter()
            .map(|found| (found.region.id, found.name.as_str(), found.region.policy.version))
            .collect();
        let south = (SOUTH, "south", version);
        let default = Policy::default().version;
        assert_eq!(rows, [(NORTH, "north", 1), south, (RegionId(7), "东区 'east'", default)]);
        let last = &found[2].region;
        assert_eq!((last.time_zone, &last.area), (chrono_tz::America::New_York, &area));
        assert_eq!(last.policy, Policy::default(), "a region without any policy has the default");
    }
});

for_each_database!(a_member_of_staff_comes_with_name_and_regions, |desk| async move {
    let id = StaffId(i64::MAX);
    let mut tx = desk.db.begin().await.unwrap();
    tx.add_staff(id, "调度 O'Neil", Role::Supervisor, &[SOUTH, NORTH]).await.unwrap();
    tx.add_staff(StaffId(70), "nowhere", Role::Auditor, &[]).await.unwrap();
    let account = |name: &str, id, role, regions: &[RegionId], disabled| {
        let staff = Staff { id, role, regions: regions.to_vec(), disabled };
        Some(StaffAccount { name: name.to_owned(), staff })
    };
    let found = tx.staff_account(id).await.unwrap();
    assert_eq!(found, account("调度 O'Neil", id, Role::Supervisor, &[NORTH, SOUTH], false));
    let nowhere = account("nowhere", StaffId(70), Role::Auditor, &[], false);
    assert_eq!(tx.staff_account(StaffId(70)).await.unwrap(), nowhere);
    assert_eq!(tx.staff_account(StaffId(i64::MAX - 1)).await.unwrap(), None);
    tx.disable_staff(id, true).await.unwrap();
    let found = tx.staff_account(id).await.unwrap();
    assert_eq!(found, account("调度 O'Neil", id, Role::Supervisor, &[NORTH, SOUTH], true));
});

for_each_database!(a_person_of_one_region_belongs_to_it, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    tx.add_staff(StaffId(70), "both", Role::Auditor, &[SOUTH, NORTH]).await.unwrap();
    tx.add_staff(StaffId(71), "none", Role::Auditor, &[]).await.unwrap();
    tx.disable_staff(StaffId(4), true).await.unwrap();
    let staff = |id| AdminSubject::Staff(StaffId(id));
    let rider = |id| AdminSubject::Rider(RiderId(id));
    for (subject, region) in [
        (staff(1), Some(NORTH)),
        (staff(4), Some(SOUTH)),
        (staff(70), None),
        (staff(71), None),
        (staff(9_999), None),
        (rider(2), Some(NORTH)),
        (rider(FOREIGN_RIDER), Some(SOUTH)),
        (rider(9_999), None),
        (AdminSubject::Desk, None),
        (AdminSubject::Region(NORTH), None),
    ] {
        assert_eq!(tx.region_of(subject).await.unwrap(), region, "{subject:?}");
    }
    let asked = [RiderId(FOREIGN_RIDER), RiderId(9_999), RiderId(2)];
    let mut found = tx.regions_of_riders(&asked).await.unwrap();
    found.sort();
    assert_eq!(found, [(RiderId(2), NORTH), (RiderId(FOREIGN_RIDER), SOUTH)]);
    assert_eq!(tx.regions_of_riders(&[]).await.unwrap(), []);
});

for_each_database!(a_rider_comes_with_what_is_held_and_the_last_position, |desk| async move {
    let id = RiderId(1);
    let rider_as_is = desk.read().await.rider(id).await.unwrap().unwrap();
    let mut expected = RiderAccount {
        name: "rider 1".to_owned(),
        phone: None,
        rider: rider_as_is,
        holds: 0,
        fix: None,
    };
    assert_eq!(desk.read().await.rider_account(id).await.unwrap().as_ref(), Some(&expected));
    assert_eq!(expected.free(), i64::from(CAPACITY));

    // An offer and a task take a place each; a delivered task takes none.
    let tasks = desk.create_many(3).await;
    desk.done(rider(1), tasks[0], 1, GRAB).await;
    for (revision, act) in (2..).zip([Act::Arrive, Act::PickUp, Act::Deliver]) {
        desk.done(rider(1), tasks[0], revision, act).await;
    }
    desk.done(rider(1), tasks[1], 1, GRAB).await;
    desk.done(D1, tasks[2], 1, offer(1)).await;
    let mut tx = desk.db.begin().await.unwrap();
    tx.put_fix(id, 1, Timestamp(77), HERE).await.unwrap();
    tx.commit().await.unwrap();
    Raw::of(&desk).await.run("UPDATE rider SET phone = '+86 138' WHERE id = 1").await.unwrap();
    expected.phone = Some("+86 138".to_owned());
    expected.holds = 2;
    expected.fix = Some(Fix::new(1, Timestamp(77), HERE));
    assert_eq!(expected.place(), Some(HERE));
    expected.rider.last_fix_at = Some(Timestamp(77));
    assert_eq!(desk.read().await.rider_account(id).await.unwrap().as_ref(), Some(&expected));
    assert_eq!(expected.free(), 0);

    // Who holds more than there now is room for has no room, and not less than none.
    let change = RiderChange { capacity: Some(1), disabled: Some(true), ..RiderChange::default() };
    let mut tx = desk.db.begin().await.unwrap();
    tx.change_rider(id, &change).await.unwrap();
    (expected.rider.capacity, expected.rider.disabled) = (1, true);
    let found = tx.rider_account(id).await.unwrap().expect("shut out, but there");
    assert_eq!((&found, found.free()), (&expected, 0));
    assert_eq!(tx.rider_account(RiderId(99)).await.unwrap(), None);
});

for_each_database!(riders_are_listed_by_region_without_those_shut_out, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    let van = Some(Vehicle::Van);
    tx.add_rider(RiderId(30_000_000_000), SOUTH, "last", 3, van).await.unwrap();
    tx.add_rider(RiderId(902), NORTH, "between", 1, None).await.unwrap();
    let shut = RiderChange { disabled: Some(true), ..RiderChange::default() };
    tx.change_rider(RiderId(59), &shut).await.unwrap();
    tx.put_fix(RiderId(60), 1, NOON, HERE).await.unwrap();
    tx.commit().await.unwrap();
    let task = desk.create().await;
    desk.done(rider(60), task, 1, GRAB).await;

    let north: Vec<_> = (1..=58).chain([60, 902]).collect();
    let south = vec![FOREIGN_RIDER, 30_000_000_000];
    let mut both = [north.clone(), south.clone()].concat();
    both.sort_unstable();
    let mut tx = desk.read().await;
    for limit in [1, 7, 100] {
        for (regions, expected) in [
            (&[NORTH][..], &north),
            (&[SOUTH], &south),
            (&[SOUTH, NORTH, NORTH], &both),
            (&[RegionId(99)], &Vec::new()),
            (&[], &Vec::new()),
        ] {
            let mut found: Vec<i64> = Vec::new();
            loop {
                let after = RiderId(found.last().copied().unwrap_or(0));
                let page = tx.riders_of(regions, after, limit).await.unwrap();
                assert!(page.len() <= usize::try_from(limit).unwrap());
                if page.is_empty() {
                    break;
                }
                found.extend(page.iter().map(|account| account.rider.id.0));
            }
            assert_eq!(&found, expected, "{regions:?} by {limit}");
        }
    }
    let page = tx.riders_of(&[NORTH, SOUTH], RiderId(58), 2).await.unwrap();
    assert_eq!((page[0].holds, page[0].place()), (1, Some(HERE)));
    assert_eq!(page[0].rider.last_fix_at, Some(NOON));
    // The list shows everyone as their own page does.
    for account in page {
        let alone = tx.rider_account(account.rider.id).await.unwrap();
        assert_eq!(alone, Some(account));
    }
});

for_each_database!(names_are_found_for_those_who_have_one, |desk| async move {
    let mut tx = desk.read().await;
    let riders = [60, 1, 99, 1].map(RiderId);
    let staff = [6, 1, 77].map(StaffId);
    let named = |number: i64| format!("rider {number}");
    let of_riders = HashMap::from([1, 60].map(|number| (RiderId(number), named(number))));
    let of_staff = HashMap::from([1, 6].map(|number| (StaffId(number), format!("staff {number}"))));
    let expected = Names { riders: of_riders.clone(), staff: of_staff.clone() };
    assert_eq!(tx.names(&riders, &staff).await.unwrap(), expected);
    let expected = Names { riders: of_riders, ..Names::default() };
    assert_eq!(tx.names(&riders, &[]).await.unwrap(), expected);
    let expected = Names { staff: of_staff, ..Names::default() };
    assert_eq!(tx.names(&[], &staff).await.unwrap(), expected);
    assert_eq!(tx.names(&[], &[]).await.unwrap(), Names::default());
});
