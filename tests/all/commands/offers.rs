//! Offers: declined, withdrawn, lapsed, and made for somebody else's task.

use dispatch_desk::domain::{
    command::{Act, Verb},
    id::{Revision, RiderId},
    policy::Policy,
    refusal::Code,
    task::{Stage, StateName},
};

use super::shown;
use crate::harness::*;

for_each_database!(a_declined_offer_leaves_the_task_open_at_once, |desk| async move {
    let task = desk.create().await;
    desk.done(D1, task, 1, offer(1)).await;
    let declined = desk.done(rider(1), task, 2, DECLINE).await;
    assert_eq!(shown(&declined), (StateName::Open, Revision(3)));
    // Asked again, the rider has done it already; and can not accept any more.
    let again = desk.ask(rider(1), task, 2, DECLINE).await;
    assert_eq!((again.is_success(), again.code.as_deref()), (true, Some("ALREADY_DONE")));
    desk.refused(rider(1), task, 3, Act::Accept, Code::NotInvited).await;
    desk.done(D2, task, 3, offer(2)).await;
    desk.refused(rider(1), task, 4, Act::Accept, Code::NotInvited).await;
    desk.done(rider(2), task, 4, Act::Accept).await;
    desk.check().await;
});

for_each_database!(a_withdrawn_offer_is_told_to_its_rider, |desk| async move {
    let task = desk.create().await;
    desk.refused(D1, task, 1, WITHDRAW, Code::NotOffered).await;
    desk.done(D1, task, 1, offer(1)).await;
    // Any dispatcher of the region may take it back, not only the one who made it.
    desk.done(D2, task, 2, WITHDRAW).await;
    let late = desk.refused(rider(1), task, 2, Act::Accept, Code::OfferWithdrawn).await;
    let first = late.beaten_by.expect("who was first");
    assert_eq!((first.action, first.by.as_str()), (Verb::Withdraw, "D2"));
    desk.refused(rider(1), task, 2, DECLINE, Code::OfferWithdrawn).await;
    desk.refused(rider(1), task, 3, Act::Accept, Code::OfferWithdrawn).await;
    // A new offer is answered by itself, whatever became of the old one.
    desk.done(D1, task, 3, offer(1)).await;
    desk.refused(rider(1), task, 2, Act::Accept, Code::OfferWithdrawn).await;
    desk.done(rider(1), task, 4, Act::Accept).await;
    desk.check().await;
});

for_each_database!(the_last_moment_to_accept_is_just_before_the_deadline, |desk| async move {
    let (one, two) = (desk.create().await, desk.create().await);
    for task in [one, two] {
        desk.done(D1, task, 1, offer(1)).await;
    }
    desk.advance_ms(29_999).await;
    desk.done(rider(1), one, 2, Act::Accept).await;
    desk.advance_ms(1).await;
    let late = desk.refused(rider(1), two, 2, Act::Accept, Code::OfferExpired).await;
    assert_eq!(shown(&late), (StateName::Open, Revision(3)));
    desk.check().await;
});

for_each_database!(a_reoffer_that_lapses_leaves_the_task_open, |desk| async move {
    let task = desk.create().await;
    desk.done(rider(1), task, 1, GRAB).await;
    desk.done(rider(1), task, 2, Act::Arrive).await;
    desk.refused(D1, task, 3, reassign(1), Code::SameRider).await;
    let unasked =
        Act::Reassign { rider: RiderId(2), seconds: None, handover_confirmed: false, reason: None };
    desk.refused(D1, task, 3, unasked, Code::HandoverNotConfirmed).await;
    let asked = desk.done(D1, task, 3, reassign(2)).await;
    assert_eq!(shown(&asked), (StateName::Offered, Revision(4)));
    // The owner loses the task at this moment, with the stage that was reached.
    desk.refused(rider(1), task, 4, Act::PickUp, Code::NotOwner).await;
    desk.refused(rider(1), task, 4, HAND_BACK, Code::NotOwner).await;
    desk.advance_ms(30_000).await;
    // It lapses: the task is open, and not back with the one who had it.
    let late = desk.refused(rider(2), task, 4, Act::Accept, Code::OfferExpired).await;
    assert_eq!(shown(&late), (StateName::Open, Revision(5)));
    desk.refused(rider(1), task, 5, Act::PickUp, Code::NotOwner).await;
    let again = desk.done(rider(1), task, 5, GRAB).await;
    let stage = again.task.and_then(|task| task.stage);
    assert_eq!(stage, Some(Stage::Waiting), "from the beginning");
    desk.check().await;
});

for_each_database!(a_reoffer_is_accepted_or_declined_like_any_other, |desk| async move {
    let task = desk.create().await;
    desk.refused(D1, task, 1, reassign(2), Code::NotAssigned).await;
    desk.done(rider(1), task, 1, GRAB).await;
    desk.done(D1, task, 2, reassign(2)).await;
    desk.refused(D1, task, 3, reassign(3), Code::NotAssigned).await;
    desk.done(rider(2), task, 3, Act::Accept).await;
    desk.done(D1, task, 4, reassign(3)).await;
    let declined = desk.done(rider(3), task, 5, DECLINE).await;
    assert_eq!(shown(&declined), (StateName::Open, Revision(6)));
    desk.check().await;
});

for_each_database!(an_offer_lasts_as_long_as_the_policy_allows, |desk| async move {
    let task = desk.create().await;
    let lasting = |seconds| Act::Offer { rider: RiderId(1), seconds: Some(seconds), round: None };
    for seconds in [0, 4, 601, u32::MAX] {
        assert_eq!(desk.turned_away(D1, task, 1, lasting(seconds)).await, "OFFER_SECONDS");
    }
    let mut revision = 1;
    for seconds in [5, 600] {
        let asked = desk.done(D1, task, revision, lasting(seconds)).await;
        let until = asked.task.and_then(|task| task.offer_until);
        assert_eq!(until, Some(NOON.plus_ms(i64::from(seconds) * 1_000)));
        desk.done(D1, task, revision + 1, WITHDRAW).await;
        revision += 2;
    }
    desk.done(rider(2), task, revision, GRAB).await;
    let again = Act::Reassign {
        rider: RiderId(1),
        seconds: Some(601),
        handover_confirmed: true,
        reason: None,
    };
    assert_eq!(desk.turned_away(D1, task, revision + 1, again).await, "OFFER_SECONDS");
    desk.check().await;
});

for_each_database!(an_answer_stays_the_same_when_the_limits_have_changed, |desk| async move {
    let task = desk.create().await;
    let long = Act::Offer { rider: RiderId(1), seconds: Some(600), round: None };
    let sent = desk.try_change(D1, task, 1, long.clone()).await;
    assert!(sent.came.is_success(), "{sent:?}");
    let shorter = Policy { version: 2, offer_seconds_max: 60, ..Policy::default() };
    desk.policy(NORTH, NOON, shorter).await;
    let again = desk.again(&sent).await;
    let (first, second) = (node::back(&sent.came), node::back(&again.came));
    assert_eq!(first.body, second.body);
    assert!(second.replayed);
    // A new one has to keep to them.
    desk.done(D1, task, 2, WITHDRAW).await;
    let new = desk.change(D1, task, 3, long);
    let first = desk.send(new.clone()).await;
    assert_eq!(first.came.code(), "OFFER_SECONDS");
    // Nothing was stored under that key, so it says the same again, and is free.
    assert_eq!(desk.again(&first).await.came.code(), "OFFER_SECONDS");
    let fits = desk.change(D1, task, 3, offer(1));
    let fits = dispatch_desk::domain::command::Command { key: new.key, ..fits };
    assert!(desk.send(fits).await.came.is_success());
    desk.check().await;
});

for_each_database!(the_release_of_an_offer_that_is_not_due_is_refused, |desk| async move {
    let task = desk.create().await;
    desk.done(D1, task, 1, offer(1)).await;
    let system = dispatch_desk::domain::command::Actor::System;
    let expire = |revision| desk.change(system.clone(), task, revision, Act::Expire);
    desk.advance_ms(29_999).await;
    let early = desk.send(expire(2)).await;
    assert_eq!(early.came.code(), Code::NotOffered.as_str());
    desk.advance_ms(1).await;
    // A timer that was armed for another offer releases nothing.
    assert_eq!(desk.send(expire(1)).await.came.code(), Code::StaleRevision.as_str());
    let released = desk.send(expire(2)).await.came.answer();
    assert_eq!(shown(&released), (StateName::Open, Revision(3)));
    assert_eq!(desk.send(expire(2)).await.came.code(), Code::StaleRevision.as_str());
    // Nobody but the system may.
    for actor in [D1, SUPERVISOR, ADMIN, rider(1), shop()] {
        assert_eq!(desk.turned_away(actor, task, 3, Act::Expire).await, "FORBIDDEN");
    }
    desk.check().await;
});
