//! A batch of events, and whom each of them concerns: looked up once, in the snapshot that the events were read in.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::OnceLock,
};

use bytes::Bytes;

use crate::{
    domain::{
        actor::{Actor, Role},
        authority::{Matter, who},
        command::Verb,
        id::{RegionId, Revision, RiderId, TaskId, Timestamp},
        round::RoundAction,
    },
    store::{self, Around, AskedIn, LoggedEvent, Tx},
};

/// How much of an event somebody sees. Everybody with the same sight sees the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// All of it: staff of its region.
    Desk,
    /// All of it but other riders: the rider whom it concerns.
    Mine,
    /// That it happened, but not to or by which rider: riders who lose or get something by it.
    Others,
    /// What it makes of the order: the customer.
    Customer,
}

/// An event with whom it concerns.
#[derive(Debug)]
pub struct Item {
    /// The event.
    pub event: LoggedEvent,
    /// Riders whom it concerns beside the one whom it names.
    riders: BTreeSet<RiderId>,
    /// Riders who were asked for the task in a round.
    asked: BTreeSet<RiderId>,
    /// The region whose open tasks are not the same any more, for everyone there.
    pool: Option<RegionId>,
    frames: [OnceLock<Bytes>; 4],
}

impl Item {
    /// How much of it somebody sees; nothing if it is not for them.
    pub fn sight(&self, actor: &Actor, role: Role, regions: &[RegionId]) -> Option<Sight> {
        let here = || self.event.region_id.is_some_and(|id| regions.contains(&RegionId(id)));
        match actor {
            Actor::Staff(_) if !is_read_by(&self.event, role) => None,
            Actor::Staff(_) => here().then_some(Sight::Desk),
            // What staff did about somebody (who looked at a signal, who saw a number) is not told to them.
            Actor::Rider(_) | Actor::Customer(_) if self.event.kind == "admin" => None,
            Actor::Customer(task) => {
                (self.event.task_id == Some(task.0)).then_some(Sight::Customer)
            }
            Actor::Rider(me) if self.event.rider_id == Some(me.0) => Some(Sight::Mine),
            Actor::Rider(me) => {
                let lost = self.riders.contains(me);
                (lost || (self.asked.contains(me) && here())).then_some(Sight::Others)
            }
            Actor::System | Actor::Intake(_) => None,
        }
    }

    /// Whether a rider of `regions` may find other tasks to grab now.
    pub fn stirs_pool(&self, regions: &[RegionId]) -> bool {
        self.pool.is_some_and(|region| regions.contains(&region))
    }

    /// Its bytes for everybody with this sight, made once.
    pub fn frame(&self, sight: Sight, make: impl FnOnce(&LoggedEvent) -> Bytes) -> Bytes {
        self.frames[sight as usize].get_or_init(|| make(&self.event)).clone()
    }
}

/// Whether staff of that role read of such an event at all: what was done about people, ways in and rules is for those
/// who read the log.
fn is_read_by(event: &LoggedEvent, role: Role) -> bool {
    event.kind != "admin" || who(Matter::Audit).contains(&role)
}

/// Events with consecutive numbers.
#[derive(Debug, Default)]
pub struct Batch {
    /// In order.
    pub items: Vec<Item>,
}

/// What an event does to its task.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// A rider holds it afterwards.
    Held,
    /// Nobody does.
    Free,
    /// It is over, or was only written on.
    Neither,
}

fn effect(action: Verb) -> Effect {
    match action {
        Verb::Grab
        | Verb::Offer
        | Verb::Assign
        | Verb::Accept
        | Verb::Reassign
        | Verb::Arrive
        | Verb::PickUp
        | Verb::Deliver => Effect::Held,
        Verb::Create | Verb::Decline | Verb::Withdraw | Verb::Expire | Verb::HandBack => {
            Effect::Free
        }
        Verb::Cancel | Verb::Edit => Effect::Neither,
    }
}

/// Whether an event opens a task to riders, or takes an open one away from them.
fn is_about_open(action: Verb) -> bool {
    let takes = matches!(action, Verb::Grab | Verb::Offer | Verb::Assign | Verb::Cancel);
    takes || effect(action) == Effect::Free
}

/// Pairs by their first part.
fn grouped<K: std::hash::Hash + Eq, V: Ord>(
    pairs: impl IntoIterator<Item = (K, V)>,
) -> HashMap<K, BTreeSet<V>> {
    let mut all = HashMap::<K, BTreeSet<V>>::new();
    for (key, value) in pairs {
        all.entry(key).or_default().insert(value);
    }
    all
}

/// The rounds that events are about.
struct Rounds {
    asked: HashMap<TaskId, Vec<AskedIn>>,
    around: HashMap<(TaskId, Timestamp), Around>,
}

impl Rounds {
    fn of(asked: Vec<AskedIn>, around: Vec<Around>) -> Self {
        let mut by_task = HashMap::<TaskId, Vec<AskedIn>>::new();
        for asked in asked {
            by_task.entry(asked.task).or_default().push(asked);
        }
        let around = around.into_iter().map(|around| ((around.task, around.at), around)).collect();
        Self { asked: by_task, around }
    }

    /// Who had been asked for the task of an event, and had seen it by then. That a round begins is told to its own
    /// members, each when they see it.
    fn asked(&self, event: &LoggedEvent) -> BTreeSet<RiderId> {
        let at = Timestamp(event.occurred_at);
        let begins = matches!(action_of(event), Some(RoundAction::Started | RoundAction::Shown));
        let told = |one: &&AskedIn| one.sent_at <= at && (!begins || one.round == event.subject);
        let asked = event.task_id.and_then(|task| self.asked.get(&TaskId(task)));
        asked.into_iter().flatten().filter(told).map(|one| one.rider).collect()
    }

    /// Whether the open tasks are others than before for everyone in the region. What a round has shown to a few, nobody
    /// else had seen; that a round takes a task away from everybody, or gives it back, everybody sees.
    fn stirs(&self, event: &LoggedEvent) -> bool {
        let Some(task) = event.task_id.map(TaskId) else { return false };
        let around = self.around.get(&(task, Timestamp(event.occurred_at)));
        let (before, after) = around.map_or((false, false), |around| (around.before, around.after));
        match action_of(event) {
            Some(RoundAction::Pooled | RoundAction::Unpooled) => !after,
            Some(_) => before != after,
            None => around.is_none(),
        }
    }
}

/// What an event did to a round; none if it is about none.
fn action_of(event: &LoggedEvent) -> Option<RoundAction> {
    RoundAction::parse(&event.action).filter(|_| event.kind == "round")
}

impl Batch {
    /// Looks up whom `events` concern. Use the transaction that read them.
    pub async fn of(tx: &mut Tx, events: Vec<LoggedEvent>) -> store::Result<Self> {
        let mut before = Vec::new();
        let (mut written, mut open) = (BTreeSet::new(), BTreeMap::<TaskId, BTreeSet<i64>>::new());
        for event in &events {
            let Some(task) = event.task_id.map(TaskId) else { continue };
            match (event.kind.as_str(), Verb::parse(&event.action)) {
                ("task", Some(action)) => {
                    let from = event.from_revision.filter(|from| *from > 0);
                    before.extend(from.map(|from| (task, Revision(from))));
                    if is_about_open(action) {
                        open.entry(task).or_default().insert(event.occurred_at);
                    }
                }
                ("detail", _) => {
                    written.insert(task);
                }
                _ => {
                    open.entry(task).or_default().insert(event.occurred_at);
                }
            }
        }
        let written: Vec<_> = written.into_iter().collect();
        let held = if before.is_empty() { Vec::new() } else { tx.made(&before).await? };
        let held = held.into_iter().filter(|made| effect(made.action) == Effect::Held);
        let held = grouped(held.map(|made| ((made.task, made.revision), made.rider)));
        let holders = if written.is_empty() { Vec::new() } else { tx.holders(&written).await? };
        let holders = grouped(holders);
        let (asked, rounds) = if open.is_empty() {
            (Vec::new(), Vec::new())
        } else {
            let moments =
                open.iter().flat_map(|(task, at)| at.iter().map(|at| (*task, Timestamp(*at))));
            let moments: Vec<_> = moments.collect();
            let open: Vec<_> = open.into_keys().collect();
            (tx.asked(&open).await?, tx.in_round(&moments).await?)
        };
        let rounds = Rounds::of(asked, rounds);
        let item = |event: LoggedEvent| {
            let (task, from) = (event.task_id.map(TaskId), event.from_revision.map(Revision));
            let action = Verb::parse(&event.action).filter(|_| event.kind == "task");
            let about_open = match event.kind.as_str() {
                "task" => action.is_some_and(is_about_open),
                "detail" => false,
                _ => task.is_some(),
            };
            let mut riders = BTreeSet::new();
            if let Some(task) = task {
                let released = from.and_then(|from| held.get(&(task, from)));
                let owner = holders.get(&task).filter(|_| event.kind == "detail");
                riders.extend(released.into_iter().chain(owner).flatten().copied());
            }
            let stirs = about_open && rounds.stirs(&event);
            Item {
                riders,
                asked: if about_open { rounds.asked(&event) } else { BTreeSet::new() },
                pool: event.region_id.map(RegionId).filter(|_| stirs),
                frames: Default::default(),
                event,
            }
        };
        Ok(Self { items: events.into_iter().map(item).collect() })
    }

    /// The first number; none if it is empty.
    pub(super) fn first(&self) -> Option<i64> {
        self.items.first().map(|item| item.event.number)
    }
}
