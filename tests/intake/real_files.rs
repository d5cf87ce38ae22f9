//! Real files of others, which stay where they are: the tests say so when they are not there.

use std::{fs::File, io::BufReader, path::PathBuf};

use dispatch_desk::{
    import::{Preview, preview},
    intake::{Given, RowKind},
};

use crate::scene::{at, given, named, task};

/// A file of the folder of real data; none, and told, if the folder is not there.
fn real(name: &str) -> Option<PathBuf> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data");
    let folder = std::env::var("DISPATCH_DATA").unwrap_or_else(|_| default.to_owned());
    let file = PathBuf::from(folder).join(name);
    if !file.exists() {
        eprintln!("SKIPPED: {} is not there; set DISPATCH_DATA to its folder", file.display());
        return None;
    }
    Some(file)
}

fn read(file: &PathBuf, mapping: &str, given: &Given) -> Preview {
    let input = BufReader::new(File::open(file).unwrap());
    let preview = preview(input, &named(mapping), given, usize::MAX).unwrap();
    assert!(preview.broken.is_none());
    preview
}

/// The codes with their fields, and how often each.
fn reasons(preview: &Preview) -> std::collections::BTreeMap<String, usize> {
    let mut reasons = std::collections::BTreeMap::new();
    for row in &preview.rows {
        if let RowKind::Refused { field, problem } = &row.what {
            let reason = format!("{} {}", problem.code(), field.as_deref().unwrap_or("-"));
            *reasons.entry(reason).or_default() += 1;
        }
    }
    reasons
}

#[test]
fn chicago_15_002_trips() {
    let Some(file) = real("chicago_taxi_trips.csv") else { return };
    let found = read(&file, "chicago", &given());
    let summary = &found.summary;
    assert_eq!((summary.rows, summary.tasks, summary.unread), (15_002, 14_519, 483));
    let reasons: Vec<_> = reasons(&found).into_iter().collect();
    assert_eq!(
        reasons,
        [
            ("FIELD_MISSING dropoff_latitude".to_owned(), 481),
            ("FIELD_MISSING pickup_latitude".to_owned(), 2),
        ]
    );
    let keys: std::collections::BTreeSet<_> = found
        .rows
        .iter()
        .filter(|row| matches!(row.what, RowKind::Task(_)))
        .map(|row| task(row).key.clone())
        .collect();
    assert_eq!(keys.len(), 14_519, "every trip has a key of its own");
    let again = read(&file, "chicago", &given());
    assert_eq!(found.rows, again.rows, "and the same one every time");
}

#[test]
fn lade_44_parcels_whose_year_is_never_guessed() {
    let Some(file) = real("lade_delivery_jl_sample.csv") else { return };
    let none = read(&file, "lade", &given());
    assert_eq!((none.summary.rows, none.summary.tasks), (44, 0));
    assert_eq!(none.summary.codes.get("NEEDS_BASE_DATE"), Some(&40));

    let mut given = given();
    given.base_date = chrono::NaiveDate::from_ymd_opt(2022, 1, 1);
    let found = read(&file, "lade", &given);
    assert_eq!((found.summary.tasks, found.summary.unread), (40, 4));
    let reasons: Vec<_> = reasons(&found).into_iter().collect();
    assert_eq!(reasons, [("FIELD_MISSING accept_gps_lat".to_owned(), 4)]);
    let first = task(&found.rows[0]);
    assert_eq!(first.key.as_str(), "3322376");
    assert_eq!(first.placed_at, Some(at("2022-09-25T08:08:00+08:00")));
    assert_eq!((first.new.pickup.lat, first.new.pickup.lng), (43.87092, 126.56614));
    assert_eq!(first.new.dropoff.address, "Jilin 43.84112, 126.56526");
}

#[test]
fn bus_1_533_positions_of_8_buses() {
    let Some(file) = real("liverpool_bus_route14.csv") else { return };
    let found = read(&file, "bus", &given());
    assert_eq!((found.summary.rows, found.summary.positions), (1_533, 1_533));
    let buses: std::collections::BTreeSet<_> = found
        .rows
        .iter()
        .filter_map(|row| match &row.what {
            RowKind::Position(position) => Some(position.rider.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(buses.len(), 8);
    let RowKind::Position(first) = &found.rows[0].what else { panic!() };
    assert_eq!((first.rider.as_str(), first.seq), ("4716", 23_811_684));
    assert_eq!(first.at, at("2026-01-26T15:57:02Z"));
}
