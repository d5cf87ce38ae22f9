//! What looks wrong about a rider: positions that no vehicle could reach, a telephone that two riders share, grabs that no
//! thumb makes. A signal is a reason to look, with its figures; it refuses nobody anything. Whoever has looked may set
//! that a rider gets no more tasks (`risk_rejected`), or dismiss it.

use serde::{Deserialize, Serialize};

use super::{
    fix::Fix,
    id::{RiderId, Timestamp},
    text_enum::text_enum,
};

/// No vehicle that delivers is faster over [`LEAST_M`], in km/h.
pub const FASTEST_KMH: f64 = 200.0;
/// Shorter ways say nothing: positions jump among high buildings. In metres.
pub const LEAST_M: f64 = 500.0;
/// Nothing that flies is faster, in km/h: over [`TELEPORT_M`] that is no driving but another place.
pub const TELEPORT_KMH: f64 = 1_000.0;
/// From here on it is another place, in metres.
pub const TELEPORT_M: f64 = 10_000.0;
/// Two riders used one telephone within so long, in milliseconds: an hour, less than between two shifts.
pub const SHARED_MS: i64 = 3_600_000;
/// So many grabs within [`GRABS_MS`] are not made by hand.
pub const GRABS: usize = 20;
/// See [`GRABS`]; in milliseconds.
pub const GRABS_MS: i64 = 10_000;

text_enum! {
    /// What looks wrong.
    pub enum SignalKind {
        /// Faster than anything that delivers.
        Speed = "speed",
        /// At another place all at once.
        Teleport = "teleport",
        /// One telephone, two riders.
        SharedDevice = "shared_device",
        /// Grabs faster than by hand.
        GrabRate = "grab_rate",
    }
}

/// What it rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// Two positions, one after the other.
    Moved {
        /// The earlier one.
        from: Fix,
        /// The later one.
        to: Fix,
        /// Between them, less what both devices were unsure of.
        metres: f64,
        /// Kilometres an hour.
        kmh: f64,
    },
    /// Somebody else with the same telephone.
    Shared {
        /// Who.
        other: RiderId,
        /// When they last used it.
        seen_at: Timestamp,
    },
    /// Grabs.
    Grabs {
        /// How many.
        count: usize,
        /// Within how many milliseconds.
        within_ms: i64,
    },
}

/// Something that looks wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// About whom.
    pub rider: RiderId,
    /// What.
    pub kind: SignalKind,
    /// When.
    pub at: Timestamp,
    /// Why.
    pub evidence: Evidence,
}

/// What two positions of a rider say, if it is wrong.
pub fn movement(rider: RiderId, from: &Fix, to: &Fix) -> Option<Signal> {
    let unsure_m = from.accuracy_m.unwrap_or_default() + to.accuracy_m.unwrap_or_default();
    let metres = from.place.metres_to(to.place) - unsure_m;
    // Two positions of one moment, or in the wrong order, count as a second apart.
    let ms = i32::try_from(to.at.ms_since(from.at)).unwrap_or(i32::MAX).max(1_000);
    let kmh = metres / f64::from(ms) * 3_600.0;
    let kind = if metres >= TELEPORT_M && kmh > TELEPORT_KMH {
        SignalKind::Teleport
    } else if metres >= LEAST_M && kmh > FASTEST_KMH {
        SignalKind::Speed
    } else {
        return None;
    };
    let evidence = Evidence::Moved { from: *from, to: *to, metres, kmh };
    Some(Signal { rider, kind, at: to.at, evidence })
}

/// What the latest grabs of a rider say, oldest first, if it is wrong.
pub fn grabbing(rider: RiderId, grabs: impl ExactSizeIterator<Item = Timestamp>) -> Option<Signal> {
    let count = grabs.len();
    let mut ends = None;
    for at in grabs {
        let (first, _) = ends.unwrap_or((at, at));
        ends = Some((first, at));
    }
    let (first, last) = ends.filter(|_| count >= GRABS)?;
    let within_ms = last.ms_since(first);
    let evidence = Evidence::Grabs { count, within_ms };
    let signal = Signal { rider, kind: SignalKind::GrabRate, at: last, evidence };
    (within_ms <= GRABS_MS).then_some(signal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::geo::Place;

    const R: RiderId = RiderId(1);

    fn at(seconds: i64, north_m: f64) -> Fix {
        let place = Place { lat: 31.0 + north_m / 111_195.08, lng: 121.0 };
        Fix::new(seconds, Timestamp(seconds * 1_000), place)
    }

    fn kind(from: &Fix, to: &Fix) -> Option<SignalKind> {
        movement(R, from, to).map(|signal| signal.kind)
    }

    #[test]
    fn a_ride_is_a_ride_and_a_jump_is_none() {
        assert_eq!(kind(&at(0, 0.0), &at(60, 900.0)), None, "54 km/h");
        assert_eq!(kind(&at(0, 0.0), &at(2, 450.0)), None, "too short to say");
        assert_eq!(kind(&at(0, 0.0), &at(60, 4_000.0)), Some(SignalKind::Speed), "240 km/h");
        assert_eq!(kind(&at(0, 0.0), &at(60, 12_000.0)), Some(SignalKind::Speed), "720 km/h");
        assert_eq!(kind(&at(0, 0.0), &at(20, 12_000.0)), Some(SignalKind::Teleport));
        assert_eq!(kind(&at(20, 0.0), &at(20, 12_000.0)), Some(SignalKind::Teleport));
        assert_eq!(kind(&at(0, 0.0), &at(86_400, 900_000.0)), None, "a day later");
    }

    #[test]
    fn what_devices_are_unsure_of_is_not_held_against_anybody() {
        let unsure = Fix { accuracy_m: Some(3_800.0), ..at(60, 4_000.0) };
        assert_eq!(kind(&at(0, 0.0), &unsure), None);
    }

    #[test]
    fn the_figures_are_told() {
        let signal = movement(R, &at(0, 0.0), &at(10, 1_000.0)).map(|signal| signal.evidence);
        let Some(Evidence::Moved { metres, kmh, .. }) = signal else { panic!("{signal:?}") };
        assert!((metres - 1_000.0).abs() < 0.1 && (kmh - 360.0).abs() < 0.1, "{metres} {kmh}");
    }

    #[test]
    fn grabs_by_hand_are_slower() {
        let grabs = |count: usize, apart_ms: i64| {
            let all: Vec<_> = (0..).map(|n| Timestamp(n * apart_ms)).take(count).collect();
            grabbing(R, all.into_iter()).map(|signal| signal.evidence)
        };
        assert_eq!(grabs(0, 1), None);
        assert_eq!(grabs(GRABS - 1, 1), None);
        assert_eq!(grabs(GRABS, 600), None, "12 seconds");
        assert_eq!(grabs(GRABS, 500), Some(Evidence::Grabs { count: GRABS, within_ms: 9_500 }));
    }
}
