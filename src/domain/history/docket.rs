//! Which events and requests belong to which revision of which task.

use std::collections::HashMap;

use super::{line::Start, request::History};
use crate::domain::id::{Revision, TaskId};

/// One task of a run.
pub(super) struct Case {
    pub(super) task: TaskId,
    /// Where the recording found it; events up to there need no request.
    pub(super) starts: Vec<Start>,
    /// The entries of its log, by number in the history, in the order of the lines.
    pub(super) log: Vec<usize>,
    first_slot: usize,
}

/// A run in order: each request at the revision that it made or saw.
pub(super) struct Docket {
    pub(super) cases: Vec<Case>,
    /// Requests tied to a revision that no log has.
    pub(super) strays: Vec<Stray>,
    slots: Groups,
}

/// A request tied to a revision that the log of its task does not have.
pub(super) struct Stray {
    /// The request, by number in the history.
    pub(super) op: usize,
    /// The last revision in the log.
    pub(super) last: Revision,
}

impl Docket {
    pub(super) fn of(history: &History) -> Self {
        let mut cases: Vec<Case> = Vec::new();
        let mut numbers: HashMap<TaskId, usize> = HashMap::new();
        let mut case = |task: TaskId, cases: &mut Vec<Case>| {
            *numbers.entry(task).or_insert_with(|| {
                cases.push(Case { task, starts: Vec::new(), log: Vec::new(), first_slot: 0 });
                cases.len() - 1
            })
        };
        for (i, logged) in history.log.iter().enumerate() {
            let number = case(logged.event.task, &mut cases);
            cases[number].log.push(i);
        }
        for start in &history.starts {
            let number = case(start.task, &mut cases);
            cases[number].starts.push(*start);
        }
        let owners: Vec<usize> = history.ops.iter().map(|op| case(op.task, &mut cases)).collect();

        // Every revision of every task gets a slot, the one before the first included.
        let mut slots = 0;
        for case in &mut cases {
            case.first_slot = slots;
            slots += case.log.len() + 1;
        }
        let mut strays = Vec::new();
        let slot_of = history.ops.iter().zip(&owners).enumerate().map(|(i, (op, owner))| {
            let case = &cases[*owner];
            let slot = case.slot(op.seen);
            if slot.is_none() {
                strays.push(Stray { op: i, last: case.last() });
            }
            slot
        });
        let slots = Groups::new(slots, slot_of.collect());
        Self { cases, strays, slots }
    }

    /// The requests that made or saw `revision`, by number in the history.
    pub(super) fn at(&self, case: &Case, revision: Revision) -> &[usize] {
        case.slot(revision).map_or(&[], |slot| self.slots.get(slot))
    }
}

impl Case {
    /// The last revision in the log.
    pub(super) fn last(&self) -> Revision {
        Revision(i64::try_from(self.log.len()).unwrap_or(i64::MAX))
    }

    /// The revision up to which events need no request.
    pub(super) fn start(&self) -> Revision {
        self.starts.iter().map(|start| start.seen_rev).max().unwrap_or(Revision::NONE)
    }

    fn slot(&self, revision: Revision) -> Option<usize> {
        let revision = usize::try_from(revision.0).ok()?;
        (1..=self.log.len()).contains(&revision).then_some(self.first_slot + revision)
    }
}

/// Things sorted into groups by counting, each group in the order in which its things came.
struct Groups {
    /// Where each group ends in `things`; it starts where the one before ends.
    ends: Vec<usize>,
    things: Vec<usize>,
}

impl Groups {
    fn new(groups: usize, group_of: Vec<Option<usize>>) -> Self {
        let mut ends = vec![0; groups];
        for group in group_of.iter().flatten() {
            ends[*group] += 1;
        }
        let mut starts = 0;
        for end in &mut ends {
            let size = *end;
            *end = starts;
            starts += size;
        }
        let mut things = vec![0; starts];
        for (thing, group) in group_of.into_iter().enumerate() {
            if let Some(group) = group {
                things[ends[group]] = thing;
                ends[group] += 1;
            }
        }
        Self { ends, things }
    }

    fn get(&self, group: usize) -> &[usize] {
        let start = if group == 0 { 0 } else { self.ends[group - 1] };
        &self.things[start..self.ends[group]]
    }
}
