//! `apply`: what it makes of rows and offers, and that it does nothing at a revision that has passed.

use dispatch_desk::{
    domain::{
        command::{Act, Reason},
        id::{Revision, RiderId, TaskId},
        task::{OfferAnswer, StateName},
    },
    store::{Error, LedgerOffer, Steps},
};

use super::{
    raw::Raw,
    steps::{holding, north, step, tokens, write_tasks},
};
use crate::harness::*;

for_each_database!(a_row_and_its_offers_end_up_as_decided, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    let region = north(&mut tx).await;
    let tasks = write_tasks(&mut tx, &[1, 2]).await;
    let one = holding(&mut tx, 1, &[]).await;
    let two = holding(&mut tx, 2, &[]).await;

    // Task 1 within one transaction: offered, declined, offered to another one.
    let reason = Reason::parse("too_far");
    let decline = Act::Decline { reason: reason.clone() };
    let asked = step(&region, &D1, &tasks[0], &offer(1), &one);
    let declined = step(&region, &rider(1), asked.after(), &decline, &one);
    let again = step(&region, &D1, declined.after(), &offer(2), &two);
    let first = [asked, declined, again];
    // Task 2 over two: offered here, accepted below.
    let second = [step(&region, &D1, &tasks[1], &offer(1), &one)];
    let changes =
        [Steps { before: &tasks[0], steps: &first }, Steps { before: &tasks[1], steps: &second }];
    tx.apply(&changes, tokens("a")).await.unwrap();
    assert_eq!(
        tx.lock_tasks(&[TaskId(1), TaskId(2)]).await.unwrap(),
        [first[2].after().clone(), second[0].after().clone(),]
    );
    tx.commit().await.unwrap();

    let mut tx = desk.db.begin().await.unwrap();
    let before = tx.task(TaskId(2)).await.unwrap().expect("written");
    let accepted = [step(&region, &rider(1), &before, &Act::Accept, &one)];
    tx.apply(&[Steps { before: &before, steps: &accepted }], tokens("b")).await.unwrap();
    tx.commit().await.unwrap();

    let mut tx = desk.read().await;
    assert_eq!(tx.task(TaskId(2)).await.unwrap().as_ref(), Some(accepted[0].after()));
    let until = NOON.plus_ms(30_000);
    let ledger = |task, revision, rider, answer| LedgerOffer {
        task: TaskId(task),
        revision: Revision(revision),
        rider: RiderId(rider),
        until,
        answer,
    };
    assert_eq!(
        tx.offers_between(TaskId(0), TaskId(2)).await.unwrap(),
        [
            ledger(1, 2, 1, Some(OfferAnswer::Declined)),
            ledger(1, 4, 2, None),
            ledger(2, 2, 1, Some(OfferAnswer::Accepted)),
        ]
    );
    // Every offer has a token of its own; a revision that made none has none.
    let mut offers = Vec::new();
    for (task, revision) in [(1, 2), (1, 4), (2, 2), (1, 3)] {
        offers.push(tx.offer_token(TaskId(task), Revision(revision)).await.unwrap());
    }
    assert_eq!(offers, [Some("a-1".into()), Some("a-2".into()), Some("a-3".into()), None]);
    let raw = Raw::of(&desk).await;
    let reasons = raw.texts("SELECT COALESCE(reason, '-') FROM offer ORDER BY task_id, revision");
    assert_eq!(reasons.await, ["too_far", "-", "-"]);
});

for_each_database!(nothing_is_written_for_nothing, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    tx.apply(&[], || panic!("no token is wanted")).await.unwrap();
    tx.apply_edits(&[]).await.unwrap();
    tx.insert_tasks(&[]).await.unwrap();
    tx.insert_events(&[]).await.unwrap();
    tx.insert_attempts(&[]).await.unwrap();
    tx.insert_outcomes(&[]).await.unwrap();
    tx.commit().await.unwrap();
});

for_each_database!(a_stale_revision_moves_nothing_at_all, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    let region = north(&mut tx).await;
    let tasks = write_tasks(&mut tx, &[1, 2]).await;
    let (one, two) = (holding(&mut tx, 1, &[]).await, holding(&mut tx, 2, &[]).await);
    let mine = [step(&region, &rider(1), &tasks[0], &GRAB, &one)];
    tx.apply(&[Steps { before: &tasks[0], steps: &mine }], tokens("a")).await.unwrap();
    tx.commit().await.unwrap();

    // A second one has decided on the same page: task 2 is as it was, task 1 is not.
    let theirs = [step(&region, &D1, &tasks[0], &offer(2), &two)];
    let other = [step(&region, &D1, &tasks[1], &offer(2), &two)];
    let mut tx = desk.db.begin().await.unwrap();
    let late =
        [Steps { before: &tasks[1], steps: &other }, Steps { before: &tasks[0], steps: &theirs }];
    let moved = tx.apply(&late, tokens("b")).await;
    let Err(Error::Moved(what)) = moved else { panic!("{moved:?}") };
    assert_eq!(what, "1 of 2 rows of task were at their revision");
    drop(tx);
    let mut tx = desk.read().await;
    assert_eq!(tx.task(TaskId(1)).await.unwrap().as_ref(), Some(mine[0].after()));
    assert_eq!(tx.task(TaskId(2)).await.unwrap().as_ref(), Some(&tasks[1]));
    assert_eq!(tx.offers_between(TaskId(0), TaskId(9)).await.unwrap(), []);
});

for_each_database!(an_offer_that_was_answered_can_not_be_answered_again, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    let region = north(&mut tx).await;
    let tasks = write_tasks(&mut tx, &[1]).await;
    let one = holding(&mut tx, 1, &[]).await;
    let asked = [step(&region, &D1, &tasks[0], &offer(1), &one)];
    tx.apply(&[Steps { before: &tasks[0], steps: &asked }], tokens("a")).await.unwrap();
    tx.commit().await.unwrap();
    // Somebody has answered it in the ledger alone: the row and the ledger no longer fit.
    let raw = Raw::of(&desk).await;
    raw.run("UPDATE offer SET answer = 'declined', answered_at = 1").await.unwrap();
    let before = asked[0].after();
    let accepted = [step(&region, &rider(1), before, &Act::Accept, &one)];
    let mut tx = desk.db.begin().await.unwrap();
    let twice = tx.apply(&[Steps { before, steps: &accepted }], tokens("b")).await;
    assert!(matches!(twice, Err(Error::Moved(_))), "{twice:?}");
    drop(tx);
    assert_eq!(desk.task(TaskId(1)).await.state.name(), StateName::Offered);
});
