//! The verdict for build servers, in the form of `JUnit`.

use std::fmt::Write;

use super::{say, words::text};
use crate::{
    acceptance::{
        judge::{Finding, Outcome, RunVerdict, ScenarioVerdict},
        record::Break,
    },
    domain::refusal::Lang,
};

/// Build servers read English.
const LANG: Lang = Lang::En;

/// A text inside of XML. What XML can not hold at all is left out.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\n' | '\t' => out.push(c),
            '\u{fffe}' | '\u{ffff}' => {}
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

/// One line for each finding, in the judge's own words.
fn lines<'a>(findings: impl Iterator<Item = (Option<u32>, &'a Finding)>) -> String {
    let mut out = String::new();
    for (round, finding) in findings {
        let round = round.map_or(String::new(), |round| format!("round {round}, "));
        let step = finding.step.map_or(String::new(), |step| format!("step {step}, "));
        let Finding { rule, about, expected, found, .. } = finding;
        let rule = rule.name();
        let _ = writeln!(out, "{rule}: {round}{step}{about}: expected {expected}; found {found}");
    }
    out
}

fn case(out: &mut String, class: &str, name: &str, seconds: f64, inside: &str) {
    let (class, name) = (escaped(class), escaped(name));
    let head = format!("<testcase classname=\"{class}\" name=\"{name}\" time=\"{seconds:.3}\"");
    let _ = if inside.is_empty() {
        writeln!(out, "  {head}/>")
    } else {
        writeln!(out, "  {head}>{inside}</testcase>")
    };
}

fn failure(kind: &str, message: &str, text: &str) -> String {
    let (kind, message, text) = (escaped(kind), escaped(message), escaped(text));
    format!("<failure type=\"{kind}\" message=\"{message}\">{text}</failure>")
}

fn of_scenario(scenario: &ScenarioVerdict) -> String {
    if let Some(why) = scenario.not_played {
        return format!("<skipped message=\"{}\"/>", escaped(&say::not_played(LANG, why)));
    }
    let findings = scenario
        .rounds
        .iter()
        .flat_map(|round| round.findings.iter().map(|finding| (Some(round.round), finding)));
    let first = findings.clone().next();
    match first {
        Some((_, first)) => {
            let title = text(LANG, &scenario.title);
            let message = format!("{title}: {}", say::rule(LANG, first.rule));
            failure(&first.rule.name(), &message, &lines(findings))
        }
        None => String::new(),
    }
}

/// How long the product took in a scenario, in seconds.
fn seconds(scenario: &ScenarioVerdict) -> f64 {
    let steps = scenario.rounds.iter().flat_map(|round| &round.steps);
    steps.filter_map(|step| step.took_ms).sum::<f64>() / 1_000.0
}

/// The whole file. Beside the scenarios there are two cases of the run itself: its log as a whole, and its record.
pub(super) fn render(verdict: &RunVerdict, broken: Option<&Break>) -> String {
    let run = &verdict.run;
    let log_fails = !verdict.log.findings.is_empty();
    let failures =
        verdict.count(Outcome::Failed) + usize::from(log_fails) + usize::from(broken.is_some());
    let (tests, skipped) = (verdict.scenarios.len() + 2, verdict.count(Outcome::NotPlayed));
    let total: f64 = verdict.scenarios.iter().map(seconds).sum();
    let counts = format!(
        "tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\" time=\"{total:.3}\""
    );
    let began = run.began_at.to_string();
    let began = began.split('.').next().unwrap_or_default();
    let name = escaped(&format!("dispatch acceptance: {}", run.target));
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites {counts}>");
    let _ = writeln!(out, " <testsuite name=\"{name}\" {counts} timestamp=\"{began}\">");
    let nothing = "not told".to_owned();
    let rounds = run.rounds.to_string();
    let seed = run.seed.to_string();
    let _ = writeln!(out, "  <properties>");
    for (name, value) in [
        ("target", &run.target),
        ("product", run.product.as_ref().unwrap_or(&nothing)),
        ("database", run.database.as_ref().unwrap_or(&nothing)),
        ("table", &run.table),
        ("rounds", &rounds),
        ("seed", &seed),
        ("recorder", &run.recorder),
    ] {
        let _ = writeln!(out, "   <property name=\"{name}\" value=\"{}\"/>", escaped(value));
    }
    let _ = writeln!(out, "  </properties>");
    for scenario in &verdict.scenarios {
        case(&mut out, &run.table, &scenario.id, seconds(scenario), &of_scenario(scenario));
    }
    let log = verdict.log.findings.first().map_or_else(String::new, |first| {
        let findings = verdict.log.findings.iter().map(|finding| (None, finding));
        failure(&first.rule.name(), &say::rule(LANG, first.rule), &lines(findings))
    });
    case(&mut out, "run", "the log as a whole", 0.0, &log);
    let record = broken.map_or_else(String::new, |broken| {
        failure("broken_record", "the record was changed after the run", &broken.to_string())
    });
    case(&mut out, "run", "the record", 0.0, &record);
    out.push_str(" </testsuite>\n</testsuites>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_can_not_hold_is_escaped_or_left_out() {
        assert_eq!(escaped("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&apos;");
        assert_eq!(escaped("a\u{0}\u{1b}\u{fffe}\u{7f}b\n派单"), "ab\n派单");
    }
}
