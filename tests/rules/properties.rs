//! Laws that hold for every sequence of commands, whoever sends them, in whatever order.

use std::collections::BTreeMap;

use dispatch_desk::domain::{
    command::{Act, Actor, Verb},
    decide::{Already, right},
    facts::Duty,
    id::{Revision, RiderId, TaskId, Timestamp},
    task::{Slot, Stage, State, StateName},
};
use proptest::prelude::*;

use crate::{
    desk::{BEGIN, DISPATCHER, Desk, Ruling, SUPERVISOR, Told, World, rider, shop},
    rounds,
};

const TASKS: usize = 3;
const RIDERS: i64 = 3;
const CAPACITY: u32 = 2;

/// One command of a sequence, as it is drawn.
#[derive(Clone, Debug)]
struct Draw {
    task: usize,
    actor: Actor,
    act: Act,
    /// What the command names, counted from the present revision.
    named: i64,
    /// How far the clock moves before, in milliseconds; it may be set back.
    moves_ms: i64,
    paused: bool,
    /// Whether a rider's command comes from whoever holds the task, if anyone does.
    as_holder: bool,
}

impl Draw {
    /// The same, by the task's holder where it is to be so.
    fn by_holder(mut self, holder: Option<RiderId>) -> Self {
        if let (true, Some(holder), Actor::Rider(_)) = (self.as_holder, holder, &self.actor) {
            self.actor = Actor::Rider(holder);
        }
        self
    }
}

fn any_rider() -> impl Strategy<Value = RiderId> {
    (1..=RIDERS).prop_map(RiderId)
}

fn any_act() -> impl Strategy<Value = Act> {
    let reason = None;
    let offer = || (any_rider(), prop_oneof![Just(None), Just(Some(5)), Just(Some(30))]);
    prop_oneof![
        9 => offer().prop_map(|(rider, seconds)| Act::Offer { rider, seconds, round: None }),
        3 => Just(Act::Grab { ticket: None }),
        9 => Just(Act::Accept),
        2 => Just(Act::Decline { reason: reason.clone() }),
        2 => Just(Act::Withdraw { reason: reason.clone() }),
        2 => Just(Act::Expire),
        1 => Just(Act::Cancel { reason: reason.clone() }),
        1 => any_rider().prop_map(|rider| Act::Assign { rider, reason: None }),
        4 => (offer(), any::<bool>()).prop_map(|((rider, seconds), handover_confirmed)| {
            Act::Reassign { rider, seconds, handover_confirmed, reason: None }
        }),
        2 => Just(Act::HandBack { reason }),
        9 => Just(Act::Arrive),
        9 => Just(Act::PickUp),
        6 => Just(Act::Deliver),
    ]
}

/// Someone who may have the right to it.
fn actor_for(act: &Act) -> BoxedStrategy<Actor> {
    match act.verb() {
        Verb::Expire => Just(Actor::System).boxed(),
        Verb::Offer | Verb::Withdraw => {
            prop_oneof![Just(DISPATCHER), Just(SUPERVISOR), Just(Actor::System)].boxed()
        }
        Verb::Assign | Verb::Reassign => prop_oneof![Just(DISPATCHER), Just(SUPERVISOR)].boxed(),
        Verb::Cancel => prop_oneof![Just(DISPATCHER), Just(shop())].boxed(),
        _ => (1..=RIDERS).prop_map(rider).boxed(),
    }
}

fn any_draw() -> impl Strategy<Value = Draw> {
    let when = prop_oneof![20 => 0..1_000_i64, 1 => 30_000..40_000_i64, 1 => -5_000..0_i64];
    let named = prop_oneof![8 => Just(0_i64), 1 => -2..0_i64, 1 => Just(1_i64)];
    let chances = (prop::bool::weighted(0.1), prop::bool::weighted(0.7));
    (any_act(), 0..TASKS, named, when, chances).prop_flat_map(
        |(act, task, named, moves_ms, (paused, as_holder))| {
            actor_for(&act).prop_map(move |actor| {
                let act = act.clone();
                Draw { task, actor, act, named, moves_ms, paused, as_holder }
            })
        },
    )
}

fn any_sequence() -> impl Strategy<Value = Vec<Draw>> {
    prop::collection::vec(any_draw(), 1..60)
}

/// Several tasks that share riders.
struct Region {
    desks: Vec<Desk>,
    now: Timestamp,
}

impl Region {
    fn new() -> Self {
        let ids = (1..).map(TaskId).take(TASKS);
        Self { desks: ids.map(Desk::new).collect(), now: BEGIN }
    }

    /// The places of each rider that are taken.
    fn held(&self) -> BTreeMap<RiderId, Vec<Slot>> {
        let mut held: BTreeMap<RiderId, Vec<Slot>> = BTreeMap::new();
        for (rider, slot) in self.desks.iter().filter_map(|desk| desk.task.state.held()) {
            held.entry(rider).or_default().push(slot);
        }
        held
    }

    /// The facts as they are.
    fn world(&self, draw: &Draw) -> World {
        let held = self.held();
        let mut world = World::kind_to(&draw.actor, &draw.act);
        for rider in [&mut world.me, &mut world.named].into_iter().flatten() {
            rider.capacity = CAPACITY;
            rider.held = held.get(&rider.id).cloned().unwrap_or_default();
            rider.duty = if draw.paused { Duty::Paused } else { Duty::On };
        }
        world
    }

    fn named(&self, draw: &Draw) -> Revision {
        Revision(self.desks[draw.task].task.revision.0 + draw.named)
    }

    fn is_finished(desk: &Desk) -> bool {
        desk.task.state == State::Cancelled || desk.task.state.stage() == Some(Stage::Delivered)
    }

    /// What has to be true of everything at any time.
    fn check(&self) -> Result<(), TestCaseError> {
        for (rider, mut slots) in self.held() {
            prop_assert!(slots.len() <= CAPACITY as usize, "{rider} holds {slots:?}");
            prop_assert!(slots.iter().all(|slot| *slot < CAPACITY), "{rider} holds {slots:?}");
            slots.sort_unstable();
            slots.dedup();
            let held = self.held().remove(&rider).unwrap_or_default();
            prop_assert_eq!(slots.len(), held.len(), "one task in each place");
        }
        for desk in &self.desks {
            let folded = desk.folded();
            prop_assert_eq!(folded.as_ref(), Some(&desk.task), "the log folds to the row");
            let waiting: Vec<RiderId> = desk
                .offers
                .iter()
                .filter(|(_, offers)| offers.iter().any(|offer| offer.answer.is_none()))
                .map(|(rider, _)| *rider)
                .collect();
            let invited: Vec<RiderId> = match desk.task.state {
                State::Offered { rider, .. } => vec![rider],
                _ => Vec::new(),
            };
            prop_assert_eq!(waiting, invited, "one offer waits, for whom the task is reserved");
            let is_held = desk.task.state.held().is_some();
            let should = match desk.task.state.name() {
                StateName::Open | StateName::Cancelled => false,
                StateName::Offered => true,
                StateName::Assigned => desk.task.state.stage() != Some(Stage::Delivered),
            };
            prop_assert_eq!(is_held, should, "a place is taken exactly while somebody holds it");
            let times = desk.log.iter().map(|event| event.at);
            prop_assert!(times.is_sorted(), "time does not run back");
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: rounds(512, 20_000),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_sequence_of_commands_breaks_a_law(draws in any_sequence()) {
        let mut region = Region::new();
        for draw in draws {
            let holder = region.desks[draw.task].task.state.rider();
            let draw = draw.by_holder(holder);
            region.now = region.now.plus_ms(draw.moves_ms);
            let (world, named, now) = (region.world(&draw), region.named(&draw), region.now);
            let desk = &mut region.desks[draw.task];
            let Draw { actor, act, .. } = &draw;
            let facts = world.facts(desk.own_offers(actor));
            if right(Some(&desk.task), actor, act.verb(), &facts).is_err() {
                continue;
            }

            let before = desk.clone();
            let decision = desk.ask(actor, named, act, &world, now);
            let told = Told::from(&decision.verdict);

            // A lapsed offer is released by whoever touches it, once, before anything else.
            let was_lapsed = before.task.is_expiring(now.max(before.task.changed_at));
            let releases = was_lapsed && act.verb() != Verb::Expire;
            prop_assert_eq!(decision.lapse.is_some(), releases);
            let news: Vec<Verb> =
                desk.log[before.log.len()..].iter().map(|event| event.action).collect();
            let mut wanted = Vec::new();
            if releases { wanted.push(Verb::Expire); }
            if told == Told::Done { wanted.push(act.verb()); }
            prop_assert_eq!(news, wanted, "one event for each change and none without");
            let answers = matches!(act.verb(), Verb::Accept | Verb::Decline | Verb::Withdraw);
            prop_assert!(!(was_lapsed && answers && told == Told::Done), "nothing revives an offer");

            // Only who names the present revision changes anything, or the one whose offer has lapsed.
            if told == Told::Done {
                let present = before.task.revision;
                prop_assert!(named == present || (releases && named == present.next()));
            }
            // Nothing follows the end.
            if Region::is_finished(&before) {
                prop_assert_eq!(&desk.task, &before.task);
            }
            // A repeated command has no effect: not after a success and not after a refusal.
            let again = desk.weigh(actor, named, act, &world, now);
            prop_assert!(!matches!(again.verdict, Ruling::Apply(_)), "{act:?} again");
            prop_assert!(again.lapse.is_none(), "what was released is released");
            if told == Told::Done {
                let wanted = match act.verb() {
                    Verb::Accept | Verb::Grab => Some(Told::Already(Already::Yours)),
                    Verb::Decline | Verb::Cancel | Verb::Arrive | Verb::PickUp | Verb::Deliver => {
                        Some(Told::Already(Already::Done))
                    }
                    _ => None,
                };
                let again = Told::from(&again.verdict);
                let is_refused = matches!(again, Told::Refused(_));
                prop_assert!(wanted.map_or(is_refused, |wanted| again == wanted), "{again:?}");
            }
            region.check()?;
        }
    }
}
