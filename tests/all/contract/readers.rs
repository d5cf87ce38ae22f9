//! Readers of the log who may not see all of it, and readers of the ledger.

use std::sync::atomic::{AtomicBool, Ordering};

use dispatch_desk::{
    domain::{
        command::{Act, NewTask, Reason},
        id::{RegionId, Revision, RiderId, TaskId, Timestamp},
        task::OfferAnswer,
    },
    store::{Error, EventRow, Offered, Tx},
};

use super::raw::Raw;
use crate::harness::*;

fn in_the_south() -> NewTask {
    NewTask { region: SOUTH, ..order() }
}

/// A page: what is on it, how far it goes, and the end of the log.
async fn page(tx: &mut Tx, regions: &[RegionId], after: i64, limit: i64) -> (Vec<i64>, i64, i64) {
    let page = tx.events_of_regions(regions, after, limit, true).await.unwrap();
    assert_eq!(page.after, after);
    let regions: Vec<_> = regions.iter().map(|region| Some(region.0)).collect();
    assert!(page.items.iter().all(|event| regions.contains(&event.region_id)), "{page:?}");
    (page.items.iter().map(|event| event.number).collect(), page.through, page.head)
}

/// Events 1 to 6: north, south, north, south, south, and a rider's, which is of no region.
async fn six_events(desk: &Desk) {
    for to_the_north in [true, false, true, false, false] {
        desk.create_with(if to_the_north { order() } else { in_the_south() }).await;
    }
    let mut tx = desk.db.begin().await.unwrap();
    let (number, _) = tx.take_numbers(1, 0).await.unwrap();
    let row = EventRow::of_rider(number, "e".into(), RiderId(1), None, &ADMIN, NOON, "{}".into());
    tx.insert_events(&[row]).await.unwrap();
    tx.commit().await.unwrap();
}

for_each_database!(a_page_of_the_log_says_how_far_it_goes, |desk| async move {
    let mut tx = desk.read().await;
    assert_eq!(page(&mut tx, &[NORTH], 0, 3).await, (vec![], 0, 0), "nothing has happened");
    drop(tx);
    six_events(&desk).await;
    let mut tx = desk.read().await;
    for (after, limit, items, through) in [
        // A full page goes as far as its last event.
        (0, 1, vec![1], 1),
        (1, 1, vec![3], 3),
        (0, 2, vec![1, 3], 3),
        // One that is not full goes to the end: what lies behind is not for this reader.
        (0, 3, vec![1, 3], 6),
        (1, 2, vec![3], 6),
        (3, 1, vec![], 6),
        (5, 1, vec![], 6),
        (6, 1, vec![], 6),
        // Beyond the end, as after a restored backup, it stays where it is.
        (9, 1, vec![], 9),
        (0, 0, vec![], 0),
        (2, 0, vec![], 2),
    ] {
        let found = page(&mut tx, &[NORTH], after, limit).await;
        assert_eq!(found, (items, through, 6), "after {after}, by {limit}");
    }
    assert_eq!(page(&mut tx, &[SOUTH, NORTH], 1, 3).await, (vec![2, 3, 4], 4, 6));
    assert_eq!(page(&mut tx, &[NORTH, SOUTH, SOUTH], 0, 9).await, (vec![1, 2, 3, 4, 5], 6, 6));
    assert_eq!(page(&mut tx, &[RegionId(99)], 0, 9).await, (vec![], 6, 6));
    assert_eq!(page(&mut tx, &[], 2, 9).await, (vec![], 6, 6));
});

/// All events for `regions`, page by page, each page from where the last one ended.
async fn walk(desk: &Desk, regions: &[RegionId], limit: i64, ended: impl Fn() -> bool) -> Vec<i64> {
    let (mut found, mut at) = (Vec::new(), 0);
    loop {
        let over = ended();
        let mut tx = desk.read().await;
        let (items, through, head) = page(&mut tx, regions, at, limit).await;
        assert!(at <= through && through <= head, "{at} {through} {head}");
        found.extend(items);
        if over && through == head {
            return found;
        }
        at = through;
    }
}

async fn filtered(desk: &Desk, regions: &[RegionId]) -> Vec<i64> {
    let all = desk.read().await.events_after(0, 10_000).await.unwrap();
    let seen =
        all.iter().filter(|event| regions.iter().any(|region| event.region_id == Some(region.0)));
    seen.map(|event| event.number).collect()
}

for_each_database!(page_by_page_nothing_is_missing_and_nothing_comes_twice, |desk| async move {
    six_events(&desk).await;
    desk.create().await;
    for regions in [&[NORTH][..], &[SOUTH], &[NORTH, SOUTH], &[RegionId(99)]] {
        let expected = filtered(&desk, regions).await;
        for limit in 1..=3 {
            assert_eq!(walk(&desk, regions, limit, || true).await, expected, "{regions:?}");
        }
    }
});

for_each_database!(nothing_is_missed_while_others_write, |desk| async move {
    let written = AtomicBool::new(false);
    let write = async {
        for _ in 0..10 {
            let new = |number| if number % 2 == 0 { order() } else { in_the_south() };
            let batch = (0..8).map(|number| desk.create_with(new(number)));
            futures_util::future::join_all(batch).await;
        }
        written.store(true, Ordering::SeqCst);
    };
    let ended = || written.load(Ordering::SeqCst);
    let read = async {
        tokio::join!(
            walk(&desk, &[SOUTH], 1, ended),
            walk(&desk, &[NORTH], 3, ended),
            walk(&desk, &[NORTH, SOUTH], 2, ended)
        )
    };
    let ((), (south, north, both)) = tokio::join!(write, read);
    assert_eq!(south, filtered(&desk, &[SOUTH]).await);
    assert_eq!(north, filtered(&desk, &[NORTH]).await);
    assert_eq!(both, (1..=80).collect::<Vec<_>>());
});

for_each_database!(an_offer_is_read_by_name_by_task_and_by_rider, |desk| async move {
    let task = desk.create().await;
    let other = desk.create().await;
    let reason = Reason::parse("too_far");
    desk.done(D1, task, 1, offer(1)).await;
    desk.advance_ms(5).await;
    desk.done(rider(1), task, 2, Act::Decline { reason: reason.clone() }).await;
    desk.done(D1, task, 3, offer(2)).await;
    desk.done(D1, task, 4, WITHDRAW).await;
    desk.done(D1, task, 5, offer(1)).await;
    desk.done(D1, other, 1, offer(1)).await;

    let mut tx = desk.read().await;
    let offered = |task, revision, rider, ms, answered, reason: Option<&str>| Offered {
        token: String::new(),
        task,
        revision: Revision(revision),
        rider: RiderId(rider),
        at: NOON.plus_ms(ms),
        until: NOON.plus_ms(ms + 30_000),
        answered,
        reason: reason.map(str::to_owned),
        policy_version: 1,
    };
    let at = NOON.plus_ms(5);
    let mut of_task = [
        offered(task, 2, 1, 0, Some((OfferAnswer::Declined, at)), Some("too_far")),
        offered(task, 4, 2, 5, Some((OfferAnswer::Withdrawn, at)), None),
        offered(task, 6, 1, 5, None, None),
    ];
    let mut of_other = [offered(other, 2, 1, 5, None, None)];
    for expected in of_task.iter_mut().chain(&mut of_other) {
        let token = tx.offer_token(expected.task, expected.revision).await.unwrap();
        expected.token = token.expect("every offer has a name");
        let found = tx.offer(&expected.token).await.unwrap();
        assert_eq!(found.as_ref(), Some(&*expected));
    }
    assert_eq!(tx.offer("").await.unwrap(), None);
    assert_eq!(tx.offer(&of_task[0].token.to_uppercase()).await.unwrap(), None);
    assert_eq!(tx.offers_of(task).await.unwrap(), of_task);
    assert_eq!(tx.offers_of(other).await.unwrap(), of_other);
    assert_eq!(tx.offers_of(TaskId(1)).await.unwrap(), []);

    // The latest first, and of one instant the later task.
    let [first, second, third] = of_task;
    let mine = [of_other[0].clone(), third, first];
    for (since, limit, expected) in [
        (Timestamp(0), 9, &mine[..]),
        (NOON, 2, &mine[..2]),
        (NOON, 0, &[]),
        (NOON.plus_ms(1), 9, &mine[..2]),
        (at, 9, &mine[..2]),
        (at.plus_ms(1), 9, &[]),
    ] {
        let found = tx.offers_to(RiderId(1), since, limit).await.unwrap();
        assert_eq!(found, expected, "since {since}, {limit} at most");
    }
    assert_eq!(tx.offers_to(RiderId(2), NOON, 9).await.unwrap(), [second]);
    assert_eq!(tx.offers_to(RiderId(3), NOON, 9).await.unwrap(), []);
});

for_each_database!(a_touch_needs_a_writer_and_changes_nothing, |desk| async move {
    desk.create().await;
    let raw = Raw::of(&desk).await;
    let before = raw.dump_all().await;
    let mut tx = desk.db.begin().await.unwrap();
    tx.touch().await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(raw.dump_all().await, before);
    let refused = desk.read().await.touch().await;
    assert!(matches!(refused, Err(Error::ReadOnly(_))), "{refused:?}");
});

for_each_database!(
    a_page_for_those_who_dispatch_has_no_admin_events_and_is_full,
    |desk| async move {
        desk.create().await;
        desk.executor.end_sessions(&ADMIN, &D1).await.unwrap();
        desk.executor.end_sessions(&ADMIN, &D2).await.unwrap();
        desk.create().await;
        let mut tx = desk.read().await;
        let page = tx.events_of_regions(&[NORTH], 0, 2, false).await.unwrap();
        let numbers: Vec<_> = page.items.iter().map(|event| event.number).collect();
        assert_eq!((numbers, page.through, page.head), (vec![1, 4], 4, 4));
        let page = tx.events_of_regions(&[NORTH], 0, 2, true).await.unwrap();
        let numbers: Vec<_> = page.items.iter().map(|event| event.number).collect();
        assert_eq!((numbers, page.through, page.head), (vec![1, 2], 2, 4));
    }
);
