//! Who made each revision, and by what right.

use super::{
    docket::Case,
    explain::{Explained, ledger, moment, said},
    judge::{Trial, Witness},
    line::Logged,
    request::{Call, Op, Reply},
    rules::{Asked, act_of, on_creation},
    violation::{Party, Said, Violation},
};
use crate::domain::{
    command::{Act, Actor, Verb},
    event::{Change, Event},
    fingerprint::key_hash,
};

impl Trial<'_> {
    /// Who made the revision of `logged`, and by what right.
    pub(super) fn hear_makers(&mut self, case: &Case, logged: &Logged) {
        let event = &logged.event;
        let history = self.history;
        let here = self.docket.at(case, event.to).iter().copied();
        let makers = here.filter(|op| history.ops[*op].reply == Reply::Done);
        let winner = makers.clone().find(|op| is_named_by(&history.ops[*op], logged));
        for loser in makers.filter(|op| Some(*op) != winner) {
            let second = Party::from(&history.ops[loser]);
            let violation = match winner {
                Some(winner) => {
                    Violation::TwoWinners { first: Party::from(&history.ops[winner]), second }
                }
                None => Violation::OtherEvent { request: second, event: event.into() },
            };
            self.find(case.task, event.to, violation);
        }
        if let Some(winner) = winner {
            self.hear_winner(case, winner, event);
            return;
        }
        if event.actor != Actor::System && event.to > case.start() {
            let violation = Violation::NoRequest { event: event.into() };
            self.find(case.task, event.to, violation);
        }
        self.hear_unasked(event);
    }

    fn hear_winner(&mut self, case: &Case, winner: usize, event: &Event) {
        let op = &self.history.ops[winner];
        self.times.made(event.to, Witness::Op(winner), op.began_ns, op.ended_ns);
        self.timed[winner] = true;
        let Call::Change { named, act } = &op.call else {
            return self.hear_creation(event, op.into());
        };
        if let Act::Offer { seconds: Some(seconds), .. }
        | Act::Reassign { seconds: Some(seconds), .. } = act
            && let Change::Offered { until, grace_ms, .. } = event.change
        {
            let asked = event.at.plus_ms(i64::from(*seconds) * 1000).plus_ms(grace_ms);
            if asked != until {
                let violation = Violation::WrongDeadline { request: op.into(), until, asked };
                self.find(case.task, event.to, violation);
            }
        }
        match self.explain(op, *named, act, Some(event)) {
            Ok(Explained::Here) => {}
            Ok(Explained::ByRelease) => {
                self.released(case.task, winner);
                let docket = self.docket;
                for &seen in docket.at(case, event.from) {
                    let other = &self.history.ops[seen];
                    if self.timed[seen] && other.reply != Reply::Done {
                        let (request, within) = (other.into(), op.into());
                        let violation = Violation::SeenInBetween { request, within };
                        self.find(case.task, event.from, violation);
                    }
                }
            }
            Err(rules) => self.against_rules(case.task, event.from, op.into(), Said::Done, rules),
        }
    }

    fn hear_creation(&mut self, event: &Event, party: Party) {
        let rules = on_creation(event);
        if rules != Said::Done {
            self.against_rules(event.task, event.to, party, Said::Done, rules);
        }
    }

    /// An event without a request has to follow the rules all the same.
    fn hear_unasked(&mut self, event: &Event) {
        let party = Party::from(event);
        let Some(row) = &self.stand.row else {
            return self.hear_creation(event, party);
        };
        let Some(act) = act_of(event) else {
            let rules = Said::DoneOtherwise;
            return self.against_rules(event.task, event.from, party, Said::Done, rules);
        };
        let asked = Asked { actor: &event.actor, named: event.from, act: &act, against: None };
        let now = moment(row, event.action == Verb::Expire);
        let own = ledger(&self.ledgers, &event.actor);
        let right = self.rules.right(row, &event.actor, event.action);
        let decision = right.map(|()| self.rules.say(row, asked, own, now));
        let rules = decision.map_or_else(Said::from, |decision| said(&decision, Some(event)));
        if rules != Said::Done {
            self.against_rules(event.task, event.from, party, Said::Done, rules);
        }
    }
}

/// Whether the log names this request as the one that made the event.
fn is_named_by(op: &Op, logged: &Logged) -> bool {
    let Logged { event, key_hash: logged_hash } = logged;
    let is_same_key = || match (&op.key, logged_hash) {
        (Some(key), Some(hash)) => *hash == key_hash(&op.actor.principal(), key),
        (None, Some(_)) => false,
        // Who read the log may not have been shown the keys.
        (Some(_) | None, None) => true,
    };
    op.call.verb() == Some(event.action) && op.actor == event.actor && is_same_key()
}
