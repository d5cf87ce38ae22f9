//! A new version of a region's rules.

use axum::{extract::State, response::Response};

use super::{
    came,
    region_one::{Sent, id_of, show},
    regions::wrong,
    saved,
};
use crate::{
    domain::{
        policy::{Policy, RegionMode},
        round::{AfterRounds, RoundRules, RoundStart},
    },
    web::{
        desk::Desk,
        extract::{Form, InPath},
        forms::Typed,
        page::Zone,
        people::StaffSeat,
        problem::Problem,
    },
};

fn number<T: std::str::FromStr>(typed: &Typed, field: &'static str) -> Result<T, &'static str> {
    typed.get(field).parse().map_err(|_| field)
}

/// How the region asks. The ladder is typed in metres, its rungs apart by spaces, commas or slashes.
fn rounds(typed: &Typed) -> Result<RoundRules, &'static str> {
    let apart = |letter: char| letter.is_whitespace() || matches!(letter, ',' | '/' | '，' | '、');
    let rungs = typed.get("ladder").split(apart).filter(|rung| !rung.is_empty());
    let ladder_m = rungs.map(str::parse).collect::<Result<Vec<u32>, _>>().map_err(|_| "ladder")?;
    Ok(RoundRules {
        start: RoundStart::parse(typed.get("round_start")).ok_or("round_start")?,
        ladder_m,
        batch: number(typed, "batch")?,
        seconds: number(typed, "round_seconds")?,
        rounds: number(typed, "rounds")?,
        then: AfterRounds::parse(typed.get("then")).ok_or("then")?,
        auto_offers: number(typed, "auto_offers")?,
        fair_window_ms: number(typed, "fair_window_ms")?,
        stagger_ms: number(typed, "stagger_ms")?,
        hand_back_m: number(typed, "hand_back_m")?,
    })
}

/// The rules that were typed, after the version that the form was rendered with; or the field that can not be read.
fn policy(typed: &Typed) -> Result<Policy, &'static str> {
    let age = match typed.get("position_max_age") {
        "" => None,
        text => {
            let seconds: i64 = text.parse().map_err(|_| "position_max_age")?;
            Some(seconds.saturating_mul(1_000))
        }
    };
    Ok(Policy {
        version: number(typed, "version")?,
        mode: RegionMode::parse(typed.get("mode")).ok_or("mode")?,
        offer_seconds: number(typed, "offer_seconds")?,
        offer_seconds_min: number(typed, "offer_seconds_min")?,
        offer_seconds_max: number(typed, "offer_seconds_max")?,
        grace_ms: number(typed, "grace_ms")?,
        hand_backs_per_day: number(typed, "hand_backs_per_day")?,
        position_max_age_ms: age,
        rounds: rounds(typed)?,
    })
}

/// Adds the version. Those before it stay as they are.
pub(super) async fn add(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    InPath(id): InPath<String>,
    Form(typed): Form<Typed>,
) -> Result<Response, Problem> {
    let id = id_of(&id, &seat)?;
    let opened = super::Opened::of(&desk, &seat).await?;
    let of = opened.regions.iter().find(|found| found.region.id == id);
    // A date without a zone is one of the region's own.
    let zone = Zone { zone: of.map_or(chrono_tz::UTC, |of| of.region.time_zone), ..opened.zone };
    drop(opened);
    let starts_at = match typed.get("starts_at") {
        "" => Ok(None),
        text => zone.instant(text).map(Some).ok_or("starts_at"),
    };
    let read = policy(&typed).and_then(|policy| Ok((policy, starts_at?)));
    let came = match read {
        Err(field) => wrong(&seat, field),
        Ok((policy, starts_at)) => {
            match desk.executor().add_policy(seat.actor(), id, starts_at, &policy).await {
                Ok(_) => return Ok(saved(&format!("/admin/regions/{id}"))),
                Err(error) => came(error, seat.lang())?,
            }
        }
    };
    let sent = Sent { region: None, rules: Some(typed) };
    show(&desk, &seat, id, sent, Some(came), false).await
}
