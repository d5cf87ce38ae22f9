//! What was done in a step, in a sentence.

use super::{
    read, say,
    words::{sentence, words},
};
use crate::{
    acceptance::{
        judge::{Did, Key},
        scenario::Moment,
        words::Who,
    },
    domain::{command::Verb, refusal::Lang},
};

/// A sentence, and what else there is to know of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Deed {
    pub(super) sentence: String,
    pub(super) details: Vec<String>,
}

pub(super) fn deed(lang: Lang, did: &Did) -> Deed {
    match did {
        Did::Command { .. } => command(lang, did),
        Did::Clock { moment, racing } => {
            let moment = Moment::parse(moment)
                .map_or_else(|| moment.clone(), |read| say::moment(lang, read));
            let text = words(lang, "report-the-time", &[("moment", &moment)]);
            let sentence = if *racing { at_once(lang, 1, &text) } else { sentence(&text) };
            Deed { sentence, details: Vec::new() }
        }
        Did::Look { who, task } => {
            let who = read::who(lang, who);
            let text = words(lang, "report-looks", &[("who", &who), ("task", task)]);
            Deed { sentence: sentence(&text), details: Vec::new() }
        }
    }
}

fn at_once(lang: Lang, racers: usize, text: &str) -> String {
    if racers > 1 {
        let count = racers.to_string();
        words(lang, "report-many-at-once", &[("count", &count), ("sentence", text)])
    } else {
        words(lang, "report-at-once", &[("sentence", text)])
    }
}

fn command(lang: Lang, did: &Did) -> Deed {
    let Did::Command { who, racers, command, task, rider, seconds, named, key, lost } = did else {
        return Deed::default();
    };
    // All racers of one kind stand in one row: riders, or others.
    let one = match (racers, Who::parse(who)) {
        (0 | 1, _) | (_, None) => read::who(lang, who),
        (_, Some(Who::Rider(_))) => words(lang, "report-who-a-rider", &[]),
        (_, Some(_)) => words(lang, "report-who-somebody", &[]),
    };
    let verb = Verb::parse(command);
    let text = does(lang, verb, command, &one, task, rider.as_deref());
    let sentence = if *racers == 0 { sentence(&text) } else { at_once(lang, *racers, &text) };
    let mut details = Vec::new();
    if let Some(seconds) = seconds {
        details.push(words(lang, "report-for-seconds", &[("v", &seconds.to_string())]));
    }
    match named {
        Some(revision) => {
            details.push(words(lang, "report-names-revision", &[("v", &revision.to_string())]));
        }
        // What does not exist yet has no revision to name.
        None if verb == Some(Verb::Create) => {}
        None => details.push(words(lang, "report-names-none", &[])),
    }
    match key {
        Key::Fresh => {}
        Key::Named(name) => details.push(words(lang, "report-under-key", &[("v", name)])),
        Key::Missing => details.push(words(lang, "report-without-key", &[])),
    }
    if *lost {
        details.push(words(lang, "report-answer-lost", &[]));
    }
    if *racers > 1 {
        details.push(words(lang, "report-of-the-winner", &[]));
    }
    Deed { sentence, details }
}

fn does(
    lang: Lang,
    verb: Option<Verb>,
    command: &str,
    who: &str,
    task: &str,
    rider: Option<&str>,
) -> String {
    let nobody = || words(lang, "report-nobody-named", &[]);
    let rider = rider.map_or_else(nobody, ToOwned::to_owned);
    let both = [("who", who), ("task", task)];
    let three = [("who", who), ("task", task), ("rider", rider.as_str())];
    match verb {
        Some(Verb::Create) => words(lang, "report-does-create", &both),
        Some(Verb::Grab) => words(lang, "report-does-grab", &both),
        Some(Verb::Offer) => words(lang, "report-does-offer", &three),
        Some(Verb::Assign) => words(lang, "report-does-assign", &three),
        Some(Verb::Accept) => words(lang, "report-does-accept", &both),
        Some(Verb::Decline) => words(lang, "report-does-decline", &both),
        Some(Verb::Withdraw) => words(lang, "report-does-withdraw", &both),
        Some(Verb::Expire) => words(lang, "report-does-expire", &both),
        Some(Verb::Cancel) => words(lang, "report-does-cancel", &both),
        Some(Verb::Reassign) => words(lang, "report-does-reassign", &three),
        Some(Verb::HandBack) => words(lang, "report-does-hand-back", &both),
        Some(Verb::Arrive) => words(lang, "report-does-arrive", &both),
        Some(Verb::PickUp) => words(lang, "report-does-pick-up", &both),
        Some(Verb::Deliver) => words(lang, "report-does-deliver", &both),
        Some(Verb::Edit) => words(lang, "report-does-edit", &both),
        None => format!("{who}: {command} {task}"),
    }
}
