//! The report as a page: one file that needs nothing else.

use askama::Template;

use super::{
    front::Front,
    grid::Grid,
    round::FindingView,
    say,
    scenario::{ScenarioView, anchor},
    words::{filters, text, words},
};
use crate::{
    acceptance::{judge::RunVerdict, record::Break},
    domain::refusal::Lang,
};

const STYLE: &str = include_str!("../../../static/report.css");
/// So many findings of a scenario stand on the front; all of them stand in its own part.
const MOST_FINDINGS: usize = 10;

/// The page.
#[derive(Template)]
#[template(path = "acceptance/report.html")]
struct Page<'a> {
    lang: &'static str,
    other_lang: &'static str,
    /// The file in the other language.
    other: &'a str,
    style: &'static str,
    front: Front,
    failed: Vec<Failed>,
    grid: Grid,
    left_out: Vec<LeftOut>,
    /// Races in which not every round was one.
    missed: Vec<LeftOut>,
    limits: Vec<String>,
    scenarios: Vec<ScenarioView>,
}

/// A scenario that failed, or the log.
struct Failed {
    /// Its name in links; none for the log.
    anchor: Option<String>,
    /// Its name in the ids of the page.
    id: String,
    title: String,
    /// Whether it has several rounds, of which each finding names its own.
    several: bool,
    findings: Vec<FindingView>,
    /// How many more there are.
    more: Option<String>,
}

/// A scenario of which something is to be said.
struct LeftOut {
    anchor: String,
    title: String,
    why: String,
}

/// Renders the report in `lang`; `other` is the file in the other language.
///
/// # Errors
/// If the template can not be rendered.
pub(super) fn render(
    lang: Lang,
    other: &str,
    verdict: &RunVerdict,
    broken: Option<&Break>,
) -> askama::Result<String> {
    let other_lang = super::other(lang);
    let scenarios = verdict.scenarios.iter().zip(1..);
    let page = Page {
        lang: lang.as_str(),
        other_lang: other_lang.as_str(),
        other,
        style: STYLE,
        front: Front::of(lang, verdict, broken),
        failed: failed(lang, verdict),
        grid: Grid::of(lang, &verdict.coverage),
        left_out: left_out(lang, verdict),
        missed: missed(lang, verdict),
        limits: limits(lang, verdict),
        scenarios: scenarios.map(|(one, number)| ScenarioView::of(lang, number, one)).collect(),
    };
    page.render_with_values(&("lang", &lang as &dyn std::any::Any))
}

fn failed(lang: Lang, verdict: &RunVerdict) -> Vec<Failed> {
    let mut all = Vec::new();
    for (scenario, number) in verdict.scenarios.iter().zip(1..) {
        let several = scenario.rounds.len() > 1;
        let views = scenario.rounds.iter().flat_map(|round| {
            let number = several.then_some(round.round);
            round.findings.iter().map(move |finding| FindingView::of(lang, finding, number))
        });
        let anchor = anchor(number, &scenario.id);
        let title = text(lang, &scenario.title).to_owned();
        all.extend(some(lang, Some(anchor), title, views.collect()));
    }
    let log = verdict.log.findings.iter().map(|finding| FindingView::of(lang, finding, None));
    all.extend(some(lang, None, words(lang, "report-the-log", &[]), log.collect()));
    all
}

fn some(
    lang: Lang,
    anchor: Option<String>,
    title: String,
    mut findings: Vec<FindingView>,
) -> Option<Failed> {
    if findings.is_empty() {
        return None;
    }
    let more = findings.len().saturating_sub(MOST_FINDINGS);
    let more = (more > 0).then(|| words(lang, "report-more-findings", &[("v", &more.to_string())]));
    findings.truncate(MOST_FINDINGS);
    let id = anchor.clone().unwrap_or_else(|| "log".to_owned());
    let several = findings.iter().any(|finding| finding.round.is_some());
    Some(Failed { anchor, id: format!("why-{id}"), title, several, findings, more })
}

fn left_out(lang: Lang, verdict: &RunVerdict) -> Vec<LeftOut> {
    let scenarios = verdict.scenarios.iter().zip(1..);
    let left = scenarios.filter_map(|(scenario, number)| {
        let why = say::not_played(lang, scenario.not_played?);
        let title = text(lang, &scenario.title).to_owned();
        Some(LeftOut { anchor: anchor(number, &scenario.id), title, why })
    });
    left.collect()
}

fn missed(lang: Lang, verdict: &RunVerdict) -> Vec<LeftOut> {
    let scenarios = verdict.scenarios.iter().zip(1..);
    let missed = scenarios.filter_map(|(scenario, number)| {
        let share = scenario.overlapped.filter(|share| share.counted < share.of)?;
        let (counted, of) = (share.counted.to_string(), share.of.to_string());
        let why = words(lang, "report-overlapped", &[("counted", &counted), ("of", &of)]);
        let title = text(lang, &scenario.title).to_owned();
        Some(LeftOut { anchor: anchor(number, &scenario.id), title, why })
    });
    missed.collect()
}

/// What no such suite can show, and what this run could not.
fn limits(lang: Lang, verdict: &RunVerdict) -> Vec<String> {
    let mut keys = Vec::new();
    if verdict.run.target == "private" {
        keys.push("report-limit-private");
    }
    if !verdict.run.manual_clock {
        keys.push("report-limit-clock");
    }
    if !verdict.log.whole {
        keys.push("report-limit-shared");
    }
    keys.extend([
        "report-limit-power",
        "report-limit-load",
        "report-limit-races",
        "report-limit-screens",
        "report-limit-network",
        "report-limit-table",
        "report-limit-inside",
        "report-limit-other-days",
    ]);
    keys.into_iter().map(|key| words(lang, key, &[])).collect()
}
