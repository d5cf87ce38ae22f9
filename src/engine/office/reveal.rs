//! A masked phone number is shown to somebody: kept in the log first, and only then given out.

use super::{Error, Office, Result};
use crate::{
    domain::{
        actor::Actor,
        admin::{AdminAction, AdminEvent, AdminSubject},
        authority::Matter,
        id::TaskId,
        reveal::{RevealReason, Which},
    },
    engine::executor::Executor,
};

/// Whole numbers, for whoever asked for them and nobody else.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Shown {
    /// The one at the pickup.
    pub pickup: Option<String>,
    /// The one at the drop-off.
    pub dropoff: Option<String>,
    /// The rider's.
    pub rider: Option<String>,
}

impl std::fmt::Debug for Shown {
    /// Without the numbers: what is printed ends up in logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shown").finish_non_exhaustive()
    }
}

impl Executor {
    /// The whole numbers of a task's people. That they were asked for, by whom and why, is in the log when this returns.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a task outside of the actor's regions as for one that is not there; [`Error::Invalid`] if
    /// there is no such number; or as [`Office::open_for`] says.
    pub async fn reveal(
        &self,
        actor: &Actor,
        task: TaskId,
        which: Which,
        reason: RevealReason,
    ) -> Result<Shown> {
        let mut office = Office::open_for(self, actor, Matter::Reveal).await?;
        let card = office.tx.card(task).await?.filter(|card| office.reaches(card.task.region));
        let card = card.ok_or(Error::NotFound)?;
        let held_by = card.task.state.rider().filter(|_| which == Which::Rider);
        let rider = match held_by {
            Some(rider) => office.tx.rider_account(rider).await?.and_then(|found| found.phone),
            None => None,
        };
        let shown = Shown {
            pickup: card.detail.pickup.phone.filter(|_| which.pickup()),
            dropoff: card.detail.dropoff.phone.filter(|_| which.dropoff()),
            rider,
        };
        let names =
            [("pickup", &shown.pickup), ("dropoff", &shown.dropoff), ("rider", &shown.rider)];
        let names: Vec<_> =
            names.iter().filter(|(_, number)| number.is_some()).map(|(name, _)| *name).collect();
        if names.is_empty() {
            return Err(Error::Invalid("phone"));
        }
        let event = AdminEvent::new(AdminAction::Revealed, AdminSubject::Task(task));
        let event = event.in_region(card.task.region).with("numbers", names.join(","));
        let event = event.with("reason", reason.as_str());
        office.note(match held_by {
            Some(rider) => event.with("rider", rider.to_string()),
            None => event,
        });
        office.commit().await?;
        Ok(shown)
    }
}
