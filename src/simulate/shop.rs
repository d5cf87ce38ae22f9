//! A shop that orders, and its customers who change their minds.

use std::{fmt, sync::atomic::Ordering};

use fastrand::Rng;

use super::{
    Next, World,
    agenda::{Deed, Turn},
    draw::{gap_ms, lognormal_ms},
};
use crate::domain::{
    command::{Act, NewTask, Reason, RequestKey, Verb},
    id::{TaskId, Timestamp},
};

type Make = dyn Fn(&mut Rng, Timestamp) -> NewTask + Send + Sync;

/// What a shop orders by itself.
pub struct Orders(Box<Make>);

impl Orders {
    /// Orders as `make` makes them, by chance and for the time.
    pub fn new(make: impl Fn(&mut Rng, Timestamp) -> NewTask + Send + Sync + 'static) -> Self {
        Self(Box::new(make))
    }
}

impl fmt::Debug for Orders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Orders")
    }
}

impl World {
    /// The shop orders something of its own, unless enough is waiting. While little is waiting, it orders more often.
    pub(super) async fn shop(&self, turn: &mut Turn) -> Next {
        let Some(orders) = &self.orders else { return Vec::new() };
        let open = self.open.load(Ordering::Relaxed);
        let hungry = if open < self.manners.keep_open { 8.0 } else { 1.0 };
        let mean = 3_600_000.0 / (self.manners.orders_per_hour.max(0.001) * hungry);
        let gap = gap_ms(&mut turn.chance, mean / self.manners.pace);
        let mut next = vec![(turn.at.plus_ms(gap), Deed::Shop)];
        if let (true, Some(key)) = (open < self.manners.most_open, self.manners.key(turn.number, 0))
        {
            let new = (orders.0)(&mut turn.chance, turn.at);
            next.extend(self.order(turn, (key, new)).await);
        }
        next
    }

    /// The shop orders this; its customer may change his or her mind.
    pub(super) async fn order(&self, turn: &mut Turn, (key, new): (RequestKey, NewTask)) -> Next {
        let answer = self.noted(Verb::Create, self.shop.create(&key, &new)).await;
        let task = answer.filter(super::Answer::is_success).and_then(|answer| answer.task);
        let Some(task) = task else { return Vec::new() };
        // What was just ordered is open, and the shop knows it.
        self.open.fetch_add(1, Ordering::Relaxed);
        if turn.chance.f64() < self.manners.cancelled {
            let after = lognormal_ms(&mut turn.chance, 98_000.0 / self.manners.pace, 1.04);
            return vec![(turn.at.plus_ms(after), Deed::Cancel(task.id))];
        }
        Vec::new()
    }

    /// A customer does not want it any more.
    pub(super) async fn cancel(&self, turn: &Turn, task: TaskId) -> Next {
        let seen = self.read(self.shop.task(task)).await;
        if let (Some(seen), Some(key)) = (seen, self.manners.key(turn.number, 0)) {
            let act = Act::Cancel { reason: Reason::parse("customer_changed_mind") };
            self.noted(Verb::Cancel, self.shop.act(&key, task, seen.task.revision, &act)).await;
        }
        Vec::new()
    }
}
