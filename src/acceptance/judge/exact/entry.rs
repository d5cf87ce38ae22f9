//! Entries of the log in the words of the history.

use std::collections::BTreeMap;

use super::actors::actor_of;
use crate::{
    acceptance::product::Entry,
    domain::{
        command::{Reason, Verb},
        decide::source,
        event::{Change, Event},
        id::{RegionId, Revision, TaskId, Timestamp},
        task::{Mode, Stage},
    },
};

/// An entry of the log in the words of the history. Places are not shown to clients, so everybody has the first.
pub(super) fn event(
    task: TaskId,
    entry: &Entry,
    deadlines: &BTreeMap<(TaskId, i64), Timestamp>,
) -> Option<Event> {
    let action = Verb::parse(&entry.action)?;
    let actor = actor_of(&entry.actor)?;
    let (from, to) = (entry.from_revision?, entry.to_revision?);
    let stage = |stage| Change::Stage { stage };
    let change = match action {
        Verb::Create => Change::Created {
            source: source(&actor),
            release_at: entry.occurred_at,
            vehicle: None,
            priority: 0,
        },
        Verb::Grab | Verb::Accept | Verb::Assign => {
            let mode = entry.mode.as_deref().and_then(Mode::parse)?;
            Change::Assigned { slot: 0, mode }
        }
        Verb::Offer | Verb::Reassign => {
            let until = deadlines.get(&(task, to)).copied();
            let until = until.unwrap_or(entry.occurred_at.plus_ms(30_000));
            Change::Offered { slot: 0, until, grace_ms: 0, policy_version: 1 }
        }
        Verb::Decline | Verb::Withdraw | Verb::Expire | Verb::HandBack => Change::Open,
        Verb::Cancel => Change::Cancelled,
        Verb::Arrive => stage(Stage::AtPickup),
        Verb::PickUp => stage(Stage::PickedUp),
        Verb::Deliver => stage(Stage::Delivered),
        Verb::Edit => return None,
    };
    Some(Event {
        task,
        region: entry.region.unwrap_or(RegionId(0)),
        from: Revision(from),
        to: Revision(to),
        action,
        actor,
        at: entry.occurred_at,
        reason: entry.reason.as_deref().and_then(Reason::parse),
        rider: entry.rider_id,
        change,
    })
}
