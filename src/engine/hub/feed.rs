//! Reads the log as it grows, once for all readers.

use std::{
    collections::HashSet,
    sync::{Arc, atomic::Ordering},
};

use super::{
    Hub, NOWHERE,
    places::Whose,
    rights::{Rights, Way},
    sight::Batch,
};
use crate::{
    domain::{actor::Actor, id::RiderId},
    store::{self, LoggedEvent, Tx},
};

/// How many events are read at a time.
const PAGE: i64 = 1_000;

/// Whose rights some events may have changed.
enum Concerned {
    Nobody,
    These(HashSet<Actor>),
    Everybody,
}

impl Concerned {
    fn by(events: &[LoggedEvent]) -> Self {
        let mut these = HashSet::new();
        for event in events {
            match event.kind.as_str() {
                "rider" => drop(these.insert(Actor::Rider(RiderId(event.subject)))),
                "admin" => return Self::Everybody,
                _ => {}
            }
        }
        if these.is_empty() { Self::Nobody } else { Self::These(these) }
    }
}

impl Hub {
    /// Reads and tells until it is dropped.
    pub(super) async fn feed(&self) {
        let mut head = self.0.executor.head();
        loop {
            head.mark_unchanged();
            if let Err(error) = self.read_on().await {
                Self::failed("the log", &error);
            }
            tokio::select! {
                Ok(()) = head.changed() => {}
                () = self.0.look.notified() => {}
                () = tokio::time::sleep(self.0.settings.poll) => {}
            }
        }
    }

    /// Tells everything that was committed since the last time.
    async fn read_on(&self) -> store::Result<()> {
        loop {
            let last = self.last();
            let mut tx = self.db().read().await?;
            let (head, _) = tx.head().await?;
            // Looked at after the log: whoever comes later reads by themselves what is in it.
            if last == NOWHERE || head < last || self.0.places.is_empty() {
                tx.rollback().await?;
                self.0.last.store(head, Ordering::SeqCst);
                // Nothing to tell; but whoever is there looks where they stand.
                let _ = self.0.batches.send(Arc::default());
                return Ok(());
            }
            let events = tx.events_after(last, PAGE).await?;
            let Some(newest) = events.last().map(|event| event.number) else {
                tx.rollback().await?;
                return Ok(());
            };
            let more = i64::try_from(events.len()).is_ok_and(|count| count >= PAGE);
            match Concerned::by(&events) {
                Concerned::Nobody => {}
                Concerned::These(people) => {
                    let ways = self.0.places.ways(Whose::These(&people));
                    self.look_after(&mut tx, &ways).await?;
                }
                Concerned::Everybody => {
                    let ways = self.0.places.ways(Whose::All);
                    self.look_after(&mut tx, &ways).await?;
                }
            }
            let batch = Batch::of(&mut tx, events).await?;
            tx.rollback().await?;
            self.0.last.store(newest, Ordering::SeqCst);
            // An error means that nobody reads.
            let _ = self.0.batches.send(Arc::new(batch));
            if !more {
                return Ok(());
            }
        }
    }

    /// Tells those to go, of these, who may not read any more what they read.
    pub(super) async fn look_after(&self, tx: &mut Tx, ways: &HashSet<Way>) -> store::Result<()> {
        if !ways.is_empty() {
            let now = Rights::of(tx, &ways.iter().collect::<Vec<_>>()).await?;
            self.0.places.hold_against(ways, &now);
        }
        Ok(())
    }
}
