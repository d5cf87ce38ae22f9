//! The desk's own people, tokens and links, from the command line: for whoever has the machine in hand, and for scripts.
//! Each change stands in the log like one that was made on a page, as the system's own, done by the command line.

use crate::{
    clock::{Entropy, SystemEntropy},
    domain::{
        admin::{AdminAction, AdminEvent, AdminSubject},
        command::{Actor, Role},
        fingerprint::hex,
        geo::Area,
        id::{RegionId, RiderId, StaffId, Timestamp},
        policy::Policy,
        task::Vehicle,
    },
    store::{self, ApiToken, Db, EventRow, Link, LinkPurpose, Tx, token_hash},
    web::{fit_password, hash_password},
};

/// Why it could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The system has no randomness to give.
    #[error("no randomness: {0}")]
    Entropy(#[from] std::io::Error),
    /// There is nobody of that number.
    #[error("there is no {0}")]
    Nobody(String),
    /// The name of a source is no name.
    #[error(
        "a source is named with a-z, 0-9, _ and -, starts with a letter and has at most 40 characters"
    )]
    Source,
    /// The password is too short or too long, or the name is empty.
    #[error("a password has 12 to 128 characters, a sign-in name 1 to 64 without spaces")]
    Password,
    /// The password is among the first that are tried.
    #[error(
        "this password is too easy to guess; take a few words that have nothing to do with each other"
    )]
    Guessable,
    /// The password could not be hashed.
    #[error("the password could not be hashed: {0}")]
    Hash(String),
}

/// `bytes` unguessable bytes in hexadecimal.
fn secret<const BYTES: usize>() -> std::io::Result<String> {
    let mut bytes = [0; BYTES];
    SystemEntropy.fill(&mut bytes)?;
    Ok(hex(&bytes))
}

/// Makes a change last, with its event. Numbers come last: their counter is locked from there to the commit.
async fn keep(mut tx: Tx, event: AdminEvent) -> Result<(), Error> {
    let now = tx.now().await?;
    let region = match event.region {
        None => tx.region_of(event.of).await?,
        known => known,
    };
    let (number, _) = tx.take_numbers(1, 0).await?;
    let event = event.in_region(region).with("by", "command-line");
    let row = EventRow::of_admin(number, secret::<16>()?, &event, &Actor::System, now);
    tx.insert_events(&[row]).await?;
    Ok(tx.commit().await?)
}

/// Reads the name of a source of orders.
///
/// # Errors
/// [`Error::Source`].
pub fn source(name: &str) -> Result<Actor, Error> {
    Actor::source(name).ok_or(Error::Source)
}

/// Whether the one that a token or link would speak for exists.
async fn must_exist(db: &Db, actor: &Actor) -> Result<(), Error> {
    let mut tx = db.read().await?;
    let there = match actor {
        Actor::Staff(staff) => tx.staff_account(*staff).await?.is_some(),
        Actor::Rider(rider) => tx.rider_account(*rider).await?.is_some(),
        Actor::Intake(_) | Actor::System | Actor::Customer(_) => true,
    };
    if there { Ok(()) } else { Err(Error::Nobody(actor.to_string())) }
}

/// Makes a token that speaks for `actor`, `desk_<id>_<secret>`. It is shown this once; only a hash is kept.
///
/// # Errors
/// [`Error::Nobody`], or whatever the database says.
pub async fn token(db: &Db, actor: &Actor, label: &str) -> Result<String, Error> {
    must_exist(db, actor).await?;
    let (id, secret) = (secret::<6>()?, secret::<16>()?);
    let mut tx = db.begin().await?;
    let now = tx.now().await?;
    let token = ApiToken::new(&id, &secret, label, actor, now);
    tx.add_token(&token).await?;
    let made = AdminEvent::new(AdminAction::TokenMade, AdminSubject::of(actor));
    let made = made.with("token", &id).with("for", actor.to_string());
    keep(tx, made.with("actions", token.scope.actions.to_string())).await?;
    Ok(format!("desk_{id}_{secret}"))
}

/// Ends a token by its id, or by the whole token.
///
/// # Errors
/// [`Error::Nobody`] if there is no such token.
pub async fn revoke(db: &Db, token: &str) -> Result<(), Error> {
    let id = token.strip_prefix("desk_").unwrap_or(token).split('_').next().unwrap_or_default();
    let mut tx = db.begin().await?;
    let now = tx.now().await?;
    let token = tx.token(id, now).await?;
    let token = token.ok_or_else(|| Error::Nobody(format!("token {id}")))?;
    if tx.revoke_token(id, now).await? == 0 {
        return Err(Error::Nobody(format!("token {id}")));
    }
    let ended = AdminEvent::new(AdminAction::TokenEnded, AdminSubject::of(&token.actor));
    keep(tx, ended.with("token", id)).await
}

/// Makes a link that signs `actor` in `uses` times within `lasts_ms` milliseconds. Returns its path.
///
/// # Errors
/// [`Error::Nobody`], or whatever the database says.
pub async fn link(db: &Db, actor: &Actor, lasts_ms: i64, uses: u32) -> Result<String, Error> {
    must_exist(db, actor).await?;
    let secret = secret::<16>()?;
    let mut tx = db.begin().await?;
    let now = tx.now().await?;
    let link = Link { actor: actor.clone(), purpose: LinkPurpose::Enter };
    tx.add_link(&token_hash(&secret), &link, now, now.plus_ms(lasts_ms), uses).await?;
    keep(tx, AdminEvent::new(AdminAction::SignInLinkMade, AdminSubject::of(actor))).await?;
    Ok(format!("/enter/{secret}"))
}

/// Notes that the whole log is about to be exported, in the form of files that end with `form`.
///
/// # Errors
/// Whatever the database says; then nothing is to be given out.
pub async fn exported(db: &Db, form: &str) -> Result<(), Error> {
    let exported = AdminEvent::new(AdminAction::Exported, AdminSubject::Desk);
    keep(db.begin().await?, exported.with("form", form)).await
}

/// Sets the sign-in name and the password of a member of staff, and ends their sessions.
///
/// # Errors
/// [`Error::Password`], [`Error::Nobody`], or whatever the database says.
pub async fn password(db: &Db, staff: StaffId, login: &str, password: &str) -> Result<(), Error> {
    let named = (1..=64).contains(&login.len()) && !login.contains(char::is_whitespace);
    if !named || !(12..=128).contains(&password.chars().count()) || login.contains('\0') {
        return Err(Error::Password);
    }
    if fit_password(password, &[login]).is_err() {
        return Err(Error::Guessable);
    }
    must_exist(db, &Actor::Staff(staff)).await?;
    let mut salt = [0; 16];
    SystemEntropy.fill(&mut salt)?;
    let phc = hash_password(password, &salt).map_err(|error| Error::Hash(error.to_string()))?;
    let mut tx = db.begin().await?;
    let now = tx.now().await?;
    tx.set_password(staff, login, &phc, now).await?;
    tx.end_sessions_of(&Actor::Staff(staff)).await?;
    tx.end_links_of(&Actor::Staff(staff)).await?;
    keep(tx, AdminEvent::new(AdminAction::PasswordSet, AdminSubject::Staff(staff))).await
}

/// Adds a region with the default rules.
///
/// # Errors
/// Whatever the database says.
pub async fn region(
    db: &Db,
    name: &str,
    time_zone: chrono_tz::Tz,
    area: &Area,
) -> Result<RegionId, Error> {
    let mut tx = db.begin().await?;
    let (id, ..) = tx.next_ids().await?;
    tx.add_region(id, name, time_zone, area).await?;
    tx.add_policy(id, Timestamp(0), &Policy::default()).await?;
    let added = AdminEvent::new(AdminAction::RegionAdded, AdminSubject::Region(id));
    keep(tx, added.in_region(id).with("time_zone", time_zone.name())).await?;
    Ok(id)
}

/// Adds a member of staff.
///
/// # Errors
/// Whatever the database says; a region that is not there is refused by it.
pub async fn staff(
    db: &Db,
    name: &str,
    role: Role,
    regions: &[RegionId],
) -> Result<StaffId, Error> {
    let mut tx = db.begin().await?;
    let (.., id) = tx.next_ids().await?;
    tx.add_staff(id, name, role, regions).await?;
    let list: Vec<_> = regions.iter().map(ToString::to_string).collect();
    let added = AdminEvent::new(AdminAction::StaffAdded, AdminSubject::Staff(id));
    keep(tx, added.with("role", role.as_str()).with("regions", list.join(","))).await?;
    Ok(id)
}

/// Adds a rider who is on duty.
///
/// # Errors
/// Whatever the database says; a region that is not there is refused by it.
pub async fn rider(
    db: &Db,
    name: &str,
    region: RegionId,
    capacity: u32,
    vehicle: Option<Vehicle>,
) -> Result<RiderId, Error> {
    let mut tx = db.begin().await?;
    let (_, id, _) = tx.next_ids().await?;
    tx.add_rider(id, region, name, capacity, vehicle).await?;
    let added = AdminEvent::new(AdminAction::RiderAdded, AdminSubject::Rider(id));
    keep(tx, added.in_region(region).with("capacity", capacity.to_string())).await?;
    Ok(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_source_can_not_be_somebody_elses() {
        assert!(source("shop-2_b").is_ok());
        for bad in ["", "Shop", "1shop", "staff:1", "a b", "店", &"a".repeat(41)] {
            assert!(source(bad).is_err(), "{bad}");
        }
    }
}
