//! What people do to their own accounts: password, second factor, sessions; and the first admin's way in.

use totp_rs::{Builder, Secret, Totp};

use super::{Error, Office, Result, name, taken};
use crate::{
    domain::{
        actor::{Actor, Role},
        admin::{AdminAction, AdminEvent, AdminSubject},
        authority::Matter,
        id::{RiderId, StaffId, Timestamp},
    },
    engine::executor::Executor,
    store::{Link, LinkPurpose, token_hash},
};

/// How long a code of the second factor is good, in milliseconds (RFC 6238 §5.2): this step and the one before it.
const STEP_MS: i64 = 30_000;
/// How many recovery codes there are.
const RECOVERY_CODES: usize = 10;
/// The set-up link is good this long, in milliseconds: a quarter of an hour.
pub(super) const SET_UP_LINK_MS: i64 = 15 * 60_000;

/// The first admin.
#[derive(Clone, Debug)]
pub struct SetUp<'a> {
    /// The link's secret.
    pub secret: &'a str,
    /// The name.
    pub name: &'a str,
    /// The name to sign in with.
    pub login: &'a str,
    /// The hashed password.
    pub phc: &'a str,
}

/// The codes of a shared secret; `None` if it is no base 32.
fn codes(secret: &str) -> Option<Totp> {
    let secret = Secret::try_from_base32(secret).ok()?;
    Some(
        Builder::new().with_secret(secret).with_skew(0).with_step_duration(30).build_noncompliant(),
    )
}

/// Which step `code` belongs to: the present one or the one before it, for clocks that are a little late.
pub(super) fn step(secret: &str, code: &str, now: Timestamp) -> Option<i64> {
    let codes = codes(secret)?;
    let code: String = code.chars().filter(|c| !c.is_whitespace()).collect();
    [now, now.plus_ms(-STEP_MS)].into_iter().find_map(|at| {
        let seconds = u64::try_from(at.0 / 1_000).ok()?;
        codes.check(&code, seconds).and_then(|_| i64::try_from(seconds / 30).ok())
    })
}

/// A sign-in name: 1 to 64 characters without spaces.
fn login(text: &str) -> Result<&str> {
    let text = text.trim();
    let plain = |c: char| !c.is_whitespace() && !c.is_control();
    let fits = (1..=64).contains(&text.chars().count()) && text.chars().all(plain);
    if fits { Ok(text) } else { Err(Error::Invalid("login")) }
}

impl Executor {
    /// While there is nobody here: makes the link by which the first admin comes in. Returns its secret; `None` if
    /// there is somebody. The links before it are over.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn make_set_up_link(&self) -> Result<Option<String>> {
        let mut office = Office::open(self, &Actor::System).await?;
        if office.tx.has_staff().await? {
            return Ok(None);
        }
        let secret = office.token()?;
        let link = Link { actor: Actor::Staff(StaffId(0)), purpose: LinkPurpose::SetUp };
        office.tx.end_links_of(&link.actor).await?;
        let (now, until) = (office.now(), office.now().plus_ms(SET_UP_LINK_MS));
        office.tx.add_link(&token_hash(&secret), &link, now, until, 1).await?;
        office.commit().await?;
        Ok(Some(secret))
    }

    /// The first admin, by the set-up link. It works once, and only while there is nobody.
    ///
    /// # Errors
    /// [`Error`]; [`Error::NotFound`] if the link is over.
    pub async fn set_up(&self, wanted: &SetUp<'_>) -> Result<StaffId> {
        let mut office = Office::open(self, &Actor::System).await?;
        let (name, login) = (name(wanted.name, "name")?, login(wanted.login)?);
        let now = office.now();
        let hash = token_hash(wanted.secret);
        let used = office.tx.use_link(&hash, LinkPurpose::SetUp, now).await?;
        if used.is_none() || office.tx.has_staff().await? {
            return Err(Error::NotFound);
        }
        let (.., id) = office.tx.next_ids().await?;
        office.tx.add_staff(id, name, Role::Admin, &[]).await.map_err(taken)?;
        office.tx.set_password(id, login, wanted.phc, now).await.map_err(taken)?;
        office.note(AdminEvent::new(AdminAction::SetUp, AdminSubject::Staff(id)));
        office.commit().await?;
        Ok(id)
    }

    /// Lets an admin in again, for whoever has the machine in hand: the account is opened, its second factor taken
    /// away, its sessions ended. Without any admin a new one is made. One without a region gets all that there are. Returns who, and the secret of the link by which
    /// they set their password.
    ///
    /// # Errors
    /// [`Error`]; [`Error::NotFound`] if `staff` is no admin.
    pub async fn recover(&self, staff: Option<StaffId>) -> Result<(StaffId, String)> {
        let mut office = Office::open(self, &Actor::System).await?;
        let id = if let Some(id) = staff {
            let record = office.tx.staff_record(id).await?;
            let record = record.filter(|record| record.account.staff.role == Role::Admin);
            record.ok_or(Error::NotFound)?;
            office.tx.disable_staff(id, false).await?;
            office.tx.remove_factor(id).await?;
            office.tx.end_sessions_of(&Actor::Staff(id)).await?;
            id
        } else {
            let (.., id) = office.tx.next_ids().await?;
            office.tx.add_staff(id, "admin", Role::Admin, &[]).await?;
            id
        };
        // Whoever has none could keep nobody, not even themselves.
        let account = office.tx.staff_account(id).await?;
        if account.is_some_and(|account| account.staff.regions.is_empty()) {
            let now = office.now();
            for found in office.tx.regions(now).await? {
                office.tx.add_staff_region(id, found.region.id).await?;
            }
        }
        office.note(AdminEvent::new(AdminAction::Recovered, AdminSubject::Staff(id)));
        let secret = office.password_link(id).await?;
        office.commit().await?;
        Ok((id, secret))
    }

    /// Somebody sets their own password by a link. All of their sessions end. Returns who it is.
    ///
    /// # Errors
    /// [`Error`]; [`Error::NotFound`] if the link is over.
    pub async fn use_password_link(&self, secret: &str, as_: &str, phc: &str) -> Result<StaffId> {
        let mut office = Office::open(self, &Actor::System).await?;
        let login = login(as_)?;
        let now = office.now();
        let hash = token_hash(secret);
        let used = office.tx.use_link(&hash, LinkPurpose::Password, now).await?;
        let Some(Actor::Staff(id)) = used else { return Err(Error::NotFound) };
        let record = office.tx.staff_record(id).await?.ok_or(Error::NotFound)?;
        if record.account.staff.disabled {
            return Err(Error::NotFound);
        }
        office.tx.set_password(id, login, phc, now).await.map_err(taken)?;
        office.tx.end_sessions_of(&Actor::Staff(id)).await?;
        office.tx.end_links_of(&Actor::Staff(id)).await?;
        let set = AdminEvent::new(AdminAction::PasswordSet, AdminSubject::Staff(id));
        office.note(set.with("by", "link"));
        office.commit().await?;
        Ok(id)
    }

    /// Somebody sets another password of their own. All of their other sessions end.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn set_own_password(&self, staff: StaffId, phc: &str, session: &str) -> Result<()> {
        let actor = Actor::Staff(staff);
        let mut office = Office::open_for(self, &actor, Matter::Own).await?;
        let now = office.now();
        let known = office.tx.password_of(staff).await?;
        let (login, _) = known.ok_or(Error::NotFound)?;
        office.tx.set_password(staff, &login, phc, now).await?;
        office.tx.end_others_of(&actor, session).await?;
        // One that somebody else has would undo it.
        office.tx.end_links_of(&actor).await?;
        let set = AdminEvent::new(AdminAction::PasswordSet, AdminSubject::Staff(staff));
        office.note(set.with("by", "owner"));
        office.commit().await?;
        Ok(())
    }

    /// A rider sets the password to sign in with, under their own phone number. Their other devices are forgotten.
    ///
    /// # Errors
    /// [`Error`]; [`Error::Taken`] if another rider signs in with that number.
    pub async fn set_rider_password(&self, rider: RiderId, phc: &str, session: &str) -> Result<()> {
        let actor = Actor::Rider(rider);
        let mut office = Office::open(self, &actor).await?;
        let account = office.tx.rider_account(rider).await?;
        let account = account.filter(|account| !account.rider.disabled);
        let account = account.ok_or(Error::NotSignedIn)?;
        let phone = account.phone.ok_or(Error::Invalid("phone"))?;
        let now = office.now();
        office.tx.set_rider_password(rider, &phone, phc, now).await.map_err(taken)?;
        office.tx.end_others_of(&actor, session).await?;
        office.tx.end_links_of(&actor).await?;
        let set = AdminEvent::new(AdminAction::PasswordSet, AdminSubject::Rider(rider));
        office.note(set.in_region(account.rider.region).with("by", "owner"));
        office.commit().await?;
        Ok(())
    }

    /// Makes a new second factor for somebody, which does not count yet. Returns its secret in base 32. One that
    /// counts is not replaced: it has to be taken away first.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn new_factor(&self, staff: StaffId) -> Result<String> {
        let mut office = Office::open_for(self, &Actor::Staff(staff), Matter::Own).await?;
        let known = office.tx.factor(staff).await?;
        if known.is_some_and(|factor| factor.confirmed_at.is_some()) {
            return Err(Error::Stale);
        }
        let random = format!("{}{}", office.token()?, office.token()?);
        let bytes: Vec<u8> = random.as_bytes().chunks(2).filter_map(hex_byte).take(20).collect();
        let secret = Secret::from(bytes).to_base32();
        let now = office.now();
        office.tx.put_factor(staff, &secret, now).await?;
        office.commit().await?;
        Ok(secret)
    }

    /// Makes a second factor count, by its first code. Returns the recovery codes, which are shown this once.
    ///
    /// # Errors
    /// [`Error`]; [`Error::Invalid`] if the code is not the factor's.
    pub async fn confirm_factor(&self, staff: StaffId, code: &str) -> Result<Vec<String>> {
        let mut office = Office::open_for(self, &Actor::Staff(staff), Matter::Own).await?;
        let factor = office.tx.factor(staff).await?.ok_or(Error::NotFound)?;
        let now = office.now();
        let step = step(&factor.secret, code, now).ok_or(Error::Invalid("code"))?;
        if office.tx.confirm_factor(staff, now, step).await? == 0 {
            return Err(Error::Stale);
        }
        let mut codes = Vec::with_capacity(RECOVERY_CODES);
        for _ in 0..RECOVERY_CODES {
            let code = office.token()?;
            codes.push(format!("{}-{}-{}", &code[..5], &code[5..10], &code[10..15]));
        }
        let hashes: Vec<_> = codes.iter().map(|code| token_hash(code)).collect();
        office.tx.put_codes(staff, &hashes).await?;
        office.note(AdminEvent::new(AdminAction::FactorSet, AdminSubject::Staff(staff)));
        office.commit().await?;
        Ok(codes)
    }

    /// Takes one's own second factor away.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn remove_own_factor(&self, staff: StaffId) -> Result<()> {
        let mut office = Office::open_for(self, &Actor::Staff(staff), Matter::Own).await?;
        if office.tx.desk_rule().await?.factor_required {
            return Err(Error::Forbidden);
        }
        if office.tx.remove_factor(staff).await? == 0 {
            return Err(Error::NotFound);
        }
        office.note(AdminEvent::new(AdminAction::FactorRemoved, AdminSubject::Staff(staff)));
        office.commit().await?;
        Ok(())
    }

    /// Whether `code` lets somebody in now, as a code of their factor or as a recovery code. It is used up by that: of
    /// two who send the same one at once, one gets in.
    ///
    /// # Errors
    /// Whatever the database says.
    pub async fn use_factor(&self, staff: StaffId, code: &str) -> Result<bool> {
        let mut office = Office::open_for(self, &Actor::Staff(staff), Matter::Own).await?;
        let factor = office.tx.factor(staff).await?;
        let Some(factor) = factor.filter(|factor| factor.confirmed_at.is_some()) else {
            return Ok(false);
        };
        let now = office.now();
        let used = if let Some(step) = step(&factor.secret, code, now) {
            office.tx.use_step(staff, step).await?
        } else {
            let typed = code.trim().to_ascii_lowercase();
            let used = office.tx.use_code(staff, &token_hash(&typed), now).await?;
            if used == 1 {
                let event = AdminAction::RecoveryCodeUsed;
                office.note(AdminEvent::new(event, AdminSubject::Staff(staff)));
            }
            used
        };
        office.commit().await?;
        Ok(used == 1)
    }
}

fn hex_byte(pair: &[u8]) -> Option<u8> {
    std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_the_standard() {
        // RFC 6238, appendix B, the secret "12345678901234567890", cut to six digits.
        let secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
        for (seconds, code) in
            [(59, "287082"), (1_111_111_109, "081804"), (2_000_000_000, "279037")]
        {
            let at = Timestamp(seconds * 1_000);
            assert_eq!(step(secret, code, at), Some(seconds / 30), "{code}");
            assert_eq!(
                step(secret, code, at.plus_ms(30_000)),
                Some(seconds / 30),
                "the step before"
            );
            assert_eq!(step(secret, code, at.plus_ms(60_000)), None, "two steps old");
            assert_eq!(step(secret, code, at.plus_ms(-30_000)), None, "too early");
        }
    }
}
