//! What became of a command, for people: what happened, who was first, when, and what is still possible.

use super::page::{When, Zone, words};
use crate::{
    domain::{
        answer::{Answer, Outcome},
        command::{Actor, RequestKey, Verb},
        id::{RiderId, StaffId},
        refusal::{Code, Lang},
    },
    store::{self, Names, Tx},
};

/// An answer as a page shows it.
#[derive(Clone, Debug)]
pub(super) struct Banner {
    /// `done`, `already` or `refused`: the colour and the role of the box.
    pub(super) kind: &'static str,
    /// The code of a refusal, for whoever has to report it.
    pub(super) code: Option<String>,
    /// One sentence: what happened.
    pub(super) sentence: String,
    /// Who was first, what they did, and from which revision to which.
    pub(super) first: Option<(String, When)>,
    /// When it was decided.
    pub(super) at: When,
    /// The revision that the answer saw.
    pub(super) revision: Option<i64>,
    /// What is still possible, as verbs.
    pub(super) legal: Vec<Verb>,
}

/// How customers are told of somebody at the desk, and of a rider.
pub(super) const THE_DESK: &str = "the desk";
pub(super) const A_RIDER: &str = "a rider";

/// The name of somebody who did something, as `reader` may read it.
pub(super) fn name_of(by: &str, names: &Names, lang: Lang) -> String {
    if by == "another rider" {
        return words(lang, "another-rider", &[]);
    }
    if by == THE_DESK {
        return words(lang, "the-desk", &[]);
    }
    if by == A_RIDER {
        return words(lang, "a-rider", &[]);
    }
    if by == "system" {
        return words(lang, "the-system", &[]);
    }
    if by.starts_with("customer of ") {
        return words(lang, "the-customer", &[]);
    }
    let named = match (RiderId::parse(by), StaffId::parse(by)) {
        (Some(rider), _) if by.starts_with('R') => names.riders.get(&rider),
        (_, Some(staff)) if by.starts_with('D') => names.staff.get(&staff),
        _ => None,
    };
    named.map_or_else(|| by.to_owned(), |name| format!("{name} ({by})"))
}

/// The answer that is stored under `key`, if `actor` has used it.
pub(super) async fn stored(tx: &mut Tx, actor: &Actor, key: &str) -> store::Result<Option<Answer>> {
    let Some(key) = RequestKey::parse(key) else { return Ok(None) };
    let found = tx.outcomes(&[(&actor.principal(), key.as_str())]).await?.pop();
    // What can not be read back any more is as good as expired.
    Ok(found.and_then(|found| serde_json::from_str(&found.body).ok()))
}

/// Whom the answer names.
pub(super) fn named(answer: &Answer) -> (Vec<RiderId>, Vec<StaffId>) {
    let by = answer.beaten_by.as_ref().map_or("", |first| first.by.as_str());
    let rider = RiderId::parse(by).filter(|_| by.starts_with('R'));
    let staff = StaffId::parse(by).filter(|_| by.starts_with('D'));
    (rider.into_iter().collect(), staff.into_iter().collect())
}

impl Banner {
    /// `answer`, in the words of the reader's language.
    pub(super) fn of(
        answer: &Answer,
        verb: Option<Verb>,
        names: &Names,
        zone: Zone,
        lang: Lang,
    ) -> Self {
        let verb = verb.or_else(|| answer.event.as_ref().map(|event| event.action));
        let label = |verb: Verb| words(lang, &format!("verb-{verb}"), &[]);
        let (kind, sentence) = match answer.outcome {
            Outcome::Done => {
                let done = verb.map_or_else(String::new, label);
                ("done", words(lang, "answer-done", &[("verb", &done)]))
            }
            Outcome::AlreadyDone => ("already", words(lang, "answer-already", &[])),
            Outcome::Refused => ("refused", refused(answer, lang)),
        };
        let first = answer.beaten_by.as_ref().map(|first| {
            let who = name_of(&first.by, names, lang);
            let text = words(
                lang,
                "answer-first",
                &[
                    ("who", &who),
                    ("verb", &label(first.action)),
                    ("from", &first.from_revision.to_string()),
                    ("to", &first.to_revision.to_string()),
                ],
            );
            (text, zone.when(first.occurred_at))
        });
        Self {
            kind,
            code: answer.code.clone(),
            sentence,
            first,
            at: zone.when(answer.server_time),
            revision: answer.task.as_ref().map(|task| task.revision.0),
            legal: answer.legal.clone(),
        }
    }
}

fn refused(answer: &Answer, lang: Lang) -> String {
    let code = answer.code.as_deref().unwrap_or_default();
    let sentence = Code::parse(code).map_or(code, |code| code.sentence(lang));
    match answer.reason {
        None => sentence.to_owned(),
        Some(why) => format!("{sentence} {}", words(lang, &format!("ineligible-{why}"), &[])),
    }
}
