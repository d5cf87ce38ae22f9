//! Random runs of a few clients against a desk that follows the rules, and faults put into them.

use std::collections::BTreeMap;

use dispatch_desk::domain::{
    answer::{Answer, Outcome, TaskView, wording},
    command::{Act, Actor, Command, RequestKey, Verb, What},
    event::{Event, evolve},
    facts::{Duty, RunningRound},
    fingerprint::key_hash,
    history::{Line, Return},
    id::{Revision, RiderId, TaskId, Timestamp},
    refusal::{Code, Lang},
    task::{State, StateName, Task},
};
use rand::{RngExt, rngs::StdRng, seq::IndexedRandom};

use crate::desk::{BEGIN, DISPATCHER, Desk, Ruling, SUPERVISOR, World, rider, shop};

/// A process that is nobody else's.
const STRANGER: u64 = 1_000;

/// Times leave room in between, so that a fault can move an answer to a moment of its own.
const STEP_NS: u64 = 10;

/// What one client has under way.
enum Flight {
    /// Sent, not decided.
    Sent(Asked),
    /// Decided, the answer is on its way.
    Told(Line, Revision),
}

#[derive(Clone)]
enum Asked {
    Look(Actor),
    Command(Command),
}

struct Client {
    process: u64,
    knows: Revision,
    flight: Option<Flight>,
}

/// What kind of run it is to be.
#[derive(Clone, Copy)]
pub struct Shape {
    pub task: TaskId,
    pub clients: usize,
    /// How many requests are sent.
    pub requests: usize,
    /// Whether the task may be cancelled and delivered, which nothing follows.
    pub may_end: bool,
    /// The number of the first process.
    pub first_process: u64,
}

/// A recording of clients of one task, as a correct desk answers them.
pub fn run(rng: &mut StdRng, shape: Shape) -> Vec<Line> {
    let mut desk = Desk::new(shape.task);
    let mut now = BEGIN;
    // Offers wait for five seconds or thirty: in a hasty run most are answered, in a slow one most lapse.
    let pace_ms = [200, 700, 2_500][rng.random_range(0..3)];
    let mut keys: BTreeMap<Revision, String> = BTreeMap::new();
    let mut lines = vec![Line::start(shape.task, desk.task.revision, 0)];
    let mut processes = shape.first_process..;
    let mut client = || Client {
        process: processes.next().expect("there are enough numbers"),
        knows: Revision(1),
        flight: None,
    };
    let mut all: Vec<Client> = (0..shape.clients).map(|_| client()).collect();
    let mut left = shape.requests;
    let mut waiting = 0;
    let mut t_ns = 0;
    while left > 0 || waiting > 0 {
        t_ns += STEP_NS;
        now = now.plus_ms(rng.random_range(0..pace_ms));
        if rng.random_bool(0.1) && desk.task.is_expiring(now) {
            // The system's own release, for which nobody asks.
            desk.must(&Actor::System, &Act::Expire, now);
        }
        let chosen = rng.random_range(0..all.len());
        let one = &mut all[chosen];
        match one.flight.take() {
            None if left == 0 => {}
            None => {
                left -= 1;
                waiting += 1;
                let asked = any_request(rng, shape, one.knows, &desk.task.state, left);
                lines.push(match &asked {
                    Asked::Look(reader) => {
                        Line::looks(one.process, t_ns, reader.clone(), shape.task)
                    }
                    Asked::Command(command) => Line::asked(one.process, t_ns, command)
                        .expect("no edits of details are asked for"),
                });
                one.flight = Some(Flight::Sent(asked));
            }
            Some(Flight::Sent(_)) if rng.random_bool(0.03) => {
                // It never arrived.
                waiting -= 1;
                lines.push(Line::unknown(one.process, t_ns, None));
                *one = Client { knows: one.knows, ..client() };
            }
            Some(Flight::Sent(asked)) => {
                let line = answer(rng, &mut desk, &mut keys, &asked, now);
                one.flight = Some(Flight::Told(line, desk.task.revision));
            }
            Some(Flight::Told(..)) if rng.random_bool(0.07) => {
                waiting -= 1;
                lines.push(Line::unknown(one.process, t_ns, Some(503)));
                *one = Client { knows: one.knows, ..client() };
            }
            Some(Flight::Told(line, seen)) => {
                waiting -= 1;
                one.knows = seen;
                lines.push(at(line, one.process, t_ns));
            }
        }
    }
    lines.extend(desk.log.into_iter().map(|event| {
        let key = keys.remove(&event.to);
        Line::logged(event, key)
    }));
    lines
}

/// Lets the desk decide, and writes the answer down without its time.
fn answer(
    rng: &mut StdRng,
    desk: &mut Desk,
    keys: &mut BTreeMap<Revision, String>,
    asked: &Asked,
    now: Timestamp,
) -> Line {
    let command = match asked {
        Asked::Look(reader) => {
            return Line::saw(0, 0, &TaskView::of(&desk.task, reader, now));
        }
        Asked::Command(command) => command,
    };
    let (revision, act) = match &command.what {
        What::Change { revision, act, .. } => (*revision, act),
        other => panic!("{other:?} is not asked for"),
    };
    let world = any_world(rng, &command.actor, act);
    let decision = desk.ask(&command.actor, revision, act, &world, now);
    if let (Ruling::Apply(change), Some(key)) = (&decision.verdict, &command.key) {
        keys.insert(change.event().to, key_hash(&command.actor.principal(), key));
    }
    let (outcome, code, reason, message) = wording(&decision.verdict, Lang::En);
    let task = Some(TaskView::of(&desk.task, &command.actor, now));
    let (event, beaten_by, legal) = (None, None, Vec::new());
    let answer =
        Answer { outcome, code, reason, message, task, event, beaten_by, legal, server_time: now };
    Line::answered(0, 0, &answer)
}

fn at(line: Line, p: u64, t_ns: u64) -> Line {
    match line {
        Line::Ok(told) => Line::Ok(Return { p, t_ns, ..told }),
        Line::Fail(told) => Line::Fail(Return { p, t_ns, ..told }),
        other => other,
    }
}

/// A request of somebody who knows revision `knows`, often by whoever holds the task.
fn any_request(
    rng: &mut StdRng,
    shape: Shape,
    knows: Revision,
    state: &State,
    number: usize,
) -> Asked {
    let anyone = RiderId(rng.random_range(1..=3));
    let me = Actor::Rider(state.rider().filter(|_| rng.random_bool(0.6)).unwrap_or(anyone));
    let named_rider = RiderId(rng.random_range(1..=3));
    let desk = if rng.random_bool(0.5) { DISPATCHER } else { SUPERVISOR };
    let customer =
        [Actor::Customer(shape.task), shop(), desk.clone()][rng.random_range(0..3)].clone();
    let (reason, seconds) = (None, if rng.random_bool(0.5) { Some(5) } else { None });
    let handover_confirmed = rng.random_bool(0.9);
    // Mostly what fits the present state, so that runs get somewhere.
    let fitting: &[Verb] = match state.name() {
        StateName::Open => &[Verb::Offer, Verb::Offer, Verb::Offer, Verb::Grab, Verb::Assign],
        StateName::Offered => &[Verb::Accept, Verb::Accept, Verb::Decline, Verb::Withdraw],
        StateName::Assigned => {
            &[Verb::Reassign, Verb::HandBack, Verb::Arrive, Verb::PickUp, Verb::Deliver]
        }
        StateName::Cancelled => &[Verb::Cancel],
    };
    let verbs = if rng.random_bool(0.6) { fitting } else { Verb::ALL };
    let (actor, act) = match verbs.choose(rng).copied() {
        Some(Verb::Offer) => (desk, Act::Offer { rider: named_rider, seconds, round: None }),
        Some(Verb::Accept) => (me, Act::Accept),
        Some(Verb::Decline) => (me, Act::Decline { reason }),
        Some(Verb::Grab) => (me, Act::Grab { ticket: None }),
        Some(Verb::Withdraw) => (desk, Act::Withdraw { reason }),
        Some(Verb::Assign) => (SUPERVISOR, Act::Assign { rider: named_rider, reason }),
        Some(Verb::Reassign) => {
            let rider = named_rider;
            (desk, Act::Reassign { rider, seconds, handover_confirmed, reason })
        }
        Some(Verb::HandBack) => (me, Act::HandBack { reason }),
        Some(Verb::Arrive) => (me, Act::Arrive),
        Some(Verb::PickUp | Verb::Cancel) if !shape.may_end => return Asked::Look(desk),
        Some(Verb::PickUp) => (me, Act::PickUp),
        Some(Verb::Deliver) => (me, Act::Deliver),
        Some(Verb::Cancel) => (customer, Act::Cancel { reason }),
        Some(Verb::Create | Verb::Edit | Verb::Expire) | None => {
            return Asked::Look(if rng.random_bool(0.5) { me } else { desk });
        }
    };
    let revision = match rng.random_range(0..10) {
        0 => Revision((knows.0 - 1).max(1)),
        1 => knows.next(),
        _ => knows,
    };
    let key = RequestKey::parse(&format!("{}-{number}", shape.task)).expect("a fine key");
    Asked::Command(Command::change(actor, key, shape.task, revision, act))
}

/// Facts that now and then stand in the way.
fn any_world(rng: &mut StdRng, actor: &Actor, act: &Act) -> World {
    let mut world = World::kind_to(actor, act);
    world.region.policy.offer_seconds = 5;
    if rng.random_bool(0.9) {
        return world;
    }
    match (rng.random_range(0..4), &mut world.named) {
        (0, Some(rider)) => rider.duty = Duty::Paused,
        (1, Some(rider)) => rider.held = vec![0, 1],
        (2, _) => world.hand_backs_today = world.region.policy.hand_backs_per_day,
        _ => world.round = Some(RunningRound { round: 1, until: BEGIN, nonce: None }),
    }
    world
}

/// Puts one fault into a recording.
pub fn spoil(rng: &mut StdRng, lines: &mut Vec<Line>) {
    let end_ns = STEP_NS * u64::try_from(lines.len()).expect("short");
    let anywhere = rng.random_range(0..end_ns) + STEP_NS / 2;
    let is_ask = |at: &usize| matches!(lines[*at], Line::Invoke(_));
    let asked: Vec<usize> = (0..lines.len()).filter(is_ask).collect();
    let Some(&ask) = asked.choose(rng) else { return };
    let answer = answer_to(lines, ask);
    match rng.random_range(0..10) {
        0..=1 => move_in_time(lines, ask, answer, anywhere),
        2 => peek(rng, lines),
        3 => {
            // It was never written down.
            if let Some(answer) = answer {
                lines.remove(answer);
            }
            lines.remove(ask);
        }
        4 => {
            if let Line::Invoke(asked) = &mut lines[ask] {
                asked.rev = asked.rev.map(|rev| Revision(rev.0 + rng.random_range(-2..3)));
            }
        }
        5 => {
            if let Line::Invoke(asked) = &mut lines[ask] {
                asked.actor = rider(rng.random_range(1..=3));
                asked.rider = None;
            }
        }
        _ => {
            let Some(answer) = answer else { return };
            if let Line::Ok(told) | Line::Fail(told) = &mut lines[answer] {
                let told = std::mem::take(told);
                lines[answer] = misquote(rng, told, anywhere);
            }
        }
    }
}

fn answer_to(lines: &[Line], ask: usize) -> Option<usize> {
    let Line::Invoke(asked) = &lines[ask] else { return None };
    let after = lines[ask..].iter().position(|line| match line {
        Line::Ok(told) | Line::Fail(told) | Line::Info(told) => told.p == asked.p,
        Line::Start(_) | Line::Invoke(_) | Line::Event(_) => false,
    });
    after.map(|after| ask + after)
}

/// The whole request, as it was, at another time and from a process of its own.
fn move_in_time(lines: &mut [Line], ask: usize, answer: Option<usize>, to_ns: u64) {
    let Some(answer) = answer else { return };
    let mut began_ns = 0;
    if let Line::Invoke(asked) = &mut lines[ask] {
        began_ns = asked.t_ns;
        asked.t_ns = to_ns;
        asked.p = STRANGER;
    }
    if let Line::Ok(told) | Line::Fail(told) | Line::Info(told) = &mut lines[answer] {
        told.t_ns = to_ns + (told.t_ns - began_ns) / 2;
        told.p = STRANGER;
    }
}

/// Adds a look at some revision of the log, or a second request like one that was told of it, in the time
/// of a request that had to do with that revision.
fn peek(rng: &mut StdRng, lines: &mut Vec<Line>) {
    let log: Vec<Event> = super::log(lines);
    let released: Vec<usize> =
        (0..log.len()).filter(|at| log[*at].action == Verb::Expire).collect();
    let Some(last) = released.choose(rng).copied().or(log.len().checked_sub(1)) else { return };
    let row =
        log[..=last].iter().fold(None, |row: Option<Task>, event| evolve(row.as_ref(), event).ok());
    let Some(row) = row else { return };
    let is_near = |told: &Return| {
        told.seen_rev.is_some_and(|seen| seen == row.revision || seen == row.revision.next())
    };
    let asks = (0..lines.len()).filter(|at| matches!(lines[*at], Line::Invoke(_)));
    let near: Vec<(usize, usize)> = asks
        .filter_map(|ask| answer_to(lines, ask).map(|answer| (ask, answer)))
        .filter(|(_, answer)| match &lines[*answer] {
            Line::Ok(told) | Line::Fail(told) => is_near(told),
            _ => false,
        })
        .collect();
    let Some(&(ask, answer)) = near.choose(rng) else { return };
    let (mut asked, mut told) = (lines[ask].clone(), lines[answer].clone());
    if rng.random_bool(0.5) {
        asked = Line::looks(0, 0, DISPATCHER, row.id);
        told = Line::saw(0, 0, &TaskView::of(&row, &DISPATCHER, BEGIN));
    }
    let (Line::Invoke(first), Line::Ok(last) | Line::Fail(last)) = (&lines[ask], &lines[answer])
    else {
        return;
    };
    let (began, ended) = (first.t_ns + 1, last.t_ns - 1);
    if let Line::Invoke(asked) = &mut asked {
        asked.key = None;
        (asked.p, asked.t_ns) = (STRANGER, began);
    }
    lines.extend([asked, at(told, STRANGER, ended)]);
}

/// The answer, with something changed in it.
fn misquote(rng: &mut StdRng, mut told: Return, anywhere_ns: u64) -> Line {
    let (p, t_ns, seen_rev) = (told.p, told.t_ns, told.seen_rev);
    let moved = |by: std::ops::Range<i64>, rng: &mut StdRng| {
        rng.random_range(by) + seen_rev.map_or(0, |rev| rev.0)
    };
    match rng.random_range(0..6) {
        0 => told.seen_rev = Some(Revision(moved(-2..3, rng))),
        1 => told.t_ns = anywhere_ns,
        2 => told.state = StateName::ALL.choose(rng).copied(),
        3 => told.rider = Some(RiderId(rng.random_range(1..=3))),
        4 => {
            let (outcome, seen_rev) = (Some(Outcome::Done), Some(Revision(moved(0..2, rng))));
            return Line::Ok(Return { p, t_ns, outcome, seen_rev, ..Return::default() });
        }
        _ => {
            let code = Code::ALL.choose(rng).map(|code| code.as_str().to_owned());
            let outcome = Some(Outcome::Refused);
            return Line::Fail(Return { p, t_ns, outcome, code, seen_rev, ..Return::default() });
        }
    }
    match told.outcome {
        Some(Outcome::Refused) => Line::Fail(told),
        Some(Outcome::Done | Outcome::AlreadyDone) | None => Line::Ok(told),
    }
}
