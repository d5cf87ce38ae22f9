//! Who reads, and whether they still may: asked for all of them at once.

use std::collections::{BTreeSet, HashMap};

use crate::{
    domain::{
        actor::{Actor, Role},
        id::{RegionId, RiderId, StaffId, Timestamp},
        scope::Scope,
    },
    store::{self, Tx},
};

/// By what somebody came in. Once it is gone, they may not read any more.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// A browser's session.
    Session {
        /// The hash of its id.
        hash: String,
        /// How long it lives without a request, in milliseconds. A stream is none.
        idle_ms: i64,
        /// How long it lives in all, in milliseconds.
        most_ms: i64,
    },
    /// A script's token, by its id.
    Token(String),
    /// A customer's link, by its unguessable end.
    Link(String),
}

/// What somebody may read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rights {
    /// For whom they read.
    pub actor: Actor,
    /// In what capacity.
    pub role: Role,
    /// The regions that they may see, in order.
    pub regions: Vec<RegionId>,
}

/// Whom the ways lead to, and what narrows their rights.
async fn owners<'a>(
    tx: &mut Tx,
    ways: &[&'a Way],
    now: Timestamp,
) -> store::Result<Vec<(&'a Way, Actor, Scope)>> {
    let (mut sessions, mut tokens, mut links) = (Vec::new(), Vec::new(), Vec::new());
    for way in ways {
        match way {
            Way::Session { hash, .. } => sessions.push(hash.as_str()),
            Way::Token(id) => tokens.push(id.as_str()),
            Way::Link(token) => links.push(token.as_str()),
        }
    }
    let sessions = if sessions.is_empty() { vec![] } else { tx.sessions_alive(&sessions).await? };
    let tokens = if tokens.is_empty() { vec![] } else { tx.tokens_alive(&tokens, now).await? };
    let links = if links.is_empty() { vec![] } else { tx.tracked(&links).await? };
    let sessions: HashMap<_, _> = sessions.iter().map(|one| (one.hash.as_str(), one)).collect();
    let tokens: HashMap<_, _> = tokens.iter().map(|one| (one.id.as_str(), one)).collect();
    let links: HashMap<_, _> = links.iter().map(|(token, task)| (token.as_str(), *task)).collect();
    let owner = |way: &'a Way| {
        let (actor, scope) = match way {
            Way::Session { hash, idle_ms, most_ms } => {
                let session = sessions.get(hash.as_str())?;
                let over = now.ms_since(session.seen_at) >= *idle_ms
                    || now.ms_since(session.created_at) >= *most_ms;
                if over {
                    return None;
                }
                (session.owner.clone(), Scope::ALL)
            }
            Way::Token(id) => {
                let token = tokens.get(id.as_str())?;
                (token.actor.clone(), token.scope.clone())
            }
            Way::Link(token) => (Actor::Customer(*links.get(token.as_str())?), Scope::ALL),
        };
        Some((way, actor, scope))
    };
    Ok(ways.iter().filter_map(|way| owner(way)).collect())
}

impl Rights {
    /// What whoever came in by these ways may read now; those who may nothing are missing.
    pub async fn of<'a>(tx: &mut Tx, ways: &[&'a Way]) -> store::Result<HashMap<&'a Way, Self>> {
        let now = tx.now().await?;
        let owners = owners(tx, ways, now).await?;
        let (mut staff, mut riders) = (BTreeSet::new(), BTreeSet::new());
        for (_, actor, _) in &owners {
            match actor {
                Actor::Staff(id) => drop(staff.insert(*id)),
                Actor::Rider(id) => drop(riders.insert(*id)),
                Actor::System | Actor::Intake(_) | Actor::Customer(_) => {}
            }
        }
        let staff: Vec<StaffId> = staff.into_iter().collect();
        let staff = if staff.is_empty() { Vec::new() } else { tx.staff_alive(&staff).await? };
        let staff: HashMap<_, _> = staff.iter().map(|one| (one.id, one)).collect();
        let riders: Vec<RiderId> = riders.into_iter().collect();
        let riders = if riders.is_empty() { Vec::new() } else { tx.riders_alive(&riders).await? };
        let riders: HashMap<_, _> = riders.into_iter().collect();
        let rights = |(way, actor, scope): (&'a Way, Actor, Scope)| {
            let (role, mut regions) = match &actor {
                Actor::Staff(id) => {
                    let staff = staff.get(id)?;
                    (staff.role, staff.regions.clone())
                }
                Actor::Rider(id) => (Role::Rider, vec![*riders.get(id)?]),
                Actor::Customer(_) => (Role::Customer, Vec::new()),
                Actor::System | Actor::Intake(_) => return None,
            };
            regions.retain(|region| scope.reaches(*region));
            Some((way, Self { actor, role, regions }))
        };
        Ok(owners.into_iter().filter_map(rights).collect())
    }
}
