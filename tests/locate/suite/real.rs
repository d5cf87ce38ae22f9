//! Real positions, which stay where they are: the tests say so when they are not there.

use std::path::PathBuf;

use dispatch_desk::{
    domain::{geo::Place, id::RiderId},
    locate::Locator,
};

use super::{Brute, CITY, fix};

/// A file of the folder of real data; none, and told, if the folder is not there.
fn rows(name: &str, columns: [&str; 3]) -> Option<Vec<[String; 3]>> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data");
    let folder = std::env::var("DISPATCH_DATA").unwrap_or_else(|_| default.to_owned());
    let file = PathBuf::from(folder).join(name);
    if !file.exists() {
        eprintln!("SKIPPED: {} is not there; set DISPATCH_DATA to its folder", file.display());
        return None;
    }
    let mut reader = csv::Reader::from_path(file).unwrap();
    let header = reader.headers().unwrap().clone();
    let at = columns.map(|name| header.iter().position(|column| column == name).unwrap());
    let row = |row: csv::StringRecord| at.map(|column| row[column].to_owned());
    Some(reader.records().map(|record| row(record.unwrap())).collect())
}

fn place(lat: &str, lng: &str) -> Option<Place> {
    Some(Place { lat: lat.parse().ok()?, lng: lng.parse().ok()? })
}

/// Buses report as they drive; each report asks who is near it.
pub async fn liverpool(index: &Locator) {
    let columns = ["vehicle_id", "latitude", "longitude"];
    let Some(rows) = rows("liverpool_bus_route14.csv", columns) else { return };
    let (mut brute, mut found) = (Brute::default(), 0);
    for (seq, [vehicle, lat, lng]) in (1..).zip(rows) {
        let Some(place) = place(&lat, &lng) else { continue };
        let rider = RiderId(vehicle.parse().unwrap());
        brute.note(index, CITY, rider, fix(seq, place.lat, place.lng)).await;
        found += brute.compare(index, place, 2_000.0, 30, |other| other != rider).await;
    }
    assert!(brute.0.len() == 8 && found > 1_000, "{} buses, {found} found", brute.0.len());
}

/// Pickups of Chicago are rounded to the middle of their district: some thousands on some hundreds of spots.
pub async fn chicago(index: &Locator) {
    let columns = ["trip_seconds", "pickup_latitude", "pickup_longitude"];
    let Some(rows) = rows("chicago_taxi_trips.csv", columns) else { return };
    let places: Vec<_> = rows.iter().filter_map(|[_, lat, lng]| place(lat, lng)).collect();
    let mut brute = Brute::default();
    for (rider, place) in (1..).zip(&places) {
        let fix = fix(1, place.lat, place.lng);
        assert!(index.note(CITY, RiderId(rider), fix).await.unwrap());
        brute.0.push((CITY, RiderId(rider), fix));
    }
    let mut found = 0;
    for from in places.iter().step_by(61) {
        found += brute.compare(index, *from, 2_000.0, 30, |_| true).await;
        found += brute.compare(index, *from, 10_000.0, 30, |rider| rider.0 % 5 == 0).await;
    }
    assert!(places.len() > 10_000 && found > 10_000, "{} places, {found} found", places.len());
}
