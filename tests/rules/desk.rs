//! A desk in memory: one task, its log and its offer ledger, changed by what `decide` says and by
//! nothing else.

use std::collections::BTreeMap;

use dispatch_desk::domain::{
    command::{Act, Actor, Role},
    decide::{Already, Decision, decide},
    event::{Change, Event, evolve},
    facts::{Duty, Facts, Rider, RunningRound, Staff},
    geo::{Area, Place},
    id::{RegionId, Revision, RiderId, StaffId, TaskId, Timestamp},
    policy::{Policy, Region},
    refusal::Code,
    task::{OfferAnswer, OwnOffer, State, Task},
};

/// What a decision says; the judge has a verdict of its own.
pub use dispatch_desk::domain::decide::Verdict as Ruling;

pub const TASK: TaskId = TaskId(9);
pub const REGION: RegionId = RegionId(1);
pub const ELSEWHERE: RegionId = RegionId(2);
/// Where tests begin: 2026-11-30T00:00Z.
pub const BEGIN: Timestamp = Timestamp(1_795_996_800_000);
pub const DISPATCHER: Actor = Actor::Staff(StaffId(1));
pub const SUPERVISOR: Actor = Actor::Staff(StaffId(2));

pub fn rider(id: i64) -> Actor {
    Actor::Rider(RiderId(id))
}

pub fn shop() -> Actor {
    Actor::Intake("shop".to_owned())
}

/// A rider who can take anything.
pub fn free_rider(id: RiderId) -> Rider {
    Rider {
        id,
        region: REGION,
        capacity: 2,
        held: Vec::new(),
        duty: Duty::On,
        disabled: false,
        vehicle: None,
        risk_rejected: false,
        last_fix_at: None,
    }
}

pub fn staff(id: StaffId, role: Role) -> Staff {
    Staff { id, role, regions: vec![REGION], disabled: false }
}

pub fn region() -> Region {
    Region {
        id: REGION,
        time_zone: chrono_tz::Asia::Shanghai,
        area: Area::Circle { centre: Place { lat: 31.23, lng: 121.47 }, radius_m: 30_000.0 },
        policy: Policy::default(),
    }
}

/// The event that brings the task into being.
pub fn creation(task: TaskId, release_at: Timestamp) -> Event {
    Event {
        task,
        region: REGION,
        from: Revision::NONE,
        to: Revision(1),
        action: dispatch_desk::domain::command::Verb::Create,
        actor: shop(),
        at: BEGIN,
        reason: None,
        rider: None,
        change: Change::Created {
            source: "shop".to_owned(),
            release_at,
            vehicle: None,
            priority: 0,
        },
    }
}

/// Facts that belong to somebody, so that [`Facts`] can borrow them.
#[derive(Clone, Debug)]
pub struct World {
    pub region: Region,
    pub staff: Option<Staff>,
    pub me: Option<Rider>,
    pub named: Option<Rider>,
    pub round: Option<RunningRound>,
    pub hand_backs_today: u32,
}

impl World {
    /// Facts that stand in nobody's way.
    pub fn kind_to(actor: &Actor, act: &Act) -> Self {
        let staff = match actor {
            Actor::Staff(id) if *actor == DISPATCHER => Some(staff(*id, Role::Dispatcher)),
            Actor::Staff(id) => Some(staff(*id, Role::Supervisor)),
            Actor::System | Actor::Intake(_) | Actor::Customer(_) | Actor::Rider(_) => None,
        };
        let me = actor.rider().map(free_rider);
        let named = act.named_rider().map(free_rider).or_else(|| me.clone());
        Self { region: region(), staff, me, named, round: None, hand_backs_today: 0 }
    }

    pub fn facts<'a>(&'a self, own_offers: &'a [OwnOffer]) -> Facts<'a> {
        Facts {
            staff: self.staff.as_ref(),
            me: self.me.as_ref(),
            rider: self.named.as_ref(),
            region: &self.region,
            own_offers,
            round: self.round.as_ref(),
            alone: None,
            hand_backs_today: self.hand_backs_today,
        }
    }
}

/// What a command was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Told {
    Done,
    Already(Already),
    Refused(Code),
}

impl From<&Ruling> for Told {
    fn from(verdict: &Ruling) -> Self {
        match verdict {
            Ruling::Apply(_) => Self::Done,
            Ruling::Already(already) => Self::Already(*already),
            Ruling::Refused(refusal) => Self::Refused(refusal.code),
        }
    }
}

/// One task with its log and its offers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Desk {
    pub task: Task,
    pub log: Vec<Event>,
    pub offers: BTreeMap<RiderId, Vec<OwnOffer>>,
}

impl Desk {
    /// A task that has just been created.
    pub fn new(task: TaskId) -> Self {
        let created = creation(task, BEGIN);
        let task = evolve(None, &created).expect("a creation follows nothing");
        Self { task, log: vec![created], offers: BTreeMap::new() }
    }

    pub fn own_offers(&self, actor: &Actor) -> &[OwnOffer] {
        actor.rider().and_then(|me| self.offers.get(&me)).map_or(&[], Vec::as_slice)
    }

    /// What `decide` says, without doing it.
    pub fn weigh(
        &self,
        actor: &Actor,
        named: Revision,
        act: &Act,
        world: &World,
        now: Timestamp,
    ) -> Decision {
        decide(&self.task, actor, named, act, &world.facts(self.own_offers(actor)), now)
    }

    /// Decides and does it.
    pub fn ask(
        &mut self,
        actor: &Actor,
        named: Revision,
        act: &Act,
        world: &World,
        now: Timestamp,
    ) -> Decision {
        let decision = self.weigh(actor, named, act, world, now);
        if let Some(lapse) = &decision.lapse {
            self.record(lapse.event().clone());
        }
        if let Ruling::Apply(change) = &decision.verdict {
            self.record(change.event().clone());
        }
        assert_eq!(&self.task, decision.after(&self.task), "the row is what was decided");
        decision
    }

    /// A change that names the present revision, with kind facts; it must apply.
    pub fn must(&mut self, actor: &Actor, act: &Act, now: Timestamp) -> &mut Self {
        let world = World::kind_to(actor, act);
        let decision = self.ask(actor, self.task.revision, act, &world, now);
        let told = Told::from(&decision.verdict);
        assert_eq!(told, Told::Done, "{} by {actor} on {:?}", act.verb(), self.task);
        self
    }

    /// Adds an event to the log and its effect to the row and to the ledger.
    pub fn record(&mut self, event: Event) {
        let after = evolve(Some(&self.task), &event).expect("decided on this row");
        self.write(event, after);
    }

    /// Writes a row and its event down, whether or not they follow what is there.
    pub fn write(&mut self, event: Event, after: Task) {
        if let State::Offered { rider, .. } = self.task.state {
            let offers = self.offers.get_mut(&rider).expect("an offer stands in the ledger");
            offers.last_mut().expect("an offer stands in the ledger").answer =
                OfferAnswer::by(event.action);
        }
        self.task = after;
        if let State::Offered { rider, .. } = self.task.state {
            let offer = OwnOffer { revision: self.task.revision, answer: None };
            self.offers.entry(rider).or_default().push(offer);
        }
        self.log.push(event);
    }

    /// The whole log, folded; `None` if an event does not follow the one before.
    pub fn folded(&self) -> Option<Task> {
        self.log
            .iter()
            .try_fold(None, |row: Option<Task>, event| evolve(row.as_ref(), event).ok().map(Some))?
    }
}
