//! The search for an order.

use std::collections::BTreeMap;

use super::super::round::is_shown_as;
use crate::acceptance::{
    product::{self, Told},
    record::{Exchange, Player},
    scenario::Asked,
    table::{Ask, Table, World},
    words::Returns,
};

/// One racer as recorded.
pub(super) struct Run<'a> {
    pub(super) place: usize,
    pub(super) asked: &'a Asked,
    pub(super) exchange: &'a Exchange,
    pub(super) ask: &'a Ask,
    pub(super) told: Told,
    pub(super) decided_ms: Option<i64>,
}

/// The rules of a search for an order.
pub(super) struct Search<'a> {
    pub(super) table: &'a Table,
    pub(super) cast: &'a BTreeMap<String, Player>,
    pub(super) runs: &'a [Run<'a>],
    /// The moment that comes during the race, in milliseconds since the scenario began.
    pub(super) moment_ms: Option<i64>,
}

impl Search<'_> {
    /// Takes the racers in `left` in some order that gives the answers that were recorded. Returns the world after it,
    /// or those that were left over where the search got furthest.
    pub(super) fn order(
        &self,
        world: &mut World,
        left: &[usize],
        moment_left: bool,
    ) -> Result<Box<World>, Vec<usize>> {
        let mut left = left.to_vec();
        // Whoever changes nothing and fits may as well come now.
        loop {
            let before = left.len();
            left.retain(|index| {
                let run = &self.runs[*index];
                if run.told.returns == Returns::Done {
                    return true;
                }
                let mut after = world.clone();
                if !self.fits(&mut after, run) {
                    return true;
                }
                *world = after;
                false
            });
            if left.len() == before {
                break;
            }
        }
        if left.is_empty() {
            let mut last = world.clone();
            if moment_left {
                self.come(&mut last);
            }
            return Ok(Box::new(last));
        }
        let mut furthest = left.clone();
        for (at, index) in left.iter().enumerate() {
            let run = &self.runs[*index];
            if run.told.returns != Returns::Done {
                continue;
            }
            let mut after = world.clone();
            if !self.fits(&mut after, run) {
                continue;
            }
            let mut rest = left.clone();
            rest.remove(at);
            match self.order(&mut after, &rest, moment_left) {
                Ok(world) => return Ok(world),
                Err(stuck) if stuck.len() < furthest.len() => furthest = stuck,
                Err(_) => {}
            }
        }
        if moment_left {
            let mut after = world.clone();
            self.come(&mut after);
            match self.order(&mut after, &left, false) {
                Ok(world) => return Ok(world),
                Err(stuck) if stuck.len() < furthest.len() => furthest = stuck,
                Err(_) => {}
            }
        }
        Err(furthest)
    }

    /// The moment comes, and the system releases what lapsed.
    fn come(&self, world: &mut World) {
        world.now_ms = world.now_ms.max(self.moment_ms.unwrap_or(world.now_ms));
        world.expire(self.table);
    }

    /// Whether the table gives `run` its answer in this world, which it then moves.
    fn fits(&self, world: &mut World, run: &Run<'_>) -> bool {
        if let Some(decided) = run.decided_ms {
            world.now_ms = world.now_ms.max(decided);
        }
        let Ok(decided) = world.ask(self.table, run.ask) else { return false };
        if decided.returns != run.told.returns {
            return false;
        }
        if matches!(decided.returns, Returns::Again(_)) {
            return true;
        }
        let shown = run.told.answer.as_ref().and_then(|answer| answer.task.as_ref());
        let Some((shown, task)) = shown.zip(world.task(&run.ask.task)) else { return true };
        let view = product::View { task: shown.clone(), rider_name: None };
        let stands = product::standing(&view, self.cast);
        shown.revision.0 == task.revision && is_shown_as(&stands, &task.standing())
    }
}
