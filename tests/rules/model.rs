//! Every interleaving of a few nodes that load, decide and write: with a compare-and-swap on the
//! revision there is one winner; without it, the checker finds the schedule that makes two.
//!
//! The model knows no rules of its own: each node asks `decide`.

use dispatch_desk::domain::{
    command::{Act, Actor},
    event::Event,
    id::{Revision, RiderId, Timestamp},
    task::{OwnOffer, Task},
};
use stateright::{Checker, Model, Property};

use crate::desk::{BEGIN, DISPATCHER, Desk, Ruling, SUPERVISOR, TASK, Told, World, rider};

/// Some commands, each on its way through a node of its own.
struct Race {
    /// The task before the race.
    desk: Desk,
    /// The commands; all of them name the revision that stood then.
    commands: Vec<(Actor, Act)>,
    /// Whether a node writes only if the revision is still the one that it loaded.
    compares: bool,
    /// The instant to which the clock jumps once, at any moment of the race.
    later: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Moment {
    desk: Desk,
    now: Timestamp,
    nodes: Vec<Node>,
}

/// How far a node has come with its command.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Node {
    Starts,
    Loaded(Box<Task>, Vec<OwnOffer>),
    /// The events to write, each with the row that it makes, and what to answer then.
    Decided {
        loaded: Revision,
        writes: Vec<(Event, Task)>,
        told: Told,
    },
    Answered(Told),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Load(usize),
    Decide(usize),
    Write(usize),
    TimePasses,
}

impl Race {
    fn decide(&self, at: usize, task: &Task, own_offers: &[OwnOffer], now: Timestamp) -> Node {
        let (actor, act) = &self.commands[at];
        let world = World::kind_to(actor, act);
        let facts = world.facts(own_offers);
        let named = self.desk.task.revision;
        let decision = dispatch_desk::domain::decide::decide(task, actor, named, act, &facts, now);
        let told = Told::from(&decision.verdict);
        let change = match decision.verdict {
            Ruling::Apply(change) => Some(change),
            Ruling::Already(_) | Ruling::Refused(_) => None,
        };
        let writes = decision
            .lapse
            .into_iter()
            .chain(change)
            .map(|step| (step.event().clone(), step.after().clone()))
            .collect();
        Node::Decided { loaded: task.revision, writes, told }
    }
}

impl Model for Race {
    type State = Moment;
    type Action = Step;

    fn init_states(&self) -> Vec<Moment> {
        let nodes = vec![Node::Starts; self.commands.len()];
        vec![Moment { desk: self.desk.clone(), now: BEGIN, nodes }]
    }

    fn actions(&self, state: &Moment, actions: &mut Vec<Step>) {
        for (at, node) in state.nodes.iter().enumerate() {
            match node {
                Node::Starts => actions.push(Step::Load(at)),
                Node::Loaded(..) => actions.push(Step::Decide(at)),
                Node::Decided { .. } => actions.push(Step::Write(at)),
                Node::Answered(_) => {}
            }
        }
        if state.now < self.later {
            actions.push(Step::TimePasses);
        }
    }

    fn next_state(&self, state: &Moment, step: Step) -> Option<Moment> {
        let mut next = state.clone();
        match step {
            Step::Load(at) => {
                let own = state.desk.own_offers(&self.commands[at].0).to_vec();
                next.nodes[at] = Node::Loaded(Box::new(state.desk.task.clone()), own);
            }
            Step::Decide(at) => {
                let Node::Loaded(task, own) = &state.nodes[at] else { return None };
                next.nodes[at] = self.decide(at, task, own, state.now);
            }
            Step::Write(at) => {
                let Node::Decided { loaded, writes, told } = &state.nodes[at] else {
                    return None;
                };
                if self.compares && *loaded != state.desk.task.revision {
                    // Nothing is written; the node looks again.
                    next.nodes[at] = Node::Starts;
                } else {
                    for (event, after) in writes.clone() {
                        next.desk.write(event, after);
                    }
                    next.nodes[at] = Node::Answered(*told);
                }
            }
            Step::TimePasses => next.now = self.later,
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(ONE_WINNER, |_: &Race, state: &Moment| {
                // All commands name the same revision. No two of these go through one after the other,
                // so no two may be told that they went through.
                let won = |node: &&Node| **node == Node::Answered(Told::Done);
                state.nodes.iter().filter(won).count() <= 1
            }),
            Property::always(FOLDS, |_: &Race, state: &Moment| {
                state.desk.folded().as_ref() == Some(&state.desk.task)
            }),
            Property::sometimes(SOMEONE_WINS, |_: &Race, state: &Moment| {
                state.nodes.contains(&Node::Answered(Told::Done))
            }),
        ]
    }
}

const ONE_WINNER: &str = "one winner";
const FOLDS: &str = "the log folds to the row";
const SOMEONE_WINS: &str = "someone wins";

/// The races: a task, who wants something of it at once, and the moment to which time may jump.
fn races(compares: bool) -> Vec<Race> {
    let grab = |id| (rider(id), Act::Grab { ticket: None });
    let offer =
        |staff, id| (staff, Act::Offer { rider: RiderId(id), seconds: Some(30), round: None });
    let withdraw = || (DISPATCHER, Act::Withdraw { reason: None });
    let cancel = || (SUPERVISOR, Act::Cancel { reason: None });
    let open = Desk::new(TASK);
    let mut offered = open.clone();
    let (dispatcher, act) = offer(DISPATCHER, 1);
    offered.must(&dispatcher, &act, BEGIN);
    let mut owned = offered.clone();
    owned.must(&rider(1), &Act::Accept, BEGIN);
    let reassign = Act::Reassign {
        rider: RiderId(2),
        seconds: Some(30),
        handover_confirmed: true,
        reason: None,
    };
    let until = BEGIN.plus_ms(30_000);
    let race =
        |desk: &Desk, commands, later| Race { desk: desk.clone(), commands, compares, later };
    vec![
        race(&open, vec![grab(1), grab(2), grab(3)], BEGIN),
        race(&open, vec![grab(1), offer(DISPATCHER, 2), cancel()], BEGIN),
        race(&offered, vec![(rider(1), Act::Accept), withdraw(), cancel()], until),
        race(&offered, vec![(rider(1), Act::Accept), (Actor::System, Act::Expire)], until),
        race(&offered, vec![(rider(1), Act::Accept), offer(SUPERVISOR, 2), grab(3)], until),
        race(
            &owned,
            vec![(DISPATCHER, reassign), (rider(1), Act::HandBack { reason: None }), cancel()],
            BEGIN,
        ),
        race(&owned, vec![(rider(1), Act::Arrive), cancel()], BEGIN),
    ]
}

#[test]
fn with_compare_and_swap_every_schedule_has_one_winner() {
    for race in races(true) {
        let commands: Vec<_> = race.commands.iter().map(|(_, act)| act.verb()).collect();
        let checked = race.checker().spawn_bfs().join();
        println!("{commands:?}: {} states", checked.unique_state_count());
        checked.assert_properties();
    }
}

#[test]
fn without_it_the_checker_finds_the_schedule_with_two_winners() {
    for race in races(false) {
        let commands: Vec<_> = race.commands.iter().map(|(_, act)| act.verb()).collect();
        let checked = race.checker().spawn_bfs().join();
        let schedule = checked.assert_any_discovery(ONE_WINNER).into_actions();
        println!("{commands:?}: {schedule:?}");
        let writes = schedule.iter().filter(|step| matches!(step, Step::Write(_))).count();
        assert!(writes >= 2, "two nodes wrote");
        assert!(checked.discovery(FOLDS).is_some(), "and the log shows it");
    }
}
