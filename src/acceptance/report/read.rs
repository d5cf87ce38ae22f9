//! The verdict speaks in short English phrases. Here they are read back and said in the reader's language; what is no
//! phrase stays as it is.

use super::{
    say::{self, Said},
    words::words,
};
use crate::{
    acceptance::{
        scenario::Moment,
        words::{Returns, RiderSees, Standing, WINNER, Who},
    },
    domain::{command::Verb, refusal::Lang},
};

/// Sentences that the judge uses as they are.
fn fixed(text: &str) -> Option<&'static str> {
    Some(match text {
        "none" => "report-say-none",
        "an answer" => "report-say-an-answer",
        "exactly one" => "report-say-exactly-one",
        "at most one" => "report-say-at-most-one",
        "all" => "report-say-all",
        "all three say the same" => "report-say-all-the-same",
        "played to its end" => "report-say-to-its-end",
        "it was not kept" => "report-say-not-kept",
        "it is not in the log" => "report-say-not-in-log",
        "the log of the task" => "report-say-log-of-task",
        "the attempts on the task" => "report-say-attempts",
        "the number of the event" => "report-say-number-of-event",
        "an event of its own" => "report-say-own-event",
        "a request" => "report-say-a-request",
        "one entry" => "report-say-one-entry",
        "a page of the log" | "page" => "report-say-page",
        "the whole log" => "report-say-whole-log",
        "it was not read" => "report-say-not-read",
        "how it ended" => "report-say-how-it-ended",
        "it was not moved" => "report-say-not-moved",
        "one order of effects that explains everything" => "report-say-one-order",
        "a history that holds together" => "report-say-holds-together",
        "answers that some order of the racers gives" => "report-say-some-order",
        "at least one round in which two requests met" => "report-say-a-real-round",
        "race" => "report-say-race",
        "clock" => "report-say-clock",
        "command" => "report-say-command",
        "step" => "report-say-step",
        "record" => "report-say-record",
        "entry" => "report-say-entry",
        "the end" => "report-say-the-end",
        "deadline" => "report-say-deadline",
        "revisions" => "report-say-revisions",
        "mine to" => "report-say-mine-to",
        "invited" => "report-say-invited-is",
        _ => return None,
    })
}

fn sees(text: &str) -> Option<RiderSees> {
    [RiderSees::Mine, RiderSees::Invited, RiderSees::Pool, RiderSees::Nothing]
        .into_iter()
        .find(|known| known.to_string() == text)
}

/// A task's state, also one that keeps its owner from the reader, and with the revision if one is said.
fn standing(lang: Lang, text: &str) -> Option<String> {
    if let Some((head, revision)) = text.rsplit_once(", revision ") {
        let state = standing(lang, head)?;
        let plain = !revision.is_empty() && revision.bytes().all(|byte| byte.is_ascii_digit());
        let values = [("state", state.as_str()), ("revision", revision)];
        return plain.then(|| words(lang, "report-at-revision", &values));
    }
    let read = Standing::parse(text).or_else(|| {
        let rest = text.strip_prefix("assigned")?;
        let named = Standing::parse(&format!("assigned to {WINNER}{rest}"))?;
        Some(Standing { rider: None, ..named })
    });
    read.map(|read| say::standing(lang, &read))
}

fn is_task(text: &str) -> bool {
    let digits = text.strip_prefix('T').unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Who, as the verdict names them; what is no name stays as it is.
pub(super) fn who(lang: Lang, text: &str) -> String {
    Who::parse(text).map_or_else(|| text.to_owned(), |who| say::who(lang, &who))
}

/// Several names with commas, or none.
fn names(lang: Lang, text: &str) -> Option<String> {
    if text.is_empty() {
        return Some(words(lang, "report-say-none", &[]));
    }
    let all: Option<Vec<Who>> = text.split(", ").map(Who::parse).collect();
    let all: Vec<_> = all?.iter().map(|who| say::who(lang, who)).collect();
    Some(all.join(", "))
}

/// A phrase that is said in one go.
fn whole(lang: Lang, text: &str) -> Option<Said> {
    if let Some((count, rest)) = text.split_once(" × ")
        && count.parse::<usize>().is_ok()
    {
        let said = whole(lang, rest)?;
        return Some(Said { text: format!("{count} × {}", said.text), ..said });
    }
    if let Some(rest) = text.strip_prefix("the table gives: ") {
        let said = whole(lang, rest)?;
        return Some(Said { text: words(lang, "report-say-table", &[("v", &said.text)]), ..said });
    }
    if let Some(read) = Returns::parse(text) {
        return Some(say::returns(lang, &read));
    }
    if let Some(read) = sees(text) {
        return Some(Said::plain(say::sees(lang, read)));
    }
    let plain = standing(lang, text)
        .or_else(|| Moment::parse(text).map(|moment| say::moment(lang, moment)))
        .or_else(|| fixed(text).map(|key| words(lang, key, &[])))
        .or_else(|| {
            let ms = text.strip_suffix(" ms").filter(|ms| ms.parse::<i64>().is_ok())?;
            Some(words(lang, "report-after-begin", &[("v", ms)]))
        })
        .or_else(|| names(lang, text).filter(|_| !text.is_empty()));
    plain.map(Said::plain)
}

/// `T1: open`, `dispatcher: open, revision 2`, `R1 grab: done`, `2: R1, R2`.
fn labelled(lang: Lang, text: &str) -> Option<Said> {
    let (label, rest) = text.split_once(':')?;
    let rest = rest.trim_start();
    let is_number = label.parse::<usize>().is_ok();
    let head = if is_task(label) || is_number {
        label.to_owned()
    } else {
        let said = about(lang, label);
        if said.raw {
            return None;
        }
        said.text
    };
    let said = match names(lang, rest) {
        Some(names) => Said::plain(names),
        None => whole(lang, rest)?,
    };
    let key = if is_number { "report-say-people" } else { "report-labelled" };
    let values = [("label", head.as_str()), ("v", said.text.as_str())];
    Some(Said { text: words(lang, key, &values), ..said })
}

/// An attempt that had to be kept: `rider 62 accept: TAKEN_BY_OTHER`, `staff  cancel: done`.
fn attempt(lang: Lang, text: &str) -> Option<Said> {
    let (head, code) = text.split_once(": ")?;
    let [kind, number, verb] = head.split(' ').collect::<Vec<_>>().try_into().ok()?;
    let key = match kind {
        "intake" => "report-who-intake",
        "customer" => "report-who-customer",
        "rider" => "report-who-a-rider",
        "staff" => "report-who-staff",
        _ => return None,
    };
    let (who, verb) = (words(lang, key, &[]), say::verb(lang, Verb::parse(verb)?));
    let came =
        if code == "done" { say::returns(lang, &Returns::Done).text } else { code.to_owned() };
    let mut values = vec![("who", who.as_str()), ("verb", verb.as_str()), ("v", came.as_str())];
    let key = if number.is_empty() {
        "report-attempt"
    } else {
        values.push(("number", number));
        "report-attempt-number"
    };
    Some(Said::plain(words(lang, key, &values)))
}

fn one(lang: Lang, text: &str) -> Said {
    let said = whole(lang, text).or_else(|| attempt(lang, text)).or_else(|| labelled(lang, text));
    said.unwrap_or_else(|| Said::raw(text))
}

/// What a phrase says: one line, or several if it has several parts.
pub(super) fn phrase(lang: Lang, text: &str) -> Vec<Said> {
    if let Some(said) = whole(lang, text) {
        return vec![said];
    }
    if text.contains(" | ") {
        return text.split(" | ").map(|part| one(lang, part)).collect();
    }
    let parts: Option<Vec<Said>> = text.split("; ").map(|part| labelled(lang, part)).collect();
    parts.unwrap_or_else(|| vec![one(lang, text)])
}

/// Whom or what a finding is about: `R1 accept`, `T1 to customer`, `T1: revisions`, `race`.
pub(super) fn about(lang: Lang, text: &str) -> Said {
    if is_task(text) {
        return Said::plain(text.to_owned());
    }
    if let Some((head, what)) = text.split_once(": ")
        && let Some(key) = fixed(what)
    {
        let (head, what) = (about(lang, head), words(lang, key, &[]));
        let values = [("label", head.text.as_str()), ("v", what.as_str())];
        return Said { text: words(lang, "report-labelled", &values), ..head };
    }
    if let Some((task, reader)) = text.split_once(" to ")
        && is_task(task)
        && let Some(reader) = Who::parse(reader)
    {
        let reader = say::who(lang, &reader);
        return Said::plain(words(
            lang,
            "report-as-seen-by",
            &[("task", task), ("who", reader.as_str())],
        ));
    }
    if let Some((head, verb)) = text.rsplit_once(' ')
        && let (Some(head), Some(verb)) = (Who::parse(head), Verb::parse(verb))
    {
        let (head, verb) = (say::who(lang, &head), say::verb(lang, verb));
        let values = [("label", head.as_str()), ("v", verb.as_str())];
        return Said::plain(words(lang, "report-labelled", &values));
    }
    let plain = Who::parse(text)
        .map(|who| say::who(lang, &who))
        .or_else(|| fixed(text).map(|key| words(lang, key, &[])));
    plain.map_or_else(|| Said::raw(text), Said::plain)
}
