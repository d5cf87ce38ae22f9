//! The log: every answer has its entry, every attempt was kept, and the numbers have no holes.

use std::collections::BTreeMap;

use super::{Court, Finding, LogVerdict, Rule, round::Hearing, round::answers};
use crate::{
    acceptance::{
        product::{self, Attempt, Entry},
        record::{Exchange, Purpose},
        table::Ask,
        words::{Returns, Who},
    },
    domain::{command::Verb, id::TaskId},
};

/// The entries of a task's log, if it was read.
pub(super) fn entries(hearing: &Hearing<'_, '_>, task: &str) -> Option<Vec<Entry>> {
    let purpose = Purpose::Log(task.to_owned());
    let found = hearing.round.exchanges.iter().find(|exchange| exchange.purpose == purpose)?;
    product::items(found.reply.as_ref()?)
}

/// The commands of a round with what was told of them, tidying up aside.
fn told<'a>(
    hearing: &'a Hearing<'_, '_>,
) -> impl Iterator<Item = (&'a Exchange, &'a Ask, product::Told)> {
    let played =
        |exchange: &&&Exchange| matches!(exchange.purpose, Purpose::Step | Purpose::Racer(_));
    hearing.round.exchanges.iter().filter(played).flat_map(|exchange| {
        exchange.asks.iter().zip(answers(exchange)).map(move |(ask, told)| (*exchange, ask, told))
    })
}

/// Holds the logs of a round's tasks against what was told.
pub(super) fn of_round(hearing: &mut Hearing<'_, '_>) {
    if hearing.round.cut_short.is_some() {
        return;
    }
    let names: Vec<String> = hearing.world.tasks().map(|(name, _)| name.to_owned()).collect();
    for task in names {
        let Some(entries) = entries(hearing, &task) else {
            hearing.find(Rule::WrongLog, None, &task, "the log of the task", "none");
            continue;
        };
        of_task(hearing, &task, &entries);
        attempts(hearing, &task);
    }
}

/// Every success has its entry, and no two tell the same one.
fn of_task(hearing: &mut Hearing<'_, '_>, task: &str, entries: &[Entry]) {
    let mut wrong = Vec::new();
    let mut told_of: BTreeMap<i64, String> = BTreeMap::new();
    for (exchange, ask, told) in told(hearing).filter(|(_, ask, _)| ask.task == task) {
        if told.returns != Returns::Done {
            continue;
        }
        let about = format!("{} {}", ask.who, ask.command);
        let event = told.answer.as_ref().and_then(|answer| answer.event.as_ref());
        let Some(event) = event else {
            wrong.push((
                exchange.step,
                about,
                "the number of the event".to_owned(),
                "none".to_owned(),
            ));
            continue;
        };
        let entry = entries.iter().find(|entry| entry.number == event.number);
        let expected =
            format!("event {}: {} → revision {}", event.number, event.action, event.to_revision);
        let found = entry.map_or_else(
            || "it is not in the log".to_owned(),
            |entry| {
                let to = entry.to_revision.unwrap_or(0);
                format!("event {}: {} → revision {to}", entry.number, entry.action)
            },
        );
        if found != expected {
            wrong.push((exchange.step, about.clone(), expected, found));
        }
        if let Some(first) = told_of.insert(event.number, about.clone()) {
            let expected = "an event of its own".to_owned();
            wrong.push((exchange.step, about, expected, format!("{first} was told of it too")));
        }
    }
    for (step, about, expected, found) in wrong {
        hearing.find(Rule::WrongLog, Some(step), &about, &expected, &found);
    }
    let revisions: Vec<_> = entries.iter().map(|entry| entry.to_revision.unwrap_or(0)).collect();
    let dense: Vec<_> = (1..).take(revisions.len()).collect();
    if revisions != dense {
        let (expected, found) = (format!("{dense:?}"), format!("{revisions:?}"));
        hearing.find(Rule::WrongLog, None, &format!("{task}: revisions"), &expected, &found);
    }
}

/// Every attempt was kept, those of the losers too.
fn attempts(hearing: &mut Hearing<'_, '_>, task: &str) {
    let purpose = Purpose::Attempts(task.to_owned());
    let found = hearing.round.exchanges.iter().find(|exchange| exchange.purpose == purpose);
    let kept: Option<Vec<Attempt>> =
        found.and_then(|exchange| product::items(exchange.reply.as_ref()?));
    let Some(kept) = kept else {
        hearing.find(Rule::AttemptMissing, None, task, "the attempts on the task", "none");
        return;
    };
    let mut left: BTreeMap<(String, String, String), i64> = BTreeMap::new();
    for attempt in &kept {
        // A rider is known by number; of staff and shops, only the kind is known for sure.
        let id = attempt.actor.id.clone().filter(|_| attempt.actor.kind == "rider");
        let who = format!("{} {}", attempt.actor.kind, id.unwrap_or_default());
        *left.entry((who, attempt.verb.clone(), attempt.code.clone())).or_default() += 1;
    }
    let mut missing = Vec::new();
    // When an order is placed, there is no task yet that an attempt could be on: it may be kept with what it made, and
    // where it is, it has to say so.
    let kept_with_it = kept.iter().any(|attempt| attempt.verb == Verb::Create.as_str());
    let on_task = |ask: &Ask, told: &product::Told| {
        let made = kept_with_it && told.returns == Returns::Done;
        ask.task == task && (ask.command != Verb::Create || made)
    };
    for (exchange, ask, told) in told(hearing).filter(|(_, ask, told)| on_task(ask, told)) {
        let code = match &told.returns {
            Returns::Done => "done".to_owned(),
            Returns::Already(code) | Returns::Refused(code) => code.clone(),
            // Nothing was decided, or nothing anew.
            Returns::TurnedAway(_) | Returns::Again(_) | Returns::Broken(_) => continue,
        };
        let kind = match &ask.who {
            Who::Intake => "intake",
            Who::Customer => "customer",
            Who::Rider(_) => "rider",
            Who::System => "system",
            Who::Dispatcher(_) | Who::Supervisor | Who::Auditor | Who::Foreigner | Who::Nobody => {
                "staff"
            }
        };
        let player = ask.who.rider().and_then(|name| hearing.round.line.cast.get(name));
        let id = player.map(|player| player.id.0.to_string()).unwrap_or_default();
        let attempt = (format!("{kind} {id}"), ask.command.to_string(), code);
        match left.get_mut(&attempt) {
            Some(count) if *count > 0 => *count -= 1,
            _ => missing.push((exchange.step, attempt)),
        }
    }
    for (step, (who, verb, code)) in missing {
        let expected = format!("{who} {verb}: {code}");
        hearing.find(Rule::AttemptMissing, Some(step), task, &expected, "it was not kept");
    }
}

/// Holds the whole log together: pages without a gap, numbers without holes, from where it went to `before` the run.
pub(super) fn whole(court: &Court<'_>, before: i64, pages: &[&Exchange]) -> LogVerdict {
    let mut verdict = LogVerdict { whole: court.run.private, ..LogVerdict::default() };
    let find = |about: &str, expected: String, found: String| Finding {
        rule: Rule::Numbers,
        step: None,
        about: about.to_owned(),
        expected,
        found,
    };
    let (mut through, mut last) = (before, before);
    let mut seen: BTreeMap<(TaskId, i64), i64> = BTreeMap::new();
    for page in pages {
        let read = page
            .reply
            .as_ref()
            .and_then(|reply| Some((product::bounds(reply)?, product::items::<Entry>(reply)?)));
        let Some((bounds, entries)) = read else {
            verdict.findings.push(find("page", "a page of the log".to_owned(), "none".to_owned()));
            break;
        };
        if bounds.after != through {
            let finding =
                find("page", format!("after {through}"), format!("after {}", bounds.after));
            verdict.findings.push(finding);
        }
        (through, verdict.head) = (bounds.through, bounds.head);
        for entry in &entries {
            let fits = if verdict.whole { entry.number == last + 1 } else { entry.number > last };
            if !fits {
                let after = if verdict.whole { "number" } else { "a number after" };
                let expected = format!("{after} {}", last + i64::from(verdict.whole));
                verdict.findings.push(find("entry", expected, entry.number.to_string()));
            }
            last = entry.number;
            if let (Some(task), Some(to)) = (entry.task_id, entry.to_revision)
                && let Some(first) = seen.insert((task, to), entry.number)
            {
                let about = format!("{task}, revision {to}");
                let found = format!("entries {first} and {}", entry.number);
                verdict.findings.push(find(&about, "one entry".to_owned(), found));
            }
        }
        verdict.entries += entries.len();
    }
    if verdict.findings.is_empty() && !pages.is_empty() && through != verdict.head {
        let (expected, found) = (format!("up to {}", verdict.head), format!("up to {through}"));
        verdict.findings.push(find("the end", expected, found));
    }
    if pages.is_empty() {
        verdict.findings.push(find(
            "page",
            "the whole log".to_owned(),
            "it was not read".to_owned(),
        ));
    }
    verdict
}
