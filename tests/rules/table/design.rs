//! The design, written down a second time: the transition table, the grid and the order of answers.
//!
//! Nothing here is taken from `domain::table` or `domain::decide`. Where they differ from this, one of
//! the two is wrong.

use dispatch_desk::domain::{
    command::{Act, Actor, Role, Verb},
    decide::{Already, Denial},
    facts::{Duty, Rider},
    id::{Revision, RiderId, Timestamp},
    policy::RegionMode,
    refusal::{Code, Ineligible},
    task::{OfferAnswer, OwnOffer, Stage, State, StateName, Task},
};

use crate::desk::World;

use StateName::{Assigned, Cancelled, Offered, Open};

const DESK: &[Role] = &[Role::Dispatcher, Role::Supervisor];
const DESK_OR_SYSTEM: &[Role] = &[Role::Dispatcher, Role::Supervisor, Role::System];
const WHO_MAY_CANCEL: &[Role] = &[Role::Dispatcher, Role::Supervisor, Role::Customer, Role::Intake];

/// The arrows: from, command, who, to. Supervisor includes dispatcher.
pub const ARROWS: &[(StateName, Verb, &[Role], StateName)] = &[
    (Open, Verb::Grab, &[Role::Rider], Assigned),
    (Open, Verb::Offer, DESK_OR_SYSTEM, Offered),
    (Open, Verb::Assign, DESK, Assigned),
    (Offered, Verb::Accept, &[Role::Rider], Assigned),
    (Offered, Verb::Decline, &[Role::Rider], Open),
    (Offered, Verb::Withdraw, DESK_OR_SYSTEM, Open),
    (Offered, Verb::Expire, &[Role::System], Open),
    (Open, Verb::Cancel, WHO_MAY_CANCEL, Cancelled),
    (Offered, Verb::Cancel, WHO_MAY_CANCEL, Cancelled),
    (Assigned, Verb::Cancel, WHO_MAY_CANCEL, Cancelled),
    (Assigned, Verb::Reassign, DESK, Offered),
    (Assigned, Verb::HandBack, &[Role::Rider], Open),
    (Assigned, Verb::Arrive, &[Role::Rider], Assigned),
    (Assigned, Verb::PickUp, &[Role::Rider], Assigned),
    (Assigned, Verb::Deliver, &[Role::Rider], Assigned),
];

/// The steps of the fulfilment stage: each from the stage before.
const STEPS: &[(Verb, Stage, Stage)] = &[
    (Verb::Arrive, Stage::Waiting, Stage::AtPickup),
    (Verb::PickUp, Stage::AtPickup, Stage::PickedUp),
    (Verb::Deliver, Stage::PickedUp, Stage::Delivered),
];

/// A cell of the grid.
#[derive(Clone, Copy, PartialEq, Eq)]
enum In {
    Apply,
    /// `apply / CODE`: for the rider who holds the task, and for nobody else.
    Holder(Code),
    No(Code),
}

use In::{Apply, Holder, No};

/// The grid: what a command meets on an open, an offered and an assigned task.
const GRID: &[(&[Verb], [In; 3])] = &[
    (&[Verb::Grab], [Apply, No(Code::NotOpen), No(Code::TakenByOther)]),
    (&[Verb::Offer, Verb::Assign], [Apply, No(Code::NotOpen), No(Code::NotOpen)]),
    (
        &[Verb::Accept, Verb::Decline],
        // Own fate, which comes earlier in the order, else:
        [No(Code::NotInvited), Holder(Code::NotInvited), No(Code::NotInvited)],
    ),
    (&[Verb::Withdraw, Verb::Expire], [No(Code::NotOffered), Apply, No(Code::NotOffered)]),
    (&[Verb::Reassign], [No(Code::NotAssigned), No(Code::NotAssigned), Apply]),
    (
        &[Verb::HandBack, Verb::Arrive, Verb::PickUp, Verb::Deliver],
        [No(Code::NotOwner), No(Code::NotOwner), Holder(Code::NotOwner)],
    ),
    (&[Verb::Cancel], [Apply, Apply, Apply]),
];

/// One command on one task.
pub struct Case<'a> {
    pub task: &'a Task,
    pub actor: &'a Actor,
    pub named: Revision,
    pub act: &'a Act,
    pub world: &'a World,
    pub own_offers: &'a [OwnOffer],
    pub now: Timestamp,
}

/// What the design answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    Denied(Denial),
    Already(Already),
    Refused(Code, Option<Ineligible>),
    Applies,
}

fn no(code: Code) -> Says {
    Says::Refused(code, None)
}

/// The design's answer, and whether a lapsed offer is released on the way to it.
pub fn says(case: &Case<'_>) -> (bool, Says) {
    let Case { task, actor, named, act, world, now, .. } = *case;
    let verb = act.verb();
    if let Some(denial) = denies(case) {
        return (false, Says::Denied(denial));
    }

    // A command on an offered task whose deadline has passed first releases it, and one that named the
    // lapsed revision is judged as naming the release.
    let lapsed = match task.state {
        State::Offered { until, .. } => now >= until && verb != Verb::Expire,
        _ => false,
    };
    let state = if lapsed { &State::Open } else { &task.state };
    let present = if lapsed { Revision(task.revision.0 + 1) } else { task.revision };
    let named = if lapsed && named == task.revision { present } else { named };

    let me = actor.rider();
    let reached = state.stage();
    let owns = state.name() == Assigned && me.is_some() && state.rider() == me;
    let holds = me.is_some() && state.rider() == me;
    let own_fate = own_fate(case, state, lapsed);
    let answers_offer = verb == Verb::Accept || verb == Verb::Decline;
    let step = STEPS.iter().find(|(step, ..)| *step == verb);
    let of_table = step.is_none();
    let cell = cell(state.name(), verb);

    let order = [
        // Already done by this actor.
        (owns && (verb == Verb::Accept || verb == Verb::Grab), Says::Already(Already::Yours)),
        (
            verb == Verb::Decline && own_fate == Some(OfferAnswer::Declined),
            Says::Already(Already::Done),
        ),
        (
            verb == Verb::Cancel && *state == State::Cancelled && task.changed_by == *actor,
            Says::Already(Already::Done),
        ),
        (owns && step.is_some_and(|(_, _, to)| reached >= Some(*to)), Says::Already(Already::Done)),
        // The end.
        (*state == State::Cancelled, no(Code::Cancelled)),
        (reached == Some(Stage::Delivered), no(Code::Delivered)),
        (reached == Some(Stage::PickedUp) && of_table, no(Code::PickedUp)),
        // The fate of my own offer; for staff, of the one that they would take back.
        (answers_offer && own_fate == Some(OfferAnswer::Expired), no(Code::OfferExpired)),
        (answers_offer && own_fate == Some(OfferAnswer::Withdrawn), no(Code::OfferWithdrawn)),
        (verb == Verb::Withdraw && lapsed && named == present, no(Code::OfferExpired)),
        // Somebody was first.
        (cell == No(Code::TakenByOther), no(Code::TakenByOther)),
        (named != present, no(Code::StaleRevision)),
        // The grid.
        (matches!(cell, No(_)), grid_code(cell)),
        (matches!(cell, Holder(_)) && !holds, grid_code(cell)),
        (step.is_some_and(|(_, from, _)| reached < Some(*from)), no(Code::WrongStage)),
        (verb == Verb::Reassign && act.named_rider() == state.rider(), no(Code::SameRider)),
    ];
    let first = order.into_iter().find_map(|(is_so, says)| is_so.then_some(says));
    let says = first.or_else(|| fact(task, act, world, now)).unwrap_or(Says::Applies);
    (lapsed, says)
}

fn cell(from: StateName, verb: Verb) -> In {
    let column = match from {
        Open => 0,
        Offered => 1,
        Assigned => 2,
        Cancelled => return No(Code::Cancelled),
    };
    let row = GRID.iter().find(|(verbs, _)| verbs.contains(&verb)).expect("the grid has all verbs");
    row.1[column]
}

fn grid_code(cell: In) -> Says {
    match cell {
        No(code) | Holder(code) => no(code),
        Apply => Says::Applies,
    }
}

/// How the offer ended that the acting rider's command is about: the one that it names, else the last
/// one, unless an offer still waits for the answer.
fn own_fate(case: &Case<'_>, state: &State, lapsed: bool) -> Option<OfferAnswer> {
    let me = case.actor.rider()?;
    let mut mine: Vec<OwnOffer> = case.own_offers.to_vec();
    if lapsed && case.task.state.rider() == Some(me) {
        let last = mine.last_mut().expect("the lapsed offer stands in the ledger");
        last.answer = Some(OfferAnswer::Expired);
        if case.named == last.revision {
            return last.answer;
        }
    }
    let named = mine.iter().find(|offer| offer.revision == case.named);
    if let Some(answer) = named.and_then(|offer| offer.answer) {
        return Some(answer);
    }
    let waits = state.name() == Offered && state.rider() == Some(me);
    if waits { None } else { mine.last().and_then(|offer| offer.answer) }
}

/// Who may ask at all: known, then of this region, then in this capacity.
fn denies(case: &Case<'_>) -> Option<Denial> {
    let Case { task, actor, act, world, .. } = case;
    let (known, near, role) = match actor {
        Actor::System => (true, true, Role::System),
        Actor::Intake(source) => (true, *source == task.source, Role::Intake),
        Actor::Customer(ordered) => (true, *ordered == task.id, Role::Customer),
        Actor::Rider(me) => match &world.me {
            Some(rider) if !rider.disabled => {
                let near = rider.region == task.region || task.state.rider() == Some(*me);
                (true, near, Role::Rider)
            }
            _ => (false, false, Role::Rider),
        },
        Actor::Staff(_) => match &world.staff {
            Some(staff) if !staff.disabled => {
                (true, staff.regions.contains(&task.region), staff.role)
            }
            _ => (false, false, Role::Auditor),
        },
    };
    let may = ARROWS.iter().any(|(_, verb, who, _)| *verb == act.verb() && who.contains(&role));
    let order =
        [(!known, Denial::NotSignedIn), (!near, Denial::NotFound), (!may, Denial::Forbidden)];
    order.into_iter().find_map(|(is_so, denial)| is_so.then_some(denial))
}

/// The facts, in their order.
fn fact(task: &Task, act: &Act, world: &World, now: Timestamp) -> Option<Says> {
    let policy = &world.region.policy;
    let unreleased = now < task.release_at;
    let ineligible = ineligible(world.named.as_ref(), task, world, now);
    let full =
        world.named.as_ref().is_some_and(|rider| rider.held.len() >= rider.capacity as usize);
    let no_place = [
        (ineligible.is_some(), Says::Refused(Code::RiderNotEligible, ineligible)),
        (full, no(Code::RiderAtCapacity)),
    ];
    let mut order = Vec::new();
    match act {
        Act::Grab { ticket } => {
            order.push((unreleased, no(Code::NotReleased)));
            order.extend(no_place);
            if let Some(round) = &world.round {
                let of_this = ticket.as_ref().is_some_and(|ticket| {
                    ticket.round == round.round && Some(&ticket.nonce) == round.nonce.as_ref()
                });
                let of_earlier = ticket.as_ref().is_some_and(|ticket| ticket.round < round.round);
                let over = of_earlier || (of_this && now >= round.until);
                order.push((over, no(Code::TicketExpired)));
                order.push((!of_this, no(Code::InvalidTicket)));
            }
            let risky = world.named.as_ref().is_some_and(|rider| rider.risk_rejected);
            order.push((risky, no(Code::RiskRejected)));
        }
        Act::Offer { .. } => {
            order.push((unreleased, no(Code::NotReleased)));
            order.extend(no_place);
        }
        Act::Assign { .. } => {
            let supervises =
                world.staff.as_ref().is_some_and(|staff| staff.role == Role::Supervisor);
            let may_not = policy.mode == RegionMode::Reserve && !supervises;
            order.push((unreleased, no(Code::NotReleased)));
            order.push((may_not, no(Code::ImmediateModeOff)));
            order.extend(no_place);
        }
        Act::Reassign { handover_confirmed, .. } => {
            order.push((!handover_confirmed, no(Code::HandoverNotConfirmed)));
            order.extend(no_place);
        }
        Act::HandBack { .. } => {
            let used_up = world.hand_backs_today >= policy.hand_backs_per_day;
            order.push((used_up, no(Code::HandBackLimit)));
        }
        // The system releases an offer once its deadline has come, and not before.
        Act::Expire => {
            let early = matches!(task.state, State::Offered { until, .. } if now < until);
            order.push((early, no(Code::NotOffered)));
        }
        Act::Accept
        | Act::Decline { .. }
        | Act::Withdraw { .. }
        | Act::Cancel { .. }
        | Act::Arrive
        | Act::PickUp
        | Act::Deliver => {}
    }
    order.into_iter().find_map(|(is_so, says)| is_so.then_some(says))
}

/// Why the rider can not take the task. The cases have one reason at a time.
fn ineligible(
    rider: Option<&Rider>,
    task: &Task,
    world: &World,
    now: Timestamp,
) -> Option<Ineligible> {
    let Some(rider) = rider else { return Some(Ineligible::OtherRegion) };
    let too_old = world
        .region
        .policy
        .position_max_age_ms
        .is_some_and(|age| rider.last_fix_at.is_none_or(|fix| now > fix.plus_ms(age)));
    let order = [
        (rider.region != task.region, Ineligible::OtherRegion),
        (rider.disabled, Ineligible::Disabled),
        (rider.duty == Duty::Off, Ineligible::OffDuty),
        (rider.duty == Duty::Paused, Ineligible::Paused),
        (task.vehicle.is_some() && rider.vehicle != task.vehicle, Ineligible::Vehicle),
        (too_old, Ineligible::StalePosition),
    ];
    order.into_iter().find_map(|(is_so, reason)| is_so.then_some(reason))
}

/// Where an arrow leads, and to whom the task belongs there.
pub fn leads_to(case: &Case<'_>, from: StateName) -> (StateName, Option<RiderId>) {
    let Case { task, actor, act, .. } = case;
    let arrow = ARROWS.iter().find(|(start, verb, ..)| *start == from && *verb == act.verb());
    let to = arrow.expect("what applies is an arrow of the table").3;
    let rider = match act.verb() {
        Verb::Grab | Verb::Accept => actor.rider(),
        Verb::Offer | Verb::Assign | Verb::Reassign => act.named_rider(),
        Verb::Arrive | Verb::PickUp | Verb::Deliver => task.state.rider(),
        _ => None,
    };
    (to, rider)
}

/// The stage after a command on an assigned task, the slot being free once it is delivered.
pub fn stage_after(verb: Verb) -> Stage {
    let step = STEPS.iter().find(|(step, ..)| *step == verb);
    step.map_or(Stage::Waiting, |(_, _, to)| *to)
}
