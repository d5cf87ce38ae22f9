//! Places and the areas of regions (WGS-84).

pub mod datum;

use geo::{Area as _, Contains, Distance, Haversine, LineString, Point, Polygon};
use serde::{Deserialize, Serialize};

/// A position on the map, in degrees, WGS-84.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// Latitude, −90 to 90.
    pub lat: f64,
    /// Longitude, −180 to 180.
    pub lng: f64,
}

impl Place {
    /// Whether both figures are numbers within their ranges.
    pub fn is_on_earth(self) -> bool {
        (-90.0..=90.0).contains(&self.lat) && (-180.0..=180.0).contains(&self.lng)
    }

    /// Metres along the ground to another place.
    pub fn metres_to(self, other: Self) -> f64 {
        Haversine.distance(self.point(), other.point())
    }

    fn point(self) -> Point {
        Point::new(self.lng, self.lat)
    }
}

/// The area of a region.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Area {
    /// All within `radius_m` metres of a centre.
    Circle {
        /// The middle.
        centre: Place,
        /// Metres along the ground.
        radius_m: f64,
    },
    /// All within a ring of corners; the last one joins the first.
    Polygon(Vec<Place>),
}

impl Area {
    /// Whether it is an area at all: on the globe, not empty, and not everywhere. Circles have up to 500 km, polygons 3
    /// to 500 corners that enclose something.
    pub fn is_sound(&self) -> bool {
        match self {
            Self::Circle { centre, radius_m } => {
                centre.is_on_earth() && *radius_m > 0.0 && *radius_m <= 500_000.0
            }
            Self::Polygon(corners) => {
                let ring: LineString =
                    corners.iter().map(|corner| (corner.lng, corner.lat)).collect();
                (3..=500).contains(&corners.len())
                    && corners.iter().all(|corner| corner.is_on_earth())
                    && Polygon::new(ring, Vec::new()).unsigned_area() > 0.0
            }
        }
    }

    /// Whether `place` lies inside. The outline of a polygon is outside, that of a circle inside.
    pub fn contains(&self, place: Place) -> bool {
        place.is_on_earth()
            && match self {
                Self::Circle { centre, radius_m } => centre.metres_to(place) <= *radius_m,
                Self::Polygon(corners) => {
                    let ring: LineString =
                        corners.iter().map(|corner| (corner.lng, corner.lat)).collect();
                    Polygon::new(ring, Vec::new()).contains(&place.point())
                }
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEOPLES_SQUARE: Place = Place { lat: 31.2304, lng: 121.4737 };
    const PUDONG_AIRPORT: Place = Place { lat: 31.1443, lng: 121.8083 };

    #[test]
    fn a_circle_is_measured_along_the_ground() {
        let city = |radius_m| Area::Circle { centre: PEOPLES_SQUARE, radius_m };
        assert!(city(10.0).contains(PEOPLES_SQUARE));
        assert!(!city(30_000.0).contains(PUDONG_AIRPORT), "the airport is about 33 km away");
        assert!(city(34_000.0).contains(PUDONG_AIRPORT));
    }

    #[test]
    fn a_polygon_contains_what_is_inside_its_ring() {
        let corner = |lat, lng| Place { lat, lng };
        let city = Area::Polygon(vec![
            corner(31.0, 121.2),
            corner(31.0, 121.6),
            corner(31.5, 121.6),
            corner(31.5, 121.2),
        ]);
        assert!(city.contains(PEOPLES_SQUARE));
        assert!(!city.contains(PUDONG_AIRPORT));
    }

    #[test]
    fn no_area_contains_what_is_not_on_earth() {
        let world = Area::Circle { centre: PEOPLES_SQUARE, radius_m: 1e9 };
        for (lat, lng) in [(f64::NAN, 0.0), (91.0, 0.0), (0.0, 181.0), (0.0, f64::INFINITY)] {
            assert!(!world.contains(Place { lat, lng }), "{lat} {lng}");
        }
    }
}
