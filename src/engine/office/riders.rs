//! Riders: added, and the link by which they come in. (Changes of riders end offers: `executor::riders`.)

use super::{Error, Office, RIDER_LINK_MS, Result, name};
use crate::{
    domain::{
        actor::{Actor, RequestKey},
        admin::{AdminAction, AdminEvent, AdminSubject},
        authority::Matter,
        id::{RegionId, RiderId},
        task::Vehicle,
    },
    engine::executor::{self, Executor},
    store::{Link, LinkPurpose, RiderChange, token_hash},
};

/// Somebody who is to ride here.
#[derive(Clone, Debug)]
pub struct NewRider<'a> {
    /// The name.
    pub name: &'a str,
    /// Where.
    pub region: RegionId,
    /// How many tasks and offers at once.
    pub capacity: u32,
    /// How they move.
    pub vehicle: Option<Vehicle>,
    /// How they are reached.
    pub phone: Option<&'a str>,
}

/// A phone number as it is kept: digits, after a `+` if there is one. Spaces, hyphens and brackets are left out. `None` if it is none.
pub fn phone_number(text: &str) -> Option<String> {
    let kept: String = text.chars().filter(|c| !c.is_whitespace() && !"-()".contains(*c)).collect();
    let digits = kept.strip_prefix('+').unwrap_or(&kept);
    let fits = (5..=15).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    fits.then_some(kept)
}

impl Executor {
    /// Adds a rider, on duty.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn add_rider(
        &self,
        actor: &Actor,
        new: &NewRider<'_>,
        key: Option<&RequestKey>,
    ) -> Result<RiderId> {
        let mut office = Office::open_for(self, actor, Matter::Riders).await?;
        office.once(key).await?;
        let name = name(new.name, "name")?;
        let phone = match new.phone.filter(|text| !text.trim().is_empty()) {
            Some(text) => Some(phone_number(text).ok_or(Error::Invalid("phone"))?),
            None => None,
        };
        if new.capacity > 1_000 {
            return Err(Error::Invalid("capacity"));
        }
        if !office.reaches(new.region) {
            return Err(Error::Invalid("region"));
        }
        let (_, id, _) = office.tx.next_ids().await?;
        let added = office.tx.add_rider(id, new.region, name, new.capacity, new.vehicle).await;
        added.map_err(super::taken)?;
        if let Some(phone) = phone {
            let change = RiderChange { phone: Some(phone), ..RiderChange::default() };
            office.tx.change_rider(id, &change).await?;
        }
        let added = AdminEvent::new(AdminAction::RiderAdded, AdminSubject::Rider(id));
        office.note(added.in_region(new.region).with("capacity", new.capacity.to_string()));
        office.shown_at(format!("/admin/riders/{id}"));
        office.commit().await?;
        Ok(id)
    }

    /// Changes a rider as admins do: what was typed is looked at first. Returns how many offers were withdrawn.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn edit_rider(
        &self,
        actor: &Actor,
        id: RiderId,
        change: RiderChange,
    ) -> Result<usize> {
        // What was typed is looked at first; the change itself asks for the right again, in its own transaction.
        let office = Office::open_for(self, actor, Matter::Riders).await?;
        let named = change.name.as_deref().map(|text| name(text, "name").map(str::to_owned));
        let number = match change.phone.as_deref().map(str::trim) {
            None => None,
            Some("") => Some(String::new()),
            Some(text) => Some(phone_number(text).ok_or(Error::Invalid("phone"))?),
        };
        if change.capacity.is_some_and(|capacity| capacity > 1_000) {
            return Err(Error::Invalid("capacity"));
        }
        if change.region.is_some_and(|region| !office.reaches(region)) {
            return Err(Error::Invalid("region"));
        }
        drop(office);
        let change = RiderChange { name: named.transpose()?, phone: number, ..change };
        self.change_rider(actor, id, &change).await.map_err(|error| match error {
            executor::Error::Denied(crate::domain::decide::Denial::NotSignedIn) => {
                Error::NotSignedIn
            }
            executor::Error::Denied(crate::domain::decide::Denial::Forbidden) => Error::Forbidden,
            executor::Error::Denied(_) => Error::NotFound,
            executor::Error::RecordChanged => Error::Stale,
            _ => Error::Busy,
        })
    }

    /// Dismisses a signal about a rider: somebody has looked at it. That they did is in the log.
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is none such, or it was dismissed before; or as [`Office::open_for`] says.
    pub async fn dismiss_signal(&self, actor: &Actor, id: RiderId, signal: i64) -> Result<()> {
        let mut office = Office::open_for(self, actor, Matter::RiderLinks).await?;
        let rider = office.tx.rider(id).await?.filter(|rider| office.reaches(rider.region));
        let rider = rider.ok_or(Error::NotFound)?;
        let Actor::Staff(by) = actor else { return Err(Error::Forbidden) };
        let now = office.now();
        if office.tx.dismiss_signal(id, signal, *by, now).await? == 0 {
            return Err(Error::NotFound);
        }
        let dismissed = AdminEvent::new(AdminAction::SignalDismissed, AdminSubject::Rider(id));
        office.note(dismissed.in_region(rider.region).with("signal", signal.to_string()));
        office.commit().await?;
        Ok(())
    }

    /// Makes a link that signs a rider in once. Returns its secret.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn make_rider_link(&self, actor: &Actor, id: RiderId) -> Result<String> {
        let mut office = Office::open_for(self, actor, Matter::RiderLinks).await?;
        let rider = office.tx.rider(id).await?.filter(|rider| office.reaches(rider.region));
        let rider = rider.ok_or(Error::NotFound)?;
        if rider.disabled {
            return Err(Error::Invalid("disabled"));
        }
        let secret = office.token()?;
        let link = Link { actor: Actor::Rider(id), purpose: LinkPurpose::Enter };
        office.tx.end_links_of(&link.actor).await?;
        let (now, until) = (office.now(), office.now().plus_ms(RIDER_LINK_MS));
        office.tx.add_link(&token_hash(&secret), &link, now, until, 1).await?;
        let made = AdminEvent::new(AdminAction::SignInLinkMade, AdminSubject::Rider(id));
        office.note(made.in_region(rider.region));
        office.commit().await?;
        Ok(secret)
    }
}

#[cfg(test)]
mod tests {
    use super::phone_number;

    #[test]
    fn a_phone_number_is_kept_without_its_looks() {
        assert_eq!(phone_number(" 138 0000-1234"), Some("13800001234".to_owned()));
        assert_eq!(phone_number("+86 (138) 00001234"), Some("+8613800001234".to_owned()));
        for bad in ["", "138", "1380000123x", "++8613800001234", "1234567890123456"] {
            assert_eq!(phone_number(bad), None, "{bad}");
        }
    }
}
