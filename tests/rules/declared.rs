//! The declared table of the acceptance suite and the product's own decision say the same, case by case, along random
//! walks. They share no line of code: one is read from `acceptance/tables/reserve_then_confirm.toml`.

use std::collections::{BTreeMap, BTreeSet};

use dispatch_desk::{
    acceptance::{
        table::{Ask, RiderFacts, TABLES, Table, World as Declared},
        words::{Returns, Standing, Who},
    },
    domain::{
        command::{Act, Actor, Role, Verb},
        decide::right,
        facts::Duty,
        id::{Revision, RiderId, StaffId, Timestamp},
        task::Task,
    },
};
use rand::{RngExt, SeedableRng, rngs::StdRng, seq::IndexedRandom};

use crate::{
    desk::{BEGIN, Desk, ELSEWHERE, Ruling, TASK, World, free_rider, shop, staff},
    rounds,
};

/// Everybody who may act, with the riders' facts: one ordinary, one with two places, one off duty, one full, one of
/// another region.
const RIDERS: [(&str, RiderFacts); 5] = {
    const ORDINARY: RiderFacts =
        RiderFacts { capacity: 1, on_duty: true, foreign: false, vehicle: None };
    [
        ("R1", ORDINARY),
        ("R2", RiderFacts { capacity: 2, ..ORDINARY }),
        ("R3", RiderFacts { on_duty: false, ..ORDINARY }),
        ("R4", RiderFacts { capacity: 0, ..ORDINARY }),
        ("R5", RiderFacts { foreign: true, ..ORDINARY }),
    ]
};

fn actor(who: &Who) -> Actor {
    match who {
        Who::Intake => shop(),
        Who::Customer => Actor::Customer(TASK),
        Who::Dispatcher(1) => Actor::Staff(StaffId(1)),
        Who::Dispatcher(_) => Actor::Staff(StaffId(3)),
        Who::Supervisor => Actor::Staff(StaffId(2)),
        Who::Auditor => Actor::Staff(StaffId(4)),
        Who::System => Actor::System,
        Who::Foreigner | Who::Nobody => Actor::Staff(StaffId(5)),
        Who::Rider(name) => Actor::Rider(id(name)),
    }
}

fn id(rider: &str) -> RiderId {
    RiderId(rider[1..].parse().expect("R and a number"))
}

/// The facts of a rider who holds `held` places.
fn facts_of(name: &str, held: usize) -> dispatch_desk::domain::facts::Rider {
    let (_, facts) = RIDERS.iter().find(|(known, _)| *known == name).expect("one of ours");
    let mut rider = free_rider(id(name));
    rider.capacity = facts.capacity;
    rider.held = (0..u32::try_from(held).expect("few")).collect();
    rider.duty = if facts.on_duty { Duty::On } else { Duty::Off };
    if facts.foreign {
        rider.region = ELSEWHERE;
    }
    rider
}

fn facts(desk: &Desk, who: &Who, named: Option<&str>, handed_back: u32) -> World {
    let held =
        |name: &str| usize::from(desk.task.state.held().is_some_and(|(it, _)| it == id(name)));
    let of = |name: &str| facts_of(name, held(name));
    let me = who.rider().map(of);
    let employee = match who {
        Who::Dispatcher(_) | Who::Foreigner => Some(Role::Dispatcher),
        Who::Supervisor => Some(Role::Supervisor),
        Who::Auditor => Some(Role::Auditor),
        _ => None,
    };
    let staff = match (actor(who), employee) {
        (Actor::Staff(id), Some(role)) => {
            let mut staff = staff(id, role);
            if *who == Who::Foreigner {
                staff.regions = vec![ELSEWHERE];
            }
            Some(staff)
        }
        _ => None,
    };
    let mut world = World::kind_to(&shop(), &Act::Accept);
    world.staff = staff;
    world.named = named.map(of).or_else(|| me.clone());
    world.me = me;
    world.hand_backs_today = handed_back;
    world
}

fn act(ask: &Ask) -> Act {
    let rider = || id(ask.rider.as_deref().expect("a named rider"));
    let (seconds, reason) = (ask.seconds, None);
    match ask.command {
        Verb::Grab => Act::Grab { ticket: None },
        Verb::Offer => Act::Offer { rider: rider(), seconds, round: None },
        Verb::Assign => Act::Assign { rider: rider(), reason },
        Verb::Accept => Act::Accept,
        Verb::Decline => Act::Decline { reason },
        Verb::Withdraw => Act::Withdraw { reason },
        Verb::Cancel => Act::Cancel { reason },
        Verb::Reassign => {
            Act::Reassign { rider: rider(), seconds, handover_confirmed: ask.confirmed, reason }
        }
        Verb::HandBack => Act::HandBack { reason },
        Verb::Arrive => Act::Arrive,
        Verb::PickUp => Act::PickUp,
        Verb::Deliver => Act::Deliver,
        Verb::Create | Verb::Expire | Verb::Edit => unreachable!("nobody asks for it"),
    }
}

/// What the product says, and does.
fn product(desk: &mut Desk, ask: &Ask, handed_back: u32, now: Timestamp) -> Returns {
    let (who, act) = (actor(&ask.who), act(ask));
    let world = facts(desk, &ask.who, ask.rider.as_deref(), handed_back);
    if let Err(denial) = right(Some(&desk.task), &who, act.verb(), &world.facts(&[])) {
        return Returns::TurnedAway(denial.as_str().to_owned());
    }
    let named = Revision(ask.revision.expect("a revision is named"));
    match desk.ask(&who, named, &act, &world, now).verdict {
        Ruling::Apply(_) => Returns::Done,
        Ruling::Already(already) => Returns::Already(already.as_str().to_owned()),
        Ruling::Refused(refusal) => Returns::Refused(refusal.code.as_str().to_owned()),
    }
}

fn standing(task: &Task) -> Standing {
    Standing {
        state: task.state.name(),
        stage: task.state.stage(),
        rider: task.state.rider().map(|rider| rider.to_string()),
    }
}

const COMMANDS: [Verb; 12] = [
    Verb::Grab,
    Verb::Offer,
    Verb::Assign,
    Verb::Accept,
    Verb::Decline,
    Verb::Withdraw,
    Verb::Cancel,
    Verb::Reassign,
    Verb::HandBack,
    Verb::Arrive,
    Verb::PickUp,
    Verb::Deliver,
];

fn asks(rng: &mut StdRng, desk: &Desk) -> Ask {
    let pick = |rng: &mut StdRng| RIDERS.choose(rng).expect("riders").0.to_owned();
    let command = *COMMANDS.choose(rng).expect("commands");
    let by_riders = !matches!(
        command,
        Verb::Offer | Verb::Assign | Verb::Withdraw | Verb::Cancel | Verb::Reassign
    );
    let anybody = rng.random_bool(0.1);
    let who = if by_riders ^ anybody {
        // Mostly whoever holds it, so that walks get somewhere.
        let holder = desk.task.state.rider().map(|rider| rider.to_string());
        Who::Rider(holder.filter(|_| rng.random_bool(0.6)).unwrap_or_else(|| pick(rng)))
    } else {
        let staff = [
            Who::Dispatcher(1),
            Who::Dispatcher(2),
            Who::Supervisor,
            Who::Auditor,
            Who::Foreigner,
            Who::Intake,
            Who::Customer,
        ];
        staff.choose(rng).expect("staff").clone()
    };
    let names = matches!(command, Verb::Offer | Verb::Assign | Verb::Reassign);
    let present = desk.task.revision.0;
    let revision = if rng.random_bool(0.75) { present } else { rng.random_range(1..=present + 1) };
    Ask {
        who,
        command,
        task: "T1".to_owned(),
        rider: names.then(|| pick(rng)),
        seconds: Some(30),
        revision: Some(revision),
        key: None,
        has_key: true,
        confirmed: rng.random_bool(0.8),
        release_in_ms: None,
        vehicle: None,
    }
}

fn walk(table: &Table, seed: u64, seen: &mut BTreeSet<String>) {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut desk = Desk::new(TASK);
    let riders: BTreeMap<_, _> =
        RIDERS.iter().map(|(name, facts)| ((*name).to_owned(), facts.clone())).collect();
    let mut declared = Declared::new(riders);
    let create = Ask {
        who: Who::Intake,
        command: Verb::Create,
        rider: None,
        seconds: None,
        revision: None,
        ..asks(&mut rng, &desk)
    };
    assert_eq!(declared.ask(table, &create).expect("a row").returns, Returns::Done);
    let mut handed_back: BTreeMap<String, u32> = BTreeMap::new();
    let mut now_ms = 0;
    for step in 0..30 {
        now_ms += [0, 0, 1, 1_000, 14_999, 30_000].choose(&mut rng).expect("times");
        declared.now_ms = now_ms;
        let mut ask = asks(&mut rng, &desk);
        if seed.is_multiple_of(50) && step < 9 {
            // Chance alone would hardly ever hand back four times in a day.
            ask.command = if step % 2 == 0 { Verb::Grab } else { Verb::HandBack };
            ask.who = Who::Rider("R1".to_owned());
            (ask.rider, ask.revision) = (None, Some(desk.task.revision.0));
        }
        let me = ask.who.rider().unwrap_or_default().to_owned();
        let used = handed_back.get(&me).copied().unwrap_or(0);
        let ours = product(&mut desk, &ask, used, BEGIN.plus_ms(now_ms));
        let theirs = declared.ask(table, &ask).map(|decided| decided.returns);
        let context = || format!("seed {seed}, step {step}: {ask:?}\n{:?}", desk.task);
        assert_eq!(theirs.as_ref(), Ok(&ours), "the table, the product; {}", context());
        if ours == Returns::Done && ask.command == Verb::HandBack {
            *handed_back.entry(me).or_default() += 1;
        }
        let task = declared.task("T1").expect("it was created");
        assert_eq!(task.standing(), standing(&desk.task), "{}", context());
        assert_eq!(task.revision, desk.task.revision.0, "{}", context());
        seen.insert(format!("{} {ours}", ask.command));
    }
}

#[test]
fn the_declared_table_is_the_products() {
    let (name, text) = TABLES[0];
    let table = Table::parse(name, text).expect("it comes along");
    let mut seen = BTreeSet::new();
    for seed in 0..u64::from(rounds(6_000, 100_000)) {
        walk(&table, seed, &mut seen);
    }
    println!("{} different answers to {} commands", seen.len(), COMMANDS.len());
    // A walk has no bad key, no missing revision and nothing that is held back.
    let elsewhere =
        ["NOT_SIGNED_IN", "KEY_MISSING", "REVISION_MISSING", "REQUEST_KEY_REUSED", "NOT_RELEASED"];
    for line in &table.answers {
        let met = seen.iter().any(|answer| answer.ends_with(&line.code));
        assert!(met || elsewhere.contains(&line.code.as_str()), "no walk met {}", line.code);
    }
    for row in &table.rows {
        let command = row.command;
        let met = seen.contains(&format!("{command} done"));
        assert!(met || matches!(command, Verb::Create | Verb::Expire), "no walk did {command}");
    }
}

/// A table that says something else is told apart: so the walks look closely.
#[test]
fn a_table_with_one_other_line_is_told_apart() {
    let (name, text) = TABLES[0];
    for (from, to) in [
        ("code = \"TAKEN_BY_OTHER\"", "code = \"NOT_OPEN\""),
        ("code = \"OFFER_EXPIRED\"", "code = \"STALE_REVISION\""),
        ("when = { revision = \"old\" }", "when = { revision = \"old\", command = [\"offer\"] }"),
        ("by = [\"dispatcher\"], mode", "by = [\"supervisor\"], mode"),
        ("offer_was = \"declined\"", "offer_was = \"accepted\""),
        ("[lapse]\nfrom = \"offered\"", "[lapse]\nfrom = \"assigned\""),
    ] {
        let other = text.replacen(from, to, 1);
        assert_ne!(other, text, "{from}");
        let table = Table::parse(name, &other).expect("it is a table");
        let told_apart = (0..2_000).any(|seed| {
            std::panic::catch_unwind(|| walk(&table, seed, &mut BTreeSet::new())).is_err()
        });
        assert!(told_apart, "{from} → {to}");
    }
}
