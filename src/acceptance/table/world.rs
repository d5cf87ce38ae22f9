//! The tasks and riders of one scenario, moved by the declared table.

use std::collections::BTreeMap;

use super::{
    Gives, Holder, Table,
    task::{Ask, Offer, RiderFacts, Task},
    when::Case,
};
use crate::{
    acceptance::words::{Returns, Who},
    domain::{
        command::Verb,
        task::{OfferAnswer, Stage, StateName},
    },
};

/// What the table says to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// The answer.
    pub returns: Returns,
    /// Whether a lapsed offer was released on the way.
    pub lapsed: bool,
}

/// The table has no answer to a command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the table says nothing about {command} on a task that is {state}")]
pub struct NoAnswer {
    /// The command.
    pub command: Verb,
    /// How the task stands.
    pub state: String,
}

/// How long an offer waits if nobody says, in milliseconds.
const OFFER_MS: i64 = 30_000;
/// How often a rider may hand back in a day.
pub const HAND_BACKS: u32 = 3;

/// The tasks and riders of one scenario.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// Milliseconds since the scenario began.
    pub now_ms: i64,
    tasks: BTreeMap<String, Task>,
    riders: BTreeMap<String, RiderFacts>,
    keys: BTreeMap<(Who, String), (Ask, Returns)>,
    handed_back: BTreeMap<String, u32>,
}

impl World {
    /// A world with these riders and no task yet.
    pub fn new(riders: BTreeMap<String, RiderFacts>) -> Self {
        Self { riders, ..Self::default() }
    }

    /// The task of that name.
    pub fn task(&self, name: &str) -> Option<&Task> {
        self.tasks.get(name)
    }

    /// All tasks.
    pub fn tasks(&self) -> impl Iterator<Item = (&str, &Task)> {
        self.tasks.iter().map(|(name, task)| (name.as_str(), task))
    }

    /// Names a key's request for what it was first used for, if it was.
    pub(super) fn key_was_used_for_another(&self, ask: &Ask) -> bool {
        self.used(ask).is_some_and(|(first, _)| first != ask)
    }

    fn used(&self, ask: &Ask) -> Option<&(Ask, Returns)> {
        let key = ask.key.clone()?;
        self.keys.get(&(ask.who.clone(), key))
    }

    pub(super) fn is_foreign(&self, who: &Who) -> bool {
        match who {
            Who::Foreigner => true,
            Who::Rider(name) => self.riders.get(name).is_some_and(|rider| rider.foreign),
            Who::Intake
            | Who::Customer
            | Who::Dispatcher(_)
            | Who::Supervisor
            | Who::Auditor
            | Who::Nobody
            | Who::System => false,
        }
    }

    pub(super) fn hand_backs_left(&self, rider: &str) -> u32 {
        HAND_BACKS.saturating_sub(self.handed_back.get(rider).copied().unwrap_or(0))
    }

    pub(super) fn is_eligible(&self, rider: &str, task: &str) -> bool {
        let facts = self.riders.get(rider).cloned().unwrap_or_default();
        let needs = self.task(task).and_then(|task| task.vehicle);
        facts.on_duty && !facts.foreign && (needs.is_none() || needs == facts.vehicle)
    }

    /// Whether an open task stands in the list of those that a rider may grab: released, of the rider's own region, and
    /// with a vehicle that fits. Whether there is a free place is said when it is grabbed.
    pub fn may_grab(&self, rider: &str, task: &str) -> bool {
        let facts = self.riders.get(rider).cloned().unwrap_or_default();
        self.task(task).is_some_and(|task| {
            let fits = task.vehicle.is_none() || task.vehicle == facts.vehicle;
            task.state == StateName::Open
                && task.release_at_ms <= self.now_ms
                && !facts.foreign
                && fits
        })
    }

    pub(super) fn free_places(&self, rider: &str) -> u32 {
        let holds = |task: &&Task| {
            task.holder.as_deref() == Some(rider) && task.stage != Some(Stage::Delivered)
        };
        let held = u32::try_from(self.tasks.values().filter(holds).count()).unwrap_or(u32::MAX);
        let capacity = self.riders.get(rider).map_or(1, |rider| rider.capacity);
        capacity.saturating_sub(held)
    }

    /// Says what `table` gives `ask`, and moves the task if it applies.
    ///
    /// # Errors
    /// [`NoAnswer`] if the table has neither a row nor an answer that fits.
    pub fn ask(&mut self, table: &Table, ask: &Ask) -> Result<Decided, NoAnswer> {
        let lapsed = self.touch(table, ask);
        let named = match (ask.revision, lapsed) {
            // A command that named the lapsed offer is judged as naming its release.
            (Some(named), Some(lapsed)) if named == lapsed => Some(named + 1),
            (named, _) => named,
        };
        let case = Case { world: self, table, ask, named, lapsed };
        let line = table.answers.iter().find(|line| line.when.fits(&case));
        let turned_away = line.is_some_and(|line| line.gives == Gives::TurnedAway);
        if let Some((_, first)) = self.used(ask).filter(|_| !turned_away) {
            let returns = Returns::Again(Box::new(first.clone()));
            return Ok(Decided { returns, lapsed: lapsed.is_some() });
        }
        let returns = if let Some(line) = line {
            Returns::of(line.gives, &line.code)
        } else {
            self.apply(table, ask)?;
            Returns::Done
        };
        if let Some(key) = ask.key.clone().filter(|_| !turned_away) {
            self.keys.insert((ask.who.clone(), key), (ask.clone(), returns.clone()));
        }
        Ok(Decided { returns, lapsed: lapsed.is_some() })
    }

    /// Releases a lapsed offer that `ask` meets, unless it is turned away. Returns the offer's revision.
    fn touch(&mut self, table: &Table, ask: &Ask) -> Option<i64> {
        let task = self.task(&ask.task)?;
        let (revision, lapse) = (task.revision, table.lapse?);
        let is_lapsed = task.state == lapse.from && task.deadline_ms? <= self.now_ms;
        if !is_lapsed || ask.command == Verb::Expire {
            return None;
        }
        let case = Case { world: self, table, ask, named: ask.revision, lapsed: None };
        let line = table.answers.iter().find(|line| line.when.fits(&case));
        let decides = line.is_none_or(|line| line.gives != Gives::TurnedAway);
        if !decides || self.used(ask).is_some() {
            return None;
        }
        self.release(table, &ask.task.clone());
        Some(revision)
    }

    /// Releases every offer whose deadline has passed, as the system does by itself. Returns the names of the tasks.
    pub fn expire(&mut self, table: &Table) -> Vec<String> {
        let Some(lapse) = table.lapse else { return Vec::new() };
        let due = |task: &Task| {
            task.state == lapse.from && task.deadline_ms.is_some_and(|until| until <= self.now_ms)
        };
        let names: Vec<_> =
            self.tasks.iter().filter(|(_, task)| due(task)).map(|(name, _)| name.clone()).collect();
        for name in &names {
            self.release(table, name);
        }
        names
    }

    fn release(&mut self, table: &Table, name: &str) {
        let Some((task, lapse)) = self.tasks.get_mut(name).zip(table.lapse) else { return };
        end_offer(task, Verb::Expire);
        task.state = lapse.to;
        task.holder = None;
        task.stage = None;
        task.deadline_ms = None;
        task.changed_by = None;
        task.revision += 1;
    }

    fn apply(&mut self, table: &Table, ask: &Ask) -> Result<(), NoAnswer> {
        let state = self.task(&ask.task).map(|task| task.state);
        let nothing = || NoAnswer {
            command: ask.command,
            state: state.map_or("not there".to_owned(), |state| state.to_string()),
        };
        let row = table.row(ask.command, state).ok_or_else(nothing)?;
        let now_ms = self.now_ms;
        let fresh = Task {
            state: row.to,
            stage: None,
            holder: None,
            revision: 0,
            deadline_ms: None,
            release_at_ms: now_ms + ask.release_in_ms.unwrap_or(0),
            vehicle: ask.vehicle,
            changed_by: None,
            offers: Vec::new(),
        };
        let task = self.tasks.entry(ask.task.clone()).or_insert(fresh);
        end_offer(task, ask.command);
        task.state = row.to;
        task.revision += 1;
        task.changed_by = Some(ask.who.clone());
        task.holder = match row.holder {
            Holder::Nobody => None,
            Holder::Stays => task.holder.take(),
            Holder::Actor => ask.who.rider().map(ToOwned::to_owned),
            Holder::Named => ask.rider.clone(),
        };
        task.stage = (row.to == StateName::Assigned).then(|| row.stage.unwrap_or(Stage::Waiting));
        task.deadline_ms = None;
        if let Some(rider) = task.holder.clone().filter(|_| row.to == StateName::Offered) {
            let ms = ask.seconds.map_or(OFFER_MS, |seconds| i64::from(seconds) * 1000);
            task.deadline_ms = Some(now_ms + ms);
            task.offers.push(Offer { rider, revision: task.revision, was: None });
        }
        if ask.command == Verb::HandBack
            && let Some(rider) = ask.who.rider()
        {
            *self.handed_back.entry(rider.to_owned()).or_default() += 1;
        }
        Ok(())
    }
}

/// Notes how the waiting offer of `task` ends, if one waits and `command` ends it.
fn end_offer(task: &mut Task, command: Verb) {
    if task.state == StateName::Offered
        && let Some(offer) = task.offers.last_mut()
    {
        offer.was = OfferAnswer::by(command);
    }
}
