//! GCJ-02, the shifted coordinates of maps in mainland China, to WGS-84.
//!
//! The shift is a published approximation: a polynomial and sines on the ellipsoid of 1940. It is undone by
//! iteration, to well below a metre.

use std::f64::consts::PI;

use super::Place;

/// Half of the ellipsoid's long axis, in metres (Krasovsky 1940).
const AXIS: f64 = 6_378_245.0;
/// Its eccentricity, squared.
const ECCENTRICITY: f64 = 0.006_693_421_622_965_943;

/// Where the shift is in force: a plain rectangle, as all who use it have it.
fn is_shifted(place: Place) -> bool {
    (0.8293..=55.8271).contains(&place.lat) && (72.004..=137.8347).contains(&place.lng)
}

fn waves(x: f64, parts: [(f64, f64); 4]) -> f64 {
    parts.iter().map(|(size, factor)| size * (factor * x * PI).sin()).sum::<f64>() * 2.0 / 3.0
}

/// By how many degrees WGS-84 is shifted at a place.
fn shift(place: Place) -> (f64, f64) {
    let (x, y) = (place.lng - 105.0, place.lat - 35.0);
    let both = waves(x, [(20.0, 6.0), (20.0, 2.0), (0.0, 0.0), (0.0, 0.0)]);
    let north = -100.0
        + 2.0 * x
        + 3.0 * y
        + 0.2 * y * y
        + 0.1 * x * y
        + 0.2 * x.abs().sqrt()
        + both
        + waves(y, [(20.0, 1.0), (40.0, 1.0 / 3.0), (160.0, 1.0 / 12.0), (320.0, 1.0 / 30.0)]);
    let east = 300.0
        + x
        + 2.0 * y
        + 0.1 * x * x
        + 0.1 * x * y
        + 0.1 * x.abs().sqrt()
        + both
        + waves(x, [(20.0, 1.0), (40.0, 1.0 / 3.0), (150.0, 1.0 / 12.0), (300.0, 1.0 / 30.0)]);
    let radians = place.lat.to_radians();
    let magic = 1.0 - ECCENTRICITY * radians.sin().powi(2);
    let root = magic.sqrt();
    let lat = north * 180.0 / (AXIS * (1.0 - ECCENTRICITY) / (magic * root) * PI);
    let lng = east * 180.0 / (AXIS / root * radians.cos() * PI);
    (lat, lng)
}

/// Undoes the shift: WGS-84 of a place that was given in GCJ-02. Places outside of China stay as they are.
pub fn gcj02_to_wgs84(shifted: Place) -> Place {
    if !is_shifted(shifted) {
        return shifted;
    }
    let mut guess = shifted;
    // Each round is a thousand times nearer; six reach the end of what a number holds.
    for _ in 0..6 {
        let (lat, lng) = shift(guess);
        guess = Place { lat: shifted.lat - lat, lng: shifted.lng - lng };
    }
    guess
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs that the implementations of this algorithm share as their test vectors.
    const VECTORS: [(Place, Place); 3] = [
        // Shanghai, Shenzhen, Beijing.
        (
            Place { lat: 31.177_427_6, lng: 121.527_210_6 },
            Place { lat: 31.175_303_983_645_97, lng: 121.531_541_859_215 },
        ),
        (
            Place { lat: 22.543_847, lng: 113.912_316 },
            Place { lat: 22.540_796_131_694_766, lng: 113.917_176_480_836_3 },
        ),
        (
            Place { lat: 39.911_954, lng: 116.377_817 },
            Place { lat: 39.913_345_455_360_69, lng: 116.384_047_224_556_57 },
        ),
    ];

    #[test]
    fn the_published_pairs_come_out() {
        for (wgs, gcj) in VECTORS {
            let back = gcj02_to_wgs84(gcj);
            assert!((back.lat - wgs.lat).abs() < 1e-6, "{back:?} {wgs:?}");
            assert!((back.lng - wgs.lng).abs() < 1e-6, "{back:?} {wgs:?}");
        }
    }

    #[test]
    fn nothing_moves_outside_of_china() {
        for (lat, lng) in [(51.5, -0.12), (-37.8, 144.96), (12.45, 177.0)] {
            assert_eq!(gcj02_to_wgs84(Place { lat, lng }), Place { lat, lng });
        }
    }
}
