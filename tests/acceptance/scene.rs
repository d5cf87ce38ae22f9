//! Runs of the suite, in a folder of their own.

use std::path::Path;

use dispatch_desk::{
    acceptance::{
        self, Asked, Request,
        judge::{RunVerdict, judge},
        record::{self, Line},
        runner::Options,
    },
    domain::refusal::Lang,
    stand::Kind,
};

/// A run that is over.
pub struct Ran {
    /// Where its evidence is.
    pub folder: tempfile::TempDir,
    pub verdict: RunVerdict,
}

/// A request for these scenarios (all if none is named) on a private desk.
pub fn request(out: &Path, kind: Kind, scenarios: &[&str], rounds: u32) -> Request {
    Request {
        asked: Asked::Private(kind),
        table: "reserve_then_confirm".to_owned(),
        scenarios: scenarios.iter().map(|id| (*id).to_owned()).collect(),
        scenario_folder: None,
        options: Options { rounds, seed: 1 },
        out: out.to_owned(),
        lang: Lang::En,
    }
}

/// Plays them.
pub async fn run(kind: Kind, scenarios: &[&str], rounds: u32) -> Ran {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let verdict = play(&request(folder.path(), kind, scenarios, rounds)).await;
    Ran { folder, verdict }
}

/// Plays what is asked for.
pub async fn play(request: &Request) -> RunVerdict {
    let ran = acceptance::run(request, &|_| (), std::future::pending()).await;
    ran.unwrap_or_else(|error| panic!("it runs: {error}"))
}

impl Ran {
    /// The record as it was written.
    pub fn text(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("history.jsonl")).expect("a record")
    }

    /// Its lines.
    pub fn lines(&self) -> Vec<Line> {
        let (lines, broken) = record::read(&self.text()).expect("it can be read");
        assert_eq!(broken, None, "nobody has changed it");
        lines
    }
}

/// What is found in lines, in short.
pub fn findings(lines: &[Line]) -> Vec<String> {
    let verdict = judge(lines).expect("it can be judged");
    findings_of(&verdict)
}

/// What a verdict finds, in short.
pub fn findings_of(verdict: &RunVerdict) -> Vec<String> {
    let words = |(scenario, finding): (Option<&str>, &acceptance::judge::Finding)| {
        let (scenario, rule) = (scenario.unwrap_or("the log"), finding.rule.name());
        format!("{scenario} {rule}: {}: {} / {}", finding.about, finding.expected, finding.found)
    };
    verdict.findings().map(words).collect()
}
