//! What is not in the database yet: the last position of each rider, the longest waiting first.

use std::collections::{HashMap, VecDeque};

use crate::domain::{fix::Fix, id::RiderId};

/// What is not in the database yet.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    pub(super) last: HashMap<RiderId, Fix>,
    /// Who has waited for the longest comes first. Riders who were forgotten may still be in it.
    pub(super) order: VecDeque<RiderId>,
}

impl Waiting {
    pub(super) fn put(&mut self, rider: RiderId, fix: Fix) {
        if let Some(known) = self.last.get_mut(&rider) {
            *known = if fix.follows(known) { fix } else { *known };
        } else {
            self.last.insert(rider, fix);
            self.order.push_back(rider);
        }
    }

    /// The next few, which go on waiting until they are written.
    pub(super) fn next(&mut self, most: usize) -> Vec<(RiderId, Fix)> {
        let mut next = HashMap::new();
        while next.len() < most
            && let Some(rider) = self.order.pop_front()
        {
            if let Some(fix) = self.last.get(&rider) {
                next.insert(rider, *fix);
            }
        }
        next.into_iter().collect()
    }

    /// These were written: only what came meanwhile waits on.
    pub(super) fn written(&mut self, done: &[(RiderId, Fix)]) {
        for (rider, fix) in done {
            if self.last.get(rider) == Some(fix) {
                self.last.remove(rider);
            } else {
                self.order.push_back(*rider);
            }
        }
    }
}

/// The one that follows all others.
pub(super) fn latest<const N: usize>(known: [Option<Fix>; N]) -> Option<Fix> {
    known.into_iter().flatten().reduce(|last, fix| if fix.follows(&last) { fix } else { last })
}

/// Which of some positions are newer than all before them by number, whatever order they came in.
pub(super) fn in_turn(before: Option<Fix>, fixes: &[Fix]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..fixes.len()).collect();
    order.sort_by_key(|index| fixes[*index].seq);
    let (mut newer, mut last) = (vec![false; fixes.len()], before);
    for index in order {
        let fix = fixes[index];
        if last.is_none_or(|last| fix.follows(&last)) {
            newer[index] = true;
            last = Some(fix);
        }
    }
    newer
}
