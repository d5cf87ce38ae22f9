//! Steps without a command: the clock moves, somebody looks.

use std::collections::BTreeMap;

use super::{Hearing, answers, took_ms};
use crate::{
    acceptance::{
        judge::{Did, Key, Rule, StepVerdict, Where, log},
        product,
        record::Purpose,
        scenario::Step,
        words::{Returns, Standing, Who},
    },
    domain::{
        command::Verb,
        id::{TaskId, rfc3339},
        task::StateName,
    },
};

impl Hearing<'_, '_> {
    pub(super) fn clock(
        &mut self,
        number: usize,
        step: &Step,
        moment: &str,
        out: &mut Vec<StepVerdict>,
    ) {
        let moved = self.round.clocks.iter().find(|clock| clock.step == number);
        let Some(to) = moved.map(|clock| clock.to) else {
            if self.round.cut_short.is_none() {
                self.find(Rule::RecordDiffers, Some(number), "clock", moment, "it was not moved");
            }
            return;
        };
        self.world.now_ms = self.world.now_ms.max(self.since_ms(to));
        let due = self.release();
        let fits = self.settled(number);
        let did = Did::Clock { moment: moment.to_owned(), racing: false };
        let (at, note) = (Some(to), step.note.clone());
        out.push(StepVerdict { at, note, fits, ..StepVerdict::of(number, did) });
        for name in due {
            let row = self.released(number, &name);
            out.push(row);
        }
    }

    /// What the release of a lapsed offer was: the system's own command, which nobody is answered. It stands in the log.
    fn released(&mut self, number: usize, name: &str) -> StepVerdict {
        let task = self.world.task(name);
        let (should, revision) =
            task.map_or((String::new(), 0), |task| (task.standing().to_string(), task.revision));
        let entries = log::entries(self, name).unwrap_or_default();
        let entry = entries.iter().find(|entry| entry.to_revision == Some(revision));
        let entry = entry.filter(|entry| entry.action == Verb::Expire.as_str()).cloned();
        let fits = entry.is_some() || self.round.cut_short.is_some();
        if !fits {
            let expected = format!("{} → revision {revision}", Verb::Expire);
            let about = format!("{} {}", Who::System, Verb::Expire);
            self.find(Rule::WrongLog, Some(number), &about, &expected, "it is not in the log");
        }
        let returned = match &entry {
            Some(_) => Returns::Done,
            None => Returns::Broken("it is not in the log".to_owned()),
        };
        StepVerdict {
            step: number,
            did: Did::Command {
                who: Who::System.to_string(),
                racers: 0,
                command: Verb::Expire.to_string(),
                task: name.to_owned(),
                rider: None,
                seconds: None,
                named: Some(revision - 1),
                key: Key::Fresh,
                lost: false,
            },
            expected: vec![Returns::Done.to_string()],
            returned: vec![returned.to_string()],
            should_stand: Some(should.clone()),
            stands: entry.as_ref().map(|_| should),
            revision: entry.as_ref().and_then(|entry| entry.to_revision),
            event: entry.as_ref().map(|entry| entry.number),
            at: entry.map(|entry| entry.occurred_at),
            status: None,
            took_ms: None,
            note: None,
            fits,
        }
    }

    /// Holds the last look at each task after a moment has come against where the table has it then: where the clock can
    /// not be set, time goes on while they look.
    pub(in crate::acceptance::judge) fn settled(&mut self, number: usize) -> bool {
        let before = self.findings.len();
        let looks = self.of_step(number, |purpose| *purpose == Purpose::Settle);
        let mut last: BTreeMap<TaskId, (usize, product::View, i64)> = BTreeMap::new();
        for (order, look) in looks.iter().enumerate() {
            let Some(reply) = &look.reply else { continue };
            let Some(view) = product::view(reply) else { continue };
            let at = reply.server_time.as_deref().and_then(rfc3339::parse);
            let at_ms = at.map_or(self.world.now_ms, |at| self.since_ms(at));
            last.insert(view.task.id, (order, view, at_ms));
        }
        let mut last: Vec<_> = last.into_values().collect();
        last.sort_by_key(|(order, ..)| *order);
        for (_, view, at_ms) in last {
            self.world.now_ms = self.world.now_ms.max(at_ms);
            self.release();
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

    /// The system releases what has lapsed by now. Returns the names of the tasks.
    fn release(&mut self) -> Vec<String> {
        let due = self.world.expire(&self.court.table);
        for _ in &due {
            self.court.coverage.add(Verb::Expire, Where::Offered, true);
        }
        due
    }

    /// The scenario's name of a task.
    fn name_of(&self, id: TaskId) -> Option<String> {
        self.round.exchanges.iter().find_map(|exchange| {
            let ask = exchange.asks.first()?;
            if exchange.asks.len() != 1 || ask.command != Verb::Create {
                return None;
            }
            let told = answers(exchange).pop()?;
            let made = told.answer?.task?.id;
            (made == id).then(|| ask.task.clone())
        })
    }

    pub(super) fn look(
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
pub(in crate::acceptance::judge) fn seen_by(who: &Who, standing: &Standing) -> Standing {
    let hides = *who == Who::Customer && standing.state == StateName::Offered;
    Standing { rider: standing.rider.clone().filter(|_| !hides), ..standing.clone() }
}

/// Whether what an answer shows is how the task stands; it may keep the rider from those who may not know.
pub(in crate::acceptance::judge) fn is_shown_as(shown: &Standing, should: &Standing) -> bool {
    let rider = shown.rider.is_none() || shown.rider == should.rider;
    rider && (shown.state, shown.stage) == (should.state, should.stage)
}
