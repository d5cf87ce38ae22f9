//! The front of the report: the verdict in a sentence, what was asked, the numbers, and whether the record holds.

use super::{
    when::{When, between, full},
    words::{grouped, text, words},
};
use crate::{
    acceptance::{
        judge::{About, Did, Outcome, RunVerdict},
        record::Break,
    },
    domain::refusal::Lang,
};

/// The verdict, the record's own state considered.
#[derive(Clone, Debug)]
pub(super) struct Front {
    pub(super) class: &'static str,
    pub(super) shape: &'static str,
    pub(super) word: String,
    /// For the title.
    pub(super) short: String,
    pub(super) sentences: Vec<String>,
    /// What is wrong with the record itself.
    pub(super) broken: Vec<String>,
    pub(super) numbers: Vec<Number>,
    pub(super) facts: Vec<Fact>,
}

/// A number with its name.
#[derive(Clone, Debug)]
pub(super) struct Number {
    pub(super) name: String,
    pub(super) value: String,
}

/// Something that was so in this run.
#[derive(Clone, Debug)]
pub(super) struct Fact {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) more: Option<String>,
    pub(super) when: Option<When>,
}

impl Front {
    pub(super) fn of(lang: Lang, verdict: &RunVerdict, broken: Option<&Break>) -> Self {
        let key = match verdict.outcome {
            Outcome::Passed => "report-passed",
            Outcome::Failed => "report-failed",
            Outcome::NotPlayed => "report-no-verdict",
        };
        let word = words(lang, key, &[]);
        let short = match broken {
            Some(_) => words(lang, "report-void-short", &[]),
            None => word.clone(),
        };
        let (class, shape, word) = match (broken, verdict.outcome) {
            (Some(_), _) => ("void", "!", words(lang, "report-void", &[("word", &word)])),
            (None, Outcome::Passed) => ("passed", "✓", word),
            (None, Outcome::Failed) => ("failed", "✗", word),
            (None, Outcome::NotPlayed) => ("left", "○", word),
        };
        Self {
            class,
            shape,
            word,
            short,
            sentences: sentences(lang, verdict),
            broken: broken.map(|broken| why_broken(lang, broken)).unwrap_or_default(),
            numbers: numbers(lang, verdict),
            facts: facts(lang, &verdict.run),
        }
    }
}

fn why_broken(lang: Lang, broken: &Break) -> Vec<String> {
    let line = broken.line.to_string();
    let first = match broken.why.as_str() {
        "the end is missing" => words(lang, "report-broken-end", &[]),
        "it was changed, or a line before it is missing or was moved" => {
            words(lang, "report-broken-line", &[("line", &line)])
        }
        why => words(lang, "report-broken-why", &[("line", &line), ("why", why)]),
    };
    vec![first, words(lang, "report-broken-proves-nothing", &[])]
}

fn sentences(lang: Lang, verdict: &RunVerdict) -> Vec<String> {
    let count = |outcome| verdict.count(outcome);
    let (passed, failed) = (count(Outcome::Passed), count(Outcome::Failed));
    let left_out = count(Outcome::NotPlayed);
    let (played, wrong) = ((passed + failed).to_string(), failed.to_string());
    let table = text(lang, &verdict.run.table_title);
    let values = [("played", played.as_str()), ("table", table)];
    let failing = [("failed", wrong.as_str()), ("played", played.as_str()), ("table", table)];
    let mut said = vec![match (passed + failed, failed) {
        (0, _) => words(lang, "report-sentence-nothing", &[]),
        (_, 0) => words(lang, "report-sentence-passed", &values),
        _ => words(lang, "report-sentence-failed", &failing),
    }];
    if !verdict.log.findings.is_empty() {
        said.push(words(lang, "report-sentence-log", &[]));
    }
    if left_out > 0 {
        said.push(words(lang, "report-sentence-left-out", &[("v", &left_out.to_string())]));
    }
    said
}

fn numbers(lang: Lang, verdict: &RunVerdict) -> Vec<Number> {
    let number = |key, value: String| Number { name: words(lang, key, &[]), value };
    let rounds = || verdict.scenarios.iter().flat_map(|scenario| &scenario.rounds);
    let commands: usize = rounds()
        .flat_map(|round| &round.steps)
        .map(|step| match step.did {
            Did::Command { racers, .. } => racers.max(1),
            Did::Clock { .. } | Did::Look { .. } => 0,
        })
        .sum();
    let shares = || verdict.scenarios.iter().filter_map(|scenario| scenario.overlapped);
    let counted: usize = shares().map(|share| share.counted).sum();
    let of: usize = shares().map(|share| share.of).sum();
    let (counted, of) = (grouped(counted), grouped(of));
    let met = words(lang, "report-of", &[("counted", &counted), ("of", &of)]);
    vec![
        number("report-number-passed", grouped(verdict.count(Outcome::Passed))),
        number("report-number-failed", grouped(verdict.count(Outcome::Failed))),
        number("report-number-left", grouped(verdict.count(Outcome::NotPlayed))),
        number("report-number-rounds", grouped(rounds().count())),
        number("report-number-commands", grouped(commands)),
        number("report-number-races", met),
        number("report-number-entries", grouped(verdict.log.entries)),
    ]
}

fn facts(lang: Lang, run: &About) -> Vec<Fact> {
    let fact =
        |key, value: String| Fact { name: words(lang, key, &[]), value, more: None, when: None };
    let told = |value: &Option<String>| {
        value.clone().unwrap_or_else(|| words(lang, "report-not-told", &[]))
    };
    let is_private = run.target == "private";
    let target = if is_private { words(lang, "report-private", &[]) } else { run.target.clone() };
    let clock = if run.manual_clock { "report-clock-set" } else { "report-clock-real" };
    let when = |key, at| {
        let at = full(at);
        Fact { when: Some(at.clone()), ..fact(key, at.people) }
    };
    let mut facts = vec![
        fact("report-target", target),
        fact("report-product", told(&run.product)),
        fact("report-database", told(&run.database)),
        fact("report-clock", words(lang, clock, &[])),
        Fact {
            more: Some(text(lang, &run.table_about).to_owned()),
            ..fact("report-table", format!("{} ({})", text(lang, &run.table_title), run.table))
        },
        when("report-began", run.began_at),
    ];
    facts.push(match run.over_at {
        Some(over) => {
            let took = between(lang, run.began_at, over);
            let took = words(lang, "report-took", &[("v", &took)]);
            Fact { more: Some(took), ..when("report-over", over) }
        }
        None => fact("report-over", words(lang, "report-never-over", &[])),
    });
    facts.push(fact("report-rounds-each", run.rounds.to_string()));
    facts.push(fact("report-seed", run.seed.to_string()));
    facts.push(fact("report-recorder", run.recorder.clone()));
    facts
}
