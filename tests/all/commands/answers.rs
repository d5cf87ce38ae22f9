//! How it is said: who was first, what is still possible, and in which language.

use dispatch_desk::domain::{
    command::{Act, Actor, Command, NewTask, Stop, Verb, What},
    id::Revision,
    refusal::{Code, Lang},
    task::StateName,
};

use super::{legal, shown};
use crate::harness::{record::Sent, *};

for_each_database!(a_refusal_says_who_was_first, |desk| async move {
    let task = desk.create().await;
    desk.done(D2, task, 1, offer(1)).await;
    let stale = desk.refused(D1, task, 1, offer(2), Code::StaleRevision).await;
    let first = stale.beaten_by.clone().expect("who was first");
    assert_eq!((first.action, first.by.as_str()), (Verb::Offer, "D2"));
    assert_eq!((first.from_revision, first.to_revision), (Revision(1), Revision(2)));
    assert_eq!(first.occurred_at, NOON);
    // A dispatcher sees whom it is offered to.
    assert_eq!(stale.task.and_then(|task| task.rider_id).map(|rider| rider.0), Some(1));

    desk.done(rider(1), task, 2, Act::Accept).await;
    // The change right after the revision that was named, not the last one.
    let stale = desk.refused(D1, task, 1, offer(2), Code::StaleRevision).await;
    assert_eq!(stale.beaten_by.map(|first| first.by), Some("D2".to_owned()));
    let stale = desk.refused(D1, task, 2, WITHDRAW, Code::StaleRevision).await;
    assert_eq!(stale.beaten_by.map(|first| first.by), Some("R1".to_owned()));
    // Named right, refused for the state alone: nobody was first.
    let refused = desk.refused(D1, task, 3, WITHDRAW, Code::NotOffered).await;
    assert_eq!(refused.beaten_by, None);
    // A revision that is still to come was beaten by nobody either.
    let refused = desk.refused(D1, task, 4, WITHDRAW, Code::StaleRevision).await;
    assert_eq!(refused.beaten_by, None);
    desk.check().await;
});

for_each_database!(a_rider_is_told_that_it_was_another_rider, |desk| async move {
    let task = desk.create().await;
    desk.done(rider(1), task, 1, GRAB).await;
    let sent = desk.try_change(rider(2), task, 1, GRAB).await;
    let body = &node::back(&sent.came).body;
    let lost = sent.came.answer();
    assert_eq!(lost.code.as_deref(), Some("TAKEN_BY_OTHER"));
    assert_eq!(lost.beaten_by.expect("who was first").by, "another rider");
    assert!(!body.contains("R1") && !body.contains("rider_id"), "{body}");
    // The first one sees him- or herself; the desk sees everybody.
    let again = desk.ask(rider(1), task, 1, GRAB).await;
    assert_eq!(again.code.as_deref(), Some("ALREADY_YOURS"));
    assert_eq!(again.task.and_then(|task| task.rider_id).map(|rider| rider.0), Some(1));
    let desk_sees = desk.refused(D1, task, 1, offer(2), Code::StaleRevision).await;
    assert_eq!(desk_sees.beaten_by.expect("who was first").by, "R1");
    desk.check().await;
});

/// What everybody could do next, as the answer to a request that names a revision to come.
async fn everybody(desk: &Desk, task: dispatch_desk::domain::id::TaskId) -> Vec<Vec<&'static str>> {
    let mut all = Vec::new();
    for (actor, act) in [
        (D1, WITHDRAW),
        (SUPERVISOR, WITHDRAW),
        (rider(1), HAND_BACK),
        (rider(2), HAND_BACK),
        (shop(), CANCEL),
        (Actor::Customer(task), CANCEL),
    ] {
        let answer = desk.ask(actor, task, 99, act).await;
        assert!(!answer.is_success());
        all.push(legal(&answer));
    }
    all
}

for_each_database!(everybody_is_told_what_they_can_still_do, |desk| async move {
    let task = desk.create().await;
    let none = Vec::<&str>::new;
    let open = everybody(&desk, task).await;
    assert_eq!(open[0], ["offer", "cancel", "edit"]);
    assert_eq!(open[1], ["offer", "assign", "cancel", "edit"]);
    assert_eq!((&open[2], &open[3]), (&vec!["grab"], &vec!["grab"]));
    assert_eq!((&open[4], &open[5]), (&vec!["cancel", "edit"], &vec!["cancel"]));

    desk.done(D1, task, 1, offer(1)).await;
    let offered = everybody(&desk, task).await;
    assert_eq!(offered[0], ["withdraw", "cancel", "edit"]);
    assert_eq!((&offered[2], &offered[3]), (&vec!["accept", "decline"], &none()));

    desk.done(rider(1), task, 2, Act::Accept).await;
    let assigned = everybody(&desk, task).await;
    assert_eq!(assigned[0], ["cancel", "reassign", "edit"]);
    assert_eq!((&assigned[2], &assigned[3]), (&vec!["hand-back", "arrive"], &none()));

    desk.done(rider(1), task, 3, Act::Arrive).await;
    desk.done(rider(1), task, 4, Act::PickUp).await;
    let in_hand = everybody(&desk, task).await;
    assert_eq!((&in_hand[0], &in_hand[2]), (&vec!["edit"], &vec!["deliver"]), "goods in hand");

    desk.done(rider(1), task, 5, Act::Deliver).await;
    assert_eq!(everybody(&desk, task).await, vec![none(); 6]);
    let cancelled = desk.create().await;
    desk.done(D1, cancelled, 1, CANCEL).await;
    assert_eq!(everybody(&desk, cancelled).await, vec![none(); 6]);
    desk.check().await;
});

for_each_database!(an_answer_comes_in_the_language_of_who_asks, |desk| async move {
    let task = desk.create().await;
    desk.done(rider(1), task, 1, GRAB).await;
    let say = async |actor: Actor, revision, act: Act, lang| -> Sent {
        let command = desk.change(actor, task, revision, act);
        desk.send(Command { lang, ..command }).await
    };
    let message = |sent: &Sent| sent.came.answer().message.unwrap_or_default();
    let zh = say(rider(2), 1, GRAB, Lang::Zh).await;
    assert_eq!(message(&zh), "任务已被其他骑手接走。");
    assert_eq!(
        message(&say(rider(2), 1, GRAB, Lang::En).await),
        "Another rider has taken the task."
    );
    assert_eq!(message(&say(rider(1), 1, GRAB, Lang::Zh).await), "任务已经是您的。");
    assert_eq!(message(&say(rider(1), 1, GRAB, Lang::En).await), "The task is already yours.");
    let stale = say(D1, 1, CANCEL, Lang::Zh).await;
    assert_eq!(message(&stale), "任务在您查看之后已变更，请按最新状态重新操作。");
    let done = say(D1, 2, CANCEL, Lang::Zh).await;
    assert_eq!(done.came.answer().message, None, "what was done needs no words");
    // The same request in another language is the same request: its first answer, byte for byte.
    let again = desk.send(Command { lang: Lang::En, ..zh.command.clone() }).await;
    assert_eq!(node::back(&again.came).body, node::back(&zh.came).body);
    assert!(node::back(&again.came).replayed);
    desk.check().await;
});

for_each_database!(a_customer_cancels_once, |desk| async move {
    let (task, other) = (desk.create().await, desk.create().await);
    let customer = Actor::Customer(task);
    desk.done(D1, task, 1, offer(1)).await;
    assert_eq!(desk.turned_away(customer.clone(), other, 1, CANCEL).await, "NOT_FOUND");
    let cancelled = desk.done(customer.clone(), task, 2, CANCEL).await;
    assert_eq!(shown(&cancelled), (StateName::Cancelled, Revision(3)));
    // Asked again, under a new key and from an old page: it is done, and nothing more happens.
    for revision in [2, 3, 1] {
        let again = desk.ask(customer.clone(), task, revision, CANCEL).await;
        assert_eq!((again.code.as_deref(), again.event.is_some()), (Some("ALREADY_DONE"), false));
        assert_eq!(shown(&again), (StateName::Cancelled, Revision(3)));
    }
    for actor in [D1, shop(), SUPERVISOR] {
        desk.refused(actor, task, 3, CANCEL, Code::Cancelled).await;
    }
    for act in [GRAB, Act::Accept, DECLINE, Act::Arrive] {
        desk.refused(rider(1), task, 2, act, Code::Cancelled).await;
    }
    let edited = desk.send(desk.note(D1, task, 1, "too late")).await;
    assert_eq!(edited.came.code(), Code::Cancelled.as_str());
    desk.done(shop(), other, 1, CANCEL).await;
    desk.check().await;
});

for_each_database!(a_pickup_outside_of_the_region_is_refused, |desk| async move {
    let at = |lat: f64, lng: f64| {
        let pickup = Stop { lat, lng, ..order().pickup };
        desk.command(shop(), What::Create(Box::new(NewTask { pickup, ..order() })))
    };
    // 50 km around People's Square: Suzhou is not in it, nor is the other side of the earth.
    for (lat, lng) in [(31.2989, 120.5853), (-31.2304, -58.5263), (90.0, 180.0)] {
        let refused = desk.send(at(lat, lng)).await;
        let back = node::back(&refused.came);
        assert_eq!((back.status, back.location.as_deref()), (409, None));
        let answer = back.answer();
        assert_eq!(answer.code.as_deref(), Some("OUTSIDE_REGION"));
        assert_eq!((answer.task, answer.event), (None, None));
        assert_eq!(answer.message.as_deref(), Some("The pickup lies outside the region."));
        // A refusal is an answer: the same key gets it again.
        let again = desk.again(&refused).await;
        assert_eq!(node::back(&again.came).body, back.body);
        assert!(node::back(&again.came).replayed);
    }
    assert_eq!(desk.read().await.head().await.unwrap(), (0, 3), "three attempts and no event");
    assert!(desk.send(at(31.1443, 121.8083)).await.came.is_success(), "the airport is in it");
    desk.check().await;
});
