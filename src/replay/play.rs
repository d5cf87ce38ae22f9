//! Tasks: from the first order until everything is done.

use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::{
    Error, Options,
    file::Order,
    plan::Plan,
    report::{Left, Progress, Report},
    stage::Stage,
};
use crate::{
    domain::{
        command::Verb,
        id::Timestamp,
        task::{Stage as TaskStage, StateName},
    },
    simulate::Simulation,
};

/// How long people go on after the last order, on the desk's day at the pace of life.
const AFTERWARDS_MS: i64 = 4 * 3_600_000;

pub(super) async fn play(
    options: &Options,
    stage: &Stage,
    orders: Vec<Order>,
    mut stop: watch::Receiver<bool>,
) -> Result<Report, Error> {
    let (first, last) = (stage.first, orders.last().map_or(stage.first, |order| order.at));
    let plan = Plan::new((first, last), orders.len(), options.riders, options.speed);
    let mut people =
        Simulation::new(plan.manners(options.seed), stage.cast(), None, plan.when(first));
    let total = orders.len();
    for Order { at, key, mut new } in orders {
        let when = plan.when(at);
        // What was to be in half an hour is to be in half an hour still; and what had been put off until it could be
        // released comes when it came.
        let moved = |then: Timestamp| when.plus_ms(then.ms_since(at));
        new.release_at = None;
        new.ready_at = new.ready_at.map(moved);
        new.due_at = new.due_at.map(moved);
        people.order_at(when, key, new);
    }
    let end = plan.when(last).plus_ms(AFTERWARDS_MS);
    let began = Instant::now();
    let mut progress = Progress::new(total);
    while let Some(due) = people.next_due().filter(|due| *due <= end && people.is_busy()) {
        if plan.is_real {
            let passed = u64::try_from(due.ms_since(first)).unwrap_or_default();
            let at = began + Duration::from_millis(passed);
            tokio::select! {
                () = tokio::time::sleep_until(at.into()) => {}
                _ = stop.changed() => break,
            }
        }
        if *stop.borrow() {
            break;
        }
        stage.move_to(due).await?;
        people.step(due).await;
        let tally = people.tally();
        progress.show(tally.count(Verb::Create), tally.count(Verb::Deliver));
    }
    progress.end();
    let took = began.elapsed();
    let left = left(stage).await?;
    let (tally, latencies) = (people.tally(), people.latencies());
    Ok(Report { plan: Some(plan), took, left, ..Report::new(tally, latencies) })
}

/// How the desk says that everything stands.
async fn left(stage: &Stage) -> Result<Left, Error> {
    let mut left = Left::default();
    let Some(desk) = stage.dispatchers.first() else { return Ok(left) };
    let mut cursor = None;
    loop {
        let page = desk.list(None, None, cursor).await?;
        for item in &page.items {
            match (item.task.state, item.task.stage) {
                (StateName::Open, _) => left.open += 1,
                (StateName::Offered, _) => left.offered += 1,
                (StateName::Cancelled, _) => left.cancelled += 1,
                (StateName::Assigned, Some(TaskStage::Delivered)) => left.delivered += 1,
                (StateName::Assigned, _) => left.on_the_way += 1,
            }
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(left);
        }
    }
}
