//! The nearest few of many who are offered in any order.

use std::{cmp::Ordering, collections::BinaryHeap};

use super::{Near, Wanted};
use crate::domain::{fix::Fix, geo::Place, id::RiderId};

/// Keeps the nearest of those who are offered, the worst of them on top.
pub(super) struct Best<'a> {
    from: Place,
    radius_m: f64,
    limit: usize,
    wanted: Wanted<'a>,
    kept: BinaryHeap<Farthest>,
}

impl<'a> Best<'a> {
    /// None yet, of at most `limit` within `radius_m` metres of `from`.
    pub(super) fn new(from: Place, radius_m: f64, limit: usize, wanted: Wanted<'a>) -> Self {
        Self { from, radius_m, limit, wanted, kept: BinaryHeap::new() }
    }

    /// How far away somebody may be who still has a chance; less than nothing if nobody has.
    pub(super) fn worst_m(&self) -> f64 {
        if self.limit == 0 {
            return f64::NEG_INFINITY;
        }
        let full = self.kept.len() >= self.limit;
        self.kept.peek().filter(|_| full).map_or(self.radius_m, |farthest| farthest.0.distance_m)
    }

    /// Offers a rider.
    pub(super) fn offer(&mut self, rider: RiderId, fix: &Fix) {
        let distance_m = self.from.metres_to(fix.place);
        // Not "greater than": a radius that is no number lets nobody in.
        let within = distance_m <= self.worst_m();
        if !within {
            return;
        }
        let candidate = Farthest(Near { rider, fix: *fix, distance_m });
        let full = self.kept.len() >= self.limit;
        let beaten = full && self.kept.peek().is_some_and(|worst| candidate >= *worst);
        if beaten || !(self.wanted)(rider) {
            return;
        }
        if full {
            self.kept.pop();
        }
        self.kept.push(candidate);
    }

    /// Begins again.
    pub(super) fn clear(&mut self) {
        self.kept.clear();
    }

    /// Those who were kept, nearest first, at equal distances by number.
    pub(super) fn in_order(self) -> Vec<Near> {
        self.kept.into_sorted_vec().into_iter().map(|farthest| farthest.0).collect()
    }
}

/// Ordered by distance, then by number.
struct Farthest(Near);

impl Ord for Farthest {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_distance = self.0.distance_m.total_cmp(&other.0.distance_m);
        by_distance.then(self.0.rider.cmp(&other.0.rider))
    }
}

impl PartialOrd for Farthest {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Farthest {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Farthest {}
