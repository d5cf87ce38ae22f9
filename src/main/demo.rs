//! `dispatch-desk demo`: from the command line to a desk to try, and to its end.

use std::{io::Write, process::ExitCode};

use dispatch_desk::{
    config::DemoArgs,
    demo::{Demo, Options},
    domain::refusal::Lang,
};

/// Runs the demo until SIGTERM or Ctrl-C.
pub async fn run(arguments: &DemoArgs) -> anyhow::Result<ExitCode> {
    let ended = super::serve::end()?;
    let demo = Demo::start(&Options {
        listen: arguments.listen,
        folder: arguments.folder.clone(),
        fresh: arguments.fresh,
        seed: arguments.seed,
        pace: f64::from(arguments.pace),
    })
    .await?;
    // Whoever reads may have gone after the first lines; the demo goes on.
    let _ = write!(std::io::stdout(), "{}\n{}", demo.words(Lang::Zh), demo.words(Lang::En));
    ended.await;
    tracing::info!("stopping: the people first, then the server");
    demo.stop().await;
    tracing::info!("stopped");
    Ok(ExitCode::SUCCESS)
}
