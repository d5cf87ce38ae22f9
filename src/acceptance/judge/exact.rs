//! The exact check: is there one order of effects that explains every answer, every look and the log?
//!
//! The record is put into the words of [`history`](crate::domain::history), which decides in linear time.

use std::collections::BTreeMap;

use super::{
    Rule, log,
    round::{Hearing, answers},
};
use crate::{
    acceptance::{
        product::{self, Entry, EntryActor},
        record::{Exchange, Purpose},
        table::Ask,
        words::{Returns, Who},
    },
    domain::{
        command::{Act, Actor, Reason, RequestKey, Verb},
        decide::source,
        event::{Change, Event},
        history::{self, Invoke, Line, Recording},
        id::{RegionId, Revision, RiderId, StaffId, TaskId, Timestamp},
        task::{Mode, Stage},
    },
};

/// Who is who in the product's log.
#[derive(Default)]
struct Actors {
    known: BTreeMap<(Who, Option<TaskId>), Actor>,
}

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
    let actors = actors(hearing, &logs);
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

fn actor_of(written: &EntryActor) -> Option<Actor> {
    let number = || written.id.as_ref()?.parse::<i64>().ok();
    Some(match written.kind.as_str() {
        "system" => Actor::System,
        "intake" => Actor::Intake(written.id.clone()?),
        "customer" => Actor::Customer(TaskId(number()?)),
        "rider" => Actor::Rider(RiderId(number()?)),
        "staff" => Actor::Staff(StaffId(number()?)),
        _ => return None,
    })
}

/// Learns who is who from the events that were told of, and finds those that name somebody else.
fn actors(hearing: &mut Hearing<'_, '_>, logs: &[(TaskId, Vec<Entry>)]) -> Actors {
    let mut actors = Actors::default();
    let mut wrong = Vec::new();
    for exchange in &hearing.round.exchanges {
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
                who => actors.known.get(&(who.clone(), None)).cloned(),
            };
            if expected.as_ref().is_some_and(|expected| *expected != actor) {
                let who = format!("{} {}", ask.who, ask.command);
                let expected = expected.map(|it| it.to_string()).unwrap_or_default();
                wrong.push((exchange.step, who, expected, actor.to_string()));
            }
            let scope = entry.task_id.filter(|_| ask.who == Who::Customer);
            actors.known.entry((ask.who.clone(), scope)).or_insert(actor);
        }
    }
    for (step, about, expected, found) in wrong {
        hearing.find(Rule::WrongActor, Some(step), &about, &expected, &found);
    }
    actors
}

impl Actors {
    fn actor(&self, hearing: &Hearing<'_, '_>, who: &Who, task: Option<TaskId>) -> Actor {
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
            Who::Auditor | Who::Nobody | Who::Customer | Who::Rider(_) => {
                Actor::Staff(StaffId(i64::MAX - 12))
            }
        })
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
        if matches!(exchange.purpose, Purpose::Prepare | Purpose::TidyUp | Purpose::Numbers) {
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
        Verb::Offer => Act::Offer { rider: named?, seconds: ask.seconds },
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

/// An entry of the log in the words of the history. Places are not shown to clients, so everybody has the first.
fn event(
    task: TaskId,
    entry: &Entry,
    deadlines: &BTreeMap<(TaskId, i64), Timestamp>,
) -> Option<Event> {
    let action = Verb::parse(&entry.action)?;
    let actor = actor_of(&entry.actor)?;
    let (from, to) = (entry.from_revision?, entry.to_revision?);
    let stage = |stage| Change::Stage { stage };
    let change = match action {
        Verb::Create => Change::Created {
            source: source(&actor),
            release_at: entry.occurred_at,
            vehicle: None,
            priority: 0,
        },
        Verb::Grab | Verb::Accept | Verb::Assign => {
            let mode = entry.mode.as_deref().and_then(Mode::parse)?;
            Change::Assigned { slot: 0, mode }
        }
        Verb::Offer | Verb::Reassign => {
            let until = deadlines.get(&(task, to)).copied();
            let until = until.unwrap_or(entry.occurred_at.plus_ms(30_000));
            Change::Offered { slot: 0, until, grace_ms: 0, policy_version: 1 }
        }
        Verb::Decline | Verb::Withdraw | Verb::Expire | Verb::HandBack => Change::Open,
        Verb::Cancel => Change::Cancelled,
        Verb::Arrive => stage(Stage::AtPickup),
        Verb::PickUp => stage(Stage::PickedUp),
        Verb::Deliver => stage(Stage::Delivered),
        Verb::Edit => return None,
    };
    Some(Event {
        task,
        region: entry.region.unwrap_or(RegionId(0)),
        from: Revision(from),
        to: Revision(to),
        action,
        actor,
        at: entry.occurred_at,
        reason: entry.reason.as_deref().and_then(Reason::parse),
        rider: entry.rider_id,
        change,
    })
}
