//! One command of a batch sees what the one before it has done.

use dispatch_desk::domain::command::{Act, Command};

use super::keys::{at_once, desk};
use crate::harness::{record::Came, *};

async fn codes(desk: &Desk, commands: Vec<Command>) -> Vec<String> {
    at_once(desk, commands).await.iter().map(Came::code).collect()
}

pub(super) async fn hand_backs_of_the_batch_count(database: Database) {
    let desk = desk(database).await;
    let task = desk.create().await;
    let acts = [GRAB, HAND_BACK].into_iter().cycle().take(8);
    let commands =
        (1..).zip(acts).map(|(revision, act)| desk.change(rider(1), task, revision, act));
    let came = codes(&desk, commands.collect()).await;
    assert_eq!(came, ["", "", "", "", "", "", "", "HAND_BACK_LIMIT"], "three a day");
    desk.check().await;
}

pub(super) async fn places_are_taken_and_freed_within_a_batch(database: Database) {
    let desk = desk(database).await;
    let mut tasks = desk.create_many(4).await;
    tasks.sort_unstable();
    let commands = vec![
        desk.change(rider(1), tasks[0], 1, GRAB),
        desk.change(D1, tasks[1], 1, offer(1)),
        desk.change(rider(1), tasks[2], 1, GRAB),
        desk.change(D1, tasks[1], 2, WITHDRAW),
        desk.change(rider(1), tasks[2], 1, GRAB),
        desk.change(rider(1), tasks[0], 2, Act::Arrive),
        desk.change(rider(1), tasks[0], 3, Act::PickUp),
        desk.change(rider(1), tasks[3], 1, GRAB),
        desk.change(rider(1), tasks[0], 4, Act::Deliver),
        desk.change(rider(1), tasks[3], 1, GRAB),
        desk.change(D1, tasks[1], 3, offer(1)),
    ];
    let came = codes(&desk, commands).await;
    let full = "RIDER_AT_CAPACITY";
    assert_eq!(came, ["", "", full, "", "", "", "", full, "", "", full]);
    desk.check().await;
}

pub(super) async fn an_offer_lives_and_ends_within_a_batch(database: Database) {
    let desk = desk(database).await;
    let task = desk.create().await;
    let commands = vec![
        desk.change(D1, task, 1, offer(1)),
        desk.change(D2, task, 1, offer(2)),
        desk.change(D2, task, 2, WITHDRAW),
        desk.change(D1, task, 3, offer(1)),
        desk.change(shop(), task, 4, CANCEL),
        desk.change(shop(), task, 4, CANCEL),
        desk.change(D1, task, 5, CANCEL),
    ];
    let came = codes(&desk, commands).await;
    assert_eq!(came, ["", "STALE_REVISION", "", "", "", "ALREADY_DONE", "CANCELLED"]);
    // Both offers are in the ledger, each with its end.
    let ledger = desk.read().await.offers_between(dispatch_desk::domain::id::TaskId(0), task).await;
    let ends: Vec<_> = ledger.unwrap().iter().filter_map(|offer| offer.answer).collect();
    assert_eq!(ends.iter().map(|end| end.as_str()).collect::<Vec<_>>(), ["withdrawn", "cancelled"]);
    desk.check().await;
}

mod cases {
    super::super::keys::on_both!(
        hand_backs_of_the_batch_count,
        places_are_taken_and_freed_within_a_batch,
        an_offer_lives_and_ends_within_a_batch
    );
}
