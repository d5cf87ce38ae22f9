//! The log: lines for people, or one JSON object a line.

use dispatch_desk::config::Log;
use tracing_subscriber::EnvFilter;

/// Starts to write the log to standard error.
pub fn start(log: Log) {
    let filter =
        EnvFilter::builder().with_default_directive(tracing::Level::INFO.into()).from_env_lossy();
    let to = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match log {
        Log::Text => to.init(),
        Log::Json => {
            to.json().flatten_event(true).init();
            // A panic's own words take several lines.
            std::panic::set_hook(Box::new(|panic| {
                tracing::error!(panic = %panic, "a panic");
            }));
        }
    }
}
