//! One row, read by a mapping: a task, a position, or the reason why not.

use super::{
    Flag, Given, PositionRow, TaskRow,
    mapping::{Mapping, PositionFields, Rule, TaskFields, What},
    messages,
    problem::{Needed, Problem},
    source::Row,
    spec::RuleKind,
    values::{
        Fault, key,
        text::{self, NAME_LIMIT, NOTE_LIMIT, Text},
        time::Time,
    },
};
use crate::domain::{actor::RequestKey, id::Timestamp, order::NewTask, task::Vehicle};

/// What a row is.
#[derive(Debug)]
pub(super) enum Made {
    Task(Box<TaskRow>),
    Position(PositionRow),
}

/// Reads a row. `content` makes the key of a row without an id, and is asked for only then.
pub(super) fn read(
    row: Row<'_>,
    mapping: &Mapping,
    given: &Given,
    content: impl FnOnce() -> Option<RequestKey>,
) -> Result<Made, Fault> {
    if let Some(whose) = messages::whose(row) {
        let problem = Problem::StatusMessage(whose.to_owned());
        return Err(Fault { field: None, problem });
    }
    for rule in &mapping.rules {
        check(rule, row)?;
    }
    match &mapping.what {
        What::Task(fields) => task(fields, row, given, content).map(Box::new).map(Made::Task),
        What::Position(fields) => position(fields, row, given).map(Made::Position),
    }
}

fn check(rule: &Rule, row: Row<'_>) -> Result<(), Fault> {
    let Some(found) = row.text(&rule.when) else { return Ok(()) };
    let holds = |words: &[String]| words.iter().any(|word| *word == found);
    if !holds(&rule.is) && (rule.is_not.is_empty() || holds(&rule.is_not)) {
        return Ok(());
    }
    let label = rule.when.label();
    let said = format!("{label} = {found}");
    let problem = match rule.kind {
        RuleKind::Cancel => {
            let order = rule.order.as_ref().and_then(|order| row.text(order));
            Problem::Cancels(order.map_or(said, std::borrow::Cow::into_owned))
        }
        RuleKind::StatusMessage => Problem::StatusMessage(said),
        RuleKind::NotADelivery => Problem::NotADelivery(said),
    };
    Err(Fault::at(label, problem))
}

fn task(
    fields: &TaskFields,
    row: Row<'_>,
    given: &Given,
    content: impl FnOnce() -> Option<RequestKey>,
) -> Result<TaskRow, Fault> {
    let key = match &fields.key {
        Some(template) => Some(key::of_template(template, row)?),
        None => content(),
    };
    let key = key.ok_or(Fault { field: None, problem: Problem::Missing(Needed::Key) })?;
    let time = |time: &Option<Time>, placed| match time {
        Some(time) => time.read(row, given, placed),
        None => Ok(None),
    };
    let pickup = fields.pickup.read(row, given)?;
    let dropoff = fields.dropoff.read(row, given)?;
    let placed_at = time(&fields.placed_at, None)?;
    let fee = match &fields.fee {
        Some(fee) => fee.read(row)?,
        None => None,
    };
    let note = match &fields.note {
        Some(note) => note.within(row, NOTE_LIMIT)?,
        None => None,
    };
    let new = NewTask {
        region: given.region,
        pickup,
        dropoff,
        release_at: time(&fields.release_at, placed_at)?,
        ready_at: time(&fields.ready_at, placed_at)?,
        due_at: time(&fields.due_at, placed_at)?,
        vehicle: vehicle(fields.vehicle.as_ref(), row)?,
        priority: whole(fields.priority.as_ref(), row)?.unwrap_or(0),
        fee,
        note,
    };
    Ok(TaskRow { flags: flags(&new, placed_at), key, placed_at, new })
}

fn vehicle(text: Option<&Text>, row: Row<'_>) -> Result<Option<Vehicle>, Fault> {
    let Some((text, word)) = text.and_then(|text| Some((text, text.read(row)?))) else {
        return Ok(None);
    };
    let found = Vehicle::parse(&word.to_lowercase());
    found.ok_or_else(|| Fault::at(text.label(), Problem::UnknownWord(word))).map(Some)
}

fn whole(text: Option<&Text>, row: Row<'_>) -> Result<Option<i64>, Fault> {
    let Some((text, raw)) = text.and_then(|text| Some((text, text.read(row)?))) else {
        return Ok(None);
    };
    if text::means_none(&raw) {
        return Ok(None);
    }
    let number = text::ascii_digits(&raw).parse().ok();
    number.ok_or_else(|| Fault::at(text.label(), Problem::BadNumber(raw))).map(Some)
}

/// What is odd about a task and no reason to refuse it.
fn flags(new: &NewTask, placed_at: Option<Timestamp>) -> Vec<Flag> {
    let before = |one: Option<Timestamp>, other: Option<Timestamp>| {
        one.zip(other).is_some_and(|(one, other)| one < other)
    };
    [
        (Flag::DueBeforeReady, before(new.due_at, new.ready_at)),
        (Flag::DueBeforePlaced, before(new.due_at, placed_at)),
        (Flag::ReadyBeforePlaced, before(new.ready_at, placed_at)),
        (Flag::DueBeforeRelease, before(new.due_at, new.release_at)),
        (Flag::SamePlace, new.pickup.place() == new.dropoff.place()),
    ]
    .into_iter()
    .filter_map(|(flag, holds)| holds.then_some(flag))
    .collect()
}

fn position(fields: &PositionFields, row: Row<'_>, given: &Given) -> Result<PositionRow, Fault> {
    let missing = |text: &Text, what| Fault::at(text.label(), Problem::Missing(what));
    let rider = fields.rider.within(row, NAME_LIMIT)?;
    let rider = rider.ok_or_else(|| missing(&fields.rider, Needed::Rider))?;
    let seq = whole(Some(&fields.seq), row)?.ok_or_else(|| missing(&fields.seq, Needed::Seq))?;
    let at = fields.at.read(row, given, None)?;
    let accuracy_m = match &fields.accuracy_m {
        Some(text) => {
            let number = |raw: String| {
                let number = text::ascii_digits(&raw).parse::<f64>().ok();
                let number = number.filter(|number| number.is_finite() && *number >= 0.0);
                number.ok_or_else(|| Fault::at(text.label(), Problem::BadNumber(raw)))
            };
            text.read(row).filter(|raw| !text::means_none(raw)).map(number).transpose()?
        }
        None => None,
    };
    Ok(PositionRow {
        rider,
        seq,
        at: at.ok_or(Fault { field: None, problem: Problem::Missing(Needed::PositionTime) })?,
        place: fields.place.read(row, Needed::RiderPlace)?,
        accuracy_m,
    })
}
