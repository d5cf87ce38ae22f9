//! Changes of the desk itself: people, regions, rules, tokens, sessions. Each is one transaction, and stands in the
//! same log as the tasks.
//!
//! ```text
//!  Office::open(executor, actor) ──► transaction, the store's now, the actor's account locked against changes
//!    change rows through `office.tx`
//!    office.note(what was done)
//!  office.commit() ──► numbers last, events, COMMIT; readers are woken
//! ```
//!
//! Dropped before the commit, nothing was done.

use super::executor::Executor;
use crate::{
    domain::{
        actor::{Actor, Role},
        admin::AdminEvent,
        facts::Staff,
        fingerprint::hex,
        id::{RegionId, Timestamp},
    },
    store::{self, EventRow, Tx},
};

/// One change of the desk, under way.
#[derive(Debug)]
pub struct Office {
    executor: Executor,
    actor: Actor,
    /// The account of whoever acts, locked against changes; none if it is no member of staff.
    staff: Option<Staff>,
    /// The transaction.
    pub tx: Tx,
    now: Timestamp,
    notes: Vec<AdminEvent>,
}

impl Office {
    /// Begins a change on behalf of `actor`.
    ///
    /// # Errors
    /// Whatever the database says.
    pub async fn open(executor: &Executor, actor: &Actor) -> store::Result<Self> {
        let mut tx = executor.db().begin().await?;
        let staff = match actor {
            Actor::Staff(id) => tx.lock_staff(&[*id]).await?.pop().filter(|staff| !staff.disabled),
            Actor::System | Actor::Intake(_) | Actor::Customer(_) | Actor::Rider(_) => None,
        };
        let now = tx.now().await?;
        let (executor, actor) = (executor.clone(), actor.clone());
        Ok(Self { executor, actor, staff, tx, now, notes: Vec::new() })
    }

    /// The store's instant.
    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// Whether whoever acts has one of `roles`, at this moment and until the commit.
    pub fn is(&self, roles: &[Role]) -> bool {
        match (&self.actor, &self.staff) {
            (Actor::System, _) => true,
            (_, Some(staff)) => roles.contains(&staff.role),
            (_, None) => false,
        }
    }

    /// Whether `region` is one of whoever acts.
    pub fn reaches(&self, region: RegionId) -> bool {
        match (&self.actor, &self.staff) {
            (Actor::System, _) => true,
            (_, Some(staff)) => staff.regions.contains(&region),
            (_, None) => false,
        }
    }

    /// Says what was done. It stands in the log once it is committed.
    pub fn note(&mut self, event: AdminEvent) {
        self.notes.push(event);
    }

    /// An unguessable name of 128 bits.
    ///
    /// # Errors
    /// If the system has no randomness to give.
    pub fn token(&self) -> store::Result<String> {
        let mut bytes = [0; 16];
        let entropy = &self.executor.settings().entropy;
        entropy.fill(&mut bytes).map_err(|error| store::Error::Driver(error.into()))?;
        Ok(hex(&bytes))
    }

    /// Makes the change last, with what was noted.
    ///
    /// # Errors
    /// Whatever the database says; then nothing was done, unless the connection broke in the commit itself.
    pub async fn commit(mut self) -> store::Result<()> {
        let count = i64::try_from(self.notes.len()).unwrap_or(i64::MAX);
        let mut head = None;
        if count > 0 {
            // The counter is locked from here to the commit, so it comes last.
            let (first, _) = self.tx.take_numbers(count, 0).await?;
            let mut rows = Vec::with_capacity(self.notes.len());
            for (number, note) in (first..).zip(&self.notes) {
                let id = self.token()?;
                rows.push(EventRow::of_admin(number, id, note, &self.actor, self.now));
            }
            self.tx.insert_events(&rows).await?;
            head = Some(first + count - 1);
        }
        self.tx.commit().await?;
        if let Some(head) = head {
            self.executor.committed(head);
        }
        Ok(())
    }
}
