//! Where riders say that they are: read, brought to WGS-84 and to the desk's clock, and noted.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    desk::Desk,
    extract::Object,
    problem::{Problem, ProblemCode},
};
use crate::{
    domain::{
        fix::{DeviceMark, Fix, instant},
        geo::{Place, datum},
        id::{Timestamp, rfc3339},
        refusal::Lang,
    },
    store::RiderAccount,
};

/// The most positions in one message.
const MOST_FIXES: usize = 100;
/// The longest name of a device, in characters.
const LONGEST_DEVICE: usize = 200;
/// Nothing that says where it is believes itself to be within more metres: half of the way around the earth.
const LEAST_ACCURATE_M: f64 = 20_040_000.0;

/// One position.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FixBody {
    /// Counts up on the device: an older one never replaces a newer one.
    seq: i64,
    /// When it was taken, by the device's own clock.
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// Degrees.
    #[schema(minimum = -90, maximum = 90)]
    lat: f64,
    /// Degrees.
    #[schema(minimum = -180, maximum = 180)]
    lng: f64,
    /// The radius in metres within which the device believes itself to be.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 20_040_000)]
    accuracy_m: Option<f64>,
}

/// On which map places are.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Crs {
    /// What satellites say.
    #[default]
    Wgs84,
    /// The shifted one of mainland China.
    Gcj02,
}

/// Positions, in any order.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = LocationBody)]
pub(super) struct LocationBody {
    /// The positions since the last message.
    #[schema(value_type = Vec<FixBody>, min_items = 1, max_items = 100)]
    fixes: Vec<Object<FixBody>>,
    /// On which map they are; `wgs84` if missing. They are kept as WGS-84.
    #[serde(default)]
    crs: Crs,
    /// The device's own clock at the moment of sending; that of the latest position if missing.
    #[serde(default, with = "rfc3339::option")]
    #[schema(value_type = Option<String>, format = DateTime)]
    sent_at: Option<Timestamp>,
    /// What the device calls itself, such as a random text that it keeps. A new device counts `seq` anew.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 200)]
    device: Option<String>,
}

/// Why a position was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum NotTaken {
    /// One with the same or a larger number is known.
    Older,
    /// The device had kept it for more than a day.
    TooOld,
}

/// What became of one position.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct FixAnswer {
    /// Its number.
    seq: i64,
    /// Whether it was newer than what was known before it.
    taken: bool,
    /// Why it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<NotTaken>,
}

/// What became of the positions.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct LocationAnswer {
    /// Whether the latest of them is now the rider's last known position. If not, a newer one was known already.
    kept: bool,
    /// Of each position, in the order given.
    fixes: Vec<FixAnswer>,
}

/// Takes what a rider's device says.
///
/// # Errors
/// What is wrong with it; then none of it is taken.
pub(super) async fn take(
    desk: &Desk,
    account: &RiderAccount,
    body: &LocationBody,
    lang: Lang,
) -> Result<LocationAnswer, Problem> {
    check(body, lang)?;
    let rider = &account.rider;
    let received = desk.now();
    let latest = body.fixes.iter().map(|Object(fix)| fix.at).max();
    let sent_at = body.sent_at.or(latest).unwrap_or(received);
    let read: Vec<_> =
        body.fixes.iter().map(|fix| fix_of(&fix.0, body, sent_at, received)).collect();
    let usable: Vec<_> = read.iter().copied().flatten().collect();
    let positions = desk.executor().positions();
    let noted = positions.note(rider.region, rider.id, account.fix, &usable).await;
    let mut newer = noted.newer.into_iter();
    let answer = |(Object(fix), read): (&Object<FixBody>, &Option<Fix>)| {
        let why = match read {
            None => Some(NotTaken::TooOld),
            Some(_) if newer.next() == Some(true) => None,
            Some(_) => Some(NotTaken::Older),
        };
        FixAnswer { seq: fix.seq, taken: why.is_none(), why }
    };
    let fixes = body.fixes.iter().zip(&read).map(answer).collect();
    Ok(LocationAnswer { kept: noted.kept, fixes })
}

/// Whether all of it can be taken as it is.
fn check(body: &LocationBody, lang: Lang) -> Result<(), Problem> {
    let invalid = |what: String, at: &str| {
        Err(Problem::new(ProblemCode::BodyInvalid, lang).with(what).at(at))
    };
    if body.fixes.is_empty() || body.fixes.len() > MOST_FIXES {
        return invalid(format!("fixes: 1 to {MOST_FIXES}"), "/fixes");
    }
    let length = body.device.as_ref().map_or(1, |device| device.chars().count());
    if !(1..=LONGEST_DEVICE).contains(&length) {
        return invalid(format!("device: 1 to {LONGEST_DEVICE} characters"), "/device");
    }
    if body.sent_at.is_some_and(|at| !at.is_writable()) {
        return Err(Problem::new(ProblemCode::TimeOutOfRange, lang).at("/sent_at"));
    }
    for (index, Object(fix)) in body.fixes.iter().enumerate() {
        let wrong = |code| Err(Problem::new(code, lang).at(format!("/fixes/{index}")));
        if !(Place { lat: fix.lat, lng: fix.lng }).is_on_earth() {
            return wrong(ProblemCode::NotOnEarth);
        }
        if !fix.at.is_writable() {
            return wrong(ProblemCode::TimeOutOfRange);
        }
        if fix.accuracy_m.is_some_and(|metres| !(0.0..=LEAST_ACCURATE_M).contains(&metres)) {
            let at = format!("/fixes/{index}/accuracy_m");
            return invalid("accuracy_m: metres, not negative".to_owned(), &at);
        }
    }
    Ok(())
}

/// A position as it is kept; none if the device had kept it for too long.
fn fix_of(
    given: &FixBody,
    body: &LocationBody,
    sent_at: Timestamp,
    received: Timestamp,
) -> Option<Fix> {
    let place = Place { lat: given.lat, lng: given.lng };
    Some(Fix {
        seq: given.seq,
        at: instant(given.at, sent_at, received)?,
        taken_at: given.at,
        place: match body.crs {
            Crs::Wgs84 => place,
            Crs::Gcj02 => datum::gcj02_to_wgs84(place),
        },
        accuracy_m: given.accuracy_m,
        device: body.device.as_deref().map(DeviceMark::of).unwrap_or_default(),
    })
}
