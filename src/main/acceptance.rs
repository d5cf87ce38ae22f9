//! `dispatch-desk acceptance`: from the command line to an exit code.

use std::{fmt::Write as _, io::Write, net::SocketAddr, path::Path, process::ExitCode};

use anyhow::Context;
use dispatch_desk::{
    acceptance::{
        self, Asked, Request,
        judge::{Outcome, RunVerdict},
        known_bad::{self, Small},
        runner::{Options, Progress},
        scenario,
    },
    config::{Acceptance, AcceptanceRun, PrivateDatabase},
    domain::refusal::Lang,
    stand::{Kind, People},
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
        Acceptance::KnownBad { name: Some(name), listen } => stand_in(&name, listen).await,
        Acceptance::KnownBad { name: None, .. } => {
            let mut list = String::new();
            for listed in known_bad::all()? {
                let (name, title) = (listed.name, listed.title);
                writeln!(list, "{name:28} {} · {}", title.zh, title.en)?;
                for (scenario, rule) in &listed.fails {
                    writeln!(list, "    {scenario}: {}", rule.name())?;
                }
            }
            show(&list)
        }
        Acceptance::Scenarios => {
            let mut list = String::new();
            for scenario in scenario::built_in()? {
                writeln!(list, "{:40} {} · {}", scenario.id, scenario.title.zh, scenario.title.en)?;
            }
            show(&list)
        }
    }
}

/// Prints a list. Whoever reads it may leave after the first lines.
fn show(list: &str) -> anyhow::Result<ExitCode> {
    match std::io::stdout().write_all(list.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(ExitCode::SUCCESS),
    }
}

async fn play(arguments: AcceptanceRun) -> anyhow::Result<ExitCode> {
    let asked = match (arguments.known_bad, arguments.target, arguments.credentials) {
        (Some(name), ..) => Asked::Small(known_bad::named(&name)?),
        (None, Some(origin), Some(credentials)) => Asked::At { origin, credentials },
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
    let verdict = acceptance::run(&request, &show, super::serve::end()?).await;
    bar.finish_and_clear();
    let verdict = verdict?;
    print(&verdict)?;
    writeln!(std::io::stdout(), "{}", request.out.join("report.html").display())?;
    Ok(code(&verdict))
}

/// Starts a small server, to be asked by anything, until it is interrupted.
async fn stand_in(name: &str, listen: SocketAddr) -> anyhow::Result<ExitCode> {
    let fault = known_bad::named(name)?;
    let small = Small::listen(fault, listen).await.with_context(|| format!("at {listen}"))?;
    let file = format!("{name}.credentials.toml");
    keep(Path::new(&file), small.people()).with_context(|| file.clone())?;
    let origin = &small.origin;
    let mut out = std::io::stdout();
    writeln!(out, "{origin}")?;
    writeln!(out, "dispatch-desk acceptance run --target {origin} --credentials {file}")?;
    writeln!(out, "Ctrl-C ends it.")?;
    tokio::signal::ctrl_c().await?;
    small.stop().await;
    Ok(ExitCode::SUCCESS)
}

/// Writes the tokens down, for the owner of the file alone. One of an earlier start is written again.
fn keep(file: &Path, people: &People) -> anyhow::Result<()> {
    let text = toml::to_string(people)?;
    if file.exists() {
        std::fs::remove_file(file)?;
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)?.write_all(text.as_bytes())?;
    Ok(())
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
