//! Tokens of scripts, sessions of others, and what holds for the whole desk.

use super::{Error, Office, Result, name};
use crate::{
    domain::{
        actor::{Actor, RequestKey},
        admin::{AdminAction, AdminEvent, AdminSubject},
        authority::Matter,
        id::Timestamp,
        scope::Scope,
    },
    engine::executor::Executor,
    store::{ApiToken, token_hash},
};

/// A token that is to be made.
#[derive(Clone, Debug)]
pub struct NewToken<'a> {
    /// For whom it speaks.
    pub of: &'a Actor,
    /// What it is for, to tell it from others.
    pub label: &'a str,
    /// What it may do, and where.
    pub scope: Scope,
    /// When it is over by itself.
    pub expires_at: Option<Timestamp>,
}

impl Office {
    /// Whether whoever acts may decide about a token: about whoever it speaks for, and all regions where it is good. One of
    /// a source of orders that is good everywhere was made with the machine in hand, and takes all regions.
    pub(super) async fn reaches_token(&mut self, of: &Actor, scope: &Scope) -> Result<bool> {
        if !self.reaches_actor(of).await? {
            return Ok(false);
        }
        match (&scope.regions, of) {
            (Some(regions), _) => Ok(regions.iter().all(|region| self.reaches(*region))),
            (None, Actor::Intake(_)) => Ok(self.reaches_all(&[]).await?),
            (None, _) => Ok(true),
        }
    }

    /// Whether whoever acts may decide about somebody's tokens and sessions: all regions of theirs are in reach.
    pub(super) async fn reaches_actor(&mut self, of: &Actor) -> Result<bool> {
        Ok(match of {
            Actor::Staff(staff) => match self.tx.staff_account(*staff).await? {
                Some(found) => self.reaches_all(&found.staff.regions).await?,
                None => false,
            },
            Actor::Rider(rider) => {
                self.tx.rider(*rider).await?.is_some_and(|rider| self.reaches(rider.region))
            }
            Actor::Intake(_) => true,
            Actor::System | Actor::Customer(_) => false,
        })
    }
}

impl Executor {
    /// Makes a token, `desk_<id>_<secret>`. It is shown this once; only a hash is kept.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn make_token(
        &self,
        actor: &Actor,
        new: &NewToken<'_>,
        key: Option<&RequestKey>,
    ) -> Result<String> {
        let mut office = Office::open_for(self, actor, Matter::Tokens).await?;
        office.once(key).await?;
        let label = name(new.label, "label")?;
        if !office.reaches_actor(new.of).await? {
            return Err(Error::Invalid("of"));
        }
        // Staff and riders have regions of their own; a source of orders has those that it is given, and no others.
        let bound = new.scope.regions.as_ref().is_some_and(|regions| !regions.is_empty());
        let free = matches!(new.of, Actor::Intake(_)) && !bound;
        if free || new.scope.regions.iter().flatten().any(|region| !office.reaches(*region)) {
            return Err(Error::Invalid("regions"));
        }
        let now = office.now();
        // Keys of orders are a source's own, wherever they go: whoever does not keep all of its tokens makes none.
        if matches!(new.of, Actor::Intake(_)) {
            for token in office.tx.tokens_of(new.of, now).await? {
                if !office.reaches_token(&token.actor, &token.scope).await? {
                    return Err(Error::Invalid("of"));
                }
            }
        }
        if new.expires_at.is_some_and(|at| at <= now) {
            return Err(Error::Invalid("expires_at"));
        }
        let (mut id, secret) = (office.token()?, format!("{}{}", office.token()?, office.token()?));
        id.truncate(12);
        let token = ApiToken {
            id: id.clone(),
            secret_hash: token_hash(&secret),
            label: label.to_owned(),
            actor: new.of.clone(),
            scope: new.scope.clone(),
            created_at: now,
            expires_at: new.expires_at,
            used_at: None,
            revoked_at: None,
        };
        office.tx.add_token(&token).await?;
        let made = AdminEvent::new(AdminAction::TokenMade, AdminSubject::of(new.of));
        let made = made.with("token", &id).with("for", new.of.to_string());
        office.note(made.with("actions", token.scope.actions.to_string()));
        office.shown_at("/admin/tokens".to_owned());
        office.commit().await?;
        Ok(format!("desk_{id}_{secret}"))
    }

    /// Ends a token by its id.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn end_token(&self, actor: &Actor, id: &str) -> Result<()> {
        let mut office = Office::open_for(self, actor, Matter::Tokens).await?;
        let now = office.now();
        let token = office.tx.token(id, now).await?.ok_or(Error::NotFound)?;
        if !office.reaches_token(&token.actor, &token.scope).await? {
            return Err(Error::NotFound);
        }
        if office.tx.revoke_token(id, now).await? == 0 {
            return Err(Error::NotFound);
        }
        let ended = AdminEvent::new(AdminAction::TokenEnded, AdminSubject::of(&token.actor));
        office.note(ended.with("token", id));
        office.commit().await?;
        Ok(())
    }

    /// Ends all sessions of somebody. Returns how many there were.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn end_sessions(&self, actor: &Actor, of: &Actor) -> Result<u64> {
        let matter = match of {
            Actor::Rider(_) => Matter::Riders,
            Actor::Staff(_) | Actor::System | Actor::Intake(_) | Actor::Customer(_) => {
                Matter::Staff
            }
        };
        let mut office = Office::open_for(self, actor, matter).await?;
        if !office.reaches_actor(of).await? {
            return Err(Error::NotFound);
        }
        let ended = office.tx.end_sessions_of(of).await?;
        office.tx.end_links_of(of).await?;
        if let Actor::Rider(rider) = of {
            // Whoever had the telephone may have set it.
            office.tx.forget_rider_password(*rider).await?;
        }
        let done = AdminEvent::new(AdminAction::SessionsEnded, AdminSubject::of(of));
        office.note(done.with("sessions", ended.to_string()));
        office.commit().await?;
        Ok(ended)
    }

    /// Sets whether all staff need a second factor. Those without one set it up at their next sign-in.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn require_factor(&self, actor: &Actor, revision: i64, required: bool) -> Result<()> {
        let mut office = Office::open_for(self, actor, Matter::DeskRules).await?;
        // It is a rule of every region.
        if !office.reaches_all(&[]).await? {
            return Err(Error::Forbidden);
        }
        if office.tx.set_desk_rule(revision, required).await? == 0 {
            return Err(Error::Stale);
        }
        let changed = AdminEvent::new(AdminAction::RuleChanged, AdminSubject::Desk);
        office.note(changed.with("factor_required", required.to_string()));
        office.commit().await?;
        Ok(())
    }
}
