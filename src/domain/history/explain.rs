//! How the rules explain an answer.

use std::collections::HashMap;

use super::{
    judge::{Trial, Witness},
    request::{Op, Reply},
    rules::{Asked, is_same_event},
    violation::{Party, Said, Violation},
};
use crate::domain::{
    command::{Act, Actor, Verb},
    decide::{self, Decision, Denial},
    event::Event,
    id::{Revision, RiderId, TaskId, Timestamp},
    task::{OwnOffer, Task},
};

/// Where a decision was made that explains an answer.
pub(super) enum Explained {
    /// On the present row.
    Here,
    /// On the row before, whose lapsed offer the command released first.
    ByRelease,
}

impl Trial<'_> {
    /// Looks for the decision that gives the answer of `op`, at the row to which it is tied. `made`
    /// is the event that a success claims.
    ///
    /// A command that met a lapsed offer is tied to the release that it made, but was decided as one
    /// that named the offer. A command that came after the release was decided like any other. The
    /// answer shows which of the two it was; where both fit, nothing more has to hold.
    ///
    /// # Errors
    /// What the rules say instead.
    pub(super) fn explain(
        &mut self,
        op: &Op,
        named: Revision,
        act: &Act,
        made: Option<&Event>,
    ) -> Result<Explained, Said> {
        let Some(row) = &self.stand.row else { return Err(Denial::NotFound.into()) };
        self.rules.right(row, &op.actor, act.verb())?;
        let was = Said::from(op.reply);
        let against = match op.reply {
            Reply::Refused(code) => Some(code).filter(|code| code.rests_on_facts()),
            Reply::Read | Reply::Done | Reply::Already(_) => None,
        };
        let asked = Asked { actor: &op.actor, named, act, against };
        let expires = act.verb() == Verb::Expire;

        let now = moment(row, expires && was == Said::Done);
        let here = self.rules.say(row, asked, ledger(&self.ledgers, &op.actor), now);
        let rules = said(&here, made);
        if rules == was && here.lapse.is_none() {
            return Ok(Explained::Here);
        }
        let Some(lapsed) = self.stand.lapsed.as_ref().filter(|_| !expires) else {
            return Err(rules);
        };
        // The ledger already has the lapsed offer as expired; to the rules it is so in any case.
        let own = ledger(&self.ledgers, &op.actor);
        let by_release = self.rules.say(lapsed, asked, own, moment(lapsed, true));
        if by_release.lapse.is_some() && said(&by_release, made) == was {
            Ok(Explained::ByRelease)
        } else {
            Err(rules)
        }
    }

    /// Notes that `op` must have been the one that made the present row by releasing the offer.
    pub(super) fn released(&mut self, task: TaskId, op: usize) {
        let Some(row) = &self.stand.row else { return };
        let revision = row.revision;
        let parties = |number: usize| Party::from(&self.history.ops[number]);
        if let Some(first) = self.stand.released_by {
            let (first, second) = (parties(first), parties(op));
            self.find(task, revision, Violation::TwoReleases { first, second });
            return;
        }
        self.stand.released_by = Some(op);
        let Op { began_ns, ended_ns, .. } = self.history.ops[op];
        self.times.made(revision, Witness::Op(op), began_ns, ended_ns);
    }
}

/// A moment at which a command meets `task`: before the deadline of its offer, or after it.
pub(super) fn moment(task: &Task, after_deadline: bool) -> Timestamp {
    match task.state.offer_until() {
        Some(until) if after_deadline => until,
        Some(until) => until.plus_ms(-1),
        None => task.changed_at,
    }
}

/// What a decision says to one who claims to have `made` an event.
pub(super) fn said(decision: &Decision, made: Option<&Event>) -> Said {
    match &decision.verdict {
        decide::Verdict::Apply(change) => {
            let fits = made.is_none_or(|made| is_same_event(change.event(), made));
            if fits { Said::Done } else { Said::DoneOtherwise }
        }
        decide::Verdict::Already(already) => Said::Already(*already),
        decide::Verdict::Refused(refusal) => Said::Refused(refusal.code),
    }
}

/// The offers of the acting rider; none if no rider acts.
pub(super) fn ledger<'a>(
    ledgers: &'a HashMap<RiderId, Vec<OwnOffer>>,
    actor: &Actor,
) -> &'a [OwnOffer] {
    actor.rider().and_then(|rider| ledgers.get(&rider)).map_or(&[], Vec::as_slice)
}
