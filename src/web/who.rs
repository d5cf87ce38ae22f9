//! Who is there: by token for scripts. (By session for people: `session`.)

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, header, request::Parts},
};

use super::{
    desk::Desk,
    extract::language,
    problem::{Problem, ProblemCode},
};
use crate::{
    domain::{
        command::{Actor, Role},
        id::RegionId,
        refusal::Lang,
        task::Task,
    },
    store::{self, RiderAccount, StaffAccount, Tx, token_hash},
};

/// A script by its token, `Authorization: Bearer desk_<id>_<secret>`. Whether its account is still open is for the
/// executor to say, in the transaction of the command.
#[derive(Clone, Debug)]
pub struct Bearer {
    /// For whom it speaks.
    pub actor: Actor,
    /// In which language it wants to be answered.
    pub lang: Lang,
}

impl FromRequestParts<Desk> for Bearer {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, desk: &Desk) -> Result<Self, Problem> {
        let lang = language(parts);
        let nobody = || Problem::new(ProblemCode::NotSignedIn, lang);
        let (id, secret) = token(&parts.headers).ok_or_else(nobody)?;
        let failed = |error: store::Error| Problem::read(&error, lang);
        let mut tx = desk.db().read().await.map_err(failed)?;
        let found = tx.token(id).await.map_err(failed)?;
        // Both sides are hashes of an unguessable secret: how long the comparison takes tells nothing.
        let found = found.filter(|found| found.secret_hash == token_hash(secret));
        Ok(Self { actor: found.ok_or_else(nobody)?.actor, lang })
    }
}

/// The id and the secret of a bearer token.
fn token(headers: &HeaderMap) -> Option<(&str, &str)> {
    let given = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = given.split_once(' ')?;
    let token = token.trim().strip_prefix("desk_")?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.split_once('_')).flatten()
}

/// Somebody who reads, with what they may see.
#[derive(Clone, Debug)]
pub struct Caller {
    /// Who it is.
    pub actor: Actor,
    /// In what capacity.
    pub role: Role,
    /// The regions that they may see.
    pub regions: Vec<RegionId>,
    /// The account, if it is staff.
    pub staff: Option<StaffAccount>,
    /// The account, if it is a rider.
    pub rider: Option<RiderAccount>,
    /// In which language they want to be answered.
    pub lang: Lang,
}

/// How a reader stands to a task that they may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Staff of its region, or whoever ordered it: sees all of it.
    Desk,
    /// The invited rider: sees where it goes.
    Invited,
    /// The owner: sees whom to call as well.
    Owner,
    /// A rider of its region who could take it: sees where it goes.
    Candidate,
    /// A rider of its region: sees its state and no more.
    Bystander,
}

impl Caller {
    /// The account behind `actor`; `None` if there is none or it is shut.
    pub async fn of(tx: &mut Tx, actor: Actor, lang: Lang) -> store::Result<Option<Self>> {
        let none =
            |actor, role| Self { actor, role, regions: Vec::new(), staff: None, rider: None, lang };
        Ok(match &actor {
            Actor::Staff(id) => {
                let account = tx.staff_account(*id).await?.filter(|found| !found.staff.disabled);
                account.map(|account| Self {
                    regions: account.staff.regions.clone(),
                    role: account.staff.role,
                    staff: Some(account),
                    ..none(actor.clone(), Role::Auditor)
                })
            }
            Actor::Rider(id) => {
                let account = tx.rider_account(*id).await?.filter(|found| !found.rider.disabled);
                account.map(|account| Self {
                    regions: vec![account.rider.region],
                    rider: Some(account),
                    ..none(actor.clone(), Role::Rider)
                })
            }
            Actor::Intake(_) => Some(none(actor.clone(), Role::Intake)),
            Actor::Customer(_) => Some(none(actor.clone(), Role::Customer)),
            Actor::System => None,
        })
    }

    /// How they stand to `task`; `None` if they may not know of it.
    pub fn relation(&self, task: &Task) -> Option<Relation> {
        use crate::domain::task::StateName;
        let here = self.regions.contains(&task.region);
        match &self.actor {
            Actor::System => None,
            Actor::Intake(source) => (task.source == *source).then_some(Relation::Desk),
            Actor::Customer(ordered) => (task.id == *ordered).then_some(Relation::Desk),
            Actor::Staff(_) => here.then_some(Relation::Desk),
            Actor::Rider(me) => match task.state.name() {
                StateName::Offered if task.state.is_held_by(*me) => Some(Relation::Invited),
                StateName::Assigned if task.state.is_held_by(*me) => Some(Relation::Owner),
                StateName::Open if here => Some(Relation::Candidate),
                StateName::Open
                | StateName::Offered
                | StateName::Assigned
                | StateName::Cancelled => here.then_some(Relation::Bystander),
            },
        }
    }
}

impl FromRequestParts<Desk> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, desk: &Desk) -> Result<Self, Problem> {
        let Bearer { actor, lang } = Bearer::from_request_parts(parts, desk).await?;
        let failed = |error: store::Error| Problem::read(&error, lang);
        let mut tx = desk.db().read().await.map_err(failed)?;
        let caller = Self::of(&mut tx, actor, lang).await.map_err(failed)?;
        caller.ok_or_else(|| Problem::new(ProblemCode::NotSignedIn, lang))
    }
}
