//! A round never outlives the task that it asks for: whatever takes the task out of it ends it, in the same transaction.

use crate::{
    domain::{
        actor::Actor,
        command::Verb,
        decide::Transition,
        event::Event,
        id::TaskId,
        round::{RoundAnswer, RoundStatus},
        task::StateName,
    },
    store::{self, RoundEnd, Steps, Tx},
};

/// Ends the rounds of tasks that these steps place, cancel or take in hand; nobody is looked for any more for those that
/// are placed or cancelled, and they are out of the manual pool.
///
/// Tasks without a round cost one statement for the whole batch.
pub(super) async fn end(tx: &mut Tx, changed: &[Steps<'_>]) -> store::Result<()> {
    let ends: Vec<_> = changed.iter().filter_map(|change| ended_by(change.steps)).collect();
    let gone = |change: &&Steps<'_>| match change.after().state.name() {
        StateName::Assigned => change.before.state.name() != StateName::Assigned,
        StateName::Cancelled => true,
        StateName::Open | StateName::Offered => false,
    };
    let gone: Vec<TaskId> = changed.iter().filter(gone).map(|change| change.before.id).collect();
    if ends.is_empty() && gone.is_empty() {
        return Ok(());
    }
    let mut asked: Vec<_> = ends.iter().map(|end| end.task).chain(gone.iter().copied()).collect();
    asked.sort_unstable();
    asked.dedup();
    let searched = tx.searched(&asked).await?;
    if searched.is_empty() {
        return Ok(());
    }
    let runs = |task| searched.iter().any(|found| found.task == task && found.running);
    let sought = |task: &TaskId| searched.iter().any(|found| found.task == *task);
    let ends: Vec<_> = ends.into_iter().filter(|end| runs(end.task)).collect();
    tx.end_rounds(&ends).await?;
    let gone: Vec<_> = gone.into_iter().filter(sought).collect();
    tx.leave_pool(&gone).await?;
    tx.end_searches(&gone).await?;
    Ok(())
}

/// How the first of these steps that does so ends the task's round.
fn ended_by(steps: &[Transition]) -> Option<RoundEnd> {
    steps.iter().map(Transition::event).find_map(|event| {
        let (status, answer) = end_of(event)?;
        let answer = event.rider.zip(answer);
        Some(RoundEnd { task: event.task, status, at: event.at, answer })
    })
}

/// What an event means for a round that runs. Offers of the desk itself belong to a round; their decline and their end
/// are followed up by whoever made them.
fn end_of(event: &Event) -> Option<(RoundStatus, Option<RoundAnswer>)> {
    let by_the_desk = event.actor == Actor::System;
    match event.action {
        Verb::Grab => Some((RoundStatus::Placed, Some(RoundAnswer::Grabbed))),
        Verb::Accept => Some((RoundStatus::Placed, Some(RoundAnswer::Accepted))),
        Verb::Cancel => Some((RoundStatus::Void, None)),
        Verb::Assign => Some((RoundStatus::Stopped, None)),
        Verb::Offer | Verb::Withdraw => (!by_the_desk).then_some((RoundStatus::Stopped, None)),
        Verb::Create
        | Verb::Decline
        | Verb::Expire
        | Verb::Reassign
        | Verb::HandBack
        | Verb::Arrive
        | Verb::PickUp
        | Verb::Deliver
        | Verb::Edit => None,
    }
}
