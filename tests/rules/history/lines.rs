//! A recording that was tampered with is either unreadable or unsound.

use dispatch_desk::domain::{
    answer::Outcome,
    command::{Act, Actor, Verb},
    history::{Broken, History, Line, judge},
    id::RiderId,
    refusal::Code,
    task::{Mode, Stage, StateName},
};
use serde_json::{Value, json};

use super::tape::Tape;
use crate::desk::{BEGIN, DISPATCHER, SUPERVISOR, TASK, rider, shop};

/// A run in which much happens, one thing after the other.
fn story() -> Tape {
    let offer = |id| Act::Offer { rider: RiderId(id), seconds: Some(30), round: None };
    let late = BEGIN.plus_ms(30_000);
    let mut tape = Tape::new();
    tape.ask(&DISPATCHER, 1, offer(1), BEGIN)
        .ask(&rider(2), 1, Act::Grab { ticket: None }, BEGIN.plus_ms(1))
        .look(&rider(1))
        // The offer lapses; this offer releases it and goes through.
        .ask(&SUPERVISOR, 2, offer(2), late)
        .ask(&rider(1), 2, Act::Accept, late)
        .look(&DISPATCHER)
        .ask(&rider(2), 4, Act::Accept, late)
        .ask(&rider(2), 4, Act::Accept, late)
        .ask(&rider(2), 5, Act::Arrive, late)
        .look(&rider(2))
        .ask(&shop(), 6, Act::Cancel { reason: None }, late)
        .ask(&shop(), 6, Act::Cancel { reason: None }, late)
        .ask(&rider(2), 6, Act::PickUp, late)
        .look(&Actor::Customer(TASK));
    tape
}

fn text(line: &Line) -> String {
    serde_json::to_string(line).expect("lines are JSON")
}

fn parse(lines: &[String]) -> Result<History, Broken> {
    History::parse(lines)
}

#[test]
fn lines_are_read_as_they_were_written() {
    for line in story().all() {
        let again: Line = serde_json::from_str(&text(&line)).expect("it can be read");
        assert_eq!(again, line);
    }
    let lines: Vec<_> = story().all().iter().map(text).collect();
    let verdict = judge(&parse(&lines).expect("it can be read"));
    assert!(verdict.is_sound(), "{:?}", verdict.findings);
}

#[test]
fn a_broken_line_is_an_error_with_its_number() {
    let lines: Vec<_> = story().all().iter().map(text).collect();
    for broken in ["", "{}", "[1]", "not JSON", r#"{"type":"nemesis"}"#, r#"{"type":"ok","p":1}"#] {
        for at in [0, 3, lines.len() - 1] {
            let mut lines = lines.clone();
            lines[at] = broken.to_owned();
            let number = parse(&lines).expect_err("a broken line is not skipped").line;
            assert!(number == at + 1, "{broken:?} in line {}: said line {number}", at + 1);
        }
    }
    let mut cut = lines.clone();
    cut[2].truncate(30);
    assert_eq!(parse(&cut).expect_err("half a line").line, 3);
}

/// All that a value of this kind could have been instead.
fn others(value: &Value) -> Vec<Value> {
    let words = [
        StateName::ALL.iter().map(|it| it.as_str()).collect::<Vec<_>>(),
        Stage::ALL.iter().map(|it| it.as_str()).collect(),
        Code::ALL.iter().map(|it| it.as_str()).collect(),
        Verb::ALL.iter().map(|it| it.as_str()).collect(),
        Mode::ALL.iter().map(|it| it.as_str()).collect(),
        Outcome::ALL.iter().map(|it| it.as_str()).collect(),
        vec!["read", "system", "ALREADY_YOURS", "ALREADY_DONE", "ok", "fail", "info", "key-1", "?"],
    ];
    match value {
        Value::Number(number) => {
            let number = number.as_i64().expect("whole numbers");
            [number - 1, number + 1, number + 100, 1, 2, 3].map(Value::from).to_vec()
        }
        Value::String(_) => words.concat().into_iter().map(Value::from).collect(),
        Value::Bool(is) => vec![json!(!is)],
        Value::Null => vec![json!(1), json!("no_show")],
        Value::Array(_) | Value::Object(_) => Vec::new(),
    }
}

/// Every place in `value`, as a JSON pointer.
fn places(value: &Value, here: &str, all: &mut Vec<String>) {
    if let Value::Object(fields) = value {
        for (name, value) in fields {
            let place = format!("{here}/{name}");
            all.push(place.clone());
            places(value, &place, all);
        }
    }
}

/// The line without the field at `place`.
fn without(line: &Value, place: &str) -> Value {
    let mut line = line.clone();
    let (parent, name) = place.rsplit_once('/').expect("a pointer starts with a slash");
    if let Some(Value::Object(fields)) = line.pointer_mut(parent) {
        fields.remove(name);
    }
    line
}

/// The line with another value at `place`.
fn with(line: &Value, place: &str, value: Value) -> Value {
    let mut line = line.clone();
    *line.pointer_mut(place).expect("the place is there") = value;
    line
}

/// When a change of a field does no harm.
#[derive(Clone, Copy)]
enum When {
    Always,
    /// The field was taken out.
    Gone,
    /// The request was told something else than that it is done.
    NotDone,
    /// One or the other.
    GoneOrNotDone,
    /// The request was a look.
    Read,
    /// The request was an offer.
    Offer,
}

/// The alterations that leave a recording as true as it was, each with the reason.
const HARMLESS: &[(&str, &[&str], When, &str)] = &[
    ("start", &["/t_ns"], When::Always, "times have slack to one side: see the cases made by hand"),
    ("invoke", &["/t_ns"], When::Always, "the same"),
    ("ok", &["/t_ns"], When::Always, "the same"),
    ("fail", &["/t_ns"], When::Always, "the same"),
    ("invoke", &["/rider"], When::Gone, "said twice; a contradiction would be noticed"),
    ("ok", &["/task", "/status", "/state"], When::Gone, "the same"),
    ("fail", &["/task", "/status", "/state"], When::Gone, "the same"),
    ("invoke", &["/act/grab/ticket", "/act/cancel/reason"], When::Gone, "as good as null"),
    ("event", &["/event/reason", "/event/rider"], When::Gone, "as good as null"),
    ("event", &["/event/change/vehicle"], When::Gone, "as good as null"),
    ("invoke", &["/act/cancel/reason"], When::NotDone, "nothing was done for this reason"),
    ("invoke", &["/actor/staff", "/actor/customer"], When::Read, "only riders are shown less"),
    ("invoke", &["/rev"], When::NotDone, "many a refusal is the same whatever was named"),
    ("invoke", &["/rev"], When::Offer, "naming the release is as good as what it released"),
    ("invoke", &["/key"], When::GoneOrNotDone, "it only finds what had no answer"),
    ("event", &["/key_hash"], When::Gone, "the same"),
    ("invoke", &["/act/offer/seconds"], When::Gone, "then it waits as long as the policy says"),
    ("event", &["/event/change/priority", "/event/change/release_at"], When::Always, "details"),
    ("event", &["/event/change/slot", "/event/change/policy_version"], When::Always, "facts"),
    ("event", &["/event/at"], When::Always, "the first and the last have slack"),
];

fn is_harmless(line: &Value, place: &str, is_gone: bool, told_done: bool) -> bool {
    HARMLESS.iter().any(|(kind, places, when, _)| {
        let fits = match when {
            When::Always => true,
            When::Gone => is_gone,
            When::NotDone => !told_done,
            When::GoneOrNotDone => is_gone || !told_done,
            When::Read => line["f"] == "read",
            When::Offer => line["f"] == "offer",
        };
        line["type"] == *kind && places.contains(&place) && fits
    })
}

#[test]
fn an_altered_line_is_noticed() {
    let lines: Vec<_> = story().all().iter().map(text).collect();
    let (mut noticed, mut harmless) = (0, 0);
    for (number, text) in lines.iter().enumerate() {
        let line: Value = serde_json::from_str(text).expect("it can be read");
        let answer = lines.get(number + 1);
        let told_done = answer.is_some_and(|line| line.contains(r#""outcome":"done""#));
        let mut all = Vec::new();
        places(&line, "", &mut all);
        for place in all {
            let old = line.pointer(&place).expect("it is there").clone();
            let altered = others(&old).into_iter().filter(|new| *new != old);
            let altered =
                altered.map(|new| with(&line, &place, new)).chain([without(&line, &place)]);
            for new in altered {
                let mut lines = lines.clone();
                lines[number] = new.to_string();
                let is_noticed = parse(&lines).map_or(true, |history| !judge(&history).is_sound());
                if is_noticed {
                    noticed += 1;
                } else {
                    harmless += 1;
                    let now = new.pointer(&place);
                    let is_known = is_harmless(&line, &place, now.is_none(), told_done);
                    assert!(is_known, "{place}: {old} became {now:?} unnoticed in {text}");
                }
            }
        }
    }
    println!("{noticed} alterations noticed, {harmless} without effect");
}
