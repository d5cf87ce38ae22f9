//! A second judge that shares nothing with ours but `decide`: stateright searches for an order of
//! the requests in which a desk, one step after the other, gives these very answers.

use std::sync::Arc;

use dispatch_desk::domain::{
    answer::TaskView,
    command::{Act, Actor, Role, Verb},
    decide::right,
    event::{Change, Event},
    history::{Call, History, Op, Reply, View},
    id::{Revision, Timestamp},
    refusal::Code,
};
use stateright::semantics::{ConsistencyTester, LinearizabilityTester, SequentialSpec};

use crate::desk::{Desk, Ruling, TASK, World};

/// What is put to the desk.
#[derive(Clone, Debug)]
pub enum Ask {
    /// One request, by its number.
    Op(usize),
    /// The reading of the log after the run.
    Log,
}

/// A desk at some point of the log, with what it may be asked.
#[derive(Clone, Debug)]
pub struct Spec {
    desk: Arc<Desk>,
    ops: Arc<Vec<Op>>,
    log: Arc<Vec<Event>>,
}

/// Whether some order of effects explains the run, which starts at the first event of `log`.
pub fn is_linearizable(history: &History, log: Vec<Event>) -> bool {
    let ops = Arc::new(history.ops().to_vec());
    let mut desk = Desk::new(TASK);
    assert_eq!(Some(&desk.log[0]), log.first(), "all these runs start alike");
    // The folded part of the log is the row itself; a short one is cheap to copy.
    desk.log.clear();
    let mut moments = Vec::new();
    for (number, op) in ops.iter().enumerate() {
        // What starts in the moment in which another ends may have overlapped with it.
        moments.push((op.began_ns, false, number));
        moments.push((op.ended_ns, true, number));
    }
    moments.sort_unstable();
    let reading = ops.len();
    let desk = Arc::new(desk);
    let mut tester = LinearizabilityTester::new(Spec { desk, ops, log: Arc::new(log) });
    let fed = moments.into_iter().try_for_each(|(_, over, number)| {
        if over {
            tester.on_return(number, ()).map(|_| ())
        } else {
            tester.on_invoke(number, Ask::Op(number)).map(|_| ())
        }
    });
    fed.and_then(|()| tester.on_invret(reading, Ask::Log, ()).map(|_| ()))
        .expect("every request returns after it was sent");
    tester.is_consistent()
}

impl SequentialSpec for Spec {
    type Op = Ask;
    // The answer stands in the request.
    type Ret = ();

    fn invoke(&mut self, _: &Ask) {
        unreachable!("every request of these runs has an answer");
    }

    fn is_valid_step(&mut self, ask: &Ask, (): &()) -> bool {
        let next = match ask {
            Ask::Log => {
                let rest = &self.log[self.reached()..];
                let only_release =
                    rest.len() == 1 && self.release().is_some_and(|event| *event == rest[0]);
                (rest.is_empty() || only_release).then(|| self.clone())
            }
            Ask::Op(number) => {
                let ops = Arc::clone(&self.ops);
                let op = &ops[*number];
                // No step makes more than a release and a change. This only saves time.
                if !(0..=2).contains(&(op.seen.0 - self.desk.task.revision.0)) {
                    return false;
                }
                let released = || {
                    let event = self.release()?.clone();
                    let mut after = self.clone();
                    Arc::make_mut(&mut after.desk).record(event);
                    Some(after)
                };
                self.answers(op)
                    .or_else(|| released().and_then(|after| after.answers(op)))
                    .or_else(|| released().and_then(|after| self.releases_and_answers(&after, op)))
            }
        };
        next.map(|next| *self = next).is_some()
    }
}

impl Spec {
    /// How many events of the log have happened.
    fn reached(&self) -> usize {
        usize::try_from(self.desk.task.revision.0).expect("revisions are counted from 1")
    }

    /// The next event, if it is a release for which nobody has to ask.
    fn release(&self) -> Option<&Event> {
        let is_release =
            |event: &&Event| event.action == Verb::Expire && event.actor == Actor::System;
        self.log.get(self.reached()).filter(is_release)
    }

    /// The desk after `op`, if it gives that answer on the present row.
    fn answers(&self, op: &Op) -> Option<Self> {
        let before_deadline = self.desk.task.state.offer_until().map(|until| until.plus_ms(-1));
        self.follow(op, self, before_deadline.unwrap_or(self.desk.task.changed_at))
    }

    /// The desk after `op`, if it gives that answer by releasing the lapsed offer first. `released` is
    /// the desk after the release.
    fn releases_and_answers(&self, released: &Self, op: &Op) -> Option<Self> {
        let until = self.desk.task.state.offer_until()?;
        self.follow(op, released, until)
    }

    fn follow(&self, op: &Op, base: &Self, now: Timestamp) -> Option<Self> {
        let mut after = base.clone();
        match &op.call {
            Call::Read => {}
            Call::Create => return None,
            Call::Change { named, act } => {
                let effect = self.decides(op, *named, act, now)?;
                if let Effect::Change(ruled) = effect {
                    let logged = base.log.get(base.reached())?;
                    if !is_effect(&ruled, logged) {
                        return None;
                    }
                    Arc::make_mut(&mut after.desk).record(logged.clone());
                }
            }
        }
        let row = &after.desk.task;
        let view = View::from(&TaskView::of(row, &op.actor, now));
        let fits = op.seen == row.revision && op.view.is_none_or(|saw| saw == view);
        fits.then_some(after)
    }

    /// What `op` does, if the desk says what `op` was told.
    fn decides(&self, op: &Op, named: Revision, act: &Act, now: Timestamp) -> Option<Effect> {
        let mut world = World::kind_to(&op.actor, act);
        if let Some(staff) = &mut world.staff {
            staff.role = Role::Supervisor;
        }
        let own = self.desk.own_offers(&op.actor);
        right(Some(&self.desk.task), &op.actor, act.verb(), &world.facts(own)).ok()?;
        let decision = self.desk.weigh(&op.actor, named, act, &world, now);
        match (op.reply, decision.verdict) {
            (Reply::Done, Ruling::Apply(change)) => Some(Effect::Change(change.event().clone())),
            (Reply::Refused(code), Ruling::Apply(_)) => {
                may_refuse(act, code).then_some(Effect::None)
            }
            (Reply::Refused(code), Ruling::Refused(refusal)) => {
                (refusal.code == code).then_some(Effect::None)
            }
            (Reply::Already(told), Ruling::Already(already)) => {
                (told == already).then_some(Effect::None)
            }
            _ => None,
        }
    }
}

/// What a request does to the desk.
enum Effect {
    None,
    Change(Event),
}

/// The refusals that facts unknown to the recording can give to each command.
fn may_refuse(act: &Act, code: Code) -> bool {
    use Code::{
        HandBackLimit, ImmediateModeOff, InvalidTicket, NotReleased, RiderAtCapacity,
        RiderNotEligible, RiskRejected, TicketExpired,
    };
    let codes: &[Code] = match act {
        Act::Grab { ticket: None } => {
            &[NotReleased, RiderNotEligible, RiderAtCapacity, InvalidTicket, RiskRejected]
        }
        Act::Grab { ticket: Some(_) } => &[
            NotReleased,
            RiderNotEligible,
            RiderAtCapacity,
            InvalidTicket,
            TicketExpired,
            RiskRejected,
        ],
        Act::Offer { .. } => &[NotReleased, RiderNotEligible, RiderAtCapacity],
        Act::Assign { .. } => &[NotReleased, ImmediateModeOff, RiderNotEligible, RiderAtCapacity],
        Act::Reassign { .. } => &[RiderNotEligible, RiderAtCapacity],
        Act::HandBack { .. } => &[HandBackLimit],
        _ => &[],
    };
    codes.contains(&code)
}

/// Whether the log has the event that was decided. Place and deadline rest on facts.
fn is_effect(ruled: &Event, logged: &Event) -> bool {
    let plain = |event: &Event| {
        let change = match &event.change {
            Change::Offered { .. } => "offered".to_owned(),
            Change::Assigned { mode, .. } => format!("assigned, {mode}"),
            other => format!("{other:?}"),
        };
        (event.from, event.to, event.action, event.actor.clone(), event.rider, change)
    };
    plain(ruled) == plain(logged)
}
