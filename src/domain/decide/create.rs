//! Creation and the editing of details: outside the states, decided all the same.

use super::{
    Already, Denial, Verdict,
    right::staff_role,
    transition::{Creation, DetailEdit},
};
use crate::domain::{
    command::{Actor, DetailChanges, NewTask, Role, Verb},
    event::{Change, DetailEvent, Edited, Event},
    facts::Staff,
    id::{Revision, TaskId, Timestamp},
    policy::Region,
    refusal::Code,
    table,
    task::{Stage, State, Task},
};

/// Decides whether `actor` may bring `new` into being as task `id`.
///
/// # Errors
/// [`Denial`] if the actor may not create tasks there. A pickup outside of the region is no denial but a refusal.
pub fn create(
    actor: &Actor,
    new: &NewTask,
    id: TaskId,
    staff: Option<&Staff>,
    region: Option<&Region>,
    now: Timestamp,
) -> Result<Verdict<Creation>, Denial> {
    let region = region.ok_or(Denial::NotFound)?;
    let role = match actor {
        Actor::Intake(_) => Role::Intake,
        Actor::Staff(_) => staff_role(staff, region.id)?,
        Actor::System => Role::System,
        Actor::Customer(_) => Role::Customer,
        Actor::Rider(_) => Role::Rider,
    };
    if !table::who(Verb::Create).contains(&role) {
        return Err(Denial::Forbidden);
    }
    if !region.area.contains(new.pickup.place()) {
        return Ok(Verdict::Refused(Code::OutsideRegion.into()));
    }
    let event = Event {
        task: id,
        region: region.id,
        from: Revision::NONE,
        to: Revision::NONE.next(),
        action: Verb::Create,
        actor: actor.clone(),
        at: now,
        reason: None,
        rider: None,
        change: Change::Created {
            source: source(actor),
            release_at: new.release_at.unwrap_or(now),
            vehicle: new.vehicle,
            priority: new.priority,
        },
    };
    Ok(Verdict::Apply(Box::new(Creation::make(event, new.clone()))))
}

/// The source of what `actor` creates: the scope of its creation keys.
pub fn source(actor: &Actor) -> String {
    match actor {
        Actor::Intake(source) => source.clone(),
        Actor::System | Actor::Customer(_) | Actor::Rider(_) | Actor::Staff(_) => actor.principal(),
    }
}

/// Decides an edit of `task`'s details, now at detail revision `present`, based on `named`.
///
/// The right to edit ([`right`](super::right())) and the request key are settled before. An edit never
/// disturbs an offer: it has a revision of its own. On a finished task nothing is edited any more.
pub fn edit(
    task: &Task,
    present: Revision,
    named: Revision,
    actor: &Actor,
    changes: &DetailChanges,
    now: Timestamp,
) -> Verdict<DetailEdit> {
    let refused = |code: Code| Verdict::Refused(code.into());
    match &task.state {
        State::Cancelled => return refused(Code::Cancelled),
        State::Assigned { stage: Stage::Delivered, .. } => return refused(Code::Delivered),
        State::Open
        | State::Offered { .. }
        | State::Assigned { stage: Stage::Waiting | Stage::AtPickup | Stage::PickedUp, .. } => {}
    }
    if named != present {
        return refused(Code::StaleRevision);
    }
    let fields = changes.fields();
    if fields.is_empty() {
        return Verdict::Already(Already::Done);
    }
    let event = DetailEvent {
        task: task.id,
        region: task.region,
        to: present.next(),
        actor: actor.clone(),
        at: now.max(task.changed_at),
        edited: Edited {
            fields: fields.into_iter().map(str::to_owned).collect(),
            release_at: changes.release_at,
            priority: changes.priority,
            detail_revision: present.next(),
        },
    };
    Verdict::Apply(Box::new(DetailEdit::make(event, changes.clone())))
}
