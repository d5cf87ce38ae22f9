//! The database in memory. One reading and one writing are each done at a stroke; between them, anything may happen.

use std::collections::{BTreeMap, HashMap};

use super::{
    draft::{Change, Draft, Reply, Slot, verb_and_named},
    house::House,
};
use crate::domain::{
    command::{Actor, Command, Verb},
    event::Event,
    facts::{Duty, Rider},
    id::{Revision, RiderId, TaskId, Timestamp},
    policy::Region,
    task::{OfferAnswer, OwnOffer, State, Task},
};

/// A task with what belongs to it.
#[derive(Clone, Debug)]
pub(super) struct Card {
    pub(super) task: Task,
    /// The unguessable end of the customer's link.
    pub(super) tracking: String,
    /// The offers that have ended, oldest first.
    offers: Vec<(RiderId, OwnOffer)>,
}

/// An event with its number.
#[derive(Clone, Debug)]
pub(super) struct Logged {
    pub(super) number: i64,
    pub(super) event: Event,
}

/// A command with its answer, as its desk may look at it.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    pub(super) task: TaskId,
    pub(super) actor: Actor,
    pub(super) verb: Verb,
    pub(super) code: String,
    pub(super) seen: Revision,
    pub(super) at: Timestamp,
}

/// Somebody who has a task for as long as the lock lasts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lock {
    pub(super) rider: RiderId,
    pub(super) until: Timestamp,
}

/// Everything that changes.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) cards: BTreeMap<TaskId, Card>,
    pub(super) log: Vec<Logged>,
    pub(super) attempts: Vec<Attempt>,
    /// Riders who are not on duty.
    pub(super) duties: BTreeMap<RiderId, Duty>,
    /// Used by one of the known-bad servers alone.
    pub(super) locks: HashMap<TaskId, Lock>,
    outcomes: HashMap<(String, String), (Slot, Reply)>,
    /// The number of the last event.
    pub(super) head: i64,
}

impl Rows {
    /// A rider, with the places that are taken.
    pub(super) fn rider(&self, house: &House, id: RiderId) -> Option<Rider> {
        let seat = house.seat(id)?;
        let held = self.cards.values().filter_map(|card| card.task.state.held());
        Some(Rider {
            id,
            region: House::region_of(seat),
            capacity: seat.capacity,
            held: held.filter(|(rider, _)| *rider == id).map(|(_, slot)| slot).collect(),
            duty: self.duties.get(&id).copied().unwrap_or(Duty::On),
            disabled: false,
            vehicle: seat.vehicle,
            risk_rejected: false,
            last_fix_at: None,
        })
    }

    /// A rider's offers of a task that have ended.
    pub(super) fn own_offers(&self, task: TaskId, rider: Option<RiderId>) -> Vec<OwnOffer> {
        let offers = self.cards.get(&task).map_or(&[][..], |card| &card.offers);
        offers.iter().filter(|(of, _)| Some(*of) == rider).map(|(_, offer)| *offer).collect()
    }

    /// How many tasks a rider has handed back on this day.
    pub(super) fn hand_backs(&self, rider: RiderId, region: &Region, now: Timestamp) -> u32 {
        let since = region.day_start(now);
        let counts = |logged: &&Logged| {
            let Event { action, rider: of, at, .. } = &logged.event;
            *action == Verb::HandBack && *of == Some(rider) && *at >= since
        };
        u32::try_from(self.log.iter().filter(counts).count()).unwrap_or(u32::MAX)
    }

    /// What was answered under a key.
    pub(super) fn outcome(&self, slot: &Slot) -> Option<&(Slot, Reply)> {
        self.outcomes.get(&(slot.whose.clone(), slot.key.clone()))
    }

    /// Writes it all, or nothing. `None`: somebody else was faster, and it has to be decided once more.
    pub(super) fn write(
        &mut self,
        command: &Command,
        draft: &Draft,
        tracking: &str,
    ) -> Option<Reply> {
        // A key is used once, and a place of a rider is taken once: unique, as databases have it.
        if draft.slot.as_ref().is_some_and(|slot| self.outcome(slot).is_some())
            || draft.changes.iter().any(|change| self.is_place_taken(change))
        {
            return None;
        }
        // The row is still the one that was decided on.
        let fits = |change: &Change| {
            let present = self.cards.get(&change.after.id).map(|card| card.task.revision);
            change.event.from == present.unwrap_or(Revision::NONE)
        };
        if draft.guarded && !draft.changes.first().is_none_or(fits) {
            return None;
        }
        for change in &draft.changes {
            self.head += 1;
            if draft.logged {
                self.log.push(Logged { number: self.head, event: change.event.clone() });
            }
            self.change(change, tracking);
        }
        let (verb, named) = verb_and_named(command);
        if let Some(task) = draft.task.as_ref().filter(|_| command.actor != Actor::System) {
            self.attempts.push(Attempt {
                task: task.id,
                actor: command.actor.clone(),
                verb,
                code: draft.code(),
                seen: task.revision,
                at: draft.now,
            });
        }
        let number = draft.changes.last().map(|_| self.head);
        let reply = Reply::of(&draft.answer(command, number, self.first(draft, named)));
        if let Some(slot) = &draft.slot {
            let stored = (slot.clone(), Reply { replayed: true, ..reply.clone() });
            self.outcomes.insert((slot.whose.clone(), slot.key.clone()), stored);
        }
        Some(reply)
    }

    fn is_place_taken(&self, change: &Change) -> bool {
        let Some(place) = change.after.state.held() else { return false };
        let taken =
            |card: &Card| card.task.id != change.after.id && card.task.state.held() == Some(place);
        self.cards.values().any(taken)
    }

    fn change(&mut self, change: &Change, tracking: &str) {
        let Change { event, after } = change;
        let card = self.cards.entry(event.task).or_insert_with(|| Card {
            task: after.clone(),
            tracking: tracking.to_owned(),
            offers: Vec::new(),
        });
        if let State::Offered { rider, .. } = &card.task.state
            && event.from == card.task.revision
        {
            let (revision, answer) = (card.task.revision, OfferAnswer::by(event.action));
            card.offers.push((*rider, OwnOffer { revision, answer }));
        }
        card.task = after.clone();
        // Whoever releases a task gives its lock back.
        if after.state.rider().is_none() {
            self.locks.remove(&event.task);
        }
    }

    /// The change right after the revision that a refused command named.
    fn first(&self, draft: &Draft, named: Option<Revision>) -> Option<&Event> {
        let task = draft.task.as_ref()?.id;
        let comes_first = |event: &&Event| event.task == task && Some(event.from) == named;
        self.log.iter().map(|logged| &logged.event).find(comes_first)
    }
}
