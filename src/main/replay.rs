//! `dispatch-desk replay`: plays a file, prints what came of it, and says by its exit code whether all fits together.

use std::process::ExitCode;

use anyhow::Context;
use dispatch_desk::{
    config::{AuditKey, Database, ReplayArgs},
    replay::{Options, replay},
};

/// Plays the file; exit code 1 if the log and the rows do not fit together.
pub async fn run(arguments: ReplayArgs) -> anyhow::Result<ExitCode> {
    let ended = super::serve::end()?;
    let speed = arguments.speed;
    anyhow::ensure!(speed.is_finite() && speed >= 0.0, "a speed is 0 or more");
    let zone = arguments.zone.parse();
    let options = Options {
        file: arguments.file,
        mapping: arguments.mapping,
        speed,
        audit_key: arguments
            .database
            .as_ref()
            .map(|url| AuditKey { file: None }.path(&Database { url: url.clone() })),
        database: arguments.database,
        riders: usize::from(arguments.riders),
        limit: arguments.limit,
        zone: zone.ok().with_context(|| format!("{}: such as Asia/Shanghai", arguments.zone))?,
        seed: arguments.seed,
    };
    let (stop, stopped) = tokio::sync::watch::channel(false);
    tokio::spawn(async move {
        ended.await;
        stop.send_replace(true);
        // Nobody is to take a gone sender for the end.
        std::future::pending::<()>().await;
    });
    let report = replay(&options, stopped).await?;
    print!("{report}");
    if !report.refused.is_empty() {
        let path = &arguments.errors;
        report.write_refused(path).with_context(|| path.display().to_string())?;
        println!("refused rows in  {}", path.display());
    }
    Ok(if report.is_sound() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
