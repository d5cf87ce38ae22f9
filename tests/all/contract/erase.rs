//! Personal data is erased where it is no longer needed, and nowhere else.

use dispatch_desk::{
    domain::{
        actor::Actor,
        command::Act,
        id::{RegionId, RiderId, TaskId, Timestamp},
    },
    store::{ApiToken, Link, LinkPurpose, Retention, RiderChange},
};

use super::raw::Raw;
use crate::harness::*;

/// Five tasks, a second apart: open, cancelled, in hand, delivered, cancelled.
async fn five(desk: &Desk) -> Vec<TaskId> {
    let tasks = desk.create_many(5).await;
    desk.advance_ms(1_000).await;
    desk.done(D1, tasks[1], 1, CANCEL).await;
    for (task, number, steps) in [(tasks[2], 1, 2), (tasks[3], 2, 3)] {
        desk.advance_ms(1_000).await;
        desk.done(rider(number), task, 1, GRAB).await;
        let all = [Act::Arrive, Act::PickUp, Act::Deliver];
        for (revision, act) in (2..).zip(&all[..steps]) {
            desk.done(rider(number), task, revision, act.clone()).await;
        }
    }
    desk.advance_ms(1_000).await;
    desk.done(D1, tasks[4], 1, CANCEL).await;
    tasks
}

for_each_database!(what_can_be_erased_is_over_and_still_there, |desk| async move {
    let tasks = five(&desk).await;
    let (first, end) = (Timestamp(0), NOON.plus_ms(9_000));
    let mut tx = desk.db.begin().await.unwrap();
    let over = [tasks[1], tasks[3], tasks[4]];
    assert_eq!(tx.erasable(NORTH, first, end, 9).await.unwrap(), over);
    assert_eq!(tx.erasable(NORTH, first, end, 2).await.unwrap(), over[..2], "the oldest first");
    assert_eq!(tx.erasable(SOUTH, first, end, 9).await.unwrap(), []);
    // From the instant on, and before the other.
    let (from, until) = (NOON.plus_ms(3_000), NOON.plus_ms(4_000));
    assert_eq!(tx.erasable(NORTH, from, until, 9).await.unwrap(), over[1..2]);
    assert_eq!(tx.count_erasable(NORTH, end).await.unwrap(), 3);
    assert_eq!(tx.count_erasable(NORTH, until).await.unwrap(), 2);
    assert_eq!(tx.count_erasable(SOUTH, end).await.unwrap(), 0);
    assert_eq!(tx.erase_details(&over[..1], end).await.unwrap(), 1);
    assert_eq!(tx.erasable(NORTH, first, end, 9).await.unwrap(), over[1..]);
    assert_eq!(tx.count_erasable(NORTH, end).await.unwrap(), 2);
});

for_each_database!(what_is_not_over_is_not_erased_whoever_asks, |desk| async move {
    let tasks = five(&desk).await;
    let before = Raw::of(&desk).await.dump("task_detail").await;
    let mut tx = desk.db.begin().await.unwrap();
    assert_eq!(tx.erase_details(&[], NOON).await.unwrap(), 0);
    assert_eq!(tx.erase_details(&[tasks[0], tasks[2], TaskId(1)], NOON).await.unwrap(), 0);
    assert_eq!(tx.erase_details(&tasks, NOON.plus_ms(7)).await.unwrap(), 3);
    assert_eq!(tx.erase_details(&tasks, NOON.plus_ms(8)).await.unwrap(), 0, "once");
    let gone = tx.card(tasks[1]).await.unwrap().expect("its row stays").detail;
    assert_eq!(gone.erased_at, Some(NOON.plus_ms(7)));
    for (stop, lat, lng) in [(&gone.pickup, 31.23, 121.47), (&gone.dropoff, 31.24, 121.5)] {
        assert_eq!(
            (stop.lat.to_bits(), stop.lng.to_bits()),
            (f64::to_bits(lat), f64::to_bits(lng))
        );
        assert_eq!((stop.address.as_str(), &stop.name, &stop.phone), ("", &None, &None));
    }
    assert_eq!((&gone.note, &gone.tracking_token), (&None, &None));
    assert_eq!((gone.fee, gone.revision.0), (Some(850), 1), "what is no personal data stays");
    tx.commit().await.unwrap();
    let after = Raw::of(&desk).await.dump("task_detail").await;
    assert_eq!(after.iter().filter(|row| before.contains(row)).count(), 2, "{after:#?}");
});

for_each_database!(
    drafts_of_staff_are_forgotten_and_the_rest_of_a_session_stays,
    |desk| async move {
        let mut tx = desk.db.begin().await.unwrap();
        // With what PostgreSQL's texts can not hold, as somebody may type it on purpose.
        let draft = r#"{"drafts":[["k",{"note":"x\u0000"}]],"seen":7}"#;
        let none = r#"{"seen":8}"#;
        for (hash, who, data) in [("s1", D1, draft), ("s2", D1, none), ("s3", rider(1), draft)] {
            tx.add_session(hash, Some(&who), data, "a browser", NOON).await.unwrap();
        }
        assert_eq!(tx.forget_drafts().await.unwrap(), 1);
        assert_eq!(tx.forget_drafts().await.unwrap(), 0);
        assert_eq!(tx.session("s2").await.unwrap().expect("it goes on").erasures, 2);
        // A request that had read it before does not bring back what was typed; what else it keeps is kept.
        tx.save_session("s1", Some(&D1), (draft, 0), "a browser", NOON).await.unwrap();
        let left = tx.session("s1").await.unwrap().expect("it goes on");
        let left: serde_json::Value = serde_json::from_str(&left.data).unwrap();
        assert_eq!(left, serde_json::json!({ "seen": 7 }));
        tx.save_session("s2", Some(&D1), (draft, 2), "a browser", NOON).await.unwrap();
        for (hash, data) in [("s2", draft), ("s3", draft)] {
            assert_eq!(tx.session(hash).await.unwrap().expect("it goes on").data, data);
        }
    }
);

for_each_database!(how_far_a_region_is_erased_never_goes_back, |desk| async move {
    Raw::of(&desk).await.run("UPDATE region SET retention_days = 30 WHERE id = 2").await.unwrap();
    let mut tx = desk.db.begin().await.unwrap();
    let kept = |to: i64| [Retention { region: SOUTH, days: 30, erased_to: Timestamp(to) }];
    assert_eq!(tx.retentions().await.unwrap(), kept(0));
    assert_eq!(tx.mark_erased(SOUTH, Timestamp(9)).await.unwrap(), 1);
    assert_eq!(tx.mark_erased(SOUTH, Timestamp(8)).await.unwrap(), 0);
    assert_eq!(tx.mark_erased(RegionId(99), Timestamp(8)).await.unwrap(), 0);
    assert_eq!(tx.retentions().await.unwrap(), kept(9));
});

for_each_database!(a_rider_is_erased_once_gone, |desk| async move {
    let task = desk.create().await;
    desk.done(rider(1), task, 1, GRAB).await;
    let change = |name: &str| RiderChange {
        name: Some(name.to_owned()),
        phone: Some("13800001234".to_owned()),
        disabled: Some(true),
        ..RiderChange::default()
    };
    let place = dispatch_desk::domain::geo::Place { lat: 31.25, lng: 121.5 };
    let mut tx = desk.db.begin().await.unwrap();
    for (number, name) in [(1, "赵一"), (2, "赵二"), (3, "赵三")] {
        let (id, who) = (RiderId(number), rider(number));
        let change = change(name);
        let change = RiderChange { disabled: change.disabled.filter(|_| number != 3), ..change };
        tx.put_fix(id, 1, NOON, place).await.unwrap();
        tx.change_rider(id, &change).await.unwrap();
        tx.set_rider_password(id, &format!("1380000000{number}"), "$1", NOON).await.unwrap();
        tx.add_session(&format!("s{number}"), Some(&who), "{}", "", NOON).await.unwrap();
        let link = Link { actor: who.clone(), purpose: LinkPurpose::Enter };
        let until = NOON.plus_ms(9);
        tx.add_link(&format!("l{number}"), &link, NOON, until, 1).await.unwrap();
        let token = ApiToken::new(&format!("t{number}"), "x", name, &who, NOON);
        tx.add_token(&token).await.unwrap();
    }
    let two = RiderId(2);
    let revision = tx.rider_revision(two).await.unwrap();
    assert_eq!(tx.erase_rider(RiderId(1), NOON).await.unwrap(), 0, "holds a task");
    assert_eq!(tx.erase_rider(RiderId(3), NOON).await.unwrap(), 0, "not shut out");
    assert_eq!(tx.erase_rider(RiderId(99), NOON).await.unwrap(), 0);
    assert_eq!(tx.erase_rider(two, NOON).await.unwrap(), 1);
    let gone = tx.rider_account(two).await.unwrap().expect("the row stays");
    assert_eq!((gone.name.as_str(), &gone.phone, gone.place()), ("R2", &None, None));
    assert_eq!(tx.rider_revision(two).await.unwrap(), revision.map(|revision| revision + 1));
    let known: Vec<_> =
        tx.names(&[1, 2, 3].map(RiderId), &[]).await.unwrap().riders.into_keys().collect();
    assert!(!known.contains(&two) && known.len() == 2, "called by the number: {known:?}");
    for number in [1, 2, 3] {
        let there = usize::from(number != 2);
        let who: Actor = rider(number);
        let phone = format!("1380000000{number}");
        assert_eq!(tx.rider_password(&phone).await.unwrap().iter().count(), there);
        assert_eq!(tx.sessions_of(&who, 9).await.unwrap().len(), there);
        assert_eq!(tx.link(&format!("l{number}"), NOON).await.unwrap().iter().count(), there);
        assert_eq!(tx.token(&format!("t{number}"), NOON).await.unwrap().iter().count(), there);
    }
    tx.commit().await.unwrap();
    for (table, rows) in Raw::of(&desk).await.dump_all().await {
        assert!(!rows.iter().any(|row| row.contains("赵二")), "{table}: {rows:#?}");
    }
    assert_eq!(desk.task(task).await.state.rider(), Some(RiderId(1)));
});
