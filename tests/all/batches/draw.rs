//! Random commands.

use dispatch_desk::domain::{
    command::{Act, Actor, Command, DetailChanges, NewTask, Ticket, What},
    id::{Revision, RiderId, TaskId},
    refusal::Lang,
    table::{self, Cell},
    task::Task,
};
use rand::{RngExt, rngs::StdRng, seq::IndexedRandom};

use crate::harness::*;

/// The riders of a list: few, so that their places run out.
pub const CROWD: std::ops::RangeInclusive<i64> = 1..=4;

/// A random command on one of `tasks`, as they stand; more often than not one that the table allows.
pub fn command(random: &mut StdRng, tasks: &[Task], urgent: bool, key: &str) -> Command {
    loop {
        let drawn = draw(random, tasks, urgent, key);
        let What::Change { task, act, .. } = &drawn.what else { return drawn };
        let task = tasks.iter().find(|known| known.id == *task).expect("one of them");
        let fits = match table::cell(task.state.name(), act.verb()) {
            Some(Cell::Apply(_)) => true,
            Some(Cell::ForHolder(..)) => task.state.rider() == drawn.actor.rider(),
            Some(Cell::Refuse(_)) | None => false,
        };
        if fits || random.random_bool(0.2) {
            return drawn;
        }
    }
}

/// Any command. Most name the present revision, and many are sent by the one who holds the task.
fn draw(random: &mut StdRng, tasks: &[Task], urgent: bool, key: &str) -> Command {
    let task = tasks.choose(random).expect("there are tasks");
    let holder = task.state.rider().filter(|_| random.random_bool(0.6));
    let me = holder.map_or_else(|| rider(random.random_range(CROWD)), Actor::Rider);
    let named = random.random_range(CROWD);
    let staff = [D1, D1, D2, SUPERVISOR, FOREIGN_DISPATCHER, AUDITOR];
    let staff = staff.choose(random).cloned().unwrap_or(D1);
    let seconds = [None, Some(5), Some(600), Some(4)].choose(random).copied().flatten();
    let (actor, act) = if urgent {
        match random.random_range(0..7) {
            0..=2 => (me, Act::Accept),
            3 | 4 => (me, DECLINE),
            5 => (Actor::System, Act::Expire),
            _ => (rider(FOREIGN_RIDER), Act::Accept),
        }
    } else {
        match random.random_range(0..22) {
            0..=3 => (me, GRAB),
            4 => (me, Act::Grab { ticket: Some(Ticket { round: 1, nonce: "n".into() }) }),
            5..=7 => (staff, Act::Offer { rider: RiderId(named), seconds, round: None }),
            8 => (SUPERVISOR, assign(named)),
            9 | 10 => (staff, WITHDRAW),
            11 => {
                let who = [D1, shop(), Actor::Customer(task.id)];
                (who.choose(random).cloned().unwrap_or(D1), CANCEL)
            }
            12 | 13 => {
                let handover_confirmed = random.random_bool(0.8);
                let (rider, reason) = (RiderId(named), None);
                (staff, Act::Reassign { rider, seconds, handover_confirmed, reason })
            }
            14..=16 => (me, HAND_BACK),
            17 => (me, Act::Arrive),
            18 => (me, Act::PickUp),
            19 => (me, Act::Deliver),
            20 => return edit(random, task.id, staff, key),
            _ => return creation(random, key),
        }
    };
    let off = [0, 0, 0, 0, 0, 0, -1, -1, 1].choose(random).copied().unwrap_or_default();
    let revision = Revision(task.revision.0 + off);
    let lang = *Lang::ALL.choose(random).expect("two languages");
    // Only the system's own commands have no key.
    let key = (actor != Actor::System).then(|| Desk::key(key));
    Command { actor, key, lang, what: What::Change { task: task.id, revision, act } }
}

fn edit(random: &mut StdRng, task: TaskId, actor: Actor, key: &str) -> Command {
    let some = |text: &str| Some(format!("{text} {key}"));
    let changes = match random.random_range(0..4) {
        0 => DetailChanges::default(),
        1 => DetailChanges { note: some("note"), priority: Some(3), ..DetailChanges::default() },
        2 => DetailChanges { pickup_address: some("address"), ..DetailChanges::default() },
        _ => {
            let release_at = Some(NOON.plus_ms(random.random_range(0..200_000)));
            DetailChanges { release_at, ..DetailChanges::default() }
        }
    };
    let detail_revision = Revision(random.random_range(1..=2));
    let what = What::Edit { task, detail_revision, changes: Box::new(changes) };
    Command { actor, key: Some(Desk::key(key)), lang: Lang::Zh, what }
}

fn creation(random: &mut StdRng, key: &str) -> Command {
    let actor = if random.random_bool(0.5) { shop() } else { D1 };
    let what = What::Create(Box::new(NewTask { priority: random.random_range(0..9), ..order() }));
    Command { actor, key: Some(Desk::key(key)), lang: Lang::En, what }
}
