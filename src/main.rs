//! The program: reads the command line and runs one thing.

#[path = "main/acceptance.rs"]
mod acceptance;
#[path = "main/admin.rs"]
mod admin;
#[path = "main/audit.rs"]
mod audit;
#[path = "main/demo.rs"]
mod demo;
#[path = "main/erase.rs"]
mod erase;
#[path = "main/log.rs"]
mod log;
#[path = "main/replay.rs"]
mod replay;
#[path = "main/serve.rs"]
mod serve;

use std::{io::Write, process::ExitCode};

use clap::Parser;
use dispatch_desk::{
    config::{Config, Database, ImportArgs, Run},
    engine::reconcile::reconcile,
    import,
    store::{Db, Product, Time},
};

#[tokio::main]
async fn main() -> ExitCode {
    let config = Config::parse();
    log::start(config.log);
    let ran = match config.run {
        Run::Serve { listen, database, audit_key, positions } => {
            serve::serve(&listen, &database, &audit_key, &positions).await
        }
        Run::Demo(arguments) => demo::run(&arguments).await,
        Run::Replay(arguments) => replay::run(*arguments).await,
        Run::Acceptance { what } => acceptance::run(what).await,
        Run::Admin { database, admin } => admin::run(&database, &admin).await,
        Run::Audit { database, audit } => audit::run(&database, &audit).await,
        Run::Reconcile { database } => run_reconcile(&database).await,
        Run::Import(arguments) => run_import(*arguments).await,
        Run::Version { database, json } => version(&database, json).await,
    };
    ran.unwrap_or_else(|error| {
        eprintln!("dispatch-desk: {error:#}");
        ExitCode::from(2)
    })
}

/// A mistyped file name must not become a new, empty database in which all fits together.
fn must_exist(database: &Database) -> anyhow::Result<()> {
    let Some(rest) = database.url.strip_prefix("sqlite:") else { return Ok(()) };
    let file = rest.trim_start_matches("//").split('?').next().unwrap_or_default();
    let file = if rest.starts_with("///") {
        format!("/{}", file.trim_start_matches('/'))
    } else {
        file.to_owned()
    };
    anyhow::ensure!(std::path::Path::new(&file).exists(), "there is no database {file}");
    Ok(())
}

async fn run_reconcile(database: &Database) -> anyhow::Result<ExitCode> {
    must_exist(database)?;
    let db = Db::open(&database.url, Time::System).await?;
    let report = reconcile(&db, |tasks| eprint!("\r{tasks} tasks compared")).await?;
    eprintln!();
    let mut out = std::io::stdout().lock();
    for difference in &report.differences {
        writeln!(out, "{difference}")?;
    }
    writeln!(
        out,
        "{} tasks, {} events, {} offers: {}",
        report.tasks,
        report.events,
        report.offers,
        match report.differences.len() {
            0 => "all fit together".to_owned(),
            1 => "1 difference".to_owned(),
            more => format!("{more} differences"),
        }
    )?;
    Ok(if report.differences.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn run_import(arguments: ImportArgs) -> anyhow::Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    if arguments.list {
        for (name, about) in import::mappings() {
            writeln!(out, "{name:21} {about}")?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    must_exist(&arguments.database)?;
    let db = Db::open(&arguments.database.url, Time::System).await?;
    let request = import::Request {
        file: arguments.file.unwrap_or_default(),
        mapping: arguments.mapping.unwrap_or_default(),
        region: arguments.region.unwrap_or_default(),
        source: arguments.source,
        base_date: arguments.base_date,
        pickup: arguments.pickup,
        riders: arguments.riders,
        dry_run: arguments.dry_run,
        errors: arguments.errors,
        lang: arguments.lang,
    };
    let finished = import::command(&request, &db, &mut out).await;
    db.close().await;
    Ok(match finished? {
        import::Finished::AllTaken => ExitCode::SUCCESS,
        import::Finished::SomeRefused => ExitCode::FAILURE,
    })
}

async fn version(database: &Database, json: bool) -> anyhow::Result<ExitCode> {
    let db = Db::open(&database.url, Time::System).await?;
    let product = match db.product() {
        Product::Sqlite => "SQLite",
        Product::Postgres => "PostgreSQL",
    };
    let (program, database) = (env!("CARGO_PKG_VERSION"), db.version().await?);
    let mut out = std::io::stdout().lock();
    if json {
        let versions = serde_json::json!({ "dispatch-desk": program, product: database });
        writeln!(out, "{versions}")?;
    } else {
        writeln!(out, "dispatch-desk {program}, {product} {database}")?;
    }
    Ok(ExitCode::SUCCESS)
}
