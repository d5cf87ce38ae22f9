//! Where a rider was last seen, with the age of it, and what looks wrong about them, with the evidence.

use axum::{extract::State, response::Response};

use super::{
    Opened,
    rider_one::{id_of, record},
    saved,
};
use crate::{
    domain::{
        fix::Fix,
        id::{RiderId, Timestamp},
        policy::Policy,
        refusal::Lang,
        signal::{Evidence, SignalKind},
    },
    store::{self, KeptSignal, RiderAccount},
    web::{
        chip::{distance, span},
        desk::Desk,
        extract::{Form, InPath},
        forms::Typed,
        page::{When, Zone, words},
        people::StaffSeat,
        problem::{Problem, ProblemCode},
    },
};

/// The most that a page shows.
const MOST: i64 = 20;

/// Where a rider was last seen.
pub(super) struct Position {
    pub(super) place: String,
    pub(super) accuracy: Option<String>,
    pub(super) age: String,
    /// Older than the region takes.
    pub(super) stale: bool,
    /// What the device's own clock showed.
    pub(super) device_said: String,
}

/// One signal, as people read it.
pub(super) struct SignalRow {
    pub(super) id: i64,
    pub(super) kind: SignalKind,
    pub(super) times: i64,
    pub(super) last: When,
    pub(super) evidence: String,
    /// By whom and when.
    pub(super) dismissed: Option<String>,
}

fn place(fix: &Fix) -> String {
    format!("{:.5}, {:.5}", fix.place.lat, fix.place.lng)
}

/// Where a rider was last seen; none if they never were.
pub(super) fn position(
    opened: &Opened,
    account: &RiderAccount,
    now: Timestamp,
) -> Option<Position> {
    let fix = account.fix?;
    let region = opened.regions.iter().find(|found| found.region.id == account.rider.region);
    let limit = region.map_or(Policy::OLD_MS, |found| found.region.policy.stale_after_ms());
    Some(Position {
        place: place(&fix),
        accuracy: fix.accuracy_m.map(distance),
        age: span(fix.age_ms(now)),
        stale: fix.age_ms(now) > limit,
        device_said: opened.zone.when(fix.taken_at).people,
    })
}

/// What a signal rests on. A rider of a region that is not the reader's is not named.
fn evidence(evidence: &Evidence, reached: &[RiderId], zone: Zone, lang: Lang) -> String {
    match evidence {
        Evidence::Moved { from, to, metres, kmh } => {
            let at = |fix: &Fix| zone.when(fix.at).people;
            let values = [
                ("metres", distance(*metres)),
                ("span", span(to.at.ms_since(from.at))),
                ("kmh", format!("{kmh:.0}")),
                ("from", place(from)),
                ("fromat", at(from)),
                ("to", place(to)),
                ("toat", at(to)),
            ];
            let values: Vec<_> = values.iter().map(|(name, text)| (*name, text.as_str())).collect();
            words(lang, "evidence-moved", &values)
        }
        Evidence::Shared { other, seen_at } => {
            let (name, at) = (other.to_string(), zone.when(*seen_at).people);
            if reached.contains(other) {
                words(lang, "evidence-shared", &[("other", &name), ("at", &at)])
            } else {
                words(lang, "evidence-shared-elsewhere", &[("at", &at)])
            }
        }
        Evidence::Grabs { count, within_ms } => {
            let (count, within) = (count.to_string(), span(*within_ms));
            words(lang, "evidence-grabs", &[("count", &count), ("within", &within)])
        }
    }
}

/// The signals of a rider, the latest first.
pub(super) async fn of(
    opened: &mut Opened,
    rider: RiderId,
    lang: Lang,
) -> store::Result<Vec<SignalRow>> {
    let found = opened.tx.signals_of(rider, MOST).await?;
    let staff: Vec<_> = found.iter().filter_map(|kept| Some(kept.dismissed?.1)).collect();
    let names = opened.tx.names(&[], &staff).await?;
    let others = found.iter().filter_map(|kept| match kept.signal.evidence {
        Evidence::Shared { other, .. } => Some(other),
        Evidence::Moved { .. } | Evidence::Grabs { .. } => None,
    });
    let mut others = opened.tx.regions_of_riders(&others.collect::<Vec<_>>()).await?;
    others.retain(|(_, home)| opened.regions.iter().any(|found| found.region.id == *home));
    let reached: Vec<_> = others.into_iter().map(|(other, _)| other).collect();
    let zone = opened.zone;
    let row = |kept: KeptSignal| SignalRow {
        id: kept.id,
        kind: kept.signal.kind,
        times: kept.times,
        last: zone.when(kept.signal.at),
        evidence: evidence(&kept.signal.evidence, &reached, zone, lang),
        dismissed: kept.dismissed.map(|(at, by)| {
            let by = names.staff.get(&by).cloned().unwrap_or_else(|| by.to_string());
            words(lang, "dismissed-by", &[("by", &by), ("at", &zone.when(at).people)])
        }),
    };
    Ok(found.into_iter().map(row).collect())
}

/// Somebody has looked at it.
pub(super) async fn dismiss(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    InPath((id, signal)): InPath<(String, String)>,
    Form(_): Form<Typed>,
) -> Result<Response, Problem> {
    let id = id_of(&id, &seat)?;
    let missing = || Problem::new(ProblemCode::NotFound, seat.lang());
    let signal: i64 = signal.parse().map_err(|_| missing())?;
    let mut opened = Opened::of(&desk, &seat).await?;
    record(&mut opened, &seat, id).await?;
    drop(opened);
    let dismissed = desk.executor().dismiss_signal(seat.actor(), id, signal).await;
    dismissed.map_err(|error| Problem::of_office(&error, seat.lang()))?;
    Ok(saved(&format!("/admin/riders/{id}")))
}
