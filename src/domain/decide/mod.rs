//! The decision: a pure function from a task, a command, facts and an instant to an answer.
//!
//! ```text
//!  task ─┐
//!  what ─┤            right? ── no ──► Denial          (401 403 404; nothing is stored)
//!  facts ┼─► decide ─► same key? ────► Replay / KeyReused
//!  prior ┤            lapsed offer? ─► expire first    (it stays, whatever follows)
//!  now ──┘            done already · final · my offer's fate · taken · stale · grid · facts
//!                                  └─► Apply(Transition) | AlreadyDone | Refused
//! ```
//!
//! **Invariant.** Only this module can make a [`Transition`], and the store changes a task's row for
//! a `Transition` and nothing else. So no row changes behind the table's back.

mod checks;
mod create;
mod right;
mod transition;

pub use create::{create, edit, source};
pub use right::{Denial, offer_seconds, right};
pub use transition::{Creation, DetailEdit, Transition};

use super::{
    command::{Act, Actor, Verb},
    event::Change,
    facts::Facts,
    fingerprint::Fingerprint,
    id::{Revision, Timestamp},
    refusal::{Code, Refusal},
    table::{self, Cell},
    task::{OfferAnswer, OwnOffer, Stage, State, Task},
};

/// Why a repeated request key gets no new decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// The same request again: the stored answer is repeated.
    Replay,
    /// Another request under a used key.
    KeyReused,
}

/// The answer to a command that its actor may give. `T` is what a success makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<T = Transition> {
    /// It applies: this is the change.
    Apply(Box<T>),
    /// This actor has done it already; a success with the present state.
    Already(Already),
    /// The rules say no.
    Refused(Refusal),
}

/// A success without a new event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Already {
    /// The rider already owns the task.
    Yours,
    /// The actor has already done this.
    Done,
}

impl Already {
    /// The code that scripts see.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Yours => "ALREADY_YOURS",
            Self::Done => "ALREADY_DONE",
        }
    }
}

/// All that a command leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The release of a lapsed offer that the command met. It stays even when the command is refused.
    pub lapse: Option<Box<Transition>>,
    /// The answer.
    pub verdict: Verdict,
}

impl Decision {
    /// The task after the decision, given the task before it.
    pub fn after<'a>(&'a self, before: &'a Task) -> &'a Task {
        match (&self.verdict, &self.lapse) {
            (Verdict::Apply(change), _) => change.after(),
            (Verdict::Already(_) | Verdict::Refused(_), Some(lapse)) => lapse.after(),
            (Verdict::Already(_) | Verdict::Refused(_), None) => before,
        }
    }
}

/// Whether a command's key was used before, and by the same request. `prior` is the fingerprint
/// stored under the key.
pub fn repeat(prior: Option<&Fingerprint>, mine: &Fingerprint) -> Option<Repeat> {
    prior.map(|prior| if same_request(prior, mine) { Repeat::Replay } else { Repeat::KeyReused })
}

fn same_request(prior: &Fingerprint, mine: &Fingerprint) -> bool {
    if crate::fault::planted(crate::fault::Fault::KeyWithoutFingerprint) {
        return true;
    }
    prior == mine
}

/// Decides `act` by `actor` on `task`, based on revision `named`, at the store's instant `now`.
///
/// The right to command the task ([`right()`]) and the request key ([`repeat`]) are settled before.
/// Nothing else is consulted: the same input gives the same answer, for ever.
pub fn decide(
    task: &Task,
    actor: &Actor,
    named: Revision,
    act: &Act,
    facts: &Facts<'_>,
    now: Timestamp,
) -> Decision {
    // The log of a task never runs backwards, even if the clock does.
    let now = now.max(task.changed_at);
    let releases_itself = act.verb() == Verb::Expire;
    match lapse(task, now).filter(|_| !releases_itself) {
        None => {
            Decision { lapse: None, verdict: settle(task, actor, named, act, facts, None, now) }
        }
        Some(lapse) => {
            // A command that named the dead offer is judged as naming its release.
            let named = if named == task.revision { lapse.after().revision } else { named };
            // The release frees the place that the offer held, for its own rider too.
            let freed = facts.rider.map(|rider| rider.without(task.state.held()));
            let facts = &Facts { rider: freed.as_ref(), ..facts.clone() };
            let verdict = settle(lapse.after(), actor, named, act, facts, Some(task), now);
            Decision { lapse: Some(Box::new(lapse)), verdict }
        }
    }
}

/// The release of a lapsed offer, if `task` waits on one.
fn lapse(task: &Task, now: Timestamp) -> Option<Transition> {
    let rider = task.state.rider();
    task.is_expiring(now).then(|| {
        Transition::make(task, Verb::Expire, &Actor::System, now, None, rider, Change::Open)
    })
}

/// The order of answers on a task whose lapsed offer, if any, has been released from `lapsed`.
fn settle(
    task: &Task,
    actor: &Actor,
    named: Revision,
    act: &Act,
    facts: &Facts<'_>,
    lapsed: Option<&Task>,
    now: Timestamp,
) -> Verdict {
    let verb = act.verb();
    let own = own_offer(task, actor, named, facts.own_offers, lapsed);
    if let Some(already) = already(task, actor, verb, own) {
        return Verdict::Already(already);
    }
    if let Some(code) = is_final(task, verb)
        .or_else(|| fate(verb, own))
        .or_else(|| too_late(task, verb, named, lapsed))
        .or_else(|| taken(task, verb))
        .or_else(|| (named != task.revision).then_some(Code::StaleRevision))
    {
        return Verdict::Refused(code.into());
    }
    let applies = match table::cell(task.state.name(), verb) {
        Some(Cell::Apply(_)) => Ok(()),
        Some(Cell::ForHolder(_, code)) => {
            let holds = actor.rider().is_some_and(|rider| task.state.is_held_by(rider));
            if holds { Ok(()) } else { Err(code) }
        }
        Some(Cell::Refuse(code)) => Err(code),
        // Creation and edits have decisions of their own and no act.
        None => Err(Code::NotOpen),
    };
    match applies.map_err(Refusal::from).and_then(|()| checks::change(task, actor, act, facts, now))
    {
        Err(refusal) => Verdict::Refused(refusal),
        Ok((rider, change)) => Verdict::Apply(Box::new(Transition::make(
            task,
            verb,
            actor,
            now,
            act.reason().cloned(),
            rider,
            change,
        ))),
    }
}

/// The acting rider's offer that the command is about: the one that it names, else the last one,
/// unless that one is still waiting.
fn own_offer(
    task: &Task,
    actor: &Actor,
    named: Revision,
    known: &[OwnOffer],
    lapsed: Option<&Task>,
) -> Option<OwnOffer> {
    let me = actor.rider()?;
    let just_lapsed = lapsed
        .filter(|task| task.state.is_held_by(me))
        .map(|task| OwnOffer { revision: task.revision, answer: Some(OfferAnswer::Expired) });
    let mine = || known.iter().copied().filter(|offer| offer.answer.is_some()).chain(just_lapsed);
    let waits = matches!(task.state, State::Offered { .. }) && task.state.is_held_by(me);
    // A command that named the lapsed offer was moved to its release, which no offer made; the
    // lapsed offer is then the last one.
    let is_named = |offer: &OwnOffer| offer.revision == named;
    let named_one = mine().rev().take_while(|offer| offer.revision >= named).find(is_named);
    named_one.or_else(|| if waits { None } else { mine().next_back() })
}

/// Whether the actor has already done what the command asks.
fn already(task: &Task, actor: &Actor, verb: Verb, own: Option<OwnOffer>) -> Option<Already> {
    let owns = actor.rider().is_some_and(|rider| match &task.state {
        State::Assigned { rider: owner, .. } => *owner == rider,
        State::Open | State::Offered { .. } | State::Cancelled => false,
    });
    match verb {
        Verb::Accept | Verb::Grab => owns.then_some(Already::Yours),
        Verb::Decline => own
            .is_some_and(|offer| offer.answer == Some(OfferAnswer::Declined))
            .then_some(Already::Done),
        Verb::Cancel => {
            (task.state == State::Cancelled && task.changed_by == *actor).then_some(Already::Done)
        }
        Verb::Arrive | Verb::PickUp | Verb::Deliver => {
            let reached = table::step(verb).map(|(_, to)| to);
            (owns && task.state.stage() >= reached).then_some(Already::Done)
        }
        Verb::Create
        | Verb::Offer
        | Verb::Assign
        | Verb::Withdraw
        | Verb::Expire
        | Verb::Reassign
        | Verb::HandBack
        | Verb::Edit => None,
    }
}

/// Whether the task is past all commands, or past this one.
fn is_final(task: &Task, verb: Verb) -> Option<Code> {
    match &task.state {
        State::Cancelled => Some(Code::Cancelled),
        State::Assigned { stage: Stage::Delivered, .. } => Some(Code::Delivered),
        // The steps after the pickup are what is left to do; everything else has to wait for it.
        State::Assigned { stage: Stage::PickedUp, .. } => {
            table::step(verb).is_none().then_some(Code::PickedUp)
        }
        State::Open
        | State::Offered { .. }
        | State::Assigned { stage: Stage::Waiting | Stage::AtPickup, .. } => None,
    }
}

/// What became of the offer that a rider answers.
fn fate(verb: Verb, own: Option<OwnOffer>) -> Option<Code> {
    if verb != Verb::Accept && verb != Verb::Decline {
        return None;
    }
    match own?.answer? {
        OfferAnswer::Expired => Some(Code::OfferExpired),
        OfferAnswer::Withdrawn => Some(Code::OfferWithdrawn),
        OfferAnswer::Accepted | OfferAnswer::Declined | OfferAnswer::Cancelled => None,
    }
}

/// Staff who would take back the very offer whose deadline has passed are told what became of it.
fn too_late(task: &Task, verb: Verb, named: Revision, lapsed: Option<&Task>) -> Option<Code> {
    let just_released = lapsed.is_some() && named == task.revision;
    (verb == Verb::Withdraw && just_released).then_some(Code::OfferExpired)
}

/// Riders learn that another one was first before they learn that their page was old.
fn taken(task: &Task, verb: Verb) -> Option<Code> {
    let cell = table::cell(task.state.name(), verb);
    (cell == Some(Cell::Refuse(Code::TakenByOther))).then_some(Code::TakenByOther)
}
