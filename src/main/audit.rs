//! `dispatch-desk audit`: reads what was typed, has the log checked or printed, says what came of it.

use std::{io::Write, process::ExitCode};

use anyhow::Context;
use dispatch_desk::{
    admin,
    config::{Audit, AuditKey, Database, ExportForm},
    domain::seal::Head,
    engine::{
        export::{Export, Form, everything},
        seal_keys,
        verify::{Report, verify},
    },
    store::{Db, Time},
};

/// Does one thing.
pub async fn run(database: &Database, what: &Audit) -> anyhow::Result<ExitCode> {
    super::must_exist(database)?;
    match what {
        Audit::Verify { key, head, head_file } => {
            let mut heads = Vec::new();
            for text in head {
                let head = Head::parse(text);
                heads.push(head.with_context(|| format!("{text}: a head is NUMBER:DIGEST"))?);
            }
            if let Some(file) = head_file {
                let shown = file.display();
                let text = std::fs::read(file).with_context(|| format!("{shown}"))?;
                let noted = Head::all_in(&String::from_utf8_lossy(&text));
                anyhow::ensure!(!noted.is_empty(), "{shown}: there is no head in it");
                heads.extend(noted);
            }
            check(database, key, &heads).await
        }
        Audit::Head => head(database).await,
        Audit::Export { format } => export(database, *format).await,
    }
}

async fn check(database: &Database, key: &AuditKey, heads: &[Head]) -> anyhow::Result<ExitCode> {
    let keys = seal_keys::read(&key.path(database)).context("the audit key can not be read")?;
    let db = Db::open(&database.url, Time::System).await?;
    let told = |report: &Report| eprint!("\r{}", counted(report));
    let report = verify(&db, &keys, heads, told).await?;
    db.close().await;
    if report.events + report.attempts >= 10_000 {
        eprintln!();
    }
    let mut out = std::io::stdout().lock();
    let Some(finding) = &report.finding else {
        writeln!(out, "{}: all fit together", counted(&report))?;
        let (events, attempts) = (report.unsealed_events, report.unsealed_attempts);
        if events + attempts > 0 {
            writeln!(out, "{events} events and {attempts} attempts are not sealed yet")?;
        }
        if let Some(head) = &report.head {
            writeln!(out, "head {head}")?;
        }
        if heads.is_empty() {
            writeln!(
                out,
                "no noted head was given: a tail that was cut with its seals can not be seen"
            )?;
        }
        return Ok(ExitCode::SUCCESS);
    };
    writeln!(out, "{finding}")?;
    writeln!(out, "{} until then", counted(&report))?;
    Ok(ExitCode::FAILURE)
}

fn counted(report: &Report) -> String {
    format!("{} events, {} attempts, {} seals", report.events, report.attempts, report.seals)
}

async fn head(database: &Database) -> anyhow::Result<ExitCode> {
    let db = Db::open(&database.url, Time::System).await?;
    let last = db.read().await?.last_seal().await?;
    db.close().await;
    match &last {
        Some(last) => println!("{}", last.head()),
        None => eprintln!("nothing is sealed yet"),
    }
    Ok(if last.is_some() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn export(database: &Database, format: ExportForm) -> anyhow::Result<ExitCode> {
    let db = Db::open(&database.url, Time::System).await?;
    let mut tx = db.read().await?;
    let now = tx.now().await?;
    let regions = tx.regions(now).await?;
    tx.rollback().await?;
    let zone = regions.first().map_or(chrono_tz::UTC, |found| found.region.time_zone);
    let regions = regions.into_iter().map(|found| found.region.id).collect();
    let form = match format {
        ExportForm::Csv => Form::Csv,
        ExportForm::Jsonl => Form::Jsonl,
    };
    admin::exported(&db, form.ending()).await?;
    let mut export = Export::new(db.clone(), form, everything(regions), zone);
    let mut out = std::io::stdout().lock();
    while let Some(piece) = export.next().await? {
        out.write_all(piece.as_bytes())?;
    }
    out.flush()?;
    db.close().await;
    Ok(ExitCode::SUCCESS)
}
