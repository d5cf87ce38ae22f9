//! What a faulty server writes instead of what was decided. Each fault stands at one place, under its name.

use super::{
    Fault,
    draft::{Change, DONE, Words},
    rows::{Lock, Rows},
};
use crate::domain::{
    answer::wording,
    command::{Act, Actor, Verb},
    decide::{Verdict, decide},
    event::{self, Event, evolve},
    facts::Facts,
    id::{Revision, RiderId, Timestamp},
    refusal::Lang,
    task::{Mode, OfferAnswer, Slot, Stage, State, Task},
};

/// How long a lock lasts (seed 003: `setIfAbsent(key, driverId, 10, SECONDS)`).
const LOCK_MS: i64 = 10_000;

/// A command on a task, with all that its decision rests on.
pub(super) struct Case<'a> {
    pub(super) task: &'a Task,
    pub(super) actor: &'a Actor,
    pub(super) named: Revision,
    pub(super) act: &'a Act,
    pub(super) facts: &'a Facts<'a>,
    pub(super) now: Timestamp,
}

/// What a case leads to.
pub(super) struct Plan {
    pub(super) changes: Vec<Change>,
    pub(super) words: Words,
    /// Whether the write may go ahead without looking at the row again.
    pub(super) blindly: bool,
}

impl Plan {
    const fn of(changes: Vec<Change>, words: Words) -> Self {
        Self { changes, words, blindly: false }
    }
}

impl Case<'_> {
    /// What the rules say.
    pub(super) fn decided(&self) -> Plan {
        let Self { task, actor, named, act, facts, now } = self;
        let decision = decide(task, actor, *named, act, facts, *now);
        let mut changes: Vec<Change> =
            decision.lapse.iter().map(|lapse| lapse.as_ref().into()).collect();
        if let Verdict::Apply(step) = &decision.verdict {
            changes.push(step.as_ref().into());
        }
        Plan::of(changes, wording(&decision.verdict, Lang::En))
    }

    /// A change that nobody has decided.
    fn force(&self, verb: Verb, rider: Option<RiderId>, change: event::Change) -> Option<Plan> {
        let Self { task, actor, now, .. } = self;
        let event = Event {
            task: task.id,
            region: task.region,
            from: task.revision,
            to: task.revision.next(),
            action: verb,
            actor: (*actor).clone(),
            at: (*now).max(task.changed_at),
            reason: None,
            rider,
            change,
        };
        let after = evolve(Some(task), &event).ok()?;
        Some(Plan::of(vec![Change { event, after }], DONE))
    }

    /// The acting rider becomes the owner, as if confirmed.
    fn accepted(&self) -> Option<Plan> {
        let me = self.facts.me?;
        let own = self.task.state.held().filter(|(rider, _)| *rider == me.id).map(|(_, slot)| slot);
        let free = || (0..Slot::MAX).find(|slot| !me.held.contains(slot));
        let slot = own.or_else(free)?;
        let change = event::Change::Assigned { slot, mode: Mode::Confirmed };
        self.force(Verb::Accept, Some(me.id), change)
    }

    fn is_before_pickup(&self) -> bool {
        let state = &self.task.state;
        *state != State::Cancelled && state.stage() < Some(Stage::PickedUp)
    }

    /// What `fault` makes of it; `None` where it makes no difference.
    pub(super) fn forced(&self, fault: Fault, rows: &mut Rows) -> Option<Forced> {
        let plan = match fault {
            // FAULT: the lock is asked, and the row is not.
            Fault::LockWithExpiry => return self.by_lock(rows),
            // FAULT: neither the state nor the revision nor the invitation is looked at.
            Fault::OverwriteOnAccept => {
                if *self.act != Act::Accept || !self.is_before_pickup() {
                    return None;
                }
                self.accepted()
            }
            // FAULT: whoever was invited before the cancellation may still say yes.
            Fault::CancelledRevived => {
                let last = self.facts.own_offers.last().and_then(|offer| offer.answer);
                let was_asked = last == Some(OfferAnswer::Cancelled);
                if *self.act != Act::Accept || self.task.state != State::Cancelled || !was_asked {
                    return None;
                }
                self.accepted()
            }
            // FAULT: the timer knows the task, and neither the offer that it was set for nor its deadline.
            Fault::SweeperWithoutRecheck => {
                if *self.act != Act::Expire {
                    return None;
                }
                let holder = self.task.state.rider()?;
                self.force(Verb::Expire, Some(holder), event::Change::Open)
            }
            // FAULT: who is asked owns it already.
            Fault::AssignmentAsConfirmation => self.assigned(),
            Fault::SelectThenUpdate
            | Fault::KeyIgnored
            | Fault::KeyGlobal
            | Fault::LoserToldSuccess
            | Fault::BulkAllDone
            | Fault::EventOutside => None,
        };
        plan.map(Forced::Plan)
    }

    /// An offer whose rider owns the task at once.
    fn assigned(&self) -> Option<Plan> {
        let mut plan = self.decided();
        let Change { mut event, .. } = plan.changes.pop()?;
        let event::Change::Offered { slot, .. } = event.change else { return None };
        if event.action != Verb::Offer {
            return None;
        }
        event.change = event::Change::Assigned { slot, mode: Mode::Confirmed };
        let before = plan.changes.last().map_or(self.task, |lapse| &lapse.after);
        let after = evolve(Some(before), &event).ok()?;
        plan.changes.push(Change { event, after });
        Some(plan)
    }

    /// Seed 003: whoever sets the key first has the task, for as long as the key lasts.
    fn by_lock(&self, rows: &mut Rows) -> Option<Forced> {
        let Act::Grab { .. } = self.act else { return None };
        let me = self.actor.rider()?;
        let lock = rows.locks.get(&self.task.id).filter(|lock| lock.until > self.now);
        if let Some(Lock { rider, .. }) = lock {
            // The winner has not written yet.
            let lost = *rider != me && self.decided().words == DONE;
            return lost.then_some(Forced::Wait);
        }
        let is_mine = matches!(self.task.state, State::Assigned { rider, .. } if rider == me);
        if is_mine || !self.is_before_pickup() {
            return None;
        }
        let free = Task { state: State::Open, ..self.task.clone() };
        let asked = Case { task: &free, named: free.revision, ..*self };
        let mut plan = asked.decided();
        if plan.words != DONE {
            return None;
        }
        let until = self.now.plus_ms(LOCK_MS);
        rows.locks.insert(self.task.id, Lock { rider: me, until });
        plan.blindly = true;
        Some(Forced::Plan(plan))
    }
}

/// What a fault makes of a case.
pub(super) enum Forced {
    /// It is done like this.
    Plan(Plan),
    /// Somebody else is about to write.
    Wait,
}
