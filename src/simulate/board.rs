//! What a dispatcher knows: folded from the log as far as it was read, and from answers.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::{
    client::EventItem,
    domain::{
        answer::TaskView,
        command::Verb,
        id::{Revision, RiderId, TaskId},
        task::{Stage, StateName},
    },
};

/// A task as a dispatcher knows it.
#[derive(Clone, Copy, Debug)]
struct Known {
    revision: Revision,
    /// Who is invited or owns it; nobody if it is open.
    rider: Option<RiderId>,
    /// Whether that rider owns it.
    owned: bool,
}

/// What a dispatcher knows of the tasks that are under way.
#[derive(Debug, Default)]
pub(super) struct Board {
    /// Up to which number the log was read.
    pub through: i64,
    tasks: BTreeMap<TaskId, Known>,
    asked: HashMap<TaskId, BTreeSet<RiderId>>,
}

impl Board {
    /// Takes an event in. Returns the verb if it was news about a task.
    pub(super) fn take(&mut self, event: &EventItem) -> Option<Verb> {
        let (task, revision) = event.task_id.zip(event.to_revision)?;
        let verb = Verb::parse(&event.action)?;
        if matches!(verb, Verb::Offer | Verb::Reassign) {
            self.asked.entry(task).or_default().extend(event.rider_id);
        }
        let known = self.tasks.get(&task).copied();
        if known.is_none() && verb != Verb::Create {
            return Some(verb);
        }
        if known.is_some_and(|known| revision <= known.revision) {
            return Some(verb);
        }
        let was = known.filter(|known| known.owned).and_then(|known| known.rider);
        let (rider, owned) = match verb {
            Verb::Cancel | Verb::Deliver => {
                self.forget(task);
                return Some(verb);
            }
            Verb::Offer | Verb::Reassign => (event.rider_id, false),
            Verb::Accept | Verb::Grab | Verb::Assign => (event.rider_id, true),
            Verb::Arrive | Verb::PickUp | Verb::Edit => (event.rider_id.or(was), true),
            Verb::Create | Verb::Decline | Verb::Withdraw | Verb::Expire | Verb::HandBack => {
                (None, false)
            }
        };
        self.tasks.insert(task, Known { revision, rider, owned });
        Some(verb)
    }

    /// Takes in what an answer said of a task.
    pub(super) fn saw(&mut self, task: &TaskView) {
        let known = self.tasks.get(&task.id);
        if known.is_none_or(|known| task.revision <= known.revision) {
            return;
        }
        if task.state == StateName::Cancelled || task.stage == Some(Stage::Delivered) {
            self.forget(task.id);
        } else {
            let rider = task.rider_id.filter(|_| task.state != StateName::Open);
            let owned = task.state == StateName::Assigned;
            self.tasks.insert(task.id, Known { revision: task.revision, rider, owned });
        }
    }

    fn forget(&mut self, task: TaskId) {
        self.tasks.remove(&task);
        self.asked.remove(&task);
    }

    /// The open tasks, the oldest first.
    pub(super) fn open(&self) -> Vec<(TaskId, Revision)> {
        let open = self.tasks.iter().filter(|(_, known)| known.rider.is_none());
        open.map(|(task, known)| (*task, known.revision)).collect()
    }

    /// How many tasks nobody owns: those that are open, and those that are offered.
    pub(super) fn unowned(&self) -> usize {
        self.tasks.values().filter(|known| !known.owned).count()
    }

    /// How much each rider holds.
    pub(super) fn loads(&self) -> HashMap<RiderId, usize> {
        let mut loads = HashMap::new();
        for rider in self.tasks.values().filter_map(|known| known.rider) {
            *loads.entry(rider).or_default() += 1;
        }
        loads
    }

    /// Whether `rider` was asked to take `task` before.
    pub(super) fn was_asked(&self, task: TaskId, rider: RiderId) -> bool {
        self.asked.get(&task).is_some_and(|asked| asked.contains(&rider))
    }

    /// Forgets who was asked to take `task`: there is nobody left who was not.
    pub(super) fn ask_again(&mut self, task: TaskId) {
        self.asked.remove(&task);
    }
}
