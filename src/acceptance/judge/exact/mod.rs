//! The exact check: is there one order of effects that explains every answer, every look and the log?
//!
//! The record is put into the words of [`history::judge`], which decides in linear time.
//!
//! | file | |
//! |---|---|
//! | `mod` | requests and answers |
//! | `actors` | who is who |
//! | `entry` | entries of the log |

mod actors;
mod entry;

use std::collections::BTreeMap;

use self::{
    actors::{Actors, learn},
    entry::event,
};
use super::{
    Rule, log,
    round::{Hearing, answers},
};
use crate::{
    acceptance::{
        product::{self, Entry},
        record::{Exchange, Purpose},
        table::Ask,
        words::Returns,
    },
    domain::{
        command::{Act, Actor, RequestKey, Verb},
        history::{self, Invoke, Line, Recording},
        id::{Revision, TaskId, Timestamp},
    },
};

pub(super) fn judge(hearing: &mut Hearing<'_, '_>) {
    if hearing.round.cut_short.is_some() {
        return;
    }
    let names: Vec<String> = hearing.world.tasks().map(|(name, _)| name.to_owned()).collect();
    let mut ids: BTreeMap<String, TaskId> = BTreeMap::new();
    for exchange in &hearing.round.exchanges {
        for (ask, told) in exchange.asks.iter().zip(answers(exchange)) {
            if let Some(view) = told.answer.and_then(|answer| answer.task) {
                ids.entry(ask.task.clone()).or_insert(view.id);
            }
        }
    }
    let mut logs: Vec<(TaskId, Vec<Entry>)> = Vec::new();
    for name in names {
        if let Some((id, entries)) = ids.get(&name).copied().zip(log::entries(hearing, &name)) {
            logs.push((id, entries));
        }
    }
    let actors = learn(hearing, &logs);
    match history(hearing, &logs, &ids, &actors) {
        Ok(history) => {
            for finding in history::judge(&history).findings {
                let about = finding.task.to_string();
                let found = finding.to_string();
                let expected = "one order of effects that explains everything";
                hearing.find(Rule::History, None, &about, expected, &found);
            }
        }
        Err(why) => {
            let expected = "a history that holds together";
            hearing.find(Rule::History, None, "record", expected, &why);
        }
    }
}

fn history(
    hearing: &Hearing<'_, '_>,
    logs: &[(TaskId, Vec<Entry>)],
    ids: &BTreeMap<String, TaskId>,
    actors: &Actors,
) -> Result<history::History, String> {
    let mut recording = Recording::default();
    let mut push = |line| recording.push(line).map_err(|broken| broken.to_string());
    for (process, exchange) in (0_u64..).zip(&hearing.round.exchanges) {
        if matches!(exchange.purpose, Purpose::Prepare | Purpose::TidyUp) {
            continue;
        }
        if exchange.asks.is_empty() {
            let Some(view) = exchange.reply.as_ref().and_then(product::view) else { continue };
            let reader = actors.actor(hearing, &exchange.who, Some(view.task.id));
            push(Line::looks(process, exchange.began_ns, reader, view.task.id))?;
            push(Line::saw(process, exchange.ended_ns, &view.task))?;
            continue;
        }
        for (part, (ask, told)) in (0_u64..).zip(exchange.asks.iter().zip(answers(exchange))) {
            // A bulk is several requests that were under way at once.
            let process = process * 1_000 + part + 1_000_000;
            let task = ids.get(&ask.task).copied().unwrap_or(TaskId(i64::MAX));
            let actor = actors.actor(hearing, &ask.who, Some(task));
            let Some(invoke) = invoke(hearing, process, exchange, ask, task, actor) else {
                continue;
            };
            push(Line::Invoke(Box::new(invoke)))?;
            let at = exchange.ended_ns;
            push(match (&told.returns, &told.answer) {
                (Returns::Broken(_), _) => Line::unknown(process, at, None),
                (_, Some(answer)) => Line::answered(process, at, answer),
                (returns, None) => {
                    let code = returns.code().map(ToOwned::to_owned);
                    let status = exchange.reply.as_ref().map_or(400, |reply| reply.status);
                    let status = if (400..500).contains(&status) { status } else { 400 };
                    Line::turned_away(process, at, status, code)
                }
            })?;
        }
    }
    let deadlines = deadlines(hearing);
    for (task, entries) in logs {
        for entry in entries {
            let event = event(*task, entry, &deadlines);
            push(Line::logged(event.ok_or("an entry of the log that can not be read")?, None))?;
        }
    }
    Ok(recording.finish())
}

fn invoke(
    hearing: &Hearing<'_, '_>,
    process: u64,
    exchange: &Exchange,
    ask: &Ask,
    task: TaskId,
    actor: Actor,
) -> Option<Invoke> {
    let key = exchange.key.as_deref().map(|key| match exchange.asks.len() {
        1 => key.to_owned(),
        _ => format!("{key}#{}", task.0),
    });
    let key = key.and_then(|key| RequestKey::parse(&key));
    let creates = ask.command == Verb::Create;
    let act = if creates { None } else { Some(act(hearing, ask)?) };
    // A command that names no revision is turned away, and nothing can be said of it.
    let rev = if creates { None } else { Some(Revision(ask.revision.unwrap_or(0))) };
    Some(Invoke {
        p: process,
        t_ns: exchange.began_ns,
        f: ask.command.as_str().to_owned(),
        rider: act.as_ref().and_then(Act::named_rider).or_else(|| actor.rider()),
        actor,
        task: (!creates).then_some(task),
        rev,
        key,
        act,
    })
}

fn act(hearing: &Hearing<'_, '_>, ask: &Ask) -> Option<Act> {
    let named = ask.rider.as_ref();
    let named = named.and_then(|name| hearing.round.line.cast.get(name)).map(|player| player.id);
    let reason = None;
    Some(match ask.command {
        Verb::Grab => Act::Grab { ticket: None },
        Verb::Offer => Act::Offer { rider: named?, seconds: ask.seconds, round: None },
        Verb::Assign => Act::Assign { rider: named?, reason },
        Verb::Accept => Act::Accept,
        Verb::Decline => Act::Decline { reason },
        Verb::Withdraw => Act::Withdraw { reason },
        Verb::Expire => Act::Expire,
        Verb::Cancel => Act::Cancel { reason },
        Verb::Reassign => Act::Reassign {
            rider: named?,
            seconds: ask.seconds,
            handover_confirmed: ask.confirmed,
            reason,
        },
        Verb::HandBack => Act::HandBack { reason },
        Verb::Arrive => Act::Arrive,
        Verb::PickUp => Act::PickUp,
        Verb::Deliver => Act::Deliver,
        Verb::Create | Verb::Edit => return None,
    })
}

/// The deadlines that answers showed, by task and revision: the log does not carry them.
fn deadlines(hearing: &Hearing<'_, '_>) -> BTreeMap<(TaskId, i64), Timestamp> {
    let mut deadlines = BTreeMap::new();
    for exchange in &hearing.round.exchanges {
        let told = answers(exchange).into_iter().filter_map(|told| told.answer?.task);
        let read = exchange.reply.as_ref().and_then(product::view).map(|view| view.task);
        for view in told.chain(read) {
            if let Some(until) = view.offer_until {
                deadlines.entry((view.id, view.revision.0)).or_insert(until);
            }
        }
    }
    deadlines
}
