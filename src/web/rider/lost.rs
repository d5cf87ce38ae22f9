//! Cards of the pool that went while the rider looked at them: they go at once, with the reason.

use crate::{
    domain::{
        id::{RegionId, TaskId},
        task::StateName,
    },
    store::{self, Card, Tx},
};

/// So many cards are asked about: a page of the pool.
const MOST: usize = 20;

/// A card that the rider still saw, and that can not be grabbed any more.
pub(super) struct Lost {
    pub(super) id: TaskId,
    /// `pool-gone-…`: why.
    pub(super) why: &'static str,
}

/// What has become of the cards that the rider saw: as much as a rider of the region may know. `next`: the last
/// task of this page of the pool, if there is another page.
pub(super) async fn lost(
    tx: &mut Tx,
    seen: Option<&str>,
    region: RegionId,
    held: &[Card],
    pool: &[Card],
    next: Option<TaskId>,
) -> store::Result<Vec<Lost>> {
    let seen = seen.unwrap_or_default().split('.');
    let mut lost = Vec::new();
    for id in seen.filter_map(TaskId::parse).take(MOST) {
        if held.iter().chain(pool).any(|card| card.task.id == id) {
            continue;
        }
        let task = tx.task(id).await?.filter(|task| task.region == region);
        let Some(task) = task else { continue };
        let why = match task.state.name() {
            StateName::Assigned => "pool-gone-taken",
            StateName::Offered => "pool-gone-reserved",
            StateName::Cancelled => "pool-gone-cancelled",
            // It has moved to the next page, where it is as open as before.
            StateName::Open if next.is_some_and(|last| id > last) => continue,
            StateName::Open => "pool-gone-closed",
        };
        lost.push(Lost { id, why });
    }
    Ok(lost)
}
