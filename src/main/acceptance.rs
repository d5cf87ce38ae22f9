//! `dispatch-desk acceptance`: from the command line to an exit code.

use std::{io::Write, process::ExitCode};

use anyhow::Context;
use dispatch_desk::{
    acceptance::{
        self, Asked, Request,
        judge::{Outcome, RunVerdict},
        runner::{Options, Progress},
        scenario,
    },
    config::{Acceptance, AcceptanceRun, PrivateDatabase},
    domain::refusal::Lang,
    stand::Kind,
};

/// Does what is asked.
pub async fn run(what: Acceptance) -> anyhow::Result<ExitCode> {
    match what {
        Acceptance::Run(arguments) => play(*arguments).await,
        Acceptance::Rejudge { folder } => {
            let (verdict, broken) = acceptance::rejudge(&folder, Lang::Zh)?;
            print(&verdict)?;
            if let Some(broken) = broken {
                anyhow::bail!("the record does not hold together: {broken}");
            }
            Ok(code(&verdict))
        }
        Acceptance::KnownBad { .. } => anyhow::bail!("not here yet"),
        Acceptance::Scenarios => {
            let mut out = std::io::stdout().lock();
            for scenario in scenario::built_in()? {
                writeln!(out, "{:40} {} · {}", scenario.id, scenario.title.zh, scenario.title.en)?;
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

async fn play(arguments: AcceptanceRun) -> anyhow::Result<ExitCode> {
    let asked = match (arguments.target, arguments.credentials) {
        (Some(origin), Some(credentials)) => Asked::At { origin, credentials },
        _ => Asked::Private(match arguments.database {
            PrivateDatabase::Sqlite => Kind::Sqlite,
            PrivateDatabase::Postgres => Kind::Postgres(arguments.postgres),
        }),
    };
    let request = Request {
        asked,
        table: arguments.table,
        scenarios: arguments.scenarios,
        scenario_folder: arguments.scenario_folder,
        options: Options { rounds: arguments.rounds, seed: arguments.seed },
        out: arguments.out,
        lang: Lang::parse(&arguments.lang).context("a language is zh-CN or en")?,
    };
    let bar = acceptance::bar();
    let show = |progress: Progress<'_>| {
        bar.set_length(u64::try_from(progress.all).unwrap_or(u64::MAX));
        bar.set_position(u64::try_from(progress.done).unwrap_or(u64::MAX));
        bar.set_message(progress.scenario.to_owned());
    };
    let verdict = acceptance::run(&request, &show).await;
    bar.finish_and_clear();
    let verdict = verdict?;
    print(&verdict)?;
    writeln!(std::io::stdout(), "{}", request.out.join("report.html").display())?;
    Ok(code(&verdict))
}

/// The verdict on a screen: what failed, and why.
fn print(verdict: &RunVerdict) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for (scenario, finding) in verdict.findings() {
        let (scenario, rule) = (scenario.unwrap_or("the log"), finding.rule.name());
        let step = finding.step.map_or(String::new(), |step| format!(", step {step}"));
        writeln!(
            out,
            "{scenario}{step}: {rule}: {}: expected {}; found {}",
            finding.about, finding.expected, finding.found
        )?;
    }
    for scenario in &verdict.scenarios {
        if let Some(share) = scenario.overlapped {
            writeln!(out, "{}: {} of {} rounds were a race", scenario.id, share.counted, share.of)?;
        }
    }
    let count = |outcome| verdict.count(outcome);
    writeln!(
        out,
        "{}: {} passed, {} failed, {} not played",
        match verdict.outcome {
            Outcome::Passed => "PASSED",
            Outcome::Failed => "FAILED",
            Outcome::NotPlayed => "NOTHING WAS PLAYED",
        },
        count(Outcome::Passed),
        count(Outcome::Failed),
        count(Outcome::NotPlayed)
    )
}

fn code(verdict: &RunVerdict) -> ExitCode {
    match verdict.outcome {
        Outcome::Passed => ExitCode::SUCCESS,
        Outcome::Failed => ExitCode::FAILURE,
        Outcome::NotPlayed => ExitCode::from(2),
    }
}
