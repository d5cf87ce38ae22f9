//! Reads: pages of tasks and events, deadlines, the ledger, and who was first.

use dispatch_desk::{
    domain::{
        command::{Act, Verb},
        id::{Revision, RiderId, TaskId, Timestamp},
        task::{OfferAnswer, OwnOffer},
    },
    store::{Due, Error},
};

use super::{raw::Raw, steps::write_tasks};
use crate::harness::*;

for_each_database!(tasks_are_read_page_by_page_and_a_corrupt_one_by_itself, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    let written = write_tasks(&mut tx, &[-5, 0, 3, i64::MAX]).await;
    tx.commit().await.unwrap();
    Raw::of(&desk)
        .await
        .run("UPDATE task SET changed_by_kind = 'rider', changed_by_id = 'x' WHERE id = 3")
        .await
        .unwrap();
    let mut tx = desk.read().await;
    let first = tx.tasks_after(TaskId(i64::MIN), 3).await.unwrap();
    assert_eq!(first.iter().map(|(id, _)| id.0).collect::<Vec<_>>(), [-5, 0, 3]);
    assert_eq!(first[0].1.as_ref().unwrap(), &written[0]);
    let corrupt = first[2].1.as_ref().expect_err("it means nothing");
    assert_eq!(corrupt.to_string(), "task row 3: changed_by_kind holds \"rider\"");
    let rest = tx.tasks_after(TaskId(3), 3).await.unwrap();
    assert_eq!(rest.iter().map(|(id, _)| id.0).collect::<Vec<_>>(), [i64::MAX]);
    assert!(tx.tasks_after(TaskId(i64::MAX), 3).await.unwrap().is_empty());
    let alone = tx.task(TaskId(3)).await;
    assert!(matches!(alone, Err(Error::Corrupt { .. })), "{alone:?}");
    assert_eq!(tx.task(TaskId(4)).await.unwrap(), None);
});

for_each_database!(a_riders_tasks_are_those_that_take_a_place, |desk| async move {
    let mut tasks = desk.create_many(3).await;
    tasks.sort_unstable();
    desk.done(rider(1), tasks[2], 1, GRAB).await;
    desk.done(D1, tasks[0], 1, offer(1)).await;
    let held = desk.read().await.held_by(RiderId(1)).await.unwrap();
    assert_eq!(held.iter().map(|task| task.id).collect::<Vec<_>>(), [tasks[0], tasks[2]]);
    for (revision, act) in [(2, Act::Arrive), (3, Act::PickUp), (4, Act::Deliver)] {
        desk.done(rider(1), tasks[2], revision, act).await;
    }
    let held = desk.read().await.held_by(RiderId(1)).await.unwrap();
    assert_eq!(held.iter().map(|task| task.id).collect::<Vec<_>>(), [tasks[0]], "delivered");
    assert_eq!(desk.read().await.held_by(RiderId(2)).await.unwrap(), []);
});

for_each_database!(the_log_is_read_by_number_and_by_task, |desk| async move {
    let one = desk.create().await;
    let two = desk.create().await;
    desk.done(rider(1), one, 1, GRAB).await;
    desk.done(rider(2), two, 1, GRAB).await;
    desk.done(D1, one, 2, CANCEL).await;
    let mut tx = desk.read().await;
    let mut numbers = Vec::new();
    let mut after = 0;
    loop {
        let page = tx.events_after(after, 2).await.unwrap();
        assert!(page.len() <= 2);
        let Some(last) = page.last() else { break };
        after = last.number;
        numbers.extend(page.iter().map(|event| event.number));
    }
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    assert_eq!(tx.head().await.unwrap(), (5, 5));

    let actions = |events: Vec<dispatch_desk::store::LoggedEvent>| {
        events.into_iter().map(|event| (event.task_id, event.action)).collect::<Vec<_>>()
    };
    let row = |task: TaskId, verb: Verb| (Some(task.0), verb.as_str().to_owned());
    let of_one = [row(one, Verb::Create), row(one, Verb::Grab), row(one, Verb::Cancel)];
    assert_eq!(actions(tx.events_of(one).await.unwrap()), of_one);
    assert_eq!(actions(tx.events_of(TaskId(1)).await.unwrap()), []);
    let both = tx.events_between(TaskId(one.0 - 1), two).await.unwrap();
    let mut expected = of_one.to_vec();
    expected.extend([row(two, Verb::Create), row(two, Verb::Grab)]);
    assert_eq!(actions(both), expected, "task by task");
    assert_eq!(actions(tx.events_between(one, two).await.unwrap()), expected[3..]);

    // Who was first: the event right after the revision that somebody names.
    let asked = [(one, 1), (two, 1), (one, 3), (one, i64::MAX), (one, i64::MIN), (TaskId(9), 1)];
    let asked = asked.map(|(task, revision)| (task, Revision(revision)));
    let mut first = tx.following(&asked).await.unwrap();
    first.sort_by_key(|event| event.number);
    assert_eq!(first.iter().map(|event| event.number).collect::<Vec<_>>(), [3, 4]);
    assert_eq!(tx.following(&[]).await.unwrap().len(), 0);
});

for_each_database!(deadlines_come_in_order_and_page_by_page, |desk| async move {
    let tasks = desk.create_many(5).await;
    let seconds = [20, 10, 10, 5, 600];
    for ((number, task), seconds) in (1..).zip(&tasks).zip(seconds) {
        let act = Act::Offer { rider: RiderId(number), seconds: Some(seconds), round: None };
        desk.done(D1, *task, 1, act).await;
    }
    // The lowest of two equal deadlines comes first, by its number.
    let until = |seconds: i64| NOON.plus_ms(seconds * 1_000);
    let due = |index: usize, seconds| Due {
        task: tasks[index],
        revision: Revision(2),
        until: until(seconds),
    };
    let start = (Timestamp(i64::MIN), TaskId(i64::MIN));
    let mut tx = desk.read().await;
    let all = tx.due(until(20), start, 10).await.unwrap();
    let mut tens = [due(1, 10), due(2, 10)];
    tens.sort_by_key(|due| due.task);
    assert_eq!(all, [due(3, 5), tens[0], tens[1], due(0, 20)]);
    let page = tx.due(until(20), start, 2).await.unwrap();
    assert_eq!(page, all[..2]);
    let rest = tx.due(until(20), (page[1].until, page[1].task), 2).await.unwrap();
    assert_eq!(rest, all[2..]);
    assert_eq!(tx.due(until(5).plus_ms(-1), start, 10).await.unwrap(), [], "not a moment early");
    assert_eq!(tx.next_deadline(NOON).await.unwrap(), Some(until(5)));
    assert_eq!(tx.next_deadline(until(5)).await.unwrap(), Some(until(10)));
    assert_eq!(tx.next_deadline(until(600)).await.unwrap(), None);
});

for_each_database!(a_riders_own_offers_are_told_oldest_first, |desk| async move {
    let task = desk.create().await;
    let other = desk.create().await;
    desk.done(D1, task, 1, offer(1)).await;
    desk.done(rider(1), task, 2, DECLINE).await;
    desk.done(D1, task, 3, offer(2)).await;
    desk.done(D1, task, 4, WITHDRAW).await;
    desk.done(D1, task, 5, offer(1)).await;
    let own = |revision, answer| OwnOffer { revision: Revision(revision), answer };
    let mut tx = desk.read().await;
    let asked = [(task, RiderId(1)), (task, RiderId(3)), (other, RiderId(1))];
    let mine = |own| (task, RiderId(1), own);
    assert_eq!(
        tx.own_offers(&asked).await.unwrap(),
        [mine(own(2, Some(OfferAnswer::Declined))), mine(own(6, None)),]
    );
    let theirs = tx.own_offers(&[(task, RiderId(2))]).await.unwrap();
    assert_eq!(theirs, [(task, RiderId(2), own(4, Some(OfferAnswer::Withdrawn)))]);
    assert_eq!(tx.own_offers(&[]).await.unwrap(), []);
    let tokens = [tx.offer_token(task, Revision(2)).await, tx.offer_token(task, Revision(6)).await];
    let [Ok(Some(one)), Ok(Some(two))] = tokens else { panic!("{tokens:?}") };
    assert!(one.len() == 32 && one != two, "128 bits each: {one} {two}");
});

for_each_database!(hand_backs_count_from_an_instant_on, |desk| async move {
    for (ms, number) in [(0, 1), (10, 1), (10, 2), (10, 1)] {
        desk.advance_ms(ms).await;
        let task = desk.create().await;
        desk.done(rider(number), task, 1, GRAB).await;
        desk.done(rider(number), task, 2, HAND_BACK).await;
    }
    let mut tx = desk.read().await;
    for (after_ms, expected) in [
        (0, vec![(1, 3), (2, 1)]),
        (10, vec![(1, 2), (2, 1)]),
        (11, vec![(1, 1), (2, 1)]),
        (30, vec![(1, 1)]),
        (31, vec![]),
    ] {
        let since = NOON.plus_ms(after_ms);
        let asked = [1, 2, 3].map(|number| (RiderId(number), since));
        let mut found = tx.hand_backs(&asked).await.unwrap();
        found.sort_unstable();
        let expected: Vec<_> = expected.into_iter().map(|(id, n)| (RiderId(id), n)).collect();
        assert_eq!(found, expected, "since {after_ms} ms after noon");
    }
    assert_eq!(tx.hand_backs(&[]).await.unwrap(), []);
});
