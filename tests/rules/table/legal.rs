//! What is listed as possible is possible, and nothing else is.

use dispatch_desk::domain::{
    answer::role,
    command::{Act, Actor, DetailChanges, Verb},
    decide::{decide, edit, right},
    id::Revision,
    legal::legal,
    policy::RegionMode,
};

use super::{PRESENT, WANTED, everyone, kind_world, own_offers, situations};
use crate::desk::{Ruling, free_rider};

/// The command that a page would send for this verb.
fn act(verb: Verb) -> Option<Act> {
    let (rider, seconds, reason) = (WANTED, Some(30), None);
    Some(match verb {
        Verb::Create | Verb::Edit => return None,
        Verb::Grab => Act::Grab { ticket: None },
        Verb::Offer => Act::Offer { rider, seconds, round: None },
        Verb::Assign => Act::Assign { rider, reason },
        Verb::Accept => Act::Accept,
        Verb::Decline => Act::Decline { reason },
        Verb::Withdraw => Act::Withdraw { reason },
        Verb::Expire => Act::Expire,
        Verb::Cancel => Act::Cancel { reason },
        Verb::Reassign => Act::Reassign { rider, seconds, handover_confirmed: true, reason },
        Verb::HandBack => Act::HandBack { reason },
        Verb::Arrive => Act::Arrive,
        Verb::PickUp => Act::PickUp,
        Verb::Deliver => Act::Deliver,
    })
}

#[test]
fn what_is_listed_applies_and_what_is_not_listed_does_not() {
    let mut cases = 0;
    for (task, now) in situations() {
        for someone in everyone() {
            // The system asks nobody what it may do.
            if someone.actor == Actor::System {
                continue;
            }
            let offers = own_offers(&someone.actor, &task);
            let as_role = role(&someone.actor, someone.staff.as_ref().map(|staff| staff.role));
            for mode in RegionMode::ALL.iter().copied() {
                let listed = legal(&task, &someone.actor, as_role, mode, now);
                for verb in Verb::ALL.iter().copied() {
                    cases += 1;
                    let any = act(verb).unwrap_or(Act::Accept);
                    let mut world = kind_world(&someone, &any);
                    world.region.policy.mode = mode;
                    // Whether the rider in question is eligible is not asked.
                    let rider = any.named_rider().or_else(|| someone.actor.rider());
                    world.named = rider.map(free_rider);
                    let facts = world.facts(&offers);
                    let has_right = match right(Some(&task), &someone.actor, verb, &facts) {
                        Ok(()) => true,
                        // Whoever may not know of the task is not told what to do with it.
                        Err(dispatch_desk::domain::decide::Denial::Forbidden) => false,
                        Err(_) => continue,
                    };
                    let applies = has_right
                        && match act(verb) {
                            Some(act) => {
                                let decision =
                                    decide(&task, &someone.actor, PRESENT, &act, &facts, now);
                                matches!(decision.verdict, Ruling::Apply(_))
                            }
                            None if verb == Verb::Edit => {
                                let changes =
                                    DetailChanges { priority: Some(1), ..Default::default() };
                                let one = Revision(1);
                                let verdict = edit(&task, one, one, &someone.actor, &changes, now);
                                matches!(verdict, Ruling::Apply(_))
                            }
                            // A task is created once.
                            None => false,
                        };
                    assert_eq!(
                        listed.contains(&verb),
                        applies,
                        "{verb} by {} as {as_role} in mode {mode} on {task:?} at {now}",
                        someone.actor
                    );
                }
            }
        }
    }
    println!("{cases} cases");
}
