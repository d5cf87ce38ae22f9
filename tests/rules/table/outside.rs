//! What stands outside of the states: creation, details, request keys, the limits of an offer's time.

use dispatch_desk::domain::{
    command::{Act, Actor, DetailChanges, NewTask, Stop, What},
    decide::{self, Already, Denial, Repeat, create, edit, offer_seconds, repeat, source},
    event::Change,
    fingerprint::Fingerprint,
    id::{Revision, RiderId, TaskId},
    refusal::Code,
    task::{Stage, State},
};

use super::{PRESENT, everyone, situations};
use crate::desk::{BEGIN, DISPATCHER, REGION, Ruling, TASK, World, region, shop};

/// A pickup in the middle of the region, or far away from it.
fn new_task(lat: f64) -> NewTask {
    let stop = |lat| Stop {
        lat,
        lng: 121.47,
        address: "1 Nanjing Road".to_owned(),
        name: None,
        phone: None,
    };
    NewTask {
        region: REGION,
        pickup: stop(lat),
        dropoff: stop(31.3),
        release_at: None,
        ready_at: None,
        due_at: None,
        vehicle: None,
        priority: 3,
        fee: None,
        note: None,
    }
}

/// The code for a pickup that lies outside of the region.
pub fn a_pickup_elsewhere() -> Code {
    match create(&shop(), &new_task(39.9), TASK, None, Some(&region()), BEGIN) {
        Ok(Ruling::Refused(refusal)) => refusal.code,
        other => panic!("{other:?}"),
    }
}

#[test]
fn intake_and_the_desk_create_tasks_and_nobody_else_does() {
    for someone in everyone() {
        let new = new_task(31.23);
        let says =
            create(&someone.actor, &new, TASK, someone.staff.as_ref(), Some(&region()), BEGIN);
        let staff = someone.staff.as_ref();
        let is_known = staff.is_some_and(|staff| !staff.disabled);
        let is_near = staff.is_some_and(|staff| staff.regions.contains(&REGION));
        let decides = staff.is_some_and(|staff| super::design::ARROWS[1].2.contains(&staff.role));
        let wanted = match someone.actor {
            Actor::System | Actor::Customer(_) | Actor::Rider(_) => Some(Denial::Forbidden),
            Actor::Staff(_) if !is_known => Some(Denial::NotSignedIn),
            Actor::Staff(_) if !is_near => Some(Denial::NotFound),
            Actor::Staff(_) if !decides => Some(Denial::Forbidden),
            Actor::Intake(_) | Actor::Staff(_) => None,
        };
        match says {
            Err(denial) => assert_eq!(Some(denial), wanted, "{}", someone.actor),
            Ok(Ruling::Apply(creation)) => {
                assert_eq!(wanted, None, "{}", someone.actor);
                let (event, after) = (creation.event(), creation.after());
                assert_eq!((event.from, event.to), (Revision(0), Revision(1)));
                assert_eq!((after.revision, &after.state), (Revision(1), &State::Open));
                assert_eq!((after.release_at, after.priority), (BEGIN, 3));
                assert_eq!(after.source, source(&someone.actor));
                assert!(matches!(event.change, Change::Created { .. }));
                assert_eq!(creation.details(), &new);
            }
            Ok(other) => panic!("{other:?}"),
        }
    }
    assert_eq!(a_pickup_elsewhere(), Code::OutsideRegion);
    let nowhere = create(&shop(), &new_task(31.23), TASK, None, None, BEGIN);
    assert_eq!(nowhere.err(), Some(Denial::NotFound), "there is no such region");
}

#[test]
fn details_are_edited_until_the_task_is_finished_and_leave_its_revision_alone() {
    let changes = DetailChanges { note: Some("bell".to_owned()), ..DetailChanges::default() };
    for (task, now) in situations() {
        let says = |named, changes: &DetailChanges| {
            edit(&task, Revision(4), Revision(named), &DISPATCHER, changes, now)
        };
        let finished = match &task.state {
            State::Cancelled => Some(Code::Cancelled),
            State::Assigned { stage: Stage::Delivered, .. } => Some(Code::Delivered),
            _ => None,
        };
        if let Some(code) = finished {
            assert_eq!(says(4, &changes), Ruling::Refused(code.into()), "{task:?}");
            continue;
        }
        assert_eq!(says(3, &changes), Ruling::Refused(Code::StaleRevision.into()));
        assert_eq!(says(5, &changes), Ruling::Refused(Code::StaleRevision.into()));
        let nothing = DetailChanges::default();
        assert_eq!(says(4, &nothing), Ruling::Already(Already::Done), "nothing to change");
        let Ruling::Apply(edit) = says(4, &changes) else { panic!("{task:?}") };
        assert_eq!((edit.event().to, edit.event().at), (Revision(5), now));
        assert_eq!(edit.event().edited.fields, ["note"], "the text itself stays out of the log");
    }
}

#[test]
fn an_offer_waits_within_the_limits_of_the_policy() {
    let says = |seconds| {
        let act = Act::Offer { rider: RiderId(3), seconds, round: None };
        let world = World::kind_to(&DISPATCHER, &act);
        let reassign =
            Act::Reassign { rider: RiderId(3), seconds, handover_confirmed: true, reason: None };
        let says = offer_seconds(&act, &world.facts(&[]));
        assert_eq!(says, offer_seconds(&reassign, &world.facts(&[])));
        says
    };
    let outside = Err(Denial::OfferSeconds { min: 5, max: 600 });
    assert_eq!(says(None), Ok(()));
    assert_eq!((says(Some(4)), says(Some(5))), (outside, Ok(())));
    assert_eq!((says(Some(600)), says(Some(601))), (Ok(()), outside));
}

#[test]
fn a_key_is_good_for_one_request() {
    let ask = |task, revision, act| {
        Fingerprint::of(&What::Change { task: TaskId(task), revision: Revision(revision), act })
    };
    let mine = ask(9, 5, Act::Accept);
    assert_eq!(repeat(None, &mine), None);
    assert_eq!(repeat(Some(&mine.clone()), &mine), Some(Repeat::Replay));
    for other in [ask(9, 6, Act::Accept), ask(10, 5, Act::Accept), ask(9, 5, Act::Arrive)] {
        assert_eq!(repeat(Some(&other), &mine), Some(Repeat::KeyReused));
    }
}

#[test]
fn the_clock_of_a_task_does_not_run_back() {
    let (task, _) = situations().swap_remove(1);
    let act = Act::Cancel { reason: None };
    let world = World::kind_to(&DISPATCHER, &act);
    let past = task.changed_at.plus_ms(-5_000);
    let decision = decide::decide(&task, &DISPATCHER, PRESENT, &act, &world.facts(&[]), past);
    let Ruling::Apply(change) = decision.verdict else { panic!("{decision:?}") };
    assert_eq!(change.event().at, task.changed_at);
    let changes = DetailChanges { priority: Some(1), ..DetailChanges::default() };
    let edited = edit(&task, Revision(1), Revision(1), &DISPATCHER, &changes, past);
    let Ruling::Apply(edit) = edited else { panic!("{edited:?}") };
    assert_eq!(edit.event().at, task.changed_at);
}
