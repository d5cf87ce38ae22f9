//! What is to be written for a command, given what was read. Right by construction: the decisions are the desk's own.

use super::{
    Fault,
    desk::Desk,
    draft::{Change, DONE, Draft, Reply, Slot, TurnedAway, Words},
    forced::{Case, Forced, Plan},
    rows::Rows,
};
use crate::domain::{
    answer::{role, wording},
    command::{Act, Actor, Command, NewTask, Verb, What},
    decide::{Denial, Repeat, Verdict, create, offer_seconds, repeat, right},
    facts::Facts,
    fingerprint::Fingerprint,
    id::{Revision, TaskId, Timestamp},
    legal::legal,
    refusal::{Code, Lang},
    task::Task,
};

/// What comes next.
pub(super) enum Next {
    /// It was answered before.
    Said(Reply),
    /// This is to be written.
    Write(Box<Draft>),
    /// Nothing yet: look again.
    Wait,
}

impl From<Denial> for TurnedAway {
    fn from(denial: Denial) -> Self {
        let status = match denial {
            Denial::NotSignedIn => 401,
            Denial::Forbidden => 403,
            Denial::NotFound => 404,
            Denial::OfferSeconds { .. } => 422,
        };
        Self { status, code: denial.as_str() }
    }
}

/// Says what `command` leads to.
pub(super) fn plan(desk: &Desk, rows: &mut Rows, command: &Command) -> Result<Next, TurnedAway> {
    let now = desk.now();
    match &command.what {
        What::Create(new) => creation(desk, rows, command, new, now),
        What::Change { task, revision, act } => {
            change(desk, rows, command, (*task, *revision, act), now)
        }
        // Nobody edits here.
        What::Edit { .. } => Err(Denial::NotFound.into()),
    }
}

/// Where the answer to a command is kept.
fn slot(desk: &Desk, command: &Command) -> Option<Slot> {
    let key = command.key.as_ref()?.as_str().to_owned();
    let whose = match desk.fault {
        // FAULT: it is never looked at again.
        Some(Fault::KeyIgnored) => return None,
        // FAULT: all people share their keys.
        Some(Fault::KeyGlobal) => String::new(),
        _ => command.actor.principal(),
    };
    Some(Slot { whose, key, fingerprint: Fingerprint::of(&command.what) })
}

/// The answer that was given under the same key, if it was used before.
fn said(rows: &Rows, slot: Option<&Slot>) -> Result<Option<Reply>, TurnedAway> {
    let Some((slot, (prior, reply))) = slot.and_then(|slot| Some((slot, rows.outcome(slot)?)))
    else {
        return Ok(None);
    };
    match repeat(Some(&prior.fingerprint), &slot.fingerprint) {
        Some(Repeat::KeyReused) => Err(TurnedAway { status: 422, code: "REQUEST_KEY_REUSED" }),
        Some(Repeat::Replay) | None => Ok(Some(reply.clone())),
    }
}

fn change(
    desk: &Desk,
    rows: &mut Rows,
    command: &Command,
    (id, named, act): (TaskId, Revision, &Act),
    now: Timestamp,
) -> Result<Next, TurnedAway> {
    let (house, actor) = (&desk.house, &command.actor);
    let task = rows.cards.get(&id).map(|card| card.task.clone()).ok_or(Denial::NotFound)?;
    let region = house.region(task.region).ok_or(Denial::NotFound)?;
    let me = actor.rider().and_then(|me| rows.rider(house, me));
    let rider = command.rider().and_then(|rider| rows.rider(house, rider));
    let own_offers = rows.own_offers(id, actor.rider());
    let facts = Facts {
        staff: house.staff(actor),
        me: me.as_ref(),
        rider: rider.as_ref(),
        region,
        own_offers: &own_offers,
        round: None,
        alone: None,
        hand_backs_today: actor.rider().map_or(0, |me| rows.hand_backs(me, region, now)),
    };
    right(Some(&task), actor, act.verb(), &facts)?;
    let slot = slot(desk, command);
    if let Some(reply) = said(rows, slot.as_ref())? {
        return Ok(Next::Said(reply));
    }
    offer_seconds(act, &facts)?;
    let case = Case { task: &task, actor, named, act, facts: &facts, now };
    let forced = desk.fault.and_then(|fault| case.forced(fault, rows));
    let Plan { changes, words, blindly } = match forced {
        None => case.decided(),
        Some(Forced::Plan(plan)) => plan,
        Some(Forced::Wait) => return Ok(Next::Wait),
    };
    // FAULT: neither guard nor second look: whatever was read counts.
    let guarded = !blindly && desk.fault != Some(Fault::SelectThenUpdate);
    let words = worded(desk, act.verb(), words);
    let after = changes.last().map_or(task, |change| change.after.clone());
    let draft = draft(desk, command, changes, words, Some(after), slot, now);
    Ok(Next::Write(Box::new(Draft { guarded, ..draft })))
}

fn worded(desk: &Desk, verb: Verb, words: Words) -> Words {
    let is_late = verb == Verb::Grab && words.1.as_deref() == Some(Code::TakenByOther.as_str());
    // FAULT: "true" comes back whatever came of it.
    if desk.fault == Some(Fault::LoserToldSuccess) && is_late { DONE } else { words }
}

fn creation(
    desk: &Desk,
    rows: &Rows,
    command: &Command,
    new: &NewTask,
    now: Timestamp,
) -> Result<Next, TurnedAway> {
    let house = &desk.house;
    let last = rows.cards.keys().next_back().map_or(0, |id| id.0);
    let (actor, region) = (&command.actor, house.region(new.region));
    let verdict = create(actor, new, TaskId(last + 1), house.staff(actor), region, now)?;
    let slot = slot(desk, command);
    if let Some(reply) = said(rows, slot.as_ref())? {
        return Ok(Next::Said(reply));
    }
    let words = wording(&verdict, Lang::En);
    let changes: Vec<Change> = match &verdict {
        Verdict::Apply(made) => vec![made.as_ref().into()],
        Verdict::Already(_) | Verdict::Refused(_) => Vec::new(),
    };
    let after = changes.last().map(|change| change.after.clone());
    Ok(Next::Write(Box::new(draft(desk, command, changes, words, after, slot, now))))
}

fn draft(
    desk: &Desk,
    command: &Command,
    changes: Vec<Change>,
    words: Words,
    task: Option<Task>,
    slot: Option<Slot>,
    now: Timestamp,
) -> Draft {
    let legal = task.as_ref().map(|task| possible(desk, task, &command.actor, now));
    let legal = legal.unwrap_or_default();
    Draft { changes, words, task, legal, now, slot, guarded: true, logged: true }
}

/// What `actor` can do with a task now.
pub(super) fn possible(desk: &Desk, task: &Task, actor: &Actor, now: Timestamp) -> Vec<Verb> {
    let Some(region) = desk.house.region(task.region) else { return Vec::new() };
    let staff = desk.house.staff(actor).map(|staff| staff.role);
    legal(task, actor, role(actor, staff), region.policy.mode, now)
}
