//! One round, as the report shows it: who played, each step, the three ends, and what is wrong.

use std::collections::BTreeMap;

use super::{
    did::{Deed, deed},
    read,
    say::{self, Said},
    when::{When, day_time},
    words::{sentence, text, words},
};
use crate::{
    acceptance::{
        judge::{Did, EndVerdict, EndView, Finding, Outcome, RoundVerdict, StepVerdict},
        record::Player,
        words::Who,
    },
    domain::refusal::Lang,
};

/// From so many riders on, those for whom all is as it should be are counted and not listed.
const MANY_RIDERS: usize = 6;
/// So much of a text that is in nobody's words is shown; the rest is in `report.json`.
const MOST_LETTERS: usize = 300;

/// A verdict with a shape and a word: nothing is said by colour alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) class: &'static str,
    pub(super) shape: &'static str,
    pub(super) word: String,
}

impl Mark {
    pub(super) fn outcome(lang: Lang, outcome: Outcome) -> Self {
        let (class, shape) = match outcome {
            Outcome::Passed => ("passed", "✓"),
            Outcome::Failed => ("failed", "✗"),
            Outcome::NotPlayed => ("left", "○"),
        };
        Self { class, shape, word: say::outcome(lang, outcome) }
    }

    pub(super) fn fits(lang: Lang, fits: bool) -> Self {
        if fits {
            Self { class: "passed", shape: "✓", word: words(lang, "report-fits", &[]) }
        } else {
            Self { class: "failed", shape: "✗", word: words(lang, "report-wrong", &[]) }
        }
    }
}

/// A rider of the scenario, and who played that rider.
#[derive(Clone, Debug)]
pub(super) struct Seat {
    pub(super) name: String,
    pub(super) player: String,
}

/// One step.
#[derive(Clone, Debug)]
pub(super) struct StepView {
    pub(super) number: usize,
    pub(super) deed: Deed,
    pub(super) note: Option<String>,
    pub(super) expected: Vec<Said>,
    pub(super) returned: Vec<Said>,
    pub(super) status: Option<u16>,
    /// How the task stands, or how it was shown and how it had to stand if the two differ.
    pub(super) stands: Vec<Said>,
    pub(super) revision: Option<i64>,
    pub(super) event: Option<i64>,
    pub(super) at: Option<When>,
    pub(super) took: Option<String>,
    pub(super) mark: Mark,
}

/// The ends of one task.
#[derive(Clone, Debug)]
pub(super) struct EndTable {
    pub(super) task: String,
    pub(super) rows: Vec<EndRow>,
    pub(super) agree: Mark,
}

/// What one client showed, or several riders' clients alike.
#[derive(Clone, Debug)]
pub(super) struct EndRow {
    pub(super) who: String,
    pub(super) expected: Vec<Said>,
    pub(super) seen: Vec<Said>,
    pub(super) mark: Mark,
}

/// Something that is wrong.
#[derive(Clone, Debug)]
pub(super) struct FindingView {
    pub(super) round: Option<u32>,
    pub(super) step: Option<usize>,
    pub(super) rule: String,
    pub(super) about: Said,
    pub(super) expected: Vec<Said>,
    pub(super) found: Vec<Said>,
}

/// One round in full.
#[derive(Clone, Debug)]
pub(super) struct RoundView {
    pub(super) number: u32,
    pub(super) mark: Mark,
    /// For a race: whether it was one.
    pub(super) met: Option<String>,
    pub(super) cast: Vec<Seat>,
    /// Riders who only looked on, if there are many.
    pub(super) others: Vec<Seat>,
    pub(super) steps: Vec<StepView>,
    pub(super) ends: Vec<EndTable>,
    pub(super) findings: Vec<FindingView>,
}

impl RoundView {
    pub(super) fn of(lang: Lang, round: &RoundVerdict, is_race: bool) -> Self {
        let ends: Vec<_> = round.ends.iter().map(|end| end_table(lang, end)).collect();
        let (cast, others) = cast(lang, round, &ends);
        Self {
            number: round.round,
            mark: Mark::fits(lang, round.findings.is_empty()),
            met: is_race.then(|| met(lang, round.counts)),
            cast,
            others,
            steps: round.steps.iter().map(|step| step_view(lang, step)).collect(),
            ends,
            findings: round
                .findings
                .iter()
                .map(|finding| FindingView::of(lang, finding, None))
                .collect(),
        }
    }
}

/// Whether the requests of a race met.
pub(super) fn met(lang: Lang, counts: bool) -> String {
    words(lang, if counts { "report-met" } else { "report-did-not-meet" }, &[])
}

pub(super) fn player(lang: Lang, player: &Player) -> String {
    let number = player.id.0.to_string();
    match &player.name {
        Some(name) => words(lang, "report-player", &[("name", name), ("number", &number)]),
        None => words(lang, "report-player-number", &[("number", &number)]),
    }
}

/// Of many riders, only those are named at once who do not stand in a row with others.
fn cast(lang: Lang, round: &RoundVerdict, ends: &[EndTable]) -> (Vec<Seat>, Vec<Seat>) {
    let mut seats: Vec<_> = round.cast.iter().collect();
    seats.sort_by_key(|(name, _)| (name.len(), (*name).clone()));
    let is_many = seats.len() > MANY_RIDERS;
    let seat =
        |(name, who): (&String, &Player)| Seat { name: name.clone(), player: player(lang, who) };
    let is_named = |name: &str| ends.iter().flat_map(|end| &end.rows).any(|row| row.who == name);
    let (named, others): (Vec<_>, Vec<_>) =
        seats.into_iter().partition(|(name, _)| !is_many || is_named(name));
    (named.into_iter().map(seat).collect(), others.into_iter().map(seat).collect())
}

fn step_view(lang: Lang, step: &StepVerdict) -> StepView {
    let phrases = |texts: &[String]| -> Vec<Said> {
        texts.iter().flat_map(|text| phrase(lang, text)).collect()
    };
    let is_clock = matches!(step.did, Did::Clock { .. });
    // What lapses when a moment comes is no answer to anybody.
    let (expected, stands) = if is_clock {
        (Vec::new(), phrases(&step.expected))
    } else {
        (phrases(&step.expected), stands(lang, step))
    };
    StepView {
        number: step.step,
        deed: deed(lang, &step.did),
        note: step.note.as_ref().map(|note| text(lang, note).to_owned()),
        expected,
        returned: phrases(&step.returned),
        status: step.status,
        stands,
        revision: step.revision,
        event: step.event,
        at: step.at.map(day_time),
        took: step.took_ms.map(|ms| format!("{ms:.1}")),
        mark: Mark::fits(lang, step.fits),
    }
}

fn stands(lang: Lang, step: &StepVerdict) -> Vec<Said> {
    let said = |text: &Option<String>| text.as_ref().map(|text| phrase(lang, text));
    let (shown, should) = (said(&step.stands), said(&step.should_stand));
    let labelled = |key: &str, said: Vec<Said>| -> Vec<Said> {
        let label = |said: Said| Said { text: words(lang, key, &[("v", &said.text)]), ..said };
        said.into_iter().map(label).collect()
    };
    match (shown, should) {
        (Some(shown), Some(should)) if shown == should => shown,
        (Some(shown), Some(should)) => {
            [labelled("report-shown", shown), labelled("report-by-table", should)].concat()
        }
        (Some(shown), None) => shown,
        (None, Some(should)) => labelled("report-by-table", should),
        (None, None) => Vec::new(),
    }
}

/// A phrase, cut where it is long and in nobody's words.
fn phrase(lang: Lang, text: &str) -> Vec<Said> {
    let cut = |said: Said| {
        let long = said.raw && said.text.chars().count() > MOST_LETTERS;
        let text = if long {
            said.text.chars().take(MOST_LETTERS).chain(['…']).collect()
        } else {
            said.text
        };
        Said { text, ..said }
    };
    read::phrase(lang, text).into_iter().map(cut).collect()
}

fn end_table(lang: Lang, end: &EndVerdict) -> EndTable {
    let is_rider = |view: &&EndView| matches!(Who::parse(&view.who), Some(Who::Rider(_)));
    let is_many = end.views.iter().filter(is_rider).count() > MANY_RIDERS;
    let mut alike: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for view in end.views.iter().filter(is_rider).filter(|view| is_many && view.fits) {
        *alike.entry((&view.expected, &view.seen)).or_default() += 1;
    }
    let (mut rows, mut summed_up) = (Vec::new(), Vec::new());
    for view in &end.views {
        let count = alike.get_mut(&(view.expected.as_str(), view.seen.as_str()));
        let summed = count.filter(|count| is_rider(&view) && view.fits && **count != 1);
        let (who, to) = match summed {
            // Said before, with the first of them.
            Some(0) => continue,
            Some(count) => {
                let riders = std::mem::take(count).to_string();
                (words(lang, "report-riders", &[("v", &riders)]), &mut summed_up)
            }
            None => (sentence(&read::who(lang, &view.who)), &mut rows),
        };
        to.push(EndRow {
            who,
            expected: phrase(lang, &view.expected),
            seen: phrase(lang, &view.seen),
            mark: Mark::fits(lang, view.fits),
        });
    }
    rows.append(&mut summed_up);
    let (class, shape, key) = if end.agree {
        ("passed", "✓", "report-ends-agree")
    } else {
        ("failed", "✗", "report-ends-differ")
    };
    let agree = Mark { class, shape, word: words(lang, key, &[]) };
    EndTable { task: end.task.clone(), rows, agree }
}

impl FindingView {
    pub(super) fn of(lang: Lang, finding: &Finding, round: Option<u32>) -> Self {
        Self {
            round,
            step: finding.step.filter(|step| *step > 0),
            rule: say::rule(lang, finding.rule),
            about: read::about(lang, &finding.about),
            expected: phrase(lang, &finding.expected),
            found: phrase(lang, &finding.found),
        }
    }
}
