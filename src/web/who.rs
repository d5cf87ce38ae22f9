//! Who is there: by token for scripts. (By session for people: `session`.)

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, header, request::Parts},
};

use super::{
    desk::Desk,
    doors,
    extract::{TaskPath, language},
    problem::{Problem, ProblemCode},
};
use crate::{
    domain::{
        command::{Actor, Role},
        id::{RegionId, TaskId, Timestamp},
        refusal::Lang,
        scope::{Actions, Scope},
        task::Task,
    },
    store::{self, RiderAccount, StaffAccount, Tx, token_hash},
};

/// A script by its token, `Authorization: Bearer desk_<id>_<secret>`. The account that it speaks for is open when the
/// request comes; whether it still is, the executor says in the transaction of the command.
#[derive(Clone, Debug)]
pub struct Bearer {
    /// For whom it speaks.
    pub actor: Actor,
    /// In which language it wants to be answered.
    pub lang: Lang,
    /// What the token may be used for, and where.
    pub scope: Scope,
    /// The token's id.
    id: String,
}

/// A token is noted as used once in so many milliseconds: each note is a write.
const NOTED_EVERY_MS: i64 = 3_600_000;

impl Bearer {
    /// Whether the token reaches `region`; one that does not is answered as if there were nothing.
    ///
    /// # Errors
    /// 404.
    pub(super) fn reaches(&self, region: RegionId) -> Result<(), Problem> {
        let missing = || Problem::new(ProblemCode::NotFound, self.lang);
        if self.scope.reaches(region) { Ok(()) } else { Err(missing()) }
    }

    /// The same for tasks. A task never changes its region, so this holds for the command that follows.
    ///
    /// # Errors
    /// 404, or that it can not be looked up.
    pub(super) async fn reaches_tasks(&self, desk: &Desk, tasks: &[TaskId]) -> Result<(), Problem> {
        if self.scope.regions.is_none() {
            return Ok(());
        }
        let failed = |error: store::Error| Problem::read(&error, self.lang);
        let mut tx = desk.db().read().await.map_err(failed)?;
        for task in tasks {
            if let Some(task) = tx.task(*task).await.map_err(failed)? {
                self.reaches(task.region)?;
            }
        }
        Ok(())
    }

    /// Whether the token may be used for what the request came for.
    async fn allows(&self, parts: &mut Parts, desk: &Desk) -> Result<(), Problem> {
        let forbidden = || Problem::new(ProblemCode::Forbidden, self.lang);
        let Some(door) = doors::door(&parts.method, &parts.extensions) else {
            return Err(Problem::new(ProblemCode::NotFound, self.lang));
        };
        let fits = match (&self.scope.actions, door.changes()) {
            (_, false) | (Actions::All, true) => true,
            (Actions::Read, true) => false,
            // A bulk names its verb in its body.
            (these, true) if door.path == BULK => these != &Actions::Read,
            (these, true) => door.verb().is_some_and(|verb| these.include(Some(verb))),
        };
        if !fits {
            return Err(forbidden());
        }
        if door.path.starts_with("/api/v1/tasks/{id}") {
            let TaskPath(task) = TaskPath::from_request_parts(parts, desk).await?;
            self.reaches_tasks(desk, &[task]).await?;
        }
        Ok(())
    }
}

/// Many commands at once.
const BULK: &str = "/api/v1/bulk";

impl FromRequestParts<Desk> for Bearer {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, desk: &Desk) -> Result<Self, Problem> {
        let lang = language(parts);
        let nobody = || Problem::new(ProblemCode::NotSignedIn, lang);
        let (id, secret) = token(&parts.headers).ok_or_else(nobody)?;
        let failed = |error: store::Error| Problem::read(&error, lang);
        let mut tx = desk.db().read().await.map_err(failed)?;
        let now = tx.now().await.map_err(failed)?;
        let found = tx.token(id, now).await.map_err(failed)?;
        // Both sides are hashes of an unguessable secret: how long the comparison takes tells nothing.
        let found = found.filter(|found| found.secret_hash == token_hash(secret));
        let found = found.ok_or_else(nobody)?;
        let open = match &found.actor {
            Actor::Staff(staff) => !tx.staff_alive(&[*staff]).await.map_err(failed)?.is_empty(),
            Actor::Rider(rider) => !tx.riders_alive(&[*rider]).await.map_err(failed)?.is_empty(),
            Actor::System | Actor::Intake(_) | Actor::Customer(_) => true,
        };
        drop(tx);
        if !open {
            // Nothing that it asks for is looked at, and nothing of it stands in the log.
            return Err(nobody());
        }
        let stale = found.used_at.is_none_or(|used| now.ms_since(used) >= NOTED_EVERY_MS);
        let bearer = Self { actor: found.actor, lang, scope: found.scope, id: found.id.clone() };
        bearer.allows(parts, desk).await?;
        if stale {
            note_used(desk, &found.id, now).await;
        }
        Ok(bearer)
    }
}

/// Notes that a token was used. If it can not be noted, the request is answered all the same.
async fn note_used(desk: &Desk, id: &str, now: Timestamp) {
    let noted = async {
        let mut tx = desk.db().begin().await?;
        tx.token_used(id, now).await?;
        tx.commit().await
    };
    if let Err(error) = noted.await {
        tracing::debug!(%error, "that a token was used is not noted");
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
    /// The id of the token that they came with, if they did.
    pub token: Option<String>,
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
        let none = |actor, role| Self {
            actor,
            role,
            regions: Vec::new(),
            staff: None,
            rider: None,
            lang,
            token: None,
        };
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
        let Bearer { actor, lang, scope, id } = Bearer::from_request_parts(parts, desk).await?;
        let failed = |error: store::Error| Problem::read(&error, lang);
        let mut tx = desk.db().read().await.map_err(failed)?;
        let caller = Self::of(&mut tx, actor, lang).await.map_err(failed)?;
        let mut caller = caller.ok_or_else(|| Problem::new(ProblemCode::NotSignedIn, lang))?;
        caller.regions.retain(|region| scope.reaches(*region));
        caller.token = Some(id);
        if doors::admits(&parts.method, &parts.extensions, caller.role) {
            Ok(caller)
        } else {
            Err(Problem::new(ProblemCode::Forbidden, lang))
        }
    }
}
