//! One round, step by step: what came back, against what the table gives.
//!
//! | file | |
//! |---|---|
//! | `mod` | the round, and its commands |
//! | `answer` | one answer |
//! | `look` | steps without a command |

mod answer;
mod look;

use std::collections::BTreeMap;

pub(super) use look::{is_shown_as, seen_by};

use super::{
    Court, Did, Finding, Key, Round, RoundVerdict, Rule, StepVerdict, Where, ends, exact, log, race,
};
use crate::{
    acceptance::{
        product::{self, Told},
        record::{Exchange, Purpose},
        scenario::{Asked, Named, Scenario, Step, What},
        table::{Ask, Task, World},
        words::{Returns, Who},
    },
    domain::{
        answer::Answer,
        id::{Timestamp, rfc3339},
    },
};

/// A round while it is judged.
pub(super) struct Hearing<'a, 'b> {
    pub(super) court: &'a mut Court<'b>,
    pub(super) round: &'a Round<'a>,
    /// Where the table has every task.
    pub(super) world: World,
    pub(super) findings: Vec<Finding>,
    /// The first answer under each key: the same request has the same answer.
    answers: BTreeMap<(Who, String), String>,
    pub(super) counts: bool,
    /// Who won the last race.
    pub(super) winner: Option<String>,
}

pub(super) fn judge(court: &mut Court<'_>, scenario: &Scenario, round: &Round<'_>) -> RoundVerdict {
    let mut riders = scenario.riders.clone();
    for name in scenario.cast() {
        riders.entry(name).or_default();
    }
    let mut hearing = Hearing {
        court,
        round,
        world: World::new(riders),
        findings: Vec::new(),
        answers: BTreeMap::new(),
        counts: true,
        winner: None,
    };
    let mut steps = Vec::new();
    for (index, step) in scenario.steps.iter().enumerate() {
        hearing.step(index + 1, step, &mut steps);
    }
    let ends = ends::judge(&mut hearing, scenario);
    log::of_round(&mut hearing);
    exact::judge(&mut hearing);
    if let Some(why) = round.cut_short {
        hearing.find(Rule::CutShort, None, &scenario.id, "played to its end", why);
    }
    let Hearing { findings, counts, .. } = hearing;
    let line = round.line;
    RoundVerdict { round: line.round, counts, cast: line.cast.clone(), steps, ends, findings }
}

impl<'a> Hearing<'a, '_> {
    pub(super) fn find(
        &mut self,
        rule: Rule,
        step: Option<usize>,
        about: &str,
        expected: &str,
        found: &str,
    ) {
        self.findings.push(Finding {
            rule,
            step,
            about: about.to_owned(),
            expected: expected.to_owned(),
            found: found.to_owned(),
        });
    }

    /// The exchanges of a step with a purpose.
    pub(super) fn of_step(&self, step: usize, fits: fn(&Purpose) -> bool) -> Vec<&'a Exchange> {
        let here = |exchange: &&&'a Exchange| exchange.step == step && fits(&exchange.purpose);
        self.round.exchanges.iter().filter(here).copied().collect()
    }

    /// Milliseconds since the scenario began.
    pub(super) fn since_ms(&self, at: Timestamp) -> i64 {
        at.ms_since(self.round.line.began_at)
    }

    /// When an answer was decided, by the product's clock.
    pub(super) fn decided_at(exchange: &Exchange, told: &Told) -> Option<Timestamp> {
        let of_answer = told.answer.as_ref().map(|answer| {
            let event = answer.event.as_ref().map(|event| event.occurred_at);
            event.unwrap_or(answer.server_time)
        });
        let sent = || {
            let reply = exchange.reply.as_ref()?;
            reply.server_time.as_deref().and_then(rfc3339::parse)
        };
        // An answer that is given again was decided long ago.
        if matches!(told.returns, Returns::Again(_)) { sent() } else { of_answer.or_else(sent) }
    }

    fn step(&mut self, number: usize, step: &Step, out: &mut Vec<StepVerdict>) {
        match &step.what {
            What::Ask(asked) => self.commands(number, step, std::slice::from_ref(asked), out),
            What::Bulk(items) => self.commands(number, step, items, out),
            What::Clock(moment) => self.clock(number, step, &moment.to_string(), out),
            What::Look { who, task } => self.look(number, step, who, task, out),
            What::Race(race) => race::judge(self, number, race, out),
        }
        if self.court.as_written() {
            for (task, standing) in &step.then {
                let stands = self.world.task(task).map(Task::standing);
                let stands = match &step.what {
                    What::Look { who, .. } => stands.map(|stands| seen_by(who, &stands)),
                    _ => stands,
                };
                if stands.as_ref() != Some(standing) {
                    let stands = stands.map_or("nothing".to_owned(), |it| it.to_string());
                    self.find(
                        Rule::NotAsWritten,
                        Some(number),
                        task,
                        &standing.to_string(),
                        &stands,
                    );
                }
            }
        }
    }

    /// One command, or several in one request.
    fn commands(
        &mut self,
        number: usize,
        step: &Step,
        asked: &[Asked],
        out: &mut Vec<StepVerdict>,
    ) {
        let sent = self.of_step(number, |purpose| *purpose == Purpose::Step);
        let [exchange] = sent.as_slice() else {
            if self.round.cut_short.is_none() {
                let found = format!("{} requests", sent.len());
                self.find(Rule::RecordDiffers, Some(number), "step", "one request", &found);
            }
            return;
        };
        let exchange = *exchange;
        let told = answers(exchange);
        if told.len() != asked.len() || exchange.asks.len() != asked.len() {
            let found = format!("{} commands", exchange.asks.len());
            let expected = format!("{} commands", asked.len());
            self.find(Rule::RecordDiffers, Some(number), "step", &expected, &found);
            return;
        }
        for ((asked, ask), told) in asked.iter().zip(&exchange.asks).zip(&told) {
            let mut verdict = self.command(number, asked, ask, exchange, told);
            verdict.note.clone_from(&step.note);
            out.push(verdict);
        }
    }

    fn command(
        &mut self,
        number: usize,
        asked: &Asked,
        ask: &Ask,
        exchange: &Exchange,
        told: &Told,
    ) -> StepVerdict {
        self.is_the_scenarios(number, asked, ask);
        let before = self.findings.len();
        let at = Where::of(self.world.task(&ask.task));
        let decided = Self::decided_at(exchange, told);
        if let Some(decided) = decided {
            self.world.now_ms = self.world.now_ms.max(self.since_ms(decided));
        }
        let expected = match self.world.ask(&self.court.table, ask) {
            Ok(decided) => decided.returns,
            Err(nothing) => {
                let found = nothing.to_string();
                self.find(Rule::TableSilent, Some(number), &ask.task, "an answer", &found);
                Returns::Broken("the table says nothing".to_owned())
            }
        };
        self.answer(number, ask, &expected, exchange, told);
        if self.court.as_written() && !asked.returns.contains(&expected) {
            let written: Vec<_> = asked.returns.iter().map(ToString::to_string).collect();
            let about = ask.who.to_string();
            let (written, table) = (written.join(" | "), format!("the table gives: {expected}"));
            self.find(Rule::NotAsWritten, Some(number), &about, &written, &table);
        }
        let stands = self.state(number, ask, told);
        let fits = self.findings.len() == before;
        self.court.coverage.add(ask.command, at, fits);
        let should = self.world.task(&ask.task).map(|task| task.standing().to_string());
        StepVerdict {
            step: number,
            did: did(ask, asked, 0),
            expected: vec![expected.to_string()],
            returned: vec![told.returns.to_string()],
            should_stand: should,
            stands,
            revision: told.answer.as_ref().and_then(Answer::seen_revision).map(|it| it.0),
            event: told
                .answer
                .as_ref()
                .and_then(|answer| answer.event.as_ref())
                .map(|it| it.number),
            at: decided,
            status: exchange.reply.as_ref().map(|reply| reply.status),
            took_ms: Some(took_ms(exchange)),
            note: None,
            fits,
        }
    }

    /// Whether what was sent is what the scenario has.
    pub(super) fn is_the_scenarios(&mut self, number: usize, asked: &Asked, sent: &Ask) {
        let meant = &asked.ask;
        let command = self.court.table.means(meant.command);
        let same = command == Some(sent.command)
            && (&meant.who, &meant.task, &meant.rider) == (&sent.who, &sent.task, &sent.rider)
            && (meant.seconds, meant.has_key, &meant.key)
                == (sent.seconds, sent.has_key, &sent.key)
            && (meant.confirmed, meant.release_in_ms, meant.vehicle)
                == (sent.confirmed, sent.release_in_ms, sent.vehicle)
            && match asked.named {
                Named::Revision(revision) => sent.revision == Some(revision),
                Named::Missing => sent.revision.is_none(),
                Named::Present => true,
            };
        if !same {
            let (meant, sent) = (format!("{meant:?}"), format!("{sent:?}"));
            self.find(Rule::RecordDiffers, Some(number), "command", &meant, &sent);
        }
    }
}

/// What the product told about each command of a request.
pub(super) fn answers(exchange: &Exchange) -> Vec<Told> {
    let count = exchange.asks.len();
    let is_bulk = exchange.path.ends_with("/bulk");
    if let Some(reply) = &exchange.reply {
        return product::told_of(count, is_bulk, reply);
    }
    let why = exchange.failed.clone().unwrap_or_else(|| "no answer".to_owned());
    vec![Told { returns: Returns::Broken(why), answer: None }; count]
}

/// How long an answer took, in milliseconds.
pub(super) fn took_ms(exchange: &Exchange) -> f64 {
    let ns = exchange.ended_ns.saturating_sub(exchange.began_ns);
    std::time::Duration::from_nanos(ns).as_secs_f64() * 1_000.0
}

/// What was done, for people.
pub(super) fn did(ask: &Ask, asked: &Asked, racers: usize) -> Did {
    Did::Command {
        who: ask.who.to_string(),
        racers,
        command: ask.command.to_string(),
        task: ask.task.clone(),
        rider: ask.rider.clone(),
        seconds: ask.seconds,
        named: ask.revision,
        key: match (&ask.key, ask.has_key) {
            (_, false) => Key::Missing,
            (Some(name), true) => Key::Named(name.clone()),
            (None, true) => Key::Fresh,
        },
        lost: asked.lost,
    }
}
