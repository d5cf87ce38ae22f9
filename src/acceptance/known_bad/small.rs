//! A small server: start, ask, stop.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};

use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

use super::{CORRECT, Fault, desk::Desk, desk::locked, http, sweep::sweep};
use crate::{
    acceptance::runner::{SetClock, Target},
    clock::{Clock, ManualClock, SystemClock},
    domain::{id::Timestamp, policy::RegionMode},
    stand::People,
};

/// A small server that runs.
#[derive(Debug)]
pub struct Small {
    /// Where it is asked.
    pub origin: String,
    desk: Arc<Desk>,
    manual: Option<Arc<ManualClock>>,
    stop: oneshot::Sender<()>,
    server: JoinHandle<io::Result<()>>,
    sweeper: JoinHandle<()>,
}

impl Small {
    /// Starts one with a fault, or with none, for this machine alone. Its region dispatches in the way of `mode`, and
    /// its clock moves when it is told to.
    ///
    /// # Errors
    /// If there is no free port, or no randomness for tokens.
    pub async fn start(fault: Option<Fault>, mode: RegionMode) -> io::Result<Self> {
        // Whole seconds, so that moments are easy to read in the record.
        let now = Timestamp(SystemClock.now().0 / 1_000 * 1_000);
        let clock = Arc::new(ManualClock::at(now));
        let desk = Desk::open(fault, mode, Arc::<ManualClock>::clone(&clock))?;
        Self::run(desk, (Ipv4Addr::LOCALHOST, 0).into(), Some(clock)).await
    }

    /// Starts one at an address, with the machine's clock.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub async fn listen(fault: Option<Fault>, at: SocketAddr) -> io::Result<Self> {
        let desk = Desk::open(fault, RegionMode::Reserve, Arc::new(SystemClock))?;
        Self::run(desk, at, None).await
    }

    async fn run(desk: Desk, at: SocketAddr, manual: Option<Arc<ManualClock>>) -> io::Result<Self> {
        let listener = TcpListener::bind(at).await?;
        let origin = format!("http://{}", listener.local_addr()?);
        let desk = Arc::new(desk);
        let (stop, stopped) = oneshot::channel();
        let server = tokio::spawn(http::serve(listener, Arc::clone(&desk), stopped));
        let sweeper = tokio::spawn(sweep(Arc::clone(&desk)));
        Ok(Self { origin, desk, manual, stop, server, sweeper })
    }

    /// Who works there, with their tokens.
    pub fn people(&self) -> &People {
        &self.desk.house.people
    }

    /// It, as the runner asks it.
    pub fn target(&self) -> Target {
        let name = self.desk.fault.map_or(CORRECT, Fault::as_str);
        Target {
            origin: self.origin.clone(),
            name: format!("known-bad: {name}"),
            private: true,
            database: Some("in memory".to_owned()),
            product: Some(format!("small server, {name}")),
            people: self.people().clone(),
            set_clock: self.manual.as_ref().map(|clock| set_clock(&self.desk, clock)),
        }
    }

    /// Ends it. What is under way is still answered.
    pub async fn stop(self) {
        // An error means that it has ended by itself.
        let _ = self.stop.send(());
        if !matches!(self.server.await, Ok(Ok(()))) {
            tracing::warn!("a small server did not end well");
        }
        self.sweeper.abort();
    }
}

/// Sets the clock once everybody who was there before has read; whoever decides on that writes after the sweeper has
/// looked. So they meet, in every race against the clock.
fn set_clock(desk: &Arc<Desk>, clock: &Arc<ManualClock>) -> SetClock {
    let (desk, clock) = (Arc::clone(desk), Arc::clone(clock));
    Arc::new(move |to| {
        let (desk, clock) = (Arc::clone(&desk), Arc::clone(&clock));
        Box::pin(async move {
            let sweep = desk.arrivals.sweep();
            desk.arrivals.until_all_have_read().await;
            locked(&desk.announced).push(sweep);
            clock.set(to);
            desk.bell.notify_one();
            Ok(())
        })
    })
}
