//! The meters of this node in the text format of Prometheus, on an address of their own: whoever can reach it may read
//! it, so it is for this machine or for a network of monitors, and never a part of the desk's own address.
//!
//! | file | |
//! |---|---|
//! | `mod` | what this node counts while it runs |
//! | `hour` | what the log says of each region's past hour |

mod hour;

use std::fmt::Write;

use axum::{Router, extract::State, http::header, response::IntoResponse, routing::get};
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};

use super::desk::Desk;
use crate::engine::{
    health::Health,
    hub::Figures,
    meters::{Readings, STEPS_MS},
};

/// Serves them on `listener`. Drop or change the returned sender to end it.
pub(super) fn start(desk: Desk, listener: TcpListener) -> (watch::Sender<bool>, JoinHandle<()>) {
    let (stop, mut stopped) = watch::channel(false);
    let router = Router::new().route("/metrics", get(metrics)).with_state(desk);
    let running = tokio::spawn(async move {
        let served = axum::serve(listener, router);
        tokio::select! {
            // Nothing waits for its end: it is asked again in a moment.
            _ = stopped.changed() => {}
            ended = served => if let Err(error) = ended {
                tracing::error!(%error, "the metrics are not served any more");
            }
        }
    });
    (stop, running)
}

async fn metrics(State(desk): State<Desk>) -> impl IntoResponse {
    let ready = desk.executor().pulse().health() == Health::Ready;
    let head = *desk.executor().head().borrow();
    let mut text = written(&desk.executor().meters().read(), desk.hub().figures(), ready, head);
    match hour::read(desk.db()).await {
        Ok(regions) => text.push_str(&hour::written(&regions)),
        // What the node counts itself is told all the same: a monitor that hears nothing knows least.
        Err(error) => tracing::warn!(%error, "the figures of the past hour can not be read"),
    }
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text)
}

/// The whole text.
fn written(meters: &Readings, streams: Figures, ready: bool, head: i64) -> String {
    let mut text = Text::default();
    text.about("desk_commands_total", "counter", "Commands by what came of them.");
    for (verb, came, count) in &meters.commands {
        text.line(
            "desk_commands_total",
            &format!("{{verb=\"{verb}\",outcome=\"{came}\"}}"),
            *count,
        );
    }
    let name = "desk_command_seconds";
    text.about(name, "histogram", "From the arrival of a command to its answer.");
    let mut below = 0;
    for (ms, count) in STEPS_MS.iter().zip(meters.steps) {
        below += count;
        let end = format!("{{le=\"{}.{:03}\"}}", ms / 1_000, ms % 1_000);
        text.line("desk_command_seconds_bucket", &end, below);
    }
    text.line("desk_command_seconds_bucket", "{le=\"+Inf\"}", meters.answers());
    let seconds = format!("{}.{:06}", meters.sum_us / 1_000_000, meters.sum_us % 1_000_000);
    text.line("desk_command_seconds_sum", "", seconds);
    text.line("desk_command_seconds_count", "", meters.answers());
    let open = u64::try_from(streams.open).unwrap_or(u64::MAX);
    for (name, kind, help, value) in [
        (
            "desk_transactions_total",
            "counter",
            "Transactions that carried commands.",
            meters.transactions,
        ),
        (
            "desk_conflicts_total",
            "counter",
            "Transactions that had to be done again.",
            meters.again,
        ),
        (
            "desk_grabs_second_total",
            "counter",
            "Grabs that could only come second and were sent behind everything else.",
            meters.second,
        ),
        ("desk_streams_open", "gauge", "Live streams that are open.", open),
        ("desk_streams_opened_total", "counter", "Live streams that were opened.", streams.opened),
        (
            "desk_streams_turned_away_total",
            "counter",
            "Live streams that found no place.",
            streams.turned_away,
        ),
        (
            "desk_streams_lagged_total",
            "counter",
            "Times that a reader fell behind.",
            streams.lagged,
        ),
        (
            "desk_streams_reset_total",
            "counter",
            "Readers told to read everything anew.",
            streams.resets,
        ),
        (
            "desk_streams_revoked_total",
            "counter",
            "Streams ended with the right to read.",
            streams.revoked,
        ),
        ("desk_ready", "gauge", "Whether commands can be taken.", u64::from(ready)),
        (
            "desk_log_head",
            "gauge",
            "The last event that this node has committed.",
            head.unsigned_abs(),
        ),
    ] {
        text.about(name, kind, help);
        text.line(name, "", value);
    }
    text.0
}

#[derive(Default)]
struct Text(String);

impl Text {
    fn about(&mut self, name: &str, kind: &str, help: &str) {
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    fn line(&mut self, name: &str, labels: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_what_prometheus_reads() {
        let mut meters = Readings { sum_us: 1_500_042, ..Readings::default() };
        meters.commands = vec![("grab", "done", 2)];
        (meters.steps[0], meters.steps[12], meters.second) = (2, 1, 5);
        let text = written(&meters, Figures::default(), true, 7);
        for line in [
            "# TYPE desk_commands_total counter",
            "desk_commands_total{verb=\"grab\",outcome=\"done\"} 2",
            "desk_command_seconds_bucket{le=\"0.001\"} 2",
            "desk_command_seconds_bucket{le=\"5.000\"} 2",
            "desk_command_seconds_bucket{le=\"+Inf\"} 3",
            "desk_command_seconds_sum 1.500042",
            "desk_command_seconds_count 3",
            "desk_grabs_second_total 5",
            "desk_ready 1",
            "desk_log_head 7",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in {text}");
        }
    }
}
