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
