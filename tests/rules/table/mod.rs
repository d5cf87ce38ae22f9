//! Every state, stage, command and relation to the task, on both sides of each deadline: `decide` says
//! what the design says.

mod design;
mod legal;
mod outside;
mod stories;

use std::collections::BTreeSet;

use dispatch_desk::domain::{
    command::{Act, Actor, Role, Ticket, Verb},
    decide::{Decision, Transition, right},
    event::evolve,
    facts::{Duty, Rider, RunningRound},
    id::{Revision, RiderId, StaffId, TaskId, Timestamp},
    policy::RegionMode,
    refusal::{Code, Refusal},
    task::{Mode, OfferAnswer, OwnOffer, Stage, State, StateName, Task, Vehicle},
};

use self::design::{ARROWS, Case, Says, leads_to, says, stage_after};
use crate::desk::{
    BEGIN, DISPATCHER, ELSEWHERE, REGION, Ruling, SUPERVISOR, TASK, World, free_rider, rider, shop,
    staff,
};

/// The revision of every task here. The ones before are free for former offers.
const PRESENT: Revision = Revision(5);
const RELEASE: Timestamp = BEGIN.plus_ms(60_000);
const UNTIL: Timestamp = BEGIN.plus_ms(120_000);
/// Invited or owner, where the task is held.
const HOLDER: RiderId = RiderId(1);
const OTHER: RiderId = RiderId(2);
/// Whom staff want to put in charge.
const WANTED: RiderId = RiderId(3);
/// The place that the holder's task takes; not the lowest free one.
const SLOT: u32 = 4;

fn task(state: State, release_at: Timestamp, changed_by: Actor) -> Task {
    Task {
        id: TASK,
        region: REGION,
        source: "shop".to_owned(),
        revision: PRESENT,
        state,
        release_at,
        vehicle: None,
        priority: 0,
        changed_at: BEGIN,
        changed_by,
    }
}

/// Every state and stage with the moments that matter: the last millisecond before each deadline and
/// the first one from it on.
pub fn situations() -> Vec<(Task, Timestamp)> {
    let open = task(State::Open, RELEASE, shop());
    let offered = |release_at| {
        task(State::Offered { rider: HOLDER, slot: SLOT, until: UNTIL }, release_at, DISPATCHER)
    };
    let before = |at: Timestamp| at.plus_ms(-1);
    let mut all = vec![
        (open.clone(), before(RELEASE)),
        (open, RELEASE),
        (offered(RELEASE), before(UNTIL)),
        (offered(RELEASE), UNTIL),
        // Lapsed before anyone may take it.
        (offered(UNTIL.plus_ms(1)), UNTIL),
        (offered(UNTIL.plus_ms(1)), UNTIL.plus_ms(1)),
    ];
    for stage in Stage::ALL.iter().copied() {
        for mode in Mode::ALL.iter().copied() {
            let slot = (stage != Stage::Delivered).then_some(SLOT);
            let state = State::Assigned { rider: HOLDER, slot, stage, mode };
            all.push((task(state, RELEASE, Actor::Rider(HOLDER)), RELEASE));
        }
    }
    for canceller in [DISPATCHER, SUPERVISOR, shop(), Actor::Customer(TASK)] {
        all.push((task(State::Cancelled, RELEASE, canceller), RELEASE));
    }
    all
}

/// Every command, with each way of asking for it that the state decides about.
fn acts() -> Vec<Act> {
    let (reason, seconds) = (None, Some(30));
    let mut acts = vec![
        Act::Grab { ticket: None },
        Act::Accept,
        Act::Decline { reason: reason.clone() },
        Act::Withdraw { reason: reason.clone() },
        Act::Expire,
        Act::Cancel { reason: reason.clone() },
        Act::HandBack { reason: reason.clone() },
        Act::Arrive,
        Act::PickUp,
        Act::Deliver,
    ];
    for rider in [HOLDER, WANTED] {
        acts.push(Act::Offer { rider, seconds, round: None });
        acts.push(Act::Assign { rider, reason: reason.clone() });
        for handover_confirmed in [false, true] {
            let reason = reason.clone();
            acts.push(Act::Reassign { rider, seconds, handover_confirmed, reason });
        }
    }
    acts
}

/// Someone who acts, with what is known of them.
#[derive(Clone)]
pub struct Someone {
    pub actor: Actor,
    pub me: Option<Rider>,
    pub staff: Option<dispatch_desk::domain::facts::Staff>,
}

/// Everyone: in each capacity known and unknown, of this region and of another, disabled and not.
pub fn everyone() -> Vec<Someone> {
    let plain = |actor| Someone { actor, me: None, staff: None };
    let mut all = vec![
        plain(Actor::System),
        plain(shop()),
        plain(Actor::Intake("another shop".to_owned())),
        plain(Actor::Customer(TASK)),
        plain(Actor::Customer(TaskId(10))),
        plain(DISPATCHER),
        plain(rider(1)),
    ];
    for id in [HOLDER, OTHER] {
        let here = free_rider(id);
        let elsewhere = Rider { region: ELSEWHERE, ..here.clone() };
        let disabled = Rider { disabled: true, ..here.clone() };
        for me in [here, elsewhere, disabled] {
            all.push(Someone { actor: Actor::Rider(id), me: Some(me), staff: None });
        }
    }
    let roles = [Role::Dispatcher, Role::Supervisor, Role::Admin, Role::Auditor];
    for (id, role) in (1..).zip(roles) {
        let here = staff(StaffId(id), role);
        let mut elsewhere = here.clone();
        elsewhere.regions = vec![ELSEWHERE];
        let mut disabled = here.clone();
        disabled.disabled = true;
        for it in [here, elsewhere, disabled] {
            all.push(Someone { actor: Actor::Staff(StaffId(id)), me: None, staff: Some(it) });
        }
    }
    all
}

/// Every story that a rider can have with a task: up to two former offers, each ended in each way, and
/// the one that waits.
fn ledgers(actor: &Actor, task: &Task) -> Vec<Vec<OwnOffer>> {
    if actor.rider().is_none() {
        return vec![Vec::new()];
    }
    let ended = |revision: i64, answer: OfferAnswer| OwnOffer {
        revision: Revision(revision),
        answer: Some(answer),
    };
    let answers = OfferAnswer::ALL
        .iter()
        .copied()
        .filter(|answer| *answer != OfferAnswer::Cancelled || task.state == State::Cancelled);
    let mut all = vec![Vec::new()];
    for answer in answers.clone() {
        all.push(vec![ended(3, answer)]);
        for earlier in answers.clone() {
            all.push(vec![ended(2, earlier), ended(4, answer)]);
        }
    }
    if matches!(task.state, State::Offered { .. }) && task.state.rider() == actor.rider() {
        for ledger in &mut all {
            ledger.push(OwnOffer { revision: PRESENT, answer: None });
        }
    }
    all
}

/// What came up while the cases were checked.
#[derive(Default)]
struct Seen {
    cases: u64,
    arrows: BTreeSet<(StateName, Verb, StateName)>,
    codes: BTreeSet<Code>,
}

impl Seen {
    /// Checks one case: the answer, and if it applies, the effect.
    fn check(&mut self, case: &Case<'_>) {
        self.cases += 1;
        let Case { task, actor, named, act, world, own_offers, now } = *case;
        let facts = world.facts(own_offers);
        let about = || {
            format!(
                "{} by {actor} naming {named} on {task:?} at {now}, {own_offers:?}, {world:?}",
                act.verb()
            )
        };
        let (releases, wanted) = says(case);
        if let Err(denial) = right(Some(task), actor, act.verb(), &facts) {
            assert_eq!(Says::Denied(denial), wanted, "{}", about());
            return;
        }
        let decision = dispatch_desk::domain::decide::decide(task, actor, named, act, &facts, now);
        let got = match &decision.verdict {
            Ruling::Apply(_) => Says::Applies,
            Ruling::Already(already) => Says::Already(*already),
            Ruling::Refused(Refusal { code, ineligible }) => Says::Refused(*code, *ineligible),
        };
        assert_eq!(got, wanted, "{}", about());
        assert_eq!(decision.lapse.is_some(), releases, "{}", about());
        if let Says::Refused(code, _) = wanted {
            self.codes.insert(code);
        }
        self.check_effect(case, &decision);
    }

    fn check_effect(&mut self, case: &Case<'_>, decision: &Decision) {
        let mut base = case.task;
        if let Some(lapse) = &decision.lapse {
            is_step(base, lapse, Verb::Expire, &Actor::System, case.now);
            assert_eq!(lapse.after().state, State::Open);
            assert_eq!(lapse.event().rider, base.state.rider(), "whose offer it was");
            self.arrows.insert((StateName::Offered, Verb::Expire, StateName::Open));
            base = lapse.after();
        }
        let Ruling::Apply(change) = &decision.verdict else {
            assert_eq!(decision.after(case.task), base, "without a change the row stays");
            return;
        };
        let verb = case.act.verb();
        is_step(base, change, verb, case.actor, case.now);
        let (to, rider) = leads_to(case, base.state.name());
        self.arrows.insert((base.state.name(), verb, to));
        let after = &change.after().state;
        assert_eq!((after.name(), after.rider()), (to, rider));
        assert_eq!(change.event().rider, rider.or(base.state.rider()), "whom it concerned");
        let free = case.world.named.as_ref().and_then(Rider::free_slot);
        match after {
            State::Open | State::Cancelled => {}
            State::Offered { slot, until, .. } => {
                let policy = &case.world.region.policy;
                let waits_ms = 30_000 + policy.grace_ms;
                assert_eq!((Some(*slot), *until), (free, case.now.plus_ms(waits_ms)));
            }
            State::Assigned { slot, stage, mode, .. } => {
                assert_eq!(*stage, stage_after(verb));
                let (place, how) = match verb {
                    Verb::Grab => (free, Mode::Grabbed),
                    Verb::Assign => (free, Mode::Direct),
                    Verb::Accept => (Some(SLOT), Mode::Confirmed),
                    Verb::Deliver => (None, base.state.mode().expect("it was assigned")),
                    _ => (Some(SLOT), base.state.mode().expect("it was assigned")),
                };
                assert_eq!((*slot, *mode), (place, how));
            }
        }
    }
}

/// One event further, by this actor at this moment, and the row is what the event makes of it.
fn is_step(before: &Task, step: &Transition, verb: Verb, actor: &Actor, now: Timestamp) {
    let (event, after) = (step.event(), step.after());
    assert_eq!((event.from, event.to), (before.revision, before.revision.next()));
    assert_eq!((event.action, &event.actor, event.at), (verb, actor, now));
    assert_eq!((event.task, event.region), (before.id, before.region));
    assert_eq!(evolve(Some(before), event).as_ref(), Ok(after));
    assert_eq!((after.revision, after.changed_at, &after.changed_by), (event.to, now, actor));
}

/// What is known of `someone` and of the rider whom `act` names, all of it good.
fn kind_world(someone: &Someone, act: &Act) -> World {
    let mut world = World::kind_to(&someone.actor, act);
    world.me.clone_from(&someone.me);
    world.staff.clone_from(&someone.staff);
    world.region.policy.grace_ms = 500;
    // Not the lowest place, so that a place which was merely kept is told apart.
    let named = act.named_rider().map(free_rider).or_else(|| someone.me.clone());
    world.named = named.map(|rider| Rider { held: vec![0], ..rider });
    world
}

#[test]
fn every_command_lands_where_the_design_says() {
    let mut seen = Seen::default();
    for (task, now) in situations() {
        for someone in everyone() {
            let ledgers = ledgers(&someone.actor, &task);
            for act in acts() {
                let world = kind_world(&someone, &act);
                for named in (2..=7).map(Revision) {
                    for own_offers in &ledgers {
                        seen.check(&Case {
                            task: &task,
                            actor: &someone.actor,
                            named,
                            act: &act,
                            world: &world,
                            own_offers,
                            now,
                        });
                    }
                }
            }
        }
    }
    println!("{} cases", seen.cases);
    let wanted: BTreeSet<_> =
        ARROWS.iter().map(|(from, verb, _, to)| (*from, *verb, *to)).collect();
    assert_eq!(seen.arrows, wanted, "every arrow of the table is taken, and no other");
}

/// Worlds in which one or several facts stand in the way, in every combination.
fn worlds(someone: &Someone, act: &Act, now: Timestamp) -> Vec<World> {
    fn vary(worlds: &mut Vec<World>, with: &[&dyn Fn(&mut World)]) {
        let plain = std::mem::take(worlds);
        for world in plain {
            for change in with {
                let mut world = world.clone();
                change(&mut world);
                worlds.push(world);
            }
        }
    }
    let to_rider = |change: fn(&mut Rider)| {
        move |world: &mut World| {
            if let Some(rider) = &mut world.named {
                change(rider);
            }
        }
    };
    let same = |_: &mut World| {};
    let mut all = vec![kind_world(someone, act)];
    let puts_in_charge =
        matches!(act.verb(), Verb::Grab | Verb::Offer | Verb::Assign | Verb::Reassign);
    if puts_in_charge {
        let asks_position = move |fix: Timestamp| {
            move |world: &mut World| {
                world.region.policy.position_max_age_ms = Some(1_000);
                if let Some(rider) = &mut world.named {
                    rider.last_fix_at = Some(fix);
                }
            }
        };
        let never_seen = |world: &mut World| {
            world.region.policy.position_max_age_ms = Some(1_000);
        };
        let unknown = |world: &mut World| world.named = None;
        vary(
            &mut all,
            &[
                &same,
                &to_rider(|rider| rider.duty = Duty::Off),
                &to_rider(|rider| rider.duty = Duty::Paused),
                &to_rider(|rider| rider.disabled = true),
                &to_rider(|rider| rider.region = ELSEWHERE),
                &to_rider(|rider| rider.vehicle = Some(Vehicle::Van)),
                &asks_position(now.plus_ms(-1_000)),
                &asks_position(now.plus_ms(-1_001)),
                &never_seen,
                &unknown,
            ],
        );
        // Two places: one or both taken, or more than are allowed by now.
        vary(
            &mut all,
            &[
                &same,
                &to_rider(|rider| rider.held = vec![0, 1]),
                &to_rider(|rider| rider.held = vec![0, 1, 2]),
                &to_rider(|rider| rider.held = Vec::new()),
            ],
        );
    }
    match act.verb() {
        Verb::Grab => {
            let round = |until: Timestamp, nonce: Option<&'static str>| {
                move |world: &mut World| {
                    let nonce = nonce.map(str::to_owned);
                    world.round = Some(RunningRound { round: 7, until, nonce });
                }
            };
            vary(
                &mut all,
                &[
                    &same,
                    &round(now, Some("mine")),
                    &round(now.plus_ms(1), Some("mine")),
                    &round(now.plus_ms(1), None),
                ],
            );
            vary(&mut all, &[&same, &to_rider(|rider| rider.risk_rejected = true)]);
        }
        Verb::Assign => {
            let immediate = |world: &mut World| world.region.policy.mode = RegionMode::Immediate;
            vary(&mut all, &[&same, &immediate]);
        }
        Verb::HandBack => {
            let handed_back = |times| move |world: &mut World| world.hand_backs_today = times;
            vary(&mut all, &[&same, &handed_back(2), &handed_back(3), &handed_back(4)]);
        }
        _ => {}
    }
    all
}

#[test]
fn facts_are_consulted_last_and_in_their_order() {
    let ticket = |round, nonce: &str| Some(Ticket { round, nonce: nonce.to_owned() });
    let mut acts = acts();
    for ticket in [ticket(7, "mine"), ticket(7, "forged"), ticket(6, "mine"), ticket(8, "mine")] {
        acts.push(Act::Grab { ticket });
    }
    let actors: Vec<Someone> = everyone()
        .into_iter()
        .filter(|someone| {
            let here = |rider: &Rider| rider.region == REGION && !rider.disabled;
            someone.me.as_ref().is_some_and(here)
                || someone.staff.as_ref().is_some_and(|staff| !staff.disabled)
                || someone.actor == Actor::System
        })
        .collect();
    let mut seen = Seen::default();
    let mut situations = situations();
    for (mut task, now) in situations.clone() {
        task.vehicle = Some(Vehicle::Bicycle);
        situations.push((task, now));
    }
    for (task, now) in situations {
        for someone in &actors {
            for act in &acts {
                let mut worlds = worlds(someone, act, now);
                if task.vehicle.is_some() {
                    // One reason at a time: who drives a van lacks nothing else.
                    worlds.retain(|world| world.named.as_ref().is_none_or(is_plain));
                }
                // The answer to an offer depends on no fact but on the story.
                let stories = match act {
                    Act::Accept | Act::Decline { .. } => ledgers(&someone.actor, &task),
                    _ => vec![own_offers(&someone.actor, &task)],
                };
                for world in worlds {
                    for (named, own_offers) in [PRESENT, PRESENT.next()]
                        .into_iter()
                        .flat_map(|named| stories.iter().map(move |story| (named, story)))
                    {
                        seen.check(&Case {
                            task: &task,
                            actor: &someone.actor,
                            named,
                            act,
                            world: &world,
                            own_offers,
                            now,
                        });
                    }
                }
            }
        }
    }
    println!("{} cases", seen.cases);
    seen.codes.insert(outside::a_pickup_elsewhere());
    let wanted: BTreeSet<_> = Code::ALL.iter().copied().collect();
    assert_eq!(seen.codes, wanted, "every code is given at least once");
}

fn is_plain(rider: &Rider) -> bool {
    rider.region == REGION && !rider.disabled && rider.duty == Duty::On
}

/// The ledger of someone who was never asked before.
fn own_offers(actor: &Actor, task: &Task) -> Vec<OwnOffer> {
    ledgers(actor, task).swap_remove(0)
}
