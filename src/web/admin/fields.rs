//! What the forms of these pages hold, read from what was typed.

use crate::{
    domain::{
        command::{RequestKey, Role},
        geo::{Area, Place},
        id::RegionId,
    },
    web::forms::Typed,
};

/// The revision that the form was rendered with; nothing fits one that was put together by hand without it.
pub(super) fn revision(typed: &Typed) -> i64 {
    typed.get("revision").parse().unwrap_or_default()
}

/// The key that the form was rendered with.
pub(super) fn key(typed: &Typed) -> Option<RequestKey> {
    RequestKey::parse(typed.get("key"))
}

/// A role by its name; `Rider`, which no form of staff takes, for anything else.
pub(super) fn role(typed: &Typed) -> Role {
    Role::parse(typed.get("role")).unwrap_or(Role::Rider)
}

/// The regions whose boxes are ticked: `region-1=on`.
pub(super) fn regions(typed: &Typed) -> Vec<RegionId> {
    let ticked = typed.0.keys().filter_map(|field| field.strip_prefix("region-"));
    let mut regions: Vec<_> = ticked.filter_map(|id| id.parse().ok()).map(RegionId).collect();
    regions.sort_unstable();
    regions
}

/// A place, `latitude, longitude` in degrees.
fn place(text: &str) -> Option<Place> {
    let (lat, lng) = text.split_once([',', '，'])?;
    Some(Place { lat: lat.trim().parse().ok()?, lng: lng.trim().parse().ok()? })
}

/// An area: a centre with a radius in kilometres, or the corners of a polygon, one in a line.
pub(super) fn area(typed: &Typed) -> Option<Area> {
    let corners = typed.lines("corners");
    if corners.trim().is_empty() {
        let radius_km: f64 = typed.get("radius").parse().ok()?;
        return Some(Area::Circle {
            centre: place(typed.get("centre"))?,
            radius_m: radius_km * 1_000.0,
        });
    }
    let lines = corners.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(place).collect::<Option<Vec<_>>>().map(Area::Polygon)
}

/// An area as its form has it: centre, radius in kilometres, corners.
pub(super) fn area_fields(area: &Area) -> [(String, String); 3] {
    let of = |place: &Place| format!("{}, {}", place.lat, place.lng);
    let (centre, radius, corners) = match area {
        Area::Circle { centre, radius_m } => {
            (of(centre), (radius_m / 1_000.0).to_string(), String::new())
        }
        Area::Polygon(corners) => {
            let lines: Vec<_> = corners.iter().map(of).collect();
            (String::new(), String::new(), lines.join("\n"))
        }
    };
    [("centre", centre), ("radius", radius), ("corners", corners)]
        .map(|(name, value)| (name.to_owned(), value))
}

/// Fields of a form, put together.
pub(super) fn filled<const N: usize>(fields: [(&str, String); N]) -> Typed {
    Typed(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_area_is_read_back_as_it_was_shown() {
        let centre = Place { lat: 31.25, lng: 121.5 };
        let (north, east) = (Place { lat: 31.5, ..centre }, Place { lng: 121.75, ..centre });
        for area in
            [Area::Circle { centre, radius_m: 7_500.0 }, Area::Polygon(vec![centre, north, east])]
        {
            let shown = Typed(area_fields(&area).into_iter().collect());
            assert_eq!(super::area(&shown), Some(area));
        }
    }

    #[test]
    fn half_an_area_is_none() {
        let typed = |a: (&str, &str), b: (&str, &str)| {
            filled([(a.0, a.1.to_owned()), (b.0, b.1.to_owned())])
        };
        assert_eq!(area(&typed(("centre", "31.25"), ("radius", "5"))), None);
        assert_eq!(area(&typed(("centre", "31.25, 121.5"), ("radius", ""))), None);
        assert_eq!(area(&typed(("corners", "31.25, 121.5\nnorth"), ("radius", "5"))), None);
    }

    #[test]
    fn ticked_regions_are_those_with_a_number() {
        let on = || "on".to_owned();
        let ticked = filled([("region-2", on()), ("region-1", on()), ("region-x", on())]);
        assert_eq!(regions(&ticked), [RegionId(1), RegionId(2)]);
    }
}
