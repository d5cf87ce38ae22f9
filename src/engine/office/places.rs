//! Regions and their rules. A version of the rules is never edited: a new one is dated from when it holds.

use super::{Error, Office, Result, name};
use crate::{
    domain::{
        actor::{Actor, RequestKey},
        admin::{AdminAction, AdminEvent, AdminSubject},
        authority::Matter,
        id::{RegionId, Timestamp},
        policy::Policy,
    },
    engine::executor::Executor,
    store::RegionChange,
};

/// Personal data is kept at least this long after a task is over, in days.
const SHORTEST_RETENTION: i64 = 1;
/// And at most this long, if it is to be erased at all: ten years.
const LONGEST_RETENTION: i64 = 3_650;
/// No offer may wait longer, in seconds.
const LONGEST_OFFER: u32 = 3_600;
/// No grace may be longer, in milliseconds.
const LONGEST_GRACE_MS: i64 = 60_000;

fn checked<'a>(change: &RegionChange<'a>) -> Result<RegionChange<'a>> {
    if !change.area.is_sound() {
        return Err(Error::Invalid("area"));
    }
    let fits = |days: i64| (SHORTEST_RETENTION..=LONGEST_RETENTION).contains(&days);
    if !change.retention_days.is_none_or(fits) {
        return Err(Error::Invalid("retention_days"));
    }
    Ok(RegionChange { name: name(change.name, "name")?, ..change.clone() })
}

/// Which rule of a policy can not be, by the name of its field.
fn wrong(policy: &Policy) -> Option<&'static str> {
    let Policy { offer_seconds, offer_seconds_min, offer_seconds_max, .. } = *policy;
    if offer_seconds_min == 0 || offer_seconds_min > offer_seconds_max {
        return Some("offer_seconds_min");
    }
    if offer_seconds_max > LONGEST_OFFER {
        return Some("offer_seconds_max");
    }
    if !(offer_seconds_min..=offer_seconds_max).contains(&offer_seconds) {
        return Some("offer_seconds");
    }
    if !(0..=LONGEST_GRACE_MS).contains(&policy.grace_ms) {
        return Some("grace_ms");
    }
    if policy.hand_backs_per_day > 1_000 {
        return Some("hand_backs_per_day");
    }
    let aged = |age: i64| (1_000..=86_400_000).contains(&age);
    if !policy.position_max_age_ms.is_none_or(aged) {
        return Some("position_max_age");
    }
    policy.rounds.wrong()
}

impl Executor {
    /// Adds a region, with the default rules. It becomes one of whoever adds it, and of the admins and auditors who have
    /// every other one: what concerns the whole desk is theirs, and somebody has to have it.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn add_region(
        &self,
        actor: &Actor,
        new: &RegionChange<'_>,
        key: Option<&RequestKey>,
    ) -> Result<RegionId> {
        let mut office = Office::open_for(self, actor, Matter::Regions).await?;
        office.once(key).await?;
        let new = checked(new)?;
        let (id, ..) = office.tx.next_ids().await?;
        let added = office.tx.add_region(id, new.name, new.time_zone, new.area).await;
        added.map_err(super::taken)?;
        office.tx.add_region_to_those_with_all(id).await?;
        office.tx.change_region(id, 1, &new).await?;
        office.tx.add_policy(id, Timestamp(0), &Policy::default()).await?;
        if let Actor::Staff(staff) = actor {
            office.tx.add_staff_region(*staff, id).await?;
        }
        let added = AdminEvent::new(AdminAction::RegionAdded, AdminSubject::Region(id));
        office.note(added.in_region(id).with("time_zone", new.time_zone.name()));
        office.shown_at(format!("/admin/regions/{id}"));
        office.commit().await?;
        Ok(id)
    }

    /// Changes a region that is still at `revision`.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn change_region(
        &self,
        actor: &Actor,
        id: RegionId,
        revision: i64,
        change: &RegionChange<'_>,
    ) -> Result<()> {
        let mut office = Office::open_for(self, actor, Matter::Regions).await?;
        if !office.reaches(id) {
            return Err(Error::NotFound);
        }
        let change = checked(change)?;
        if office.tx.change_region(id, revision, &change).await? == 0 {
            return Err(Error::Stale);
        }
        let changed = AdminEvent::new(AdminAction::RegionChanged, AdminSubject::Region(id));
        let days = change.retention_days.map_or_else(String::new, |days| days.to_string());
        let changed = changed.with("time_zone", change.time_zone.name());
        office.note(changed.in_region(id).with("retention_days", days));
        office.commit().await?;
        Ok(())
    }

    /// Adds a version of a region's rules after `policy.version`, in force from `starts_at`; none is now. Returns its
    /// number.
    ///
    /// # Errors
    /// [`Error`]; [`Error::Stale`] if there is a later version already.
    pub async fn add_policy(
        &self,
        actor: &Actor,
        region: RegionId,
        starts_at: Option<Timestamp>,
        policy: &Policy,
    ) -> Result<i64> {
        let mut office = Office::open_for(self, actor, Matter::Policies).await?;
        if !office.reaches(region) {
            return Err(Error::NotFound);
        }
        if let Some(field) = wrong(policy) {
            return Err(Error::Invalid(field));
        }
        let last = office.tx.policies_of(region, 1).await?.pop();
        let last = last.map_or(0, |last| last.policy.version);
        if last != policy.version {
            return Err(Error::Stale);
        }
        let now = office.now();
        if starts_at.is_some_and(|at| at < now) {
            return Err(Error::Invalid("starts_at"));
        }
        let new = Policy { version: last + 1, ..policy.clone() };
        // Of two who add the same version at once, the key lets one.
        let added = office.tx.add_policy(region, starts_at.unwrap_or(now), &new).await;
        added.map_err(|error| match super::taken(error) {
            Error::Taken => Error::Stale,
            other => other,
        })?;
        let rules = serde_json::to_string(&new).unwrap_or_default();
        let added = AdminEvent::new(AdminAction::PolicyAdded, AdminSubject::Region(region));
        let starts = starts_at.unwrap_or(now).to_string();
        office.note(added.in_region(region).with("rules", rules).with("starts_at", starts));
        office.commit().await?;
        Ok(new.version)
    }
}
