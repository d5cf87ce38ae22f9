//! What a region has decided for itself: when it holds, and what it holds for.

use dispatch_desk::domain::{
    command::{Act, DetailChanges, What},
    geo::{Area, Place},
    id::{RegionId, Revision, RiderId},
    policy::{Policy, RegionMode},
    refusal::{Code, Ineligible},
    task::Mode,
};

use super::legal;
use crate::{contract::raw::Raw, harness::*};

const HOUR_MS: i64 = 3_600_000;

for_each_database!(hand_backs_are_counted_by_the_regions_own_day, |desk| async move {
    // It is noon in Shanghai, and eleven at night in New York.
    let east = RegionId(3);
    let centre = Place { lat: 31.2304, lng: 121.4737 };
    let mut tx = desk.db.begin().await.unwrap();
    let area = Area::Circle { centre, radius_m: 50_000.0 };
    tx.add_region(east, "east", chrono_tz::America::New_York, &area).await.unwrap();
    tx.add_rider(RiderId(800), east, "rider of the east", 2, None).await.unwrap();
    tx.commit().await.unwrap();

    let returns = async |number: i64, region: RegionId| {
        let new = dispatch_desk::domain::command::NewTask { region, ..order() };
        let task = desk.create_with(new).await;
        desk.done(rider(number), task, 1, GRAB).await;
        let answer = desk.ask(rider(number), task, 2, HAND_BACK).await;
        if !answer.is_success() {
            // Out of the way, so that the place is free again.
            desk.done(shop(), task, 2, CANCEL).await;
        }
        answer.code.unwrap_or_default()
    };
    for _ in 0..3 {
        assert_eq!(returns(1, NORTH).await, "");
        assert_eq!(returns(800, east).await, "");
    }
    assert_eq!(returns(1, NORTH).await, "HAND_BACK_LIMIT");
    assert_eq!(returns(800, east).await, "HAND_BACK_LIMIT");
    assert_eq!(returns(2, NORTH).await, "", "each rider has an allowance of their own");

    // Midnight in New York is an hour away, in Shanghai twelve.
    desk.advance_ms(HOUR_MS - 1).await;
    assert_eq!(returns(800, east).await, "HAND_BACK_LIMIT");
    desk.advance_ms(1).await;
    assert_eq!(returns(800, east).await, "");
    assert_eq!(returns(1, NORTH).await, "HAND_BACK_LIMIT");
    desk.advance_ms(11 * HOUR_MS - 1).await;
    assert_eq!(returns(1, NORTH).await, "HAND_BACK_LIMIT");
    desk.advance_ms(1).await;
    for _ in 0..3 {
        assert_eq!(returns(1, NORTH).await, "");
    }
    assert_eq!(returns(1, NORTH).await, "HAND_BACK_LIMIT");
    desk.check().await;
});

for_each_database!(nobody_takes_a_task_before_its_release, |desk| async move {
    let released = NOON.plus_ms(60_000);
    let new = dispatch_desk::domain::command::NewTask { release_at: Some(released), ..order() };
    let task = desk.create_with(new).await;
    let early = desk.refused(rider(1), task, 1, GRAB, Code::NotReleased).await;
    assert_eq!(legal(&early), Vec::<&str>::new());
    let early = desk.refused(SUPERVISOR, task, 1, assign(1), Code::NotReleased).await;
    assert_eq!(legal(&early), ["cancel", "edit"]);
    desk.refused(D1, task, 1, offer(1), Code::NotReleased).await;

    // The dispatcher puts it off, then brings it forward.
    let put_off = |detail_revision, ms| {
        let release_at = Some(NOON.plus_ms(ms));
        let changes = Box::new(DetailChanges { release_at, ..DetailChanges::default() });
        let detail_revision = Revision(detail_revision);
        desk.command(D1, What::Edit { task, detail_revision, changes })
    };
    assert!(desk.send(put_off(1, 120_000)).await.came.is_success());
    desk.advance_ms(60_000).await;
    desk.refused(rider(1), task, 1, GRAB, Code::NotReleased).await;
    assert_eq!(desk.send(put_off(1, 90_000)).await.came.code(), "STALE_REVISION");
    assert!(desk.send(put_off(2, 90_000)).await.came.is_success());
    desk.advance_ms(29_999).await;
    desk.refused(D1, task, 1, offer(1), Code::NotReleased).await;
    desk.advance_ms(1).await;
    desk.done(D1, task, 1, offer(1)).await;
    desk.check().await;
});

for_each_database!(a_dispatcher_assigns_directly_where_the_region_says_so, |desk| async move {
    let immediate = Policy { version: 2, mode: RegionMode::Immediate, ..Policy::default() };
    desk.policy(NORTH, NOON.plus_ms(10_000), immediate).await;
    let (one, two, three) = (desk.create().await, desk.create().await, desk.create().await);
    let off = desk.refused(D1, one, 1, assign(1), Code::ImmediateModeOff).await;
    assert_eq!(legal(&off), ["offer", "cancel", "edit"]);
    // A supervisor may at any time, and the answer says how it came about.
    let direct = desk.done(SUPERVISOR, one, 1, assign(1)).await;
    let mode = direct.task.and_then(|task| task.mode);
    assert_eq!(mode, Some(Mode::Direct));
    desk.done(D1, two, 1, offer(2)).await;

    desk.advance_ms(10_000).await;
    let late = desk.refused(D1, three, 9, assign(1), Code::StaleRevision).await;
    assert_eq!(legal(&late), ["offer", "assign", "cancel", "edit"]);
    desk.done(D1, three, 1, assign(1)).await;
    desk.done(D1, two, 2, WITHDRAW).await;
    desk.done(D1, two, 3, offer(2)).await;
    // Every offer says under which version it was made, in the ledger and in the log.
    let raw = Raw::of(&desk).await;
    let versions = "SELECT CAST(policy_version AS text) FROM offer ORDER BY revision";
    assert_eq!(raw.texts(versions).await, ["1", "2"]);
    let details: Vec<_> = desk.events(two).await.into_iter().map(|event| event.detail).collect();
    let of_version = |version| details.iter().filter(|detail| detail.contains(version)).count();
    assert_eq!((of_version("\"policy_version\":1"), of_version("\"policy_version\":2")), (1, 1));
    // The other region has decided nothing of the kind.
    let new = dispatch_desk::domain::command::NewTask { region: SOUTH, ..order() };
    let south = desk.create_with(new).await;
    desk.refused(FOREIGN_DISPATCHER, south, 1, assign(901), Code::ImmediateModeOff).await;
    desk.check().await;
});

for_each_database!(a_region_may_ask_for_a_fresh_position, |desk| async move {
    let fresh = Policy {
        version: 2,
        position_max_age_ms: Some(60_000),
        grace_ms: 700,
        ..Policy::default()
    };
    desk.policy(NORTH, NOON, fresh).await;
    let task = desk.create().await;
    desk.not_eligible(task, 1, offer(1), Ineligible::StalePosition).await;
    let grabbed = desk.refused(rider(1), task, 1, GRAB, Code::RiderNotEligible).await;
    assert_eq!(grabbed.reason, Some(Ineligible::StalePosition));

    let mut tx = desk.db.begin().await.unwrap();
    let place = Place { lat: 31.23, lng: 121.47 };
    tx.put_fix(RiderId(1), 1, NOON, place).await.unwrap();
    tx.commit().await.unwrap();
    desk.advance_ms(60_000).await;
    let asked = desk.done(D1, task, 1, offer(1)).await;
    let until = asked.task.and_then(|task| task.offer_until);
    assert_eq!(until, Some(NOON.plus_ms(60_000 + 30_000 + 700)), "the grace is in the deadline");
    // Too old now for a new offer, and good enough to answer the one that there is.
    desk.advance_ms(1).await;
    let other = desk.create().await;
    desk.not_eligible(other, 1, offer(1), Ineligible::StalePosition).await;
    desk.done(rider(1), task, 2, Act::Accept).await;
    desk.check().await;
});
