//! What a region has decided for itself. Versions are dated and never edited in place.

use serde::{Deserialize, Serialize};

use super::{
    geo::Area,
    id::{RegionId, Timestamp},
    round::RoundRules,
    text_enum::text_enum,
};

text_enum! {
    /// Whether dispatchers ask riders before a task is theirs.
    pub enum RegionMode {
        /// An offer reserves, the rider confirms.
        Reserve = "reserve",
        /// Dispatchers may assign directly.
        Immediate = "immediate",
    }
}

/// One version of a region's rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// Number of the version; offers and rounds record the one they used.
    pub version: i64,
    /// Reserve or immediate.
    pub mode: RegionMode,
    /// How long an offer waits if the dispatcher names no time.
    pub offer_seconds: u32,
    /// The shortest offer that a dispatcher may name.
    pub offer_seconds_min: u32,
    /// The longest offer that a dispatcher may name.
    pub offer_seconds_max: u32,
    /// Added to the deadline for slow networks; the shown deadline comes that much earlier.
    pub grace_ms: i64,
    /// How many tasks a rider may hand back on one day of the region's zone.
    pub hand_backs_per_day: u32,
    /// A rider whose last position is older can not take tasks; `None` asks for no position.
    pub position_max_age_ms: Option<i64>,
    /// How tasks are shown to riders in rounds. Versions from before there were rounds have the usual rules.
    #[serde(default)]
    pub rounds: RoundRules,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            version: 1,
            mode: RegionMode::Reserve,
            offer_seconds: 30,
            offer_seconds_min: 5,
            offer_seconds_max: 600,
            grace_ms: 0,
            hand_backs_per_day: 3,
            position_max_age_ms: None,
            rounds: RoundRules::default(),
        }
    }
}

/// A region with the rules in force.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Its number.
    pub id: RegionId,
    /// Its time zone, by IANA name: a day of the region starts at its midnight.
    pub time_zone: chrono_tz::Tz,
    /// Where its tasks are picked up.
    pub area: Area,
    /// The rules in force.
    pub policy: Policy,
}

impl Region {
    /// The first instant of the local day that `now` lies in.
    ///
    /// Where a change of the clocks leaves out midnight, the day starts with its first hour that exists.
    pub fn day_start(&self, now: Timestamp) -> Timestamp {
        use chrono::{DateTime, TimeDelta, TimeZone};

        let Some(utc) = DateTime::from_timestamp_millis(now.0) else { return now };
        let midnight =
            utc.with_timezone(&self.time_zone).date_naive().and_time(chrono::NaiveTime::MIN);
        (0..4)
            .find_map(|hours| {
                self.time_zone.from_local_datetime(&(midnight + TimeDelta::hours(hours))).earliest()
            })
            .map_or(now, |start| Timestamp(start.timestamp_millis()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::geo::Place;

    fn region(time_zone: chrono_tz::Tz) -> Region {
        let centre = Place { lat: 0.0, lng: 0.0 };
        Region {
            id: RegionId(1),
            time_zone,
            area: Area::Circle { centre, radius_m: 1.0 },
            policy: Policy::default(),
        }
    }

    #[test]
    fn a_day_starts_at_the_regions_own_midnight() {
        // 2026-11-30T20:00Z is already 1 December in Shanghai.
        let start = region(chrono_tz::Asia::Shanghai).day_start(Timestamp(1_796_068_800_000));
        assert_eq!(start.to_string(), "2026-11-30T16:00:00.000Z");
    }

    #[test]
    fn a_day_without_midnight_starts_with_its_first_hour() {
        // Beirut 2024-03-31: the clocks went from 00:00 to 01:00.
        let start = region(chrono_tz::Asia::Beirut).day_start(Timestamp(1_711_886_400_000));
        assert_eq!(start.to_string(), "2024-03-30T22:00:00.000Z");
    }
}
