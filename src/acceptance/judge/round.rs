//! One round, step by step: what came back, against what the table gives.

use std::collections::BTreeMap;

use super::{
    Court, Did, Finding, Key, Round, RoundVerdict, Rule, StepVerdict, Where, ends, exact, log, race,
};
use crate::{
    acceptance::{
        product::{self, Told},
        record::{Exchange, Purpose},
        scenario::{Asked, Named, Scenario, Step, What},
        table::{Ask, World},
        words::{Returns, Standing, Who},
    },
    domain::id::{Timestamp, rfc3339},
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
                let stands = self.world.task(task).map(|task| task.standing());
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
            revision: told.answer.as_ref().and_then(|answer| answer.seen_revision()).map(|it| it.0),
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
        self.same_answer(number, ask, exchange, told);
    }

    /// Holds an answer that is given again against the first one.
    pub(super) fn same_answer(
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
            (Returns::Again(_), _) => {}
            (_, None) => {
                self.answers.insert(scope, reply.body.clone());
            }
            (_, Some(_)) => {}
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

    fn clock(&mut self, number: usize, step: &Step, moment: &str, out: &mut Vec<StepVerdict>) {
        let moved = self.round.clocks.iter().find(|clock| clock.step == number);
        let Some(to) = moved.map(|clock| clock.to) else {
            if self.round.cut_short.is_none() {
                self.find(Rule::RecordDiffers, Some(number), "clock", moment, "it was not moved");
            }
            return;
        };
        let before: Vec<_> = self.world.tasks().map(|(name, _)| name.to_owned()).collect();
        self.world.now_ms = self.world.now_ms.max(self.since_ms(to));
        let due = self.world.expire(&self.court.table);
        for name in &due {
            self.court.coverage.add(crate::domain::command::Verb::Expire, Where::Offered, true);
            debug_assert!(before.contains(name));
        }
        let fits = self.settled(number);
        let should: Vec<_> = due
            .iter()
            .filter_map(|name| Some(format!("{name}: {}", self.world.task(name)?.standing())))
            .collect();
        let did = Did::Clock { moment: moment.to_owned(), racing: false };
        out.push(StepVerdict {
            step: number,
            did,
            expected: should,
            returned: Vec::new(),
            should_stand: None,
            stands: None,
            revision: None,
            event: None,
            at: Some(to),
            status: None,
            took_ms: None,
            note: step.note.clone(),
            fits,
        });
    }

    /// Holds the last look at each task after a moment has come against where the table has it.
    pub(super) fn settled(&mut self, number: usize) -> bool {
        let before = self.findings.len();
        let looks = self.of_step(number, |purpose| *purpose == Purpose::Settle);
        let mut last: BTreeMap<i64, product::View> = BTreeMap::new();
        for view in looks.iter().filter_map(|look| product::view(look.reply.as_ref()?)) {
            last.insert(view.task.id.0, view);
        }
        for view in last.into_values() {
            let Some(name) = self.name_of(view.task.id) else { continue };
            let Some(task) = self.world.task(&name) else { continue };
            let (should, revision) = (task.standing(), task.revision);
            let stands = product::standing(&view, &self.round.line.cast);
            if stands != should || view.task.revision.0 != revision {
                let expected = format!("{should}, revision {revision}");
                let found = format!("{stands}, revision {}", view.task.revision);
                self.find(Rule::WrongState, Some(number), &name, &expected, &found);
            }
        }
        self.findings.len() == before
    }

    /// The scenario's name of a task.
    pub(super) fn name_of(&self, id: crate::domain::id::TaskId) -> Option<String> {
        self.round.exchanges.iter().find_map(|exchange| {
            let ask = exchange.asks.first()?;
            if exchange.asks.len() != 1 || ask.command != crate::domain::command::Verb::Create {
                return None;
            }
            let told = answers(exchange).pop()?;
            let made = told.answer?.task?.id;
            (made == id).then(|| ask.task.clone())
        })
    }

    fn look(
        &mut self,
        number: usize,
        step: &Step,
        who: &Who,
        task: &str,
        out: &mut Vec<StepVerdict>,
    ) {
        let looks = self.of_step(number, |purpose| *purpose == Purpose::Step);
        let [exchange] = looks.as_slice() else { return };
        let view = exchange.reply.as_ref().and_then(product::view);
        let (at, took) = (
            exchange.reply.as_ref().and_then(|reply| reply.server_time.clone()),
            took_ms(exchange),
        );
        let status = exchange.reply.as_ref().map(|reply| reply.status);
        let stands = view.as_ref().map(|view| product::standing(view, &self.round.line.cast));
        let should = self.world.task(task).map(|task| seen_by(who, &task.standing()));
        let revision = view.as_ref().map(|view| view.task.revision.0);
        // Riders, strangers and people of other regions need not see it.
        let sees =
            matches!(who, Who::Customer | Who::Dispatcher(_) | Who::Supervisor | Who::Auditor);
        let fits = !sees || (stands.is_some() && stands == should);
        if !fits {
            let words = |standing: &Option<Standing>| {
                standing.as_ref().map_or("nothing".to_owned(), ToString::to_string)
            };
            let (expected, found) = (words(&should), words(&stands));
            let about = format!("{task} to {who}");
            self.find(Rule::WrongState, Some(number), &about, &expected, &found);
        }
        out.push(StepVerdict {
            step: number,
            did: Did::Look { who: who.to_string(), task: task.to_owned() },
            expected: Vec::new(),
            returned: Vec::new(),
            should_stand: should.filter(|_| sees).map(|should| should.to_string()),
            stands: stands.map(|stands| stands.to_string()),
            revision,
            event: None,
            at: at.as_deref().and_then(rfc3339::parse),
            status,
            took_ms: Some(took),
            note: step.note.clone(),
            fits,
        });
    }
}

/// How a task that stands so is shown to somebody: an invitation is not ownership, so a customer sees nobody in it.
pub(super) fn seen_by(who: &Who, standing: &Standing) -> Standing {
    use crate::domain::task::StateName;
    let hides = *who == Who::Customer && standing.state == StateName::Offered;
    Standing { rider: standing.rider.clone().filter(|_| !hides), ..standing.clone() }
}

/// Whether what an answer shows is how the task stands; it may keep the rider from those who may not know.
pub(super) fn is_shown_as(shown: &Standing, should: &Standing) -> bool {
    let rider = shown.rider.is_none() || shown.rider == should.rider;
    rider && (shown.state, shown.stage) == (should.state, should.stage)
}

/// What the product told about each command of a request.
pub(super) fn answers(exchange: &Exchange) -> Vec<Told> {
    let count = exchange.asks.len();
    let is_bulk = exchange.path.ends_with("/bulk");
    match &exchange.reply {
        Some(reply) => product::told_of(count, is_bulk, reply),
        None => {
            let why = exchange.failed.clone().unwrap_or_else(|| "no answer".to_owned());
            vec![Told { returns: Returns::Broken(why), answer: None }; count]
        }
    }
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
