//! Who is there, by session: staff on the console, riders on their page. Each has a session of its own, so that one
//! browser can be both at once.

use axum::{
    extract::FromRequestParts,
    http::request::Parts,
    response::{IntoResponse, Redirect, Response},
};
use tower_sessions::{Expiry, Session, SessionManagerLayer, cookie::SameSite};

use super::{
    desk::Desk,
    forms::Typed,
    page::{Shell, Taste, Zone, encode, words},
    problem::{Problem, ProblemCode},
    session::{Lifetime, OWNER, Sessions},
    who::Caller,
};
use crate::{
    domain::{
        command::{Actor, Verb},
        id::Timestamp,
        refusal::Lang,
        table::who,
    },
    store::{self, NamedRegion, Tx},
};

/// Where a session keeps when it was last noted as used.
const SEEN: &str = "seen";
/// Where a session keeps what was typed into forms that were refused.
const DRAFTS: &str = "drafts";
/// How many of those are kept.
const MOST_DRAFTS: usize = 4;
/// A session is noted as used once in so many milliseconds: each note is a write.
const NOTED_EVERY_MS: i64 = 60_000;

/// The sessions of one kind of people.
pub(super) fn sessions(
    desk: &Desk,
    name: &str,
    lifetime: Lifetime,
) -> SessionManagerLayer<Sessions> {
    let secure = desk.origin().is_secure();
    let name = if secure { format!("__Host-{name}") } else { name.to_owned() };
    SessionManagerLayer::new(Sessions::new(desk.db().clone(), lifetime))
        .with_name(name)
        .with_secure(secure)
        .with_http_only(true)
        .with_same_site(SameSite::Lax)
        .with_path("/")
        .with_expiry(Expiry::OnInactivity(time::Duration::milliseconds(lifetime.most_ms)))
}

/// Signs `actor` in: under a new id, whatever the browser came with.
///
/// # Errors
/// If the session can not be kept.
pub(super) async fn sign_in(
    session: &Session,
    actor: &Actor,
    now: Timestamp,
) -> Result<(), tower_sessions::session::Error> {
    session.clear().await;
    session.cycle_id().await?;
    session.insert(OWNER, actor).await?;
    session.insert(SEEN, now.0).await
}

/// Somebody who is signed in.
#[derive(Clone, Debug)]
pub(super) struct Seat {
    pub(super) caller: Caller,
    pub(super) taste: Taste,
    pub(super) session: Session,
}

impl Seat {
    pub(super) fn actor(&self) -> &Actor {
        &self.caller.actor
    }

    pub(super) fn lang(&self) -> Lang {
        self.taste.lang
    }

    /// Whether this role may ask for `verb` at all.
    pub(super) fn may(&self, verb: Verb) -> bool {
        who(verb).contains(&self.caller.role)
    }

    /// The rules of the regions that this reader may see.
    pub(super) async fn regions(
        &self,
        tx: &mut Tx,
        now: Timestamp,
    ) -> store::Result<Vec<NamedRegion>> {
        let mut all = tx.regions(now).await?;
        all.retain(|found| self.caller.regions.contains(&found.region.id));
        Ok(all)
    }

    /// What a page of this reader carries.
    pub(super) fn shell(&self, desk: &Desk, regions: &[NamedRegion], zone: Zone) -> Shell {
        let staff = self.caller.staff.as_ref().map(|account| account.name.clone());
        let rider = self.caller.rider.as_ref().map(|account| account.name.clone());
        let role = words(self.lang(), &format!("role-{}", self.caller.role), &[]);
        let names: Vec<_> = regions.iter().map(|found| found.name.as_str()).collect();
        Shell {
            who: staff.or(rider).map(|name| (name, role)),
            regions: names.join(" · "),
            may_create: self.may(Verb::Create),
            may_audit: super::console::may_audit(self.caller.role),
            ..Shell::new(desk, &self.taste, zone)
        }
    }

    /// Keeps what was typed into a form that was refused, so that it need not be typed again.
    pub(super) async fn keep_draft(&self, key: &str, typed: &Typed) {
        let kept = self.session.get::<Vec<(String, Typed)>>(DRAFTS).await;
        let mut drafts = kept.ok().flatten().unwrap_or_default();
        drafts.retain(|(known, _)| known != key);
        drafts.push((key.to_owned(), typed.clone()));
        let from = drafts.len().saturating_sub(MOST_DRAFTS);
        if let Err(error) = self.session.insert(DRAFTS, &drafts[from..]).await {
            tracing::warn!(%error, "a draft is lost");
        }
    }

    /// What was typed into the form of that key.
    pub(super) async fn draft(&self, key: &str) -> Typed {
        let kept = self.session.get::<Vec<(String, Typed)>>(DRAFTS).await;
        let drafts = kept.ok().flatten().unwrap_or_default();
        drafts
            .into_iter()
            .find(|(known, _)| known == key)
            .map(|(_, typed)| typed)
            .unwrap_or_default()
    }
}

/// The zone that a page shows its times in: that of its first region.
pub(super) fn zone(regions: &[NamedRegion], now: Timestamp) -> Zone {
    let zone = regions.first().map_or(chrono_tz::UTC, |found| found.region.time_zone);
    Zone { zone, now }
}

async fn seat(parts: &mut Parts, desk: &Desk) -> Result<Option<Seat>, Response> {
    let Ok(taste) = Taste::from_request_parts(parts, desk).await;
    let session = Session::from_request_parts(parts, desk).await;
    let session = session.map_err(|(status, _)| status.into_response())?;
    let lang = taste.lang;
    let away = || Problem::new(ProblemCode::Unavailable, lang).into_response();
    let owner = session.get::<Actor>(OWNER).await.map_err(|_| away())?;
    let Some(actor) = owner else { return Ok(None) };
    let failed = |error: store::Error| Problem::read(&error, lang).into_response();
    let mut tx = desk.db().read().await.map_err(failed)?;
    let caller = Caller::of(&mut tx, actor, lang).await.map_err(failed)?;
    drop(tx);
    let Some(caller) = caller else {
        // The account was shut: its session is over, too.
        session.flush().await.map_err(|_| away())?;
        return Ok(None);
    };
    let now = desk.now();
    let seen = session.get::<i64>(SEEN).await.ok().flatten().unwrap_or_default();
    if now.0.saturating_sub(seen) >= NOTED_EVERY_MS {
        session.insert(SEEN, now.0).await.map_err(|_| away())?;
    }
    Ok(Some(Seat { caller, taste, session }))
}

/// A member of staff on the console. Others are sent to the sign-in and come back to where they wanted to go.
#[derive(Clone, Debug)]
pub(super) struct StaffSeat(pub(super) Seat);

impl FromRequestParts<Desk> for StaffSeat {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, desk: &Desk) -> Result<Self, Response> {
        match seat(parts, desk).await? {
            Some(seat) if seat.caller.staff.is_some() => Ok(Self(seat)),
            _ => {
                let here = parts.uri.path_and_query().map_or("/", |here| here.as_str());
                let safe = if parts.method.is_safe() { here } else { "/board" };
                Err(Redirect::to(&format!("/sign-in?next={}", encode(safe))).into_response())
            }
        }
    }
}

/// A rider on the rider's page.
#[derive(Clone, Debug)]
pub(super) struct RiderSeat(pub(super) Seat);

impl FromRequestParts<Desk> for RiderSeat {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, desk: &Desk) -> Result<Self, Response> {
        match seat(parts, desk).await? {
            Some(seat) if seat.caller.rider.is_some() => Ok(Self(seat)),
            _ => Err(Redirect::to("/rider/closed").into_response()),
        }
    }
}
