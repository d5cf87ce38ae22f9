//! One scenario, as the report shows it: its first round in full, further ones in a row each, and in full as well where
//! they failed.

use super::{
    read,
    round::{Mark, RoundView, met, player},
    say::{self, Said},
    words::{text, words},
};
use crate::{
    acceptance::{
        judge::{Did, RoundVerdict, ScenarioVerdict, StepVerdict},
        words::Who,
    },
    domain::{command::Verb, refusal::Lang},
};

/// One scenario.
#[derive(Clone, Debug)]
pub(super) struct ScenarioView {
    pub(super) id: String,
    /// Its name in links.
    pub(super) anchor: String,
    pub(super) number: usize,
    pub(super) title: String,
    pub(super) purpose: String,
    pub(super) source: String,
    pub(super) mark: Mark,
    /// Why it was not played.
    pub(super) why: Option<String>,
    /// How many of a race's rounds were one.
    pub(super) overlapped: Option<String>,
    /// Whether its rounds have headings of their own.
    pub(super) several: bool,
    pub(super) full: Vec<RoundView>,
    pub(super) rows: Vec<RoundRow>,
}

/// One round in one row.
#[derive(Clone, Debug)]
pub(super) struct RoundRow {
    pub(super) number: u32,
    pub(super) mark: Mark,
    pub(super) met: String,
    /// What came back in the race.
    pub(super) came: Vec<String>,
    /// Who has the task at the end.
    pub(super) owners: Vec<Said>,
    pub(super) agree: Mark,
}

/// A scenario's name in links: its own, if it can be one.
pub(super) fn anchor(number: usize, id: &str) -> String {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !id.is_empty() && id.chars().all(plain) {
        format!("s-{id}")
    } else {
        format!("scenario-{number}")
    }
}

impl ScenarioView {
    pub(super) fn of(lang: Lang, number: usize, scenario: &ScenarioVerdict) -> Self {
        let is_race = scenario.overlapped.is_some();
        let several = scenario.rounds.len() > 1;
        let shown =
            |(index, round): &(usize, &RoundVerdict)| *index == 0 || !round.findings.is_empty();
        let full = scenario.rounds.iter().enumerate().filter(shown);
        let share = scenario.overlapped.map(|share| {
            let (counted, of) = (share.counted.to_string(), share.of.to_string());
            words(lang, "report-overlapped", &[("counted", &counted), ("of", &of)])
        });
        Self {
            id: scenario.id.clone(),
            anchor: anchor(number, &scenario.id),
            number,
            title: text(lang, &scenario.title).to_owned(),
            purpose: text(lang, &scenario.purpose).to_owned(),
            source: scenario.source.clone(),
            mark: Mark::outcome(lang, scenario.outcome),
            why: scenario.not_played.map(|why| say::not_played(lang, why)),
            overlapped: share,
            several,
            full: full.map(|(_, round)| RoundView::of(lang, round, is_race)).collect(),
            rows: scenario.rounds.iter().skip(1).map(|round| row(lang, round)).collect(),
        }
    }
}

fn row(lang: Lang, round: &RoundVerdict) -> RoundRow {
    let agree = round.ends.iter().all(|end| end.agree);
    RoundRow {
        number: round.round,
        mark: Mark::fits(lang, round.findings.is_empty()),
        met: met(lang, round.counts),
        came: round.steps.iter().filter_map(|step| came(lang, step)).collect(),
        owners: round
            .ends
            .iter()
            .filter_map(|end| {
                let desk = end
                    .views
                    .iter()
                    .find(|view| matches!(Who::parse(&view.who), Some(Who::Dispatcher(_))))?;
                let said = read::phrase(lang, &desk.seen).into_iter().next()?;
                let named = round.cast.iter().find(|(name, _)| {
                    desk.seen.split([' ', ',']).any(|word| word == name.as_str())
                });
                let mut text = said.text;
                if let Some((name, who)) = named {
                    let who = player(lang, who);
                    let values = [("name", name.as_str()), ("player", who.as_str())];
                    text = format!("{text} · {}", words(lang, "report-named-player", &values));
                }
                if round.ends.len() > 1 {
                    let values = [("label", end.task.as_str()), ("v", text.as_str())];
                    text = words(lang, "report-labelled", &values);
                }
                Some(Said { text, ..said })
            })
            .collect(),
        agree: Mark {
            word: words(lang, if agree { "report-yes" } else { "report-no" }, &[]),
            ..Mark::fits(lang, agree)
        },
    }
}

/// What came back of a race, in short; nothing of any other step.
fn came(lang: Lang, step: &StepVerdict) -> Option<String> {
    let Did::Command { racers, command, who, .. } = &step.did else { return None };
    if *racers == 0 {
        return None;
    }
    let name = Verb::parse(command).map_or_else(|| command.clone(), |verb| say::verb(lang, verb));
    let label = if *racers == 1 {
        words(lang, "report-labelled", &[("label", &read::who(lang, who)), ("v", &name)])
    } else {
        name
    };
    let short = |text: &String| {
        let (count, rest) = text.split_once(" × ").map_or(("", text.as_str()), |it| it);
        let said = read::phrase(lang, rest).into_iter().next().unwrap_or_default();
        let said = said.code.unwrap_or(said.text);
        if count.is_empty() { said } else { format!("{count} × {said}") }
    };
    let returned: Vec<_> = step.returned.iter().map(short).collect();
    Some(format!("{label} → {}", returned.join(", ")))
}
