//! Pages for keeping the desk: staff, riders, regions with their rules, tokens. Everything is kept here, by people, and
//! stands in the log.
//!
//! Each form names the revision that it was rendered with. Whoever comes second is told who was first and when, sees
//! what is there now beside what they typed, and may send again.
//!
//! | file | |
//! |---|---|
//! | `staff`, `staff_one`, `riders`, `rider_one`, `regions`, `region_one`, `policy`, `tokens` | one kind of thing each: a list with a form, one of them |
//! | `erase` | personal data of a task or a rider, erased with a reason |
//! | `changes` | what was done to one of them, and who was first |
//! | `signals` | where a rider was last seen, and what looks wrong about them |
//! | `secret` | a link or token that is shown once |
//! | `fields` | what forms hold |

mod changes;
mod erase;
mod fields;
mod policy;
mod region_one;
mod regions;
mod rider_one;
mod riders;
mod secret;
mod signals;
mod staff;
mod staff_one;
mod tokens;

use axum::{
    Router,
    http::StatusCode,
    response::{IntoResponse, Redirect, Response},
    routing::{get, post},
};

use super::{
    desk::Desk,
    page::{Zone, words},
    people::{Seat, zone},
    problem::Problem,
};
use crate::{
    domain::{id::RegionId, refusal::Lang},
    engine::office,
    store::{self, NamedRegion, StaffRecord, Tx},
};

/// Their routes, within the console's sessions.
pub(super) fn router() -> Router<Desk> {
    Router::new()
        .route("/admin/staff", get(staff::list).post(staff::add))
        .route("/admin/staff/{id}", get(staff_one::one).post(staff_one::change))
        .route("/admin/staff/{id}/link", post(staff_one::link))
        .route("/admin/staff/{id}/factor", post(staff_one::reset_factor))
        .route("/admin/staff/{id}/sessions", post(staff_one::end_sessions))
        .route("/admin/rules", post(staff::rule))
        .route("/admin/riders", get(riders::list).post(riders::add))
        .route("/admin/riders/{id}", get(rider_one::one).post(rider_one::change))
        .route("/admin/riders/{id}/link", post(rider_one::link))
        .route("/admin/riders/{id}/sessions", post(rider_one::end_sessions))
        .route("/admin/riders/{id}/signals/{signal}", post(signals::dismiss))
        .route("/admin/regions", get(regions::list).post(regions::add))
        .route("/admin/regions/{id}", get(region_one::one).post(region_one::change))
        .route("/admin/regions/{id}/policy", post(policy::add))
        .route("/admin/tokens", get(tokens::list).post(tokens::make))
        .route("/admin/tokens/{id}/end", post(tokens::end))
        .route("/admin/erase", get(erase::form).post(erase::erase))
}

/// What every page of a reader starts from: one snapshot, its regions and its zone.
struct Opened {
    tx: Tx,
    regions: Vec<NamedRegion>,
    /// Whether these are all that there are.
    every: bool,
    zone: Zone,
}

impl Opened {
    async fn of(desk: &Desk, seat: &Seat) -> Result<Self, Problem> {
        let failed = |error: store::Error| Problem::read(&error, seat.lang());
        let mut tx = desk.db().read().await.map_err(failed)?;
        let now = tx.now().await.map_err(failed)?;
        let regions = seat.regions(&mut tx, now).await.map_err(failed)?;
        let every = tx.regions(now).await.map_err(failed)?.len() == regions.len();
        let zone = zone(&regions, now);
        Ok(Self { tx, regions, every, zone })
    }

    /// Whether this reader may see an account of staff: they share a region. Whoever has none yet is seen by those who
    /// have every one.
    fn sees(&self, record: &StaffRecord) -> bool {
        let theirs = &record.account.staff.regions;
        let shared = |region| self.regions.iter().any(|found| found.region.id == region);
        if theirs.is_empty() { self.every } else { theirs.iter().copied().any(shared) }
    }

    /// The name of a region that this reader may see; its number for any other.
    fn name_of(&self, region: RegionId) -> String {
        let found = self.regions.iter().find(|found| found.region.id == region);
        found.map_or_else(|| region.to_string(), |found| found.name.clone())
    }

    /// The regions to choose from.
    fn choices(&self) -> Vec<(i64, String)> {
        self.regions.iter().map(|found| (found.region.id.0, found.name.clone())).collect()
    }
}

/// What came of a form that changed nothing.
enum Came {
    /// The same form was sent before: where to look at what it did.
    Before(Redirect),
    /// Somebody was first: the page shows who.
    Stale,
    /// What is wrong, in words.
    Wrong(String),
}

impl Came {
    /// What is wrong, in words.
    fn wrong(&self) -> Option<String> {
        match self {
            Self::Wrong(wrong) => Some(wrong.clone()),
            Self::Before(_) | Self::Stale => None,
        }
    }

    /// The status of the page that shows the form again.
    const fn status(&self) -> StatusCode {
        match self {
            Self::Before(_) => StatusCode::SEE_OTHER,
            Self::Stale => StatusCode::CONFLICT,
            Self::Wrong(_) => StatusCode::UNPROCESSABLE_ENTITY,
        }
    }
}

/// Sorts out what a change came to; what belongs on no form is a problem of its own.
fn came(error: office::Error, lang: Lang) -> Result<Came, Problem> {
    let wrong = |key: &str| Ok(Came::Wrong(words(lang, key, &[])));
    match error {
        office::Error::Before(page) => Ok(Came::Before(Redirect::to(&page))),
        office::Error::Stale => Ok(Came::Stale),
        office::Error::Taken => wrong("wrong-taken"),
        office::Error::LastAdmin => wrong("wrong-last-admin"),
        office::Error::OwnAccount => wrong("wrong-own-account"),
        office::Error::Invalid(field) => {
            let field = words(lang, &format!("field-{field}"), &[]);
            Ok(Came::Wrong(words(lang, "wrong-field", &[("v", &field)])))
        }
        other => Err(Problem::of_office(&other, lang)),
    }
}

/// After a change: to the page of what was changed, which says that it is saved.
fn saved(path: &str) -> Response {
    Redirect::to(&format!("{path}?saved=1")).into_response()
}

/// Whether the page comes after a change.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    saved: Option<u8>,
}

/// The key of a form, made when it is rendered.
fn form_key(desk: &Desk) -> String {
    format!("page-{}", desk.token().unwrap_or_default())
}
