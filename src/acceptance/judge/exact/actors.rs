//! Who is who in the product's log.

use std::collections::BTreeMap;

use super::super::{
    Rule,
    round::{Hearing, answers},
};
use crate::{
    acceptance::{
        product::{Entry, EntryActor},
        words::{Returns, Who},
    },
    domain::{
        command::Actor,
        id::{StaffId, TaskId},
    },
};

/// Who is who in the product's log.
#[derive(Default)]
pub(super) struct Actors {
    known: BTreeMap<(Who, Option<TaskId>), Actor>,
}

pub(super) fn actor_of(written: &EntryActor) -> Option<Actor> {
    Actor::from_columns(&written.kind, written.id.as_deref())
}

/// Learns who is who from the events that were told of, and finds those that name somebody else.
pub(super) fn learn(hearing: &mut Hearing<'_, '_>, logs: &[(TaskId, Vec<Entry>)]) -> Actors {
    let mut actors = Actors::default();
    let mut wrong = Vec::new();
    let round = hearing.round;
    for exchange in &round.exchanges {
        for (ask, told) in exchange.asks.iter().zip(answers(exchange)) {
            let number =
                told.answer.as_ref().and_then(|answer| Some(answer.event.as_ref()?.number));
            let Some(number) = number.filter(|_| told.returns == Returns::Done) else { continue };
            let entry = logs.iter().flat_map(|(_, log)| log).find(|entry| entry.number == number);
            let Some((entry, actor)) = entry.and_then(|it| Some((it, actor_of(&it.actor)?))) else {
                continue;
            };
            let expected = match &ask.who {
                Who::Rider(name) => {
                    hearing.round.line.cast.get(name).map(|player| Actor::Rider(player.id))
                }
                Who::Customer => entry.task_id.map(Actor::Customer),
                who => hearing.court.actors.get(who).cloned(),
            };
            // Two people are two in the log.
            let other =
                hearing.court.actors.iter().find(|(who, it)| **it == actor && **who != ask.who);
            if let Some((other, _)) = other {
                let about = format!("{} {}", ask.who, ask.command);
                let expected = "somebody else than for anybody else".to_owned();
                wrong.push((exchange.step, about, expected, format!("{actor}, as for {other}")));
            }
            if expected.as_ref().is_some_and(|expected| *expected != actor) {
                let who = format!("{} {}", ask.who, ask.command);
                let expected = expected.map(|it| it.to_string()).unwrap_or_default();
                wrong.push((exchange.step, who, expected, actor.to_string()));
            }
            let scope = entry.task_id.filter(|_| ask.who == Who::Customer);
            if ask.who.rider().is_none() && scope.is_none() {
                let known = hearing.court.actors.entry(ask.who.clone());
                known.or_insert_with(|| actor.clone());
            }
            actors.known.entry((ask.who.clone(), scope)).or_insert(actor);
        }
    }
    for (step, about, expected, found) in wrong {
        hearing.find(Rule::WrongActor, Some(step), &about, &expected, &found);
    }
    actors
}

impl Actors {
    pub(super) fn actor(
        &self,
        hearing: &Hearing<'_, '_>,
        who: &Who,
        task: Option<TaskId>,
    ) -> Actor {
        let player = who.rider().and_then(|name| hearing.round.line.cast.get(name));
        if let Some(player) = player {
            return Actor::Rider(player.id);
        }
        if let (Who::Customer, Some(task)) = (who, task) {
            return Actor::Customer(task);
        }
        let known = self.known.get(&(who.clone(), None)).cloned();
        // Whoever made no event has a number that nobody else has.
        known.unwrap_or_else(|| match who {
            Who::Intake => Actor::Intake("intake".to_owned()),
            Who::Dispatcher(number) => Actor::Staff(StaffId(i64::MAX - i64::from(*number))),
            Who::Supervisor => Actor::Staff(StaffId(i64::MAX - 10)),
            Who::Foreigner => Actor::Staff(StaffId(i64::MAX - 11)),
            Who::System => Actor::System,
            Who::Auditor | Who::Nobody | Who::Customer | Who::Rider(_) => {
                Actor::Staff(StaffId(i64::MAX - 12))
            }
        })
    }
}
