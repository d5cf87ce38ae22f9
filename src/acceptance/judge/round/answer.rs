//! One answer, against the expected one, against the first one under its key, and the task that it shows.

use super::{Hearing, is_shown_as};
use crate::{
    acceptance::{
        judge::Rule,
        product::{self, Told},
        record::Exchange,
        table::Ask,
        words::Returns,
    },
    domain::id::rfc3339,
};

/// How far apart the time of a decision and that of its answer may be, in milliseconds.
const MOST_APART_MS: i64 = 10_000;

impl Hearing<'_, '_> {
    /// Holds one answer against the expected one.
    pub(super) fn answer(
        &mut self,
        number: usize,
        ask: &Ask,
        expected: &Returns,
        exchange: &Exchange,
        told: &Told,
    ) {
        let about = format!("{} {}", ask.who, ask.command);
        match &told.returns {
            Returns::Broken(_) => {
                let (expected, found) = (expected.to_string(), told.returns.to_string());
                self.find(Rule::NoAnswer, Some(number), &about, &expected, &found);
            }
            found if found != expected => {
                let (expected, found) = (expected.to_string(), found.to_string());
                self.find(Rule::WrongAnswer, Some(number), &about, &expected, &found);
            }
            _ => {}
        }
        self.told_time(number, &about, exchange, told);
        self.same_answer(number, ask, exchange, told);
    }

    /// Holds the time in an answer against the time at which the product says that it sent it.
    fn told_time(&mut self, number: usize, about: &str, exchange: &Exchange, told: &Told) {
        let sent = exchange.reply.as_ref().and_then(|reply| reply.server_time.as_deref());
        let (Some(sent), Some(answer)) = (sent.and_then(rfc3339::parse), &told.answer) else {
            return;
        };
        let apart_ms = sent.ms_since(answer.server_time).abs();
        if !matches!(told.returns, Returns::Again(_)) && apart_ms > MOST_APART_MS {
            let (expected, found) = (sent.to_string(), answer.server_time.to_string());
            self.find(Rule::WrongState, Some(number), &format!("{about}: time"), &expected, &found);
        }
    }

    /// Holds an answer that is given again against the first one.
    pub(in crate::acceptance::judge) fn same_answer(
        &mut self,
        number: usize,
        ask: &Ask,
        exchange: &Exchange,
        told: &Told,
    ) {
        let key = ask.key.clone().filter(|_| exchange.asks.len() == 1);
        let (Some(key), Some(reply)) = (key, &exchange.reply) else { return };
        if told.answer.is_none() {
            return;
        }
        let scope = (ask.who.clone(), key);
        match (&told.returns, self.answers.get(&scope)) {
            (Returns::Again(_), Some(first)) if *first != reply.body => {
                let first = first.clone();
                let about = format!("{} {}", ask.who, ask.command);
                self.find(Rule::AnswerChanged, Some(number), &about, &first, &reply.body);
            }
            (Returns::Again(_), _) | (_, Some(_)) => {}
            (_, None) => {
                self.answers.insert(scope, reply.body.clone());
            }
        }
    }

    /// Holds the task that an answer shows against where the table has it. Returns how it stands there.
    pub(super) fn state(&mut self, number: usize, ask: &Ask, told: &Told) -> Option<String> {
        let shown = told.answer.as_ref()?.task.as_ref()?;
        let view = product::View { task: shown.clone(), rider_name: None };
        let stands = product::standing(&view, &self.round.line.cast);
        // An answer that is given again shows what was then.
        if !matches!(told.returns, Returns::Again(_))
            && let Some(task) = self.world.task(&ask.task)
        {
            let should = task.standing();
            let (revision, deadline) = (task.revision, task.deadline_ms);
            let about = format!("{} to {}", ask.task, ask.who);
            if !is_shown_as(&stands, &should) || shown.revision.0 != revision {
                let expected = format!("{should}, revision {revision}");
                let found = format!("{stands}, revision {}", shown.revision);
                self.find(Rule::WrongState, Some(number), &about, &expected, &found);
            }
            let until = shown.offer_until.map(|until| self.since_ms(until));
            if until.is_some() && until != deadline {
                let ms = |ms: Option<i64>| ms.map_or("none".to_owned(), |ms| format!("{ms} ms"));
                let (expected, found) = (ms(deadline), ms(until));
                self.find(
                    Rule::WrongState,
                    Some(number),
                    &format!("{about}: deadline"),
                    &expected,
                    &found,
                );
            }
        }
        Some(stands.to_string())
    }
}
