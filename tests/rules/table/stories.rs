//! Answers that once were others than the design gives, each as a short story.

use dispatch_desk::domain::{
    command::{Act, Actor},
    id::{Revision, RiderId, Timestamp},
    refusal::Code,
};

use crate::desk::{BEGIN, DISPATCHER, Desk, TASK, Told, World, rider};

const UNTIL: Timestamp = BEGIN.plus_ms(30_000);

fn told(desk: &Desk, actor: &Actor, named: i64, act: &Act, now: Timestamp) -> Told {
    let world = World::kind_to(actor, act);
    Told::from(&desk.weigh(actor, Revision(named), act, &world, now).verdict)
}

fn offered(desk: &mut Desk, now: Timestamp) {
    desk.must(&DISPATCHER, &Act::Offer { rider: RiderId(1), seconds: Some(30), round: None }, now);
}

#[test]
fn who_withdraws_a_dead_offer_is_told_that_it_expired() {
    let withdraw = Act::Withdraw { reason: None };
    let mut desk = Desk::new(TASK);
    offered(&mut desk, BEGIN);
    let says = |desk: &Desk, actor: &Actor, named| told(desk, actor, named, &withdraw, UNTIL);
    assert_eq!(says(&desk, &DISPATCHER, 2), Told::Refused(Code::OfferExpired));
    assert_eq!(says(&desk, &Actor::System, 2), Told::Refused(Code::OfferExpired));
    assert_eq!(says(&desk, &DISPATCHER, 1), Told::Refused(Code::StaleRevision), "another page");
    // Once it is released, the page is simply old; no ledger is kept for staff.
    desk.must(&Actor::System, &Act::Expire, UNTIL);
    assert_eq!(says(&desk, &DISPATCHER, 2), Told::Refused(Code::StaleRevision));
    assert_eq!(says(&desk, &DISPATCHER, 3), Told::Refused(Code::NotOffered));
}

#[test]
fn an_offer_is_known_by_its_own_revision_whether_or_not_the_next_one_has_just_lapsed() {
    let mut desk = Desk::new(TASK);
    offered(&mut desk, BEGIN);
    desk.must(&DISPATCHER, &Act::Withdraw { reason: None }, BEGIN);
    offered(&mut desk, BEGIN);
    let mut swept = desk.clone();
    swept.must(&Actor::System, &Act::Expire, UNTIL);
    for desk in [desk, swept] {
        let says = |named| told(&desk, &rider(1), named, &Act::Accept, UNTIL);
        assert_eq!(says(2), Told::Refused(Code::OfferWithdrawn), "the first offer");
        // Revision 3 is no offer but the withdrawal of the first one: the last offer is meant.
        assert_eq!(says(3), Told::Refused(Code::OfferExpired));
        assert_eq!(says(4), Told::Refused(Code::OfferExpired), "the second offer");
    }
}

#[test]
fn the_place_of_a_lapsed_offer_is_free_for_its_own_rider_too() {
    let mut desk = Desk::new(TASK);
    offered(&mut desk, BEGIN);
    for (actor, act) in [
        (rider(1), Act::Grab { ticket: None }),
        (DISPATCHER, Act::Offer { rider: RiderId(1), seconds: None, round: None }),
    ] {
        let mut world = World::kind_to(&actor, &act);
        for known in [&mut world.me, &mut world.named].into_iter().flatten() {
            known.capacity = 1;
            known.held = desk.task.state.held().map(|(_, slot)| slot).into_iter().collect();
        }
        let says = |now| Told::from(&desk.weigh(&actor, Revision(2), &act, &world, now).verdict);
        assert_eq!(says(UNTIL), Told::Done, "{}", act.verb());
    }
}
