//! Who is there, by session: staff on the console, riders on their page. Each has a session of its own, so that one
//! browser can be both at once.

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, HeaderValue, header, request::Parts},
    response::{IntoResponse, Redirect, Response},
};
use tower_sessions::{Expiry, Session, SessionManagerLayer, cookie::SameSite};

use super::{
    desk::Desk,
    doors::{self, May},
    forms::Typed,
    page::{Shell, Taste, Zone, encode, words},
    problem::{Problem, ProblemCode},
    session::{DEVICE, Lifetime, OWNER, Sessions, id_hash, is_by_itself},
    who::Caller,
};
use crate::{
    domain::{
        admin::{AdminAction, AdminEvent, AdminSubject},
        authority::{self, Matter},
        command::{Actor, Verb},
        id::{StaffId, Timestamp},
        refusal::Lang,
        table::who,
    },
    engine::office::Office,
    store::{self, NamedRegion, Tx},
};

/// Where a session keeps when it was last noted as used.
const SEEN: &str = "seen";
/// Where a session keeps what was typed into forms that were refused.
const DRAFTS: &str = "drafts";
/// Set in the session of somebody who has to set up a second factor before anything else.
pub(super) const FACTOR_DUE: &str = "factor_due";
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
    headers: &HeaderMap,
    now: Timestamp,
) -> Result<(), tower_sessions::session::Error> {
    session.clear().await;
    session.cycle_id().await?;
    session.insert(DEVICE, device(headers)).await?;
    session.insert(OWNER, actor).await?;
    session.insert(SEEN, now.0).await
}

/// By what somebody knows a browser again in a list: what it says of itself, shortened.
fn device(headers: &HeaderMap) -> String {
    let given = headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
    given.unwrap_or_default().chars().filter(|c| !c.is_control()).take(120).collect()
}

/// To a page after signing out. The browser is told to forget what it kept of ours.
pub(super) fn farewell(to: &str) -> Response {
    let mut response = Redirect::to(to).into_response();
    let all = HeaderValue::from_static("\"cache\", \"storage\"");
    response.headers_mut().insert("clear-site-data", all);
    response
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

    /// Whether this role may do something to the desk itself.
    pub(super) fn may_matter(&self, matter: Matter) -> bool {
        authority::who(matter).contains(&self.caller.role)
    }

    /// The hash of this session's own id.
    pub(super) fn hash(&self) -> String {
        self.session.id().map(id_hash).unwrap_or_default()
    }

    /// The member of staff.
    ///
    /// # Errors
    /// 403 for anybody else.
    pub(super) fn staff(&self) -> Result<StaffId, Problem> {
        match self.caller.actor {
            Actor::Staff(staff) => Ok(staff),
            _ => Err(Problem::new(ProblemCode::Forbidden, self.lang())),
        }
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
            places: self.places(),
            ..Shell::new(desk, &self.taste, zone)
        }
    }

    /// The pages for keeping the desk that this reader may see: the address, and the key of the word.
    fn places(&self) -> Vec<(&'static str, &'static str)> {
        let all = [
            ("/measures", "nav-measures", Matter::Board),
            ("/admin/riders", "nav-riders", Matter::RiderLinks),
            ("/admin/staff", "nav-staff", Matter::SeeStaff),
            ("/admin/regions", "nav-regions", Matter::Policies),
            ("/admin/tokens", "nav-tokens", Matter::Tokens),
            ("/admin/erase", "nav-erase", Matter::Erase),
            ("/audit", "audit", Matter::Audit),
        ];
        let mine =
            |(.., matter): &(_, _, Matter)| self.caller.staff.is_some() && self.may_matter(*matter);
        all.into_iter().filter(mine).map(|(path, word, _)| (path, word)).collect()
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
    if is_by_itself(parts) {
        return Ok(Some(Seat { caller, taste, session }));
    }
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
            Some(seat) if seat.caller.staff.is_some() => admit(parts, desk, seat).await.map(Self),
            _ => {
                let here = parts.uri.path_and_query().map_or("/", |here| here.as_str());
                let safe = if parts.method.is_safe() { here } else { "/board" };
                Err(Redirect::to(&format!("/sign-in?next={}", encode(safe))).into_response())
            }
        }
    }
}

/// Whether a member of staff may come through this door. Where many verbs come through one door, the decision says it
/// for each, and keeps the attempt.
async fn admit(parts: &Parts, desk: &Desk, seat: Seat) -> Result<Seat, Response> {
    let may = doors::door(&parts.method, &parts.extensions).map_or(May::Anyone, |door| door.may);
    let own = matches!(may, May::Anyone | May::Holder | May::Desk(Matter::Own));
    let due = seat.session.get::<bool>(FACTOR_DUE).await.ok().flatten().unwrap_or_default();
    // Before anything else is looked at, whichever door it is: without the factor there is one's own page alone.
    if due && !own {
        return Err(Redirect::to("/me").into_response());
    }
    let May::Desk(matter) = may else { return Ok(seat) };
    if !seat.may_matter(matter) {
        if !parts.method.is_safe() {
            denied(desk, &seat, matter).await;
        }
        return Err(Problem::new(ProblemCode::Forbidden, seat.lang()).into_response());
    }
    Ok(seat)
}

/// Keeps that somebody tried to change what their role may not (OWASP ASVS 5.0, 16.3.2).
async fn denied(desk: &Desk, seat: &Seat, matter: Matter) {
    let kept = async {
        let mut office = Office::open(desk.executor(), seat.actor()).await?;
        let of = seat.staff().map_or(AdminSubject::Desk, AdminSubject::Staff);
        office.note(AdminEvent::new(AdminAction::Denied, of).with("matter", matter.as_str()));
        office.commit().await
    };
    if let Err(error) = kept.await {
        tracing::warn!(%error, "a denial is not kept");
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
