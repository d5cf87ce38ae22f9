//! Riders: what they drive, how much they hold, whether they work, and where.

use dispatch_desk::{
    domain::{
        command::{Act, Actor, NewTask, Verb},
        facts::Duty,
        id::{Revision, RiderId, StaffId},
        refusal::{Code, Ineligible},
        task::{StateName, Vehicle},
    },
    store::RiderChange,
};

use super::shown;
use crate::harness::*;

for_each_database!(a_task_may_ask_for_a_vehicle, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    tx.add_rider(RiderId(700), NORTH, "van", 2, Some(Vehicle::Van)).await.unwrap();
    tx.commit().await.unwrap();
    let van = desk.create_with(NewTask { vehicle: Some(Vehicle::Van), ..order() }).await;
    let car = desk.create_with(NewTask { vehicle: Some(Vehicle::Car), ..order() }).await;
    let any = desk.create().await;
    desk.not_eligible(van, 1, offer(1), Ineligible::Vehicle).await;
    desk.not_eligible(car, 1, offer(700), Ineligible::Vehicle).await;
    desk.refused(rider(1), van, 1, GRAB, Code::RiderNotEligible).await;
    desk.done(rider(700), van, 1, GRAB).await;
    desk.done(D1, any, 1, offer(700)).await;
    desk.check().await;
});

for_each_database!(a_lowered_capacity_counts_what_is_held_already, |desk| async move {
    let (one, two, three) = (desk.create().await, desk.create().await, desk.create().await);
    desk.done(rider(1), one, 1, GRAB).await;
    desk.done(D1, two, 1, offer(1)).await;
    desk.refused(rider(1), three, 1, GRAB, Code::RiderAtCapacity).await;
    desk.change_rider(1, RiderChange { capacity: Some(1), ..RiderChange::default() }).await;
    // The offer was made in time: its place is the rider's.
    desk.done(rider(1), two, 2, Act::Accept).await;
    desk.done(D1, one, 2, CANCEL).await;
    desk.refused(rider(1), three, 1, GRAB, Code::RiderAtCapacity).await;
    desk.refused(SUPERVISOR, three, 1, assign(1), Code::RiderAtCapacity).await;
    desk.done(rider(1), two, 3, HAND_BACK).await;
    desk.done(rider(1), three, 1, GRAB).await;
    desk.refused(D1, two, 4, offer(1), Code::RiderAtCapacity).await;
    // Nobody at all.
    desk.change_rider(2, RiderChange { capacity: Some(0), ..RiderChange::default() }).await;
    desk.refused(D1, two, 4, offer(2), Code::RiderAtCapacity).await;
    desk.check().await;
});

for_each_database!(a_rider_on_a_break_answers_and_gets_nothing_new, |desk| async move {
    let (asked, other) = (desk.create().await, desk.create().await);
    desk.done(D1, asked, 1, offer(1)).await;
    assert_eq!(
        desk.change_rider(1, RiderChange { duty: Some(Duty::Paused), ..RiderChange::default() })
            .await,
        0
    );
    desk.not_eligible(other, 1, offer(1), Ineligible::Paused).await;
    desk.done(rider(1), asked, 2, Act::Accept).await;
    desk.change_rider(1, RiderChange { duty: Some(Duty::Off), ..RiderChange::default() }).await;
    desk.not_eligible(other, 1, assign(1), Ineligible::OffDuty).await;
    let grabbed = desk.refused(rider(1), other, 1, GRAB, Code::RiderNotEligible).await;
    assert_eq!(grabbed.reason, Some(Ineligible::OffDuty));
    // What is in hand is brought.
    desk.done(rider(1), asked, 3, Act::Arrive).await;
    desk.change_rider(1, RiderChange { duty: Some(Duty::On), ..RiderChange::default() }).await;
    desk.done(rider(1), other, 1, GRAB).await;
    desk.check().await;
});

for_each_database!(a_disabled_rider_loses_the_offers_and_keeps_no_right, |desk| async move {
    let (asked, mine) = (desk.create().await, desk.create().await);
    desk.done(rider(1), mine, 1, GRAB).await;
    let accepted = desk.try_change(rider(1), mine, 2, Act::Arrive).await;
    desk.done(D1, asked, 1, offer(1)).await;
    let shut = RiderChange { disabled: Some(true), ..RiderChange::default() };
    assert_eq!(desk.change_rider(1, shut).await, 1, "one offer is withdrawn");
    let task = desk.task(asked).await;
    assert_eq!((task.state.name(), task.revision), (StateName::Open, Revision(3)));
    let last = desk.events(asked).await.pop().expect("an event");
    let told = (last.action.as_str(), last.actor_kind.as_str(), last.reason.as_deref());
    assert_eq!(told, ("withdraw", "system", Some("rider_disabled")));

    for (task, revision, act) in
        [(asked, 2, Act::Accept), (asked, 3, GRAB), (mine, 3, Act::PickUp), (mine, 3, HAND_BACK)]
    {
        assert_eq!(desk.turned_away(rider(1), task, revision, act).await, "NOT_SIGNED_IN");
    }
    // Not even an answer that was given before.
    assert_eq!(desk.again(&accepted).await.came.code(), "NOT_SIGNED_IN");
    desk.not_eligible(asked, 3, offer(1), Ineligible::Disabled).await;
    // The task itself stays with the rider until a dispatcher gives it to somebody else.
    desk.done(D1, mine, 3, reassign(2)).await;

    desk.change_rider(1, RiderChange { disabled: Some(false), ..RiderChange::default() }).await;
    desk.refused(rider(1), asked, 2, Act::Accept, Code::OfferWithdrawn).await;
    let again = desk.again(&accepted).await;
    assert_eq!(node::back(&again.came).body, node::back(&accepted.came).body);
    desk.check().await;
});

for_each_database!(a_moved_rider_still_delivers, |desk| async move {
    let (held, asked, open) = (desk.create().await, desk.create().await, desk.create().await);
    desk.done(rider(1), held, 1, GRAB).await;
    desk.done(D1, asked, 1, offer(1)).await;
    assert_eq!(
        desk.change_rider(1, RiderChange { region: Some(SOUTH), ..RiderChange::default() }).await,
        1
    );
    let last = desk.events(asked).await.pop().expect("an event");
    assert_eq!(last.reason.as_deref(), Some("rider_moved"));

    // The north is another region now, except for the task that is still in hand.
    assert_eq!(desk.turned_away(rider(1), asked, 2, Act::Accept).await, "NOT_FOUND");
    assert_eq!(desk.turned_away(rider(1), open, 1, GRAB).await, "NOT_FOUND");
    desk.not_eligible(open, 1, offer(1), Ineligible::OtherRegion).await;
    for (revision, act) in [(2, Act::Arrive), (3, Act::PickUp), (4, Act::Deliver)] {
        desk.done(rider(1), held, revision, act).await;
    }
    let again = desk.ask(rider(1), held, 5, Act::Deliver).await;
    assert_eq!(again.code.as_deref(), Some("ALREADY_DONE"));
    let south = desk.create_with(NewTask { region: SOUTH, ..order() }).await;
    desk.done(rider(1), south, 1, GRAB).await;
    desk.check().await;
});

for_each_database!(a_risky_rider_is_asked_and_does_not_grab, |desk| async move {
    let (one, two) = (desk.create().await, desk.create().await);
    desk.change_rider(1, RiderChange { risk_rejected: Some(true), ..RiderChange::default() }).await;
    desk.refused(rider(1), one, 1, GRAB, Code::RiskRejected).await;
    desk.done(D1, one, 1, offer(1)).await;
    desk.done(rider(1), one, 2, Act::Accept).await;
    desk.change_rider(1, RiderChange { risk_rejected: Some(false), ..RiderChange::default() })
        .await;
    desk.done(rider(1), two, 1, GRAB).await;
    desk.check().await;
});

for_each_database!(a_rider_nobody_knows_is_like_one_of_another_region, |desk| async move {
    let task = desk.create().await;
    for number in [FOREIGN_RIDER, 4_711, 0, -1, i64::MAX] {
        desk.not_eligible(task, 1, offer(number), Ineligible::OtherRegion).await;
        desk.not_eligible(task, 1, assign(number), Ineligible::OtherRegion).await;
    }
    desk.check().await;
});

for_each_database!(a_change_of_a_rider_is_logged_with_its_author, |desk| async move {
    desk.change_rider(1, RiderChange { capacity: Some(1), ..RiderChange::default() }).await;
    let events = desk.read().await.events_after(0, 10).await.unwrap();
    assert_eq!(events.len(), 1);
    let event = &events[0];
    assert_eq!((event.kind.as_str(), event.subject, event.number), ("rider", 1, 1));
    assert_eq!((event.actor_kind.as_str(), event.actor_id.as_deref()), ("staff", Some("5")));
    assert!(event.detail.contains("\"capacity\":1"), "{}", event.detail);
    // Steps that were taken twice are told so, and change nothing.
    let task = desk.create().await;
    desk.done(rider(1), task, 1, GRAB).await;
    desk.done(rider(1), task, 2, Act::Arrive).await;
    let again = desk.ask(rider(1), task, 2, Act::Arrive).await;
    assert_eq!(shown(&again), (StateName::Assigned, Revision(3)));
    assert_eq!((again.is_success(), again.event), (true, None));
    assert_eq!(again.legal, [Verb::HandBack, Verb::PickUp]);
    desk.check().await;
});

for_each_database!(a_rider_is_changed_by_the_own_desk_alone, |desk| async move {
    let one = RiderId(1);
    let pause = RiderChange { duty: Some(Duty::Paused), ..RiderChange::default() };
    let bag = RiderChange { capacity: Some(5), ..RiderChange::default() };
    let change = async |actor: &Actor, rider: RiderId, change: &RiderChange| {
        let changed = desk.executor.change_rider(actor, rider, change).await;
        changed.map_err(|error| error.to_string())
    };
    let no = |code: &str| Err(code.to_owned());
    assert_eq!(change(&FOREIGN_DISPATCHER, one, &bag).await, no("NOT_FOUND"));
    assert_eq!(change(&ADMIN, RiderId(999_999), &bag).await, no("NOT_FOUND"));
    assert_eq!(change(&AUDITOR, one, &bag).await, no("FORBIDDEN"));
    assert_eq!(change(&shop(), one, &bag).await, no("FORBIDDEN"));
    assert_eq!(change(&rider(2), one, &pause).await, no("FORBIDDEN"), "somebody else's duty");
    assert_eq!(change(&rider(1), one, &bag).await, no("FORBIDDEN"), "a bag of one's own making");
    assert_eq!(change(&rider(1), one, &pause).await, Ok(0), "one's own duty");
    let mut tx = desk.db.begin().await.unwrap();
    tx.disable_staff(StaffId(5), true).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(change(&ADMIN, one, &bag).await, no("NOT_SIGNED_IN"));
    let rider = desk.read().await.rider(one).await.unwrap().unwrap();
    assert_eq!((rider.capacity, rider.duty), (CAPACITY, Duty::Paused));
    desk.check().await;
});
