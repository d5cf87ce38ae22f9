//! Staff: added, changed, shut out; and the link by which they set their own password, which nobody else may choose.

use super::{Error, Office, PASSWORD_LINK_MS, Result, name};
use crate::{
    domain::{
        actor::{Actor, RequestKey, Role},
        admin::{AdminAction, AdminEvent, AdminSubject},
        authority::{Matter, STAFF},
        id::{RegionId, StaffId},
    },
    engine::executor::Executor,
    store::{Link, LinkPurpose, StaffChange, StaffRecord, token_hash},
};

/// Somebody who is to work here.
#[derive(Clone, Debug)]
pub struct NewStaff<'a> {
    /// The name.
    pub name: &'a str,
    /// What they may do.
    pub role: Role,
    /// Where.
    pub regions: &'a [RegionId],
}

fn list(regions: &[RegionId]) -> String {
    regions.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

impl Office {
    /// An account that whoever acts may change: all of its regions are theirs. Others are not there for them.
    async fn reached_staff(&mut self, id: StaffId) -> Result<StaffRecord> {
        let record = self.tx.staff_record(id).await?.ok_or(Error::NotFound)?;
        let reached = self.reaches_all(&record.account.staff.regions).await?;
        if reached { Ok(record) } else { Err(Error::NotFound) }
    }

    /// A link by which `staff` set their own password; the earlier ones are over.
    pub(super) async fn password_link(&mut self, staff: StaffId) -> Result<String> {
        let secret = self.token()?;
        let link = Link { actor: Actor::Staff(staff), purpose: LinkPurpose::Password };
        self.tx.end_links_of(&link.actor).await?;
        let (now, until) = (self.now(), self.now().plus_ms(PASSWORD_LINK_MS));
        self.tx.add_link(&token_hash(&secret), &link, now, until, 1).await?;
        self.note(AdminEvent::new(AdminAction::PasswordLinkMade, AdminSubject::Staff(staff)));
        Ok(secret)
    }
}

impl Executor {
    /// Adds a member of staff, who can not come in yet: that takes a link by which they set their password.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn add_staff(
        &self,
        actor: &Actor,
        new: &NewStaff<'_>,
        key: Option<&RequestKey>,
    ) -> Result<StaffId> {
        let mut office = Office::open_for(self, actor, Matter::Staff).await?;
        office.once(key).await?;
        let name = name(new.name, "name")?;
        if !STAFF.contains(&new.role) {
            return Err(Error::Invalid("role"));
        }
        if !office.reaches_all(new.regions).await? {
            return Err(Error::Invalid("regions"));
        }
        let (.., id) = office.tx.next_ids().await?;
        office.tx.add_staff(id, name, new.role, new.regions).await.map_err(super::taken)?;
        let added = AdminEvent::new(AdminAction::StaffAdded, AdminSubject::Staff(id));
        office.note(added.with("role", new.role.as_str()).with("regions", list(new.regions)));
        office.shown_at(format!("/admin/staff/{id}"));
        office.commit().await?;
        Ok(id)
    }

    /// Changes a member of staff who is still at `revision`. If role, regions or the account itself change, all of
    /// their sessions end with it.
    ///
    /// # Errors
    /// [`Error`]; [`Error::LastAdmin`] if nobody could keep the desk after it.
    pub async fn change_staff(
        &self,
        actor: &Actor,
        id: StaffId,
        revision: i64,
        change: &StaffChange<'_>,
    ) -> Result<()> {
        let mut office = Office::open_for(self, actor, Matter::Staff).await?;
        let change = StaffChange { name: name(change.name, "name")?, ..change.clone() };
        if !STAFF.contains(&change.role) {
            return Err(Error::Invalid("role"));
        }
        let admins = office.tx.lock_admins().await?;
        let before = office.reached_staff(id).await?;
        if !office.reaches_all(change.regions).await? {
            return Err(Error::Invalid("regions"));
        }
        let stays = change.role == Role::Admin && !change.disabled;
        if admins == [id] && !stays {
            return Err(Error::LastAdmin);
        }
        if office.tx.change_staff(id, revision, &change).await? == 0 {
            return Err(Error::Stale);
        }
        let was = &before.account.staff;
        let mut regions = change.regions.to_vec();
        regions.sort_unstable();
        let of = AdminSubject::Staff(id);
        if was.disabled != change.disabled {
            let action = if change.disabled {
                AdminAction::StaffDisabled
            } else {
                AdminAction::StaffEnabled
            };
            office.note(AdminEvent::new(action, of));
        }
        if was.role != change.role || was.regions != regions || before.account.name != change.name {
            let changed = AdminEvent::new(AdminAction::StaffChanged, of);
            office.note(changed.with("role", change.role.as_str()).with("regions", list(&regions)));
        }
        if was.disabled != change.disabled || was.role != change.role || was.regions != regions {
            office.tx.end_sessions_of(&Actor::Staff(id)).await?;
        }
        if change.disabled {
            office.tx.end_links_of(&Actor::Staff(id)).await?;
        }
        office.commit().await?;
        Ok(())
    }

    /// Makes a link by which a member of staff sets their own password. Returns its secret. Nobody makes one for themselves:
    /// their own password is changed with the present one.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn make_password_link(&self, actor: &Actor, id: StaffId) -> Result<String> {
        if *actor == Actor::Staff(id) {
            return Err(Error::OwnAccount);
        }
        let mut office = Office::open_for(self, actor, Matter::Staff).await?;
        if office.reached_staff(id).await?.account.staff.disabled {
            return Err(Error::Invalid("disabled"));
        }
        let secret = office.password_link(id).await?;
        office.commit().await?;
        Ok(secret)
    }

    /// Takes the second factor of a member of staff away, for one who lost their device, and ends their sessions. Nobody
    /// takes away their own so: that asks for the password, and whether the desk allows it.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn reset_factor(&self, actor: &Actor, id: StaffId) -> Result<()> {
        if *actor == Actor::Staff(id) {
            return Err(Error::OwnAccount);
        }
        let mut office = Office::open_for(self, actor, Matter::Staff).await?;
        office.reached_staff(id).await?;
        if office.tx.remove_factor(id).await? == 0 {
            return Err(Error::NotFound);
        }
        office.tx.end_sessions_of(&Actor::Staff(id)).await?;
        office.note(AdminEvent::new(AdminAction::FactorRemoved, AdminSubject::Staff(id)));
        office.commit().await?;
        Ok(())
    }
}
