//! `dispatch-desk serve`: from the command line to a server that runs, and to its end.

use std::{io::Write, process::ExitCode};

use anyhow::Context;
use dispatch_desk::{
    clock::SystemEntropy,
    config::{AuditKey, Database, Listen, PositionsAt},
    domain::ticket::TicketKey,
    engine::{
        executor::{Executor, PreTrim, Settings},
        hub, seal_keys,
    },
    locate::Locator,
    store::{Db, Time},
    web::{Desk, Limits, Networks, Origin, Server},
};

/// Serves until SIGTERM or Ctrl-C.
pub async fn serve(
    listen: &Listen,
    database: &Database,
    audit_key: &AuditKey,
    positions: &PositionsAt,
) -> anyhow::Result<ExitCode> {
    // Before anything is opened: whoever asks us to stop must be heard from the first moment on.
    let ended = end()?;
    let proxies = listen.trusted_proxy.iter().map(String::as_str);
    let proxies = Networks::parse(proxies).map_err(anyhow::Error::msg)?;
    let db = Db::open(&database.url, Time::System).await?;
    let keys = seal_keys::read_or_make(&audit_key.path(database), &SystemEntropy)
        .context("the audit key can not be had")?;
    let listener = tokio::net::TcpListener::bind(listen.listen)
        .await
        .with_context(|| format!("can not listen on {}", listen.listen))?;
    let address = listener.local_addr()?;
    let origin = match &listen.public_origin {
        Some(origin) => Origin::parse(origin),
        None => Origin::parse(&format!("http://{address}")),
    };
    let origin = origin.map_err(anyhow::Error::msg)?;
    if origin.is_unspecified() {
        tracing::warn!(
            "forms are taken from pages on this machine alone: say with --public-origin where browsers reach the desk"
        );
    }
    let locator = Locator::open(positions.index.as_deref())?;
    let trimmed_at = positions.index.as_deref().filter(|_| positions.pre_trim);
    let pre_trim = trimmed_at.map(|url| PreTrim::open(url, "dispatch-desk")).transpose()?;
    // The same on every node, and after a restart: they share the file.
    let ticket_key = TicketKey::new(keys.oldest().derive("tickets"));
    let settings = Settings { locator, pre_trim, ticket_key, ..Settings::default() };
    let executor = Executor::start(db, settings);
    executor.positions().load(executor.db()).await?;
    let set_up = executor.make_set_up_link().await?;
    let way_in = set_up.map(|secret| format!("{}/enter/{secret}", origin.as_str()));
    let streams = usize::try_from(listen.max_streams)?;
    make_room(streams);
    let caps = hub::Caps { node: streams, ..hub::Caps::default() };
    let live = hub::Settings { caps, ..hub::Settings::default() };
    let desk = Desk::live(executor, origin, live);
    let limits = Limits { proxies, ..Limits::default() };
    let server = Server::start(desk, listener, limits)?.sealing(keys);
    let server = match listen.metrics_listen {
        Some(address) => {
            let listener = tokio::net::TcpListener::bind(address).await;
            let listener = listener.with_context(|| format!("can not listen on {address}"))?;
            tracing::info!("metrics on http://{}/metrics", listener.local_addr()?);
            server.metered(listener)
        }
        None => server,
    };
    tracing::info!("listening on http://{}", server.address());
    // Whoever reads may have gone; the server stays.
    let _ = writeln!(std::io::stdout(), "http://{}", server.address());
    if let Some(way_in) = way_in {
        // For whoever started the program, and nobody else: it is printed, not logged.
        let _ = writeln!(
            std::io::stdout(),
            "There is nobody here yet. The first admin comes in once, within 15 minutes, by\n{way_in}"
        );
    }
    ended.await;
    tracing::info!("stopping: what was accepted is answered first");
    server.stop().await;
    tracing::info!("stopped");
    Ok(ExitCode::SUCCESS)
}

/// Asks the system for as many file handles as streams and other connections may take, if it lets us have them.
fn make_room(streams: usize) {
    let wanted = u64::try_from(streams).unwrap_or(u64::MAX).saturating_add(2_000);
    match rlimit::increase_nofile_limit(wanted) {
        Ok(got) if got >= wanted => {}
        Ok(got) => tracing::warn!(
            got,
            wanted,
            "the system gives fewer file handles than streams may need: raise its limit (ulimit -n)"
        ),
        Err(error) => tracing::warn!(%error, "how many file handles there may be is not known"),
    }
}

/// Resolves at SIGTERM or Ctrl-C.
pub fn end() -> anyhow::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminated = signal(SignalKind::terminate())?;
    let mut interrupted = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminated.recv() => {}
            _ = interrupted.recv() => {}
        }
    })
}
