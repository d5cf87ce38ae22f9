//! The working set of a batch: what was loaded, and what has been decided on it so far.
//!
//! Several commands on one task are decided one after another on it, exactly as if each had a transaction of
//! its own.

use std::collections::{HashMap, HashSet};

use crate::{
    domain::{
        command::{Actor, Verb},
        decide::{Creation, DetailEdit, Transition},
        facts::{Facts, Rider, RunningRound, Staff},
        fingerprint::Fingerprint,
        id::{RegionId, Revision, RiderId, StaffId, TaskId, Timestamp},
        policy::Region,
        task::{OfferAnswer, OwnOffer, State, Task},
    },
    store::StoredOutcome,
};

/// One task of the batch.
#[derive(Debug)]
pub(super) struct Entry {
    /// The row as it was loaded.
    pub(super) before: Task,
    /// The row as it stands after what was decided so far.
    pub(super) now: Task,
    /// What was decided.
    pub(super) steps: Vec<Transition>,
    /// The revision of its details; loaded for edits alone.
    pub(super) detail_revision: Revision,
}

impl Entry {
    /// A row that nothing has been decided on yet.
    pub(super) fn new(task: Task) -> Self {
        Self { now: task.clone(), before: task, steps: Vec::new(), detail_revision: Revision::NONE }
    }
}

/// Where a decided change is kept, in the order of the log.
#[derive(Clone, Copy, Debug)]
pub(super) enum Logged {
    /// A step of a task, by its place in [`Entry::steps`].
    Step(TaskId, usize),
    /// A creation, by its place in [`World::creations`].
    Creation(usize),
    /// An edit, by its place in [`World::edits`].
    Edit(usize),
}

/// What is known of a request key.
#[derive(Debug)]
pub(super) enum Prior {
    /// It was answered before this batch.
    Stored(StoredOutcome),
    /// It is answered by an earlier job of this batch.
    Job(usize, Fingerprint),
}

/// The working set.
#[derive(Debug, Default)]
pub(super) struct World {
    pub(super) now: Option<Timestamp>,
    pub(super) staff: HashMap<StaffId, Staff>,
    pub(super) regions: HashMap<RegionId, Region>,
    pub(super) riders: HashMap<RiderId, Rider>,
    pub(super) tasks: HashMap<TaskId, Entry>,
    /// Tasks that exist and are held by another transaction.
    pub(super) held_elsewhere: HashSet<TaskId>,
    pub(super) own_offers: HashMap<(TaskId, RiderId), Vec<OwnOffer>>,
    pub(super) rounds: HashMap<(TaskId, RiderId), RunningRound>,
    /// The exclusive rounds that run.
    pub(super) alone: HashMap<(TaskId, RiderId), i64>,
    /// How many tasks a rider has handed back since the start of a day; regions may start their days apart.
    pub(super) hand_backs: HashMap<(RiderId, Timestamp), u32>,
    pub(super) prior: HashMap<(String, String), Prior>,
    /// The tasks that were created under keys of this batch, with what was asked for; by source and key.
    pub(super) created: HashMap<(String, String), (TaskId, String)>,
    pub(super) creations: Vec<(usize, Creation)>,
    pub(super) edits: Vec<DetailEdit>,
    /// Every decided change with the job that asked for it (none: the release of a lapsed offer).
    pub(super) log: Vec<(Option<usize>, Logged)>,
    /// The next free task number.
    pub(super) next_task: i64,
}

impl World {
    /// The store's instant.
    pub(super) fn now(&self) -> Timestamp {
        self.now.unwrap_or(Timestamp(0))
    }

    /// The facts for a command of `actor` on `task`, which would put `rider` in charge.
    pub(super) fn facts<'a>(
        &'a self,
        task: &Task,
        actor: &Actor,
        rider: Option<RiderId>,
        region: &'a Region,
    ) -> Facts<'a> {
        let me = actor.rider();
        let mine = me.map(|me| (task.id, me));
        Facts {
            staff: self.acting_staff(actor),
            me: me.and_then(|me| self.riders.get(&me)),
            rider: rider.and_then(|rider| self.riders.get(&rider)),
            region,
            own_offers: mine.and_then(|mine| self.own_offers.get(&mine)).map_or(&[], Vec::as_slice),
            round: mine.and_then(|mine| self.rounds.get(&mine)),
            alone: rider.and_then(|rider| self.alone.get(&(task.id, rider)).copied()),
            hand_backs_today: me
                .and_then(|me| self.hand_backs.get(&(me, region.day_start(self.now()))))
                .copied()
                .unwrap_or_default(),
        }
    }

    /// The acting member of staff.
    pub(super) fn acting_staff(&self, actor: &Actor) -> Option<&Staff> {
        match actor {
            Actor::Staff(staff) => self.staff.get(staff),
            Actor::System | Actor::Intake(_) | Actor::Customer(_) | Actor::Rider(_) => None,
        }
    }

    /// Takes over a decided step: the next command sees the task, the places and the offers after it.
    pub(super) fn take(&mut self, job: Option<usize>, step: Transition) {
        let task = step.event().task;
        let Some(entry) = self.tasks.get_mut(&task) else { return };
        let (before, after) = (&entry.now, step.after());
        if before.state.held() != after.state.held() {
            if let Some((rider, slot)) = before.state.held()
                && let Some(rider) = self.riders.get_mut(&rider)
            {
                rider.held.retain(|held| *held != slot);
            }
            if let Some((rider, slot)) = after.state.held()
                && let Some(rider) = self.riders.get_mut(&rider)
            {
                rider.held.push(slot);
            }
        }
        if let State::Offered { rider, .. } = &before.state {
            let offer = OwnOffer {
                revision: before.revision,
                answer: OfferAnswer::by(step.event().action),
            };
            self.own_offers.entry((task, *rider)).or_default().push(offer);
        }
        if step.event().action == Verb::HandBack
            && let Some(rider) = step.event().rider
        {
            let (region, now) = (step.event().region, self.now.unwrap_or(step.event().at));
            if let Some(region) = self.regions.get(&region) {
                *self.hand_backs.entry((rider, region.day_start(now))).or_default() += 1;
            }
        }
        entry.now = step.after().clone();
        self.log.push((job, Logged::Step(task, entry.steps.len())));
        entry.steps.push(step);
    }

    /// Takes over a decided creation.
    pub(super) fn take_creation(&mut self, job: usize, creation: Creation) {
        self.next_task += 1;
        self.log.push((Some(job), Logged::Creation(self.creations.len())));
        self.creations.push((job, creation));
    }

    /// Takes over a decided edit.
    pub(super) fn take_edit(&mut self, job: usize, edit: DetailEdit) {
        if let Some(entry) = self.tasks.get_mut(&edit.event().task) {
            entry.detail_revision = edit.event().to;
            let edited = &edit.event().edited;
            entry.now.release_at = edited.release_at.unwrap_or(entry.now.release_at);
            entry.now.priority = edited.priority.unwrap_or(entry.now.priority);
        }
        self.log.push((Some(job), Logged::Edit(self.edits.len())));
        self.edits.push(edit);
    }
}
