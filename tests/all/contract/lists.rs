//! Lists of tasks: page by page over regions, in every state, for grabbing, and one by one.

use dispatch_desk::{
    domain::{
        command::{Act, NewTask, What},
        id::{RegionId, Revision, RiderId, TaskId},
        task::{Stage, StateName, Vehicle},
    },
    store::{Card, Detail, Error, Listing, Tx},
};

use super::{
    raw::Raw,
    steps::{creation, north, write_tasks},
};
use crate::harness::*;

fn in_the_south() -> NewTask {
    NewTask { region: SOUTH, ..order() }
}

fn numbers(cards: &[Card]) -> Vec<TaskId> {
    cards.iter().map(|card| card.task.id).collect()
}

/// All open tasks of `regions`, page by page.
async fn walk(tx: &mut Tx, regions: &[RegionId], latest_first: bool, limit: i64) -> Vec<TaskId> {
    let mut found = Vec::new();
    let mut beyond = TaskId(if latest_first { i64::MAX } else { i64::MIN });
    loop {
        let state = StateName::Open;
        let listing = Listing { regions, state, stage: None, beyond, latest_first, limit };
        let page = numbers(&tx.listed(&listing).await.unwrap());
        assert!(page.len() <= usize::try_from(limit).unwrap());
        let Some(last) = page.last() else { return found };
        beyond = *last;
        found.extend(page);
    }
}

for_each_database!(pages_over_two_regions_have_no_gap_and_no_double, |desk| async move {
    let (mut north, mut south) = (Vec::new(), Vec::new());
    for to_the_north in [true, false, false, true, true, true, false, true] {
        let (new, tasks) =
            if to_the_north { (order(), &mut north) } else { (in_the_south(), &mut south) };
        tasks.push(desk.create_with(new).await);
    }
    let mut both = [north.clone(), south.clone()].concat();
    both.sort_unstable();
    let mut tx = desk.read().await;
    for limit in 1..=9 {
        for (regions, expected) in [
            (&[NORTH, SOUTH][..], &both),
            (&[SOUTH, NORTH, SOUTH, RegionId(99)], &both),
            (&[NORTH], &north),
            (&[SOUTH], &south),
            (&[RegionId(99)], &Vec::new()),
            (&[], &Vec::new()),
        ] {
            assert_eq!(&walk(&mut tx, regions, false, limit).await, expected, "up by {limit}");
            let mut down = walk(&mut tx, regions, true, limit).await;
            down.reverse();
            assert_eq!(&down, expected, "down by {limit}");
        }
    }
});

for_each_database!(a_task_stands_in_the_list_of_its_state_and_stage, |desk| async move {
    let mut tasks = desk.create_many(7).await;
    tasks.sort_unstable();
    let lists = [
        (StateName::Open, None),
        (StateName::Offered, None),
        (StateName::Assigned, Some(Stage::Waiting)),
        (StateName::Assigned, Some(Stage::AtPickup)),
        (StateName::Assigned, Some(Stage::PickedUp)),
        (StateName::Assigned, Some(Stage::Delivered)),
        (StateName::Cancelled, None),
    ];
    desk.done(D1, tasks[1], 1, offer(1)).await;
    for (number, index) in (2..).zip(2..6) {
        desk.done(rider(number), tasks[index], 1, GRAB).await;
        let steps = [Act::Arrive, Act::PickUp, Act::Deliver];
        for (revision, act) in (2..).zip(steps).take(index - 2) {
            desk.done(rider(number), tasks[index], revision, act).await;
        }
    }
    desk.done(D1, tasks[6], 1, CANCEL).await;
    let mut tx = desk.read().await;
    for latest_first in [false, true] {
        let listing = |state, stage, regions| {
            let beyond = TaskId(if latest_first { i64::MAX } else { 0 });
            Listing { regions, state, stage, beyond, latest_first, limit: 9 }
        };
        for (task, (state, stage)) in tasks.iter().zip(lists) {
            let found = tx.listed(&listing(state, stage, &[SOUTH, NORTH])).await.unwrap();
            assert_eq!(numbers(&found), [*task], "{state} {stage:?}");
            assert_eq!(found[0].task, tx.task(*task).await.unwrap().unwrap());
            assert_eq!(tx.listed(&listing(state, stage, &[SOUTH])).await.unwrap(), []);
        }
        for (state, stage) in [(StateName::Assigned, None), (StateName::Open, Some(Stage::Waiting))]
        {
            assert_eq!(tx.listed(&listing(state, stage, &[NORTH])).await.unwrap(), []);
        }
    }
});

for_each_database!(the_pool_has_what_this_rider_could_grab_now, |desk| async move {
    let driven = |vehicle| NewTask { vehicle: Some(vehicle), ..order() };
    let plain = desk.create().await;
    let soon = NOON.plus_ms(60_000);
    let later = desk.create_with(NewTask { release_at: Some(soon), ..order() }).await;
    let van = desk.create_with(driven(Vehicle::Van)).await;
    let shown = desk.create().await;
    let taken = desk.create().await;
    let foreign = desk.create_with(in_the_south()).await;
    let bicycle = desk.create_with(driven(Vehicle::Bicycle)).await;
    let last = desk.create().await;
    desk.done(rider(1), taken, 1, GRAB).await;
    let mut tx = desk.db.begin().await.unwrap();
    a_round(&mut tx, 1, shown, (NOON, NOON.plus_ms(1)), &[(1, "n")]).await;
    tx.commit().await.unwrap();

    let mut tx = desk.read().await;
    for (vehicle, now, expected) in [
        (None, NOON, vec![plain, last]),
        (None, soon.plus_ms(-1), vec![plain, last]),
        (None, soon, vec![plain, later, last]),
        (Some(Vehicle::Van), NOON, vec![plain, van, last]),
        (Some(Vehicle::Bicycle), soon, vec![plain, later, bicycle, last]),
        (Some(Vehicle::Foot), NOON, vec![plain, last]),
    ] {
        for limit in 1..=5 {
            let mut found = Vec::new();
            loop {
                let after = found.last().copied().unwrap_or(TaskId(0));
                let page = tx.pool(NORTH, vehicle, now, after, limit).await.unwrap();
                assert!(page.len() <= usize::try_from(limit).unwrap());
                if page.is_empty() {
                    break;
                }
                found.extend(numbers(&page));
            }
            assert_eq!(found, expected, "{vehicle:?} at {now} by {limit}");
        }
    }
    let south = tx.pool(SOUTH, None, NOON, TaskId(0), 9).await.unwrap();
    assert_eq!(numbers(&south), [foreign]);
    drop(tx);
    // The round is over; nobody needs a ticket any more.
    Raw::of(&desk)
        .await
        .run("UPDATE round SET status = 'exhausted', ended_at = until")
        .await
        .unwrap();
    let found = desk.read().await.pool(NORTH, None, NOON, TaskId(0), 9).await.unwrap();
    assert_eq!(numbers(&found), [plain, shown, last]);
});

for_each_database!(a_card_shows_all_that_is_written_on_a_task, |desk| async move {
    let mut new = order();
    new.pickup.name = None;
    new.dropoff.phone = None;
    "x\u{2028}'\"\\y".clone_into(&mut new.dropoff.address);
    (new.ready_at, new.due_at) = (Some(NOON.plus_ms(1)), Some(NOON.plus_ms(9)));
    new.fee = Some(i64::MAX);
    let task = desk.create_with(new.clone()).await;
    let mut tx = desk.read().await;
    let card = tx.card(task).await.unwrap().expect("just created");
    let token = card.detail.tracking_token.clone();
    let mut expected = Card {
        task: tx.task(task).await.unwrap().unwrap(),
        detail: Detail {
            revision: Revision(1),
            pickup: new.pickup,
            dropoff: new.dropoff,
            ready_at: new.ready_at,
            due_at: new.due_at,
            fee: new.fee,
            note: new.note,
            tracking_token: token.clone(),
            erased_at: None,
        },
        rider_name: None,
    };
    assert_eq!(card, expected);
    assert_eq!(tx.card(TaskId(1)).await.unwrap(), None);
    drop(tx);
    desk.done(rider(7), task, 1, GRAB).await;
    desk.send(desk.note(D1, task, 1, "二楼")).await;
    let mut tx = desk.read().await;
    expected.task = tx.task(task).await.unwrap().unwrap();
    (expected.detail.revision, expected.detail.note) = (Revision(2), Some("二楼".to_owned()));
    expected.rider_name = Some("rider 7".to_owned());
    // The same card, however one comes by it.
    assert_eq!(tx.card(task).await.unwrap().as_ref(), Some(&expected));
    let tracked = tx.card_tracked(&token.expect("a new task has one")).await.unwrap();
    assert_eq!(tracked.as_ref(), Some(&expected));
    assert_eq!(tx.cards_held_by(RiderId(7)).await.unwrap(), [expected]);
});

for_each_database!(a_rider_is_shown_the_cards_that_take_a_place, |desk| async move {
    let mut tasks = desk.create_many(3).await;
    tasks.sort_unstable();
    desk.done(rider(1), tasks[2], 1, GRAB).await;
    desk.done(D1, tasks[0], 1, offer(1)).await;
    let held = desk.read().await.cards_held_by(RiderId(1)).await.unwrap();
    assert_eq!(numbers(&held), [tasks[0], tasks[2]]);
    for (revision, act) in [(2, Act::Arrive), (3, Act::PickUp), (4, Act::Deliver)] {
        desk.done(rider(1), tasks[2], revision, act).await;
    }
    let mut tx = desk.read().await;
    assert_eq!(numbers(&tx.cards_held_by(RiderId(1)).await.unwrap()), [tasks[0]], "delivered");
    assert_eq!(tx.cards_held_by(RiderId(2)).await.unwrap(), []);
    let delivered = tx.card(tasks[2]).await.unwrap().unwrap();
    assert_eq!(delivered.rider_name.as_deref(), Some("rider 1"), "it is still known who it was");
});

for_each_database!(
    every_new_task_has_a_link_of_its_own_and_old_ones_have_none,
    |desk| async move {
        let tasks = desk.create_many(20).await;
        let mut tokens = std::collections::HashSet::new();
        let mut tx = desk.read().await;
        for task in &tasks {
            let card = tx.card(*task).await.unwrap().unwrap();
            let token = card.detail.tracking_token.clone().expect("a token");
            assert!(
                token.len() == 32 && token.bytes().all(|byte| byte.is_ascii_hexdigit()),
                "{token}"
            );
            assert_eq!(tx.card_tracked(&token).await.unwrap(), Some(card));
            assert_eq!(tx.card_tracked(&token[1..]).await.unwrap(), None);
            assert!(tokens.insert(token), "128 bits each");
        }
        drop(tx);
        let raw = Raw::of(&desk).await;
        raw.run("UPDATE task_detail SET tracking_token = NULL").await.unwrap();
        let mut tx = desk.read().await;
        assert_eq!(tx.card(tasks[0]).await.unwrap().unwrap().detail.tracking_token, None);
        for token in ["", "NULL", tokens.iter().next().unwrap()] {
            assert_eq!(tx.card_tracked(token).await.unwrap(), None, "{token:?}");
        }
    }
);

for_each_database!(two_tasks_can_not_share_a_link, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    write_tasks(&mut tx, &[1]).await;
    let second = creation(&north(&mut tx).await, 2, &order());
    let twin = [dispatch_desk::store::Created {
        creation: &second,
        request_key: "key-2",
        fingerprint: "f",
        tracking_token: "tracking-key-1".to_owned(),
    }];
    let twice = tx.insert_tasks(&twin).await;
    assert!(matches!(twice, Err(Error::Moved(_))), "{twice:?}");
});

for_each_database!(an_order_is_found_by_the_key_of_its_source, |desk| async move {
    let mut command = desk.command(shop(), What::Create(Box::new(order())));
    command.key = Some(Desk::key("order-17"));
    let task = desk.send(command).await.came.answer().task.expect("created").id;
    desk.create().await;
    let mut tx = desk.read().await;
    let found = tx.card_of_order("shop", "order-17").await.unwrap();
    assert_eq!(found, tx.card(task).await.unwrap());
    for (source, key) in [("Shop", "order-17"), ("shop", "order-1"), ("order-17", "shop"), ("", "")]
    {
        assert_eq!(tx.card_of_order(source, key).await.unwrap(), None, "{source} {key}");
    }
});
