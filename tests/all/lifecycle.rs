//! One task from order to delivery, and the seed's counter-examples, told as conversations.

use dispatch_desk::domain::{
    command::{Act, Verb},
    id::RiderId,
    refusal::Code,
    task::StateName,
};

use crate::harness::*;

for_each_database!(an_invited_rider_accepts_and_delivers, |desk| async move {
    let task = desk.create().await;
    let invited = desk.done(D1, task, 1, offer(1)).await;
    assert_eq!(invited.task.as_ref().map(|task| task.state), Some(StateName::Offered));

    desk.refused(rider(2), task, 1, GRAB, Code::StaleRevision).await;
    desk.refused(rider(2), task, 2, GRAB, Code::NotOpen).await;
    desk.refused(rider(2), task, 2, Act::Accept, Code::NotInvited).await;
    desk.done(rider(1), task, 2, Act::Accept).await;
    desk.refused(rider(1), task, 3, Act::PickUp, Code::WrongStage).await;
    desk.done(rider(1), task, 3, Act::Arrive).await;
    desk.done(rider(1), task, 4, Act::PickUp).await;
    desk.refused(D1, task, 5, CANCEL, Code::PickedUp).await;
    let delivered = desk.done(rider(1), task, 5, Act::Deliver).await;
    assert_eq!(delivered.legal, Vec::<Verb>::new());
    desk.refused(D1, task, 6, CANCEL, Code::Delivered).await;
    desk.check().await;
});

for_each_database!(a_lapsed_offer_is_released_by_whoever_touches_it, |desk| async move {
    let task = desk.create().await;
    desk.done(D1, task, 1, offer(1)).await;
    desk.advance_ms(30_000).await;
    // R2 looks at a page that still shows the dead offer, and grabs from it.
    let grabbed = desk.done(rider(2), task, 2, GRAB).await;
    let revisions = grabbed.event.map(|event| (event.from_revision.0, event.to_revision.0));
    assert_eq!(revisions, Some((3, 4)));
    let late = desk.refused(rider(1), task, 2, Act::Accept, Code::OfferExpired).await;
    let first = late.beaten_by.expect("who was first");
    assert_eq!((first.action, first.by.as_str()), (Verb::Expire, "system"));
    desk.check().await;
});

for_each_database!(the_place_of_a_lapsed_offer_is_free_for_its_own_rider_too, |desk| async move {
    // R1 has places; all but one are taken by other tasks.
    let places = {
        let mut tx = desk.read().await;
        tx.rider(RiderId(1)).await.unwrap().expect("R1").capacity
    };
    for _ in 1..places {
        let other = desk.create().await;
        desk.done(rider(1), other, 1, GRAB).await;
    }
    for act in [GRAB, offer(1)] {
        let task = desk.create().await;
        desk.done(D1, task, 1, offer(1)).await;
        desk.advance_ms(30_000).await;
        // The offer's page is still there, and so is its place, until somebody touches the task.
        let actor = if act == GRAB { rider(1) } else { D1 };
        desk.done(actor, task, 2, act).await;
        desk.done(D1, task, 4, CANCEL).await;
    }
    desk.check().await;
});
