//! One region: its name, zone and area, and the versions of its rules.

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};

use super::{
    Came, Opened, Saved, came,
    changes::{self, Change},
    fields,
    regions::{Wanted, wrong, zones},
    saved,
};
use crate::{
    domain::{
        admin::AdminSubject,
        authority::Matter,
        id::RegionId,
        policy::{Policy, RegionMode},
        round::{AfterRounds, RoundStart},
    },
    store::{self, RegionRecord},
    web::{
        desk::Desk,
        extract::{Form, InPath, Query},
        forms::Typed,
        page::{Shell, When, filters, render},
        people::{Seat, StaffSeat},
        problem::{Problem, ProblemCode},
    },
};

/// The most versions that the page shows.
const VERSIONS: i64 = 50;

/// A version of the rules as the page shows it.
struct Version {
    policy: Policy,
    /// None if it has been so from the beginning.
    starts: Option<When>,
    /// Whether it is the one in force.
    in_force: bool,
}

#[derive(Template)]
#[template(path = "admin/region_one.html")]
struct One {
    shell: Shell,
    id: RegionId,
    record: RegionRecord,
    may: bool,
    zones: Vec<&'static str>,
    modes: &'static [RegionMode],
    starts: &'static [RoundStart],
    thens: &'static [AfterRounds],
    versions: Vec<Version>,
    /// The number of the last version, which a new one follows.
    last: i64,
    typed: Typed,
    /// What was typed into the form of the rules, or what holds.
    rules: Typed,
    first: Option<Change>,
    wrong: Option<String>,
    saved: bool,
    changes: Vec<Change>,
}

pub(super) fn id_of(path: &str, seat: &Seat) -> Result<RegionId, Problem> {
    let id = RegionId::parse(path).filter(|id| seat.caller.regions.contains(id));
    id.ok_or_else(|| Problem::new(ProblemCode::NotFound, seat.lang()))
}

/// What the form of a region holds.
fn form_of(record: &RegionRecord) -> Typed {
    let days = record.retention_days.map(|days| days.to_string());
    let mut form = fields::filled([
        ("name", record.name.clone()),
        ("time_zone", record.region.time_zone.name().to_owned()),
        ("retention_days", days.unwrap_or_default()),
    ]);
    form.0.extend(fields::area_fields(&record.region.area));
    form
}

/// What the form of the rules holds.
fn rules_of(policy: &Policy) -> Typed {
    let age = policy.position_max_age_ms.map(|age| (age / 1_000).to_string());
    let rounds = &policy.rounds;
    let ladder: Vec<_> = rounds.ladder_m.iter().map(u32::to_string).collect();
    let mut form = fields::filled([
        ("round_start", rounds.start.to_string()),
        ("ladder", ladder.join(" ")),
        ("batch", rounds.batch.to_string()),
        ("round_seconds", rounds.seconds.to_string()),
        ("rounds", rounds.rounds.to_string()),
        ("then", rounds.then.to_string()),
        ("auto_offers", rounds.auto_offers.to_string()),
        ("fair_window_ms", rounds.fair_window_ms.to_string()),
        ("stagger_ms", rounds.stagger_ms.to_string()),
        ("hand_back_m", rounds.hand_back_m.to_string()),
    ]);
    let rules = fields::filled([
        ("mode", policy.mode.to_string()),
        ("offer_seconds", policy.offer_seconds.to_string()),
        ("offer_seconds_min", policy.offer_seconds_min.to_string()),
        ("offer_seconds_max", policy.offer_seconds_max.to_string()),
        ("grace_ms", policy.grace_ms.to_string()),
        ("hand_backs_per_day", policy.hand_backs_per_day.to_string()),
        ("position_max_age", age.unwrap_or_default()),
    ]);
    form.0.extend(rules.0);
    form
}

/// What was typed, into which of the two forms.
#[derive(Default)]
pub(super) struct Sent {
    pub(super) region: Option<Typed>,
    pub(super) rules: Option<Typed>,
}

pub(super) async fn show(
    desk: &Desk,
    seat: &Seat,
    id: RegionId,
    sent: Sent,
    came: Option<Came>,
    saved: bool,
) -> Result<Response, Problem> {
    let failed = |error: store::Error| Problem::read(&error, seat.lang());
    let missing = || Problem::new(ProblemCode::NotFound, seat.lang());
    let mut opened = Opened::of(desk, seat).await?;
    let record = opened.tx.region_record(id).await.map_err(failed)?.ok_or_else(missing)?;
    let versions = opened.tx.policies_of(id, VERSIONS).await.map_err(failed)?;
    let now = opened.zone.now;
    let in_force = opened.regions.iter().find(|found| found.region.id == id);
    let in_force = in_force.map(|found| found.region.policy.clone()).unwrap_or_default();
    let of = AdminSubject::Region(id);
    let changes = changes::of(&mut opened.tx, of, opened.zone, seat.lang()).await;
    let changes = changes.map_err(failed)?;
    let version = |dated: &store::DatedPolicy| Version {
        in_force: dated.policy.version == in_force.version && dated.starts_at <= now,
        starts: (dated.starts_at.0 > 0).then(|| opened.zone.when(dated.starts_at)),
        policy: dated.policy.clone(),
    };
    let page = One {
        shell: seat.shell(desk, &opened.regions, opened.zone),
        id,
        may: seat.may_matter(Matter::Regions),
        zones: zones(),
        modes: RegionMode::ALL,
        starts: RoundStart::ALL,
        thens: AfterRounds::ALL,
        last: versions.first().map_or(0, |last| last.policy.version),
        rules: sent
            .rules
            .unwrap_or_else(|| rules_of(versions.first().map_or(&in_force, |last| &last.policy))),
        versions: versions.iter().map(version).collect(),
        typed: sent.region.unwrap_or_else(|| form_of(&record)),
        first: changes.first().filter(|_| matches!(came, Some(Came::Stale))).cloned(),
        wrong: came.as_ref().and_then(Came::wrong),
        saved,
        record,
        changes,
    };
    let status = came.as_ref().map_or(StatusCode::OK, Came::status);
    Ok(render(&page, seat.lang(), status))
}

/// The page.
pub(super) async fn one(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    InPath(id): InPath<String>,
    Query(Saved { saved }): Query<Saved>,
) -> Result<Response, Problem> {
    show(&desk, &seat, id_of(&id, &seat)?, Sent::default(), None, saved.is_some()).await
}

/// Name, zone, area, retention.
pub(super) async fn change(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    InPath(id): InPath<String>,
    Form(typed): Form<Typed>,
) -> Result<Response, Problem> {
    let id = id_of(&id, &seat)?;
    let came = match Wanted::read(&typed) {
        Err(field) => wrong(&seat, field),
        Ok(wanted) => {
            let revision = fields::revision(&typed);
            let change = wanted.change();
            match desk.executor().change_region(seat.actor(), id, revision, &change).await {
                Ok(()) => return Ok(saved(&format!("/admin/regions/{id}"))),
                Err(error) => came(error, seat.lang())?,
            }
        }
    };
    let sent = Sent { region: Some(typed), rules: None };
    show(&desk, &seat, id, sent, Some(came), false).await
}
