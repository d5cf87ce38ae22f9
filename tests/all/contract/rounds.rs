//! Rounds, their ledger, searches, fair windows and the manual pool.

use std::collections::HashMap;

use dispatch_desk::{
    domain::{
        command::Act,
        id::{RiderId, TaskId, Timestamp},
        rank::{Before, LeftOut},
        round::{PoolReason, RoundAnswer, RoundStatus},
    },
    store::{
        Begin, HeldTicket, Intent, LedgerLine, PoolListing, Pooled, Requests, RoundEnd, Searched,
    },
};

use super::raw::Raw;
use crate::harness::{rounds::*, *};

const SOON: Timestamp = NOON.plus_ms(20_000);

for_each_database!(a_round_is_read_back_as_it_was_written, |desk| async move {
    let task = desk.create().await;
    let mut tx = desk.db.begin().await.unwrap();
    let number = tx.take_round_number().await.unwrap();
    assert_eq!(tx.take_round_number().await.unwrap(), number + 1);
    assert!(tx.wait_for_task(task).await.unwrap() && !tx.wait_for_task(TaskId(1)).await.unwrap());
    let one = round(number, task, NOON, SOON);
    let mut ledger = members(&one, &[(2, "b"), (1, "a")]);
    ledger.push(LedgerLine {
        round: number,
        rider: RiderId(3),
        distance_m: None,
        asked: Err(LeftOut::OffDuty),
    });
    tx.insert_round(&one, &ledger).await.unwrap();
    assert_eq!(tx.round(number).await.unwrap(), Some(one.clone()));
    assert_eq!(tx.round(99).await.unwrap(), None);
    assert_eq!(tx.rounds_of(task).await.unwrap(), std::slice::from_ref(&one));
    assert_eq!(tx.ledger_of(task).await.unwrap(), ledger);
    // An answer counts once, and from a member alone.
    assert!(tx.decline_round(number, RiderId(1), NOON).await.unwrap());
    assert!(!tx.decline_round(number, RiderId(1), NOON).await.unwrap(), "it has answered");
    assert!(!tx.decline_round(number, RiderId(2), SOON).await.unwrap(), "it is over");
    assert!(!tx.decline_round(number, RiderId(3), NOON).await.unwrap(), "it was not asked");
    tx.note_shown(&[(number, RiderId(2), NOON), (number, RiderId(3), NOON)]).await.unwrap();
    tx.note_shown(&[(number, RiderId(2), SOON)]).await.unwrap();
    let ledger = tx.ledger_of(task).await.unwrap();
    let second = ledger[0].asked.as_ref().unwrap();
    assert_eq!((second.shown_at, second.answered), (Some(NOON), None));
    let declined = Some((RoundAnswer::Declined, NOON));
    assert_eq!(ledger[1].asked.as_ref().unwrap().answered, declined);
    // It ends once; only what ended without anybody can turn out to be the last.
    assert!(tx.end_round(number, RoundStatus::Passed, SOON).await.unwrap());
    assert!(!tx.end_round(number, RoundStatus::Placed, SOON).await.unwrap());
    tx.exhaust_round(number).await.unwrap();
    let ended = tx.round(number).await.unwrap().unwrap();
    assert_eq!((ended.status, ended.ended_at), (RoundStatus::Exhausted, Some(SOON)));
});

for_each_database!(a_ticket_is_held_while_it_is_good, |desk| async move {
    let task = desk.create().await;
    let mut tx = desk.db.begin().await.unwrap();
    let mut one = round(7, task, NOON, SOON);
    let mut ledger = members(&one, &[(1, "a"), (2, "b"), (3, "c")]);
    ledger[2].asked.as_mut().unwrap().sent_at = NOON.plus_ms(3_000);
    tx.insert_round(&one, &ledger).await.unwrap();
    let held =
        HeldTicket { task, round: 7, step: 1, nonce: "a".to_owned(), until: SOON, shown_at: None };
    assert_eq!(tx.tickets(RiderId(1), NOON).await.unwrap(), [held]);
    let count = async |tx: &mut dispatch_desk::store::Tx, rider, now| {
        tx.tickets(RiderId(rider), now).await.unwrap().len()
    };
    assert_eq!(count(&mut tx, 1, SOON).await, 0, "it is over");
    assert_eq!(count(&mut tx, 3, NOON.plus_ms(2_999)).await, 0, "it is not shown yet");
    assert_eq!(count(&mut tx, 3, NOON.plus_ms(3_000)).await, 1);
    assert_eq!(count(&mut tx, 4, NOON).await, 0);
    tx.decline_round(7, RiderId(1), NOON).await.unwrap();
    assert_eq!(count(&mut tx, 1, NOON).await, 0);
    // What takes the task away ends it, and says through whom.
    let end = RoundEnd {
        task,
        status: RoundStatus::Placed,
        at: NOON,
        answer: Some((RiderId(2), RoundAnswer::Grabbed)),
    };
    tx.end_rounds(&[end]).await.unwrap();
    one.status = RoundStatus::Placed;
    one.ended_at = Some(NOON);
    assert_eq!(tx.round(7).await.unwrap(), Some(one));
    let ledger = tx.ledger_of(task).await.unwrap();
    let grabbed = Some((RoundAnswer::Grabbed, NOON));
    assert_eq!(ledger[1].asked.as_ref().unwrap().answered, grabbed);
    assert_eq!(count(&mut tx, 2, NOON).await, 0);
    tx.end_rounds(&[]).await.unwrap();
});

for_each_database!(a_search_acts_when_it_is_due, |desk| async move {
    let tasks = desk.create_many(3).await;
    let [one, two, three] = tasks[..] else { panic!("three") };
    let mut tx = desk.db.begin().await.unwrap();
    let begin = |task, due, since| Begin { task, due, since };
    let both = [begin(one, SOON, NOON), begin(two, NOON, NOON)];
    assert_eq!(tx.begin_searches(&both).await.unwrap(), 2);
    assert_eq!(tx.begin_searches(&both).await.unwrap(), 0, "what is searched for already is");
    assert_eq!(tx.begin_searches(&[]).await.unwrap(), 0);
    assert_eq!(tx.search_of(one).await.unwrap(), Some((SOON, 1)));
    assert_eq!(tx.search_of(three).await.unwrap(), None);
    assert_eq!(tx.due_searches(NOON, 9).await.unwrap(), [(two, NOON)]);
    assert_eq!(tx.due_searches(SOON, 9).await.unwrap(), [(two, NOON), (one, SOON)]);
    assert_eq!(tx.due_searches(SOON, 1).await.unwrap(), [(two, NOON)]);
    assert_eq!(tx.next_search(NOON).await.unwrap(), Some(SOON));
    assert_eq!(tx.next_search(SOON).await.unwrap(), None);
    assert_eq!(tx.hurry(&[(one, NOON), (three, NOON)]).await.unwrap(), 1);
    assert_eq!(tx.hurry(&[(one, SOON)]).await.unwrap(), 0, "what is due before that stays so");
    assert_eq!(tx.hurry(&[]).await.unwrap(), 0);
    assert_eq!(tx.searching(&[three, one]).await.unwrap(), [one]);
    assert_eq!(tx.searching(&[]).await.unwrap(), []);
    tx.set_search(three, SOON, 4).await.unwrap();
    tx.set_search(three, NOON, 5).await.unwrap();
    assert_eq!(tx.search_of(three).await.unwrap(), Some((NOON, 5)));
    assert_eq!(tx.end_searches(&[one, two]).await.unwrap(), 2);
    assert_eq!(tx.end_searches(&[]).await.unwrap(), 0);
    // A log that is read twice begins nothing twice; what happens after the round begins the next search.
    a_round(&mut tx, 1, one, (NOON, SOON), &[(1, "a")]).await;
    assert_eq!(tx.begin_searches(&[begin(one, SOON, NOON)]).await.unwrap(), 0);
    let later = NOON.plus_ms(1);
    assert_eq!(tx.begin_searches(&[begin(one, later, later)]).await.unwrap(), 1);
    assert_eq!(tx.search_of(one).await.unwrap(), Some((later, 2)));
    let mut searched = tx.searched(&[one, two, three]).await.unwrap();
    searched.sort_by_key(|found| found.task);
    let expected = [(one, true), (three, false)];
    assert_eq!(searched, expected.map(|(task, running)| Searched { task, running }));
});

for_each_database!(a_reader_that_acts_never_goes_back, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    assert_eq!(tx.log_cursor("rounds").await.unwrap(), 0);
    for (set, kept) in [(7, 7), (5, 7), (i64::MAX, i64::MAX)] {
        tx.set_log_cursor("rounds", set).await.unwrap();
        assert_eq!(tx.log_cursor("rounds").await.unwrap(), kept);
    }
    assert_eq!(tx.log_cursor("nobody").await.unwrap(), 0);
});

for_each_database!(the_window_of_a_round_ends_for_all_its_grabs_at_once, |desk| async move {
    let task = desk.create().await;
    let mut tx = desk.db.begin().await.unwrap();
    a_round(&mut tx, 1, task, (NOON, SOON), &[(2, "b"), (1, "a")]).await;
    let intent = |number: i64| Intent {
        round: 1,
        rider: RiderId(number),
        command: desk.change(rider(number), task, 1, GRAB),
        principal: rider(number).principal(),
        request_key: format!("k{number}"),
    };
    let (first, second) = (intent(1), intent(2));
    let end = NOON.plus_ms(2_000);
    tx.intend(&first, "f1", NOON, end).await.unwrap();
    tx.intend(&second, "f2", NOON.plus_ms(500), end.plus_ms(500)).await.unwrap();
    tx.intend(&first, "other", NOON, end.plus_ms(900)).await.unwrap();
    let known = tx.intent(&first.principal, "k1").await.unwrap();
    assert_eq!(known, Some(("f1".to_owned(), end)), "the first one stays");
    let known = tx.intent(&second.principal, "k2").await.unwrap();
    assert_eq!(known, Some(("f2".to_owned(), end)), "the window does not grow");
    assert_eq!(tx.intent("nobody", "k1").await.unwrap(), None);
    assert_eq!(tx.next_search(NOON).await.unwrap(), Some(end));
    assert!(tx.due_intents(end.plus_ms(-1), 9).await.unwrap().is_empty());
    // R2 has the better rank.
    let due = tx.due_intents(end, 9).await.unwrap();
    assert_eq!(due.iter().map(|due| due.rider.0).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(due[0].command, second.command);
    tx.intent_done(&second.principal, "k2").await.unwrap();
    assert_eq!(tx.due_intents(end, 9).await.unwrap().len(), 1);
});

for_each_database!(the_manual_pool_is_read_from_the_oldest_on, |desk| async move {
    let mut tasks = desk.create_many(3).await;
    tasks.sort_unstable();
    let mut tx = desk.db.begin().await.unwrap();
    let pooled = |place: usize, ms, cell| Pooled {
        task: tasks[place],
        region: NORTH,
        cell,
        since: NOON.plus_ms(ms),
        reason: PoolReason::AllDeclined,
    };
    let (old, new, far) = (pooled(0, 0, 7), pooled(1, 5, 7), pooled(2, 5, i64::MAX));
    for one in [new, old, far] {
        tx.enter_pool(&one).await.unwrap();
    }
    tx.enter_pool(&Pooled { since: SOON, ..old }).await.unwrap();
    assert_eq!(tx.pooled(old.task).await.unwrap(), Some(old), "it keeps its age");
    assert_eq!(tx.pooled(TaskId(1)).await.unwrap(), None);
    let all = PoolListing { regions: &[NORTH], cell: None, beyond: None, limit: 9 };
    assert_eq!(tx.manual_pool(&all).await.unwrap(), [old, new, far]);
    let cell = PoolListing { cell: Some(7), ..all };
    assert_eq!(tx.manual_pool(&cell).await.unwrap(), [old, new]);
    let next = PoolListing { beyond: Some((new.since, new.task)), ..all };
    assert_eq!(tx.manual_pool(&next).await.unwrap(), [far]);
    let first = PoolListing { limit: 1, ..all };
    assert_eq!(tx.manual_pool(&first).await.unwrap(), [old]);
    let foreign = PoolListing { regions: &[SOUTH], ..all };
    assert_eq!(tx.manual_pool(&foreign).await.unwrap(), []);
    assert_eq!(tx.count_pool(&[NORTH, SOUTH]).await.unwrap(), (3, Some(NOON)));
    assert_eq!(tx.count_pool(&[SOUTH]).await.unwrap(), (0, None));
    assert_eq!(tx.leave_pool(&[old.task, TaskId(1)]).await.unwrap(), 1);
    assert_eq!(tx.leave_pool(&[]).await.unwrap(), 0);
    assert_eq!(tx.manual_pool(&all).await.unwrap(), [new, far]);
});

for_each_database!(what_riders_did_is_counted_for_their_rank, |desk| async move {
    let (one, two) = (desk.create().await, desk.create().await);
    desk.done(D1, one, 1, offer(1)).await;
    desk.done(rider(1), one, 2, DECLINE).await;
    desk.done(D1, one, 3, offer(2)).await;
    desk.advance_ms(30_000).await;
    desk.done(D1, one, 4, offer(3)).await;
    desk.done(rider(3), one, 6, Act::Accept).await;
    desk.done(rider(3), one, 7, HAND_BACK).await;
    let mut tx = desk.db.begin().await.unwrap();
    let asked = [(1, "a"), (2, "b")];
    a_round(&mut tx, 1, two, (NOON, SOON), &asked).await;
    let riders = [RiderId(1), RiderId(2), RiderId(3), RiderId(4)];
    let requests = tx.requests_of(&riders, NOON).await.unwrap();
    let of = |asked, answered| Requests { asked, answered };
    let expected = [(1, of(1, 1)), (2, of(1, 0)), (3, of(1, 1))];
    let expected = expected.map(|(rider, requests)| (RiderId(rider), requests));
    assert_eq!(requests, HashMap::from(expected), "a round that runs says nothing yet");
    tx.end_round(1, RoundStatus::Passed, SOON).await.unwrap();
    let requests = tx.requests_of(&riders, NOON).await.unwrap();
    assert_eq!(requests[&RiderId(2)], of(2, 0));
    assert!(tx.requests_of(&riders, NOON.plus_ms(90_000)).await.unwrap().is_empty());
    assert!(tx.requests_of(&[], NOON).await.unwrap().is_empty());
    let work = tx.last_work_of(&riders, NOON).await.unwrap();
    assert_eq!(work, HashMap::from([(RiderId(3), NOON.plus_ms(30_000))]));
    assert!(tx.last_work_of(&riders, NOON.plus_ms(90_000)).await.unwrap().is_empty());
    assert!(tx.last_work_of(&[], NOON).await.unwrap().is_empty());
    let before = tx.before(one).await.unwrap();
    let expected = [(RiderId(1), Before::Declined), (RiderId(3), Before::HandedBack)];
    assert_eq!(before, HashMap::from(expected));
    tx.reset_declines(one, NOON.plus_ms(30_000)).await.unwrap();
    tx.reset_declines(one, NOON).await.unwrap();
    assert!(tx.before(one).await.unwrap().is_empty());
    let seen = tx.riders_seen(&riders[..2]).await.unwrap();
    assert_eq!(seen.iter().map(|rider| rider.id.0).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(tx.riders_seen(&[]).await.unwrap(), []);
    let on_duty = i64::from(tx.count_on_duty(NORTH).await.unwrap());
    assert_eq!(on_duty, RIDERS);
    assert_eq!(tx.riders_on_duty(NORTH, 2).await.unwrap(), [RiderId(1), RiderId(2)]);
});

// A ledger that somebody wrote by hand, or another version, is no reason to read nonsense.
for_each_database!(a_ledger_that_makes_no_sense_is_said_so, |desk| async move {
    let task = desk.create().await;
    let mut tx = desk.db.begin().await.unwrap();
    a_round(&mut tx, 1, task, (NOON, SOON), &[(1, "a")]).await;
    tx.commit().await.unwrap();
    let raw = Raw::of(&desk).await;
    raw.run("UPDATE round_candidate SET factors = 'none'").await.unwrap();
    let read = desk.read().await.ledger_of(task).await.unwrap_err();
    assert!(read.to_string().contains("factors"), "{read}");
});
