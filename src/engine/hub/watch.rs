//! Heartbeats, and looking after the rights of those who read.

use super::{
    Hub, PHASES,
    places::{PARTS, Whose},
    told::Pulse,
};

impl Hub {
    /// Sends heartbeats until it is dropped: to one group after the other, each once in the heartbeat's time.
    pub(super) async fn beat(&self) {
        let clock = self.clock();
        let groups = i64::try_from(PHASES).unwrap_or(1);
        let step = (self.0.settings.heartbeat_ms / groups).max(1);
        let mut last = clock.now();
        let mut group = 0;
        loop {
            clock.wait_until(last.plus_ms(step)).await;
            let now = clock.now();
            let passed = now.ms_since(last) / step;
            if passed < 0 {
                // The clock was set back.
                last = now;
                continue;
            }
            for _ in 0..passed.min(groups) {
                self.0.pulses[group].send_replace(Pulse { head: self.last().max(0), at: now });
                group = (group + 1) % PHASES;
            }
            last = last.plus_ms(passed * step);
        }
    }

    /// Looks whether those who read still may: at one part of them after the other, each every few seconds, and at all of
    /// them when it is asked to; until it is dropped.
    pub(super) async fn look_after_rights(&self) {
        let mut part = 0;
        loop {
            let whose = tokio::select! {
                () = tokio::time::sleep(self.0.settings.rights / PARTS) => {
                    part = (part + 1) % u64::from(PARTS);
                    Whose::Part(part)
                }
                () = self.0.rights.notified() => Whose::All,
            };
            let ways = self.0.places.ways(whose);
            if ways.is_empty() {
                continue;
            }
            let looked = async {
                let mut tx = self.db().read().await?;
                self.look_after(&mut tx, &ways).await?;
                tx.rollback().await
            };
            if let Err(error) = looked.await {
                Self::failed("the rights of readers", &error);
            }
        }
    }
}
