//! The nearest few: the same riders in the same order as brute force.

use std::f64::consts::PI;

use dispatch_desk::{
    domain::{geo::Place, id::RiderId},
    locate::Locator,
};
use rand::{Rng, RngExt, SeedableRng, rngs::StdRng};

use super::{Brute, CITY, NEXT_CITY, fix};

/// Riders around a place.
pub struct Scene {
    name: &'static str,
    centre: Place,
    /// Metres from the centre within which they are.
    spread_m: f64,
    riders: i64,
    /// Places are rounded to so many degrees, so that many riders stand on the same spot; 0 for none.
    grid: f64,
}

const fn scene(name: &'static str, lat: f64, lng: f64, spread_m: f64, riders: i64) -> Scene {
    Scene { name, centre: Place { lat, lng }, spread_m, riders, grid: 0.0 }
}

/// A corner of the icosahedron that H3 is drawn on, in the sea west of Norway: one of its twelve pentagons.
const PENTAGON: (f64, f64) = (64.7, 10.536_199);

pub const SCENES: [Scene; 10] = [
    scene("a city", 31.2304, 121.4737, 20_000.0, 2_000),
    scene("a crowd", 31.2304, 121.4737, 400.0, 2_000),
    scene("hardly anyone", 31.2304, 121.4737, 30_000.0, 12),
    Scene { grid: 0.01, ..scene("on few spots", 41.88, -87.63, 20_000.0, 2_000) },
    Scene { grid: 10.0, ..scene("all on one spot", 40.0, -90.0, 9_000.0, 500) },
    scene("across the date line", -16.8, 180.0, 8_000.0, 1_500),
    scene("at the north pole", 90.0, 0.0, 6_000.0, 1_500),
    scene("at the south pole", -90.0, 0.0, 6_000.0, 1_500),
    scene("around a pentagon", PENTAGON.0, PENTAGON.1, 6_000.0, 1_500),
    scene("all over the world", 0.0, 0.0, 2.0e7, 2_000),
];

/// A place up to `most_m` metres from another, on the sphere.
fn around(centre: Place, most_m: f64, chance: &mut impl Rng) -> Place {
    let angle = most_m / 6_371_008.8 * chance.random::<f64>().sqrt();
    let bearing = chance.random::<f64>() * 2.0 * PI;
    let (lat, lng) = (centre.lat.to_radians(), centre.lng.to_radians());
    let up = (lat.sin() * angle.cos() + lat.cos() * angle.sin() * bearing.cos()).clamp(-1.0, 1.0);
    let east = (bearing.sin() * angle.sin() * lat.cos()).atan2(angle.cos() - lat.sin() * up);
    let lng = (lng + east).to_degrees();
    let lng = (lng + 540.0).rem_euclid(360.0) - 180.0;
    Place { lat: up.asin().to_degrees(), lng }
}

fn drawn(scene: &Scene, chance: &mut impl Rng) -> Place {
    let place = around(scene.centre, scene.spread_m, chance);
    if scene.grid == 0.0 {
        return place;
    }
    let round = |degrees: f64| (degrees / scene.grid).round() * scene.grid;
    Place { lat: round(place.lat), lng: round(place.lng) }
}

pub async fn as_by_brute_force(index: &Locator, scene: &Scene, seed: usize) {
    let mut chance = StdRng::seed_from_u64(seed as u64);
    let mut brute = Brute::default();
    for rider in 1..=scene.riders {
        let place = drawn(scene, &mut chance);
        let region = if rider % 10 == 0 { NEXT_CITY } else { CITY };
        let fix = fix(1, place.lat, place.lng);
        assert!(index.note(region, RiderId(rider), fix).await.unwrap());
        brute.0.push((region, RiderId(rider), fix));
    }
    let mut found = 0;
    for _ in 0..60 {
        // Some ask from where a rider is, some from far away.
        let from = match chance.random_range(0..4) {
            0 => drawn(scene, &mut chance),
            1 => around(scene.centre, (scene.spread_m * 2.0).min(2.0e7), &mut chance),
            _ => around(scene.centre, scene.spread_m, &mut chance),
        };
        let radius_m = scene.spread_m * [0.02, 0.1, 0.5, 1.0, 3.0][chance.random_range(0..5)];
        let limit = [1, 2, 30, 200][chance.random_range(0..4)];
        found += brute.compare(index, from, radius_m, limit, |_| true).await;
        found += brute.compare(index, from, radius_m, limit, |rider| rider.0 % 17 == 0).await;
    }
    assert!(found > 20, "{}: {found} found", scene.name);
}

/// Riders move a little, far, to another region, and go; it is asked all the while.
pub async fn while_riders_move(index: &Locator) {
    let mut chance = StdRng::seed_from_u64(5);
    let scene = scene("a city", 31.2304, 121.4737, 5_000.0, 300);
    let mut brute = Brute::default();
    for seq in 1..=2_000 {
        let rider = RiderId(chance.random_range(1..=scene.riders));
        let known = brute.0.iter().position(|(_, known, _)| *known == rider);
        if let Some(known) = known.filter(|_| chance.random_bool(0.1)) {
            index.forget(rider).await.unwrap();
            brute.0.swap_remove(known);
            continue;
        }
        let place = match known {
            Some(known) if chance.random_bool(0.7) => {
                around(brute.0[known].2.place, 60.0, &mut chance)
            }
            _ => drawn(&scene, &mut chance),
        };
        let region = if chance.random_bool(0.1) { NEXT_CITY } else { CITY };
        brute.note(index, region, rider, fix(seq, place.lat, place.lng)).await;
        if seq % 10 == 0 {
            let from = drawn(&scene, &mut chance);
            brute.compare(index, from, 2_000.0, 30, |_| true).await;
        }
    }
    assert_eq!(index.count().await.unwrap(), brute.0.len());
}

/// None wanted, none allowed, none there; the edge of the circle belongs to it.
pub async fn edges(index: &Locator) {
    let from = Place { lat: 31.2304, lng: 121.4737 };
    let there = fix(1, 31.2404, 121.4737);
    let far = from.metres_to(there.place);
    let ask = async |radius_m: f64, limit, wanted: bool| {
        let wanted = move |_| wanted;
        index.nearest(CITY, from, radius_m, limit, &wanted).await.unwrap().len()
    };
    assert_eq!(ask(1e9, 10, true).await, 0, "nobody is there yet");
    assert!(index.note(CITY, RiderId(1), there).await.unwrap());
    assert!(index.note(CITY, RiderId(2), fix(1, from.lat, from.lng)).await.unwrap());
    assert_eq!(ask(far, 10, true).await, 2);
    assert_eq!(ask(far.next_down(), 10, true).await, 1);
    assert_eq!(ask(0.0, 10, true).await, 1);
    assert_eq!(ask(far, 1, true).await, 1);
    for (radius_m, limit, wanted) in
        [(far, 0, true), (far, 10, false), (-1.0, 10, true), (f64::NAN, 10, true)]
    {
        assert_eq!(ask(radius_m, limit, wanted).await, 0, "{radius_m} {limit} {wanted}");
    }
    assert_eq!(ask(f64::INFINITY, usize::MAX, true).await, 2);
}
