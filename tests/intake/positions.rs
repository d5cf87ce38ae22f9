//! Positions of riders.

use dispatch_desk::{
    domain::{id::RiderId, refusal::Lang},
    import::{Import, Outcome, Riders, SourceName, Summary, run},
    intake::{Mapping, RowKind, rows},
};

use crate::{
    harness::{Database, Desk, NORTH},
    scene::{at, given, named, read, shorts},
};

const HEADER: &str = "\"id\",\"vehicle_id\",\"trip_id\",\"timestamp\",\"latitude\",\"longitude\"\n";

async fn import(desk: &Desk, file: &str, riders: Riders) -> (Summary, Vec<Outcome>) {
    let import = Import {
        executor: &desk.executor,
        source: SourceName::parse("bus").unwrap(),
        region: NORTH,
        riders,
        lang: Lang::En,
    };
    let (given, mapping) = (given(), named("bus"));
    let rows = rows(file.as_bytes(), &mapping, &given).unwrap();
    let mut outcomes = Vec::new();
    let report = run(rows, &import, |line, _| outcomes.push(line.outcome.clone())).await.unwrap();
    (report.summary, outcomes)
}

async fn last_seen(desk: &Desk, rider: i64) -> Option<dispatch_desk::domain::id::Timestamp> {
    let mut tx = desk.db.begin().await.unwrap();
    let mut riders = tx.lock_riders(&[RiderId(rider)]).await.unwrap();
    tx.load_fixes(&mut riders).await.unwrap();
    tx.rollback().await.unwrap();
    riders[0].last_fix_at
}

#[test]
fn a_position_is_a_label_a_number_a_time_and_a_place() {
    let file = format!(
        "{HEADER}9,\"4716\",\"1\",\"2026-06-26 15:57:02\",53.44451,-2.925173\n\
         x,\"4716\",\"1\",\"2026-01-26 15:57:02\",53.4,-2.9\n\
         10,,\"1\",\"2026-01-26 15:57:02\",53.4,-2.9\n\
         11,4716,1,,53.4,-2.9\n12,4716,1,\"2026-01-26 15:57:02\",0,0\n"
    );
    assert_eq!(
        shorts(&named("bus"), &file),
        [
            "2: 4716 #9",
            "3: id BAD_NUMBER",
            "4: vehicle_id FIELD_MISSING",
            "5: - FIELD_MISSING",
            "6: latitude NULL_ISLAND",
        ]
    );
    let rows = read(&named("bus"), &given(), file.as_bytes());
    let RowKind::Position(position) = &rows[0].what else { panic!("{rows:?}") };
    assert_eq!(position.at, at("2026-06-26T15:57:02+01:00"), "summer in London");
    assert_eq!(
        (position.place.lat, position.place.lng, position.accuracy_m),
        (53.44451, -2.925_173, None)
    );
}

#[test]
fn a_position_may_say_how_exact_it_is() {
    let mapping = Mapping::from_toml(
        "about = 'x'\nformat = 'json'\n[position]\nrider = '/r'\nseq = '/s'\npoint = '/p'\n\
         order = 'lng_lat'\naccuracy_m = '/a'\nat = { from = '/t', formats = ['epoch_ms'] }",
    )
    .unwrap();
    let file = "{\"r\":\"a\",\"s\":1,\"p\":[121.5,31.2],\"a\":12.5,\"t\":1796000000123}\n\
                {\"r\":\"a\",\"s\":2,\"p\":[121.5,31.2],\"a\":-1,\"t\":1796000000123}";
    let rows = read(&mapping, &given(), file.as_bytes());
    let RowKind::Position(position) = &rows[0].what else { panic!("{rows:?}") };
    assert_eq!((position.accuracy_m, position.place.lat), (Some(12.5), 31.2));
    assert_eq!(crate::scene::short(&rows[1]), "2: /a BAD_NUMBER");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_position_of_each_rider_is_kept() {
    let desk = Desk::open(Database::Sqlite).await;
    let file = format!(
        "{HEADER}5,4716,1,2026-01-26 16:00:00,53.4,-2.9\n9,4716,1,2026-01-26 16:02:00,53.5,-2.9\n\
         7,4716,1,2026-01-26 16:01:00,53.6,-2.9\n5,1,1,2026-01-26 16:00:00,53.4,-2.9\n\
         6,901,1,2026-01-26 16:00:00,53.4,-2.9\n"
    );
    let riders = Riders::parse("label,rider\n4716,R5\n901,R901\n").unwrap();
    let (summary, outcomes) = import(&desk, &file, riders.clone()).await;
    let unknown = |label: &str| Outcome::RiderUnknown(label.to_owned());
    let taken = Outcome::Position(RiderId(5));
    // 1 is not listed, and 901 works in another region.
    assert_eq!(outcomes, [taken.clone(), taken.clone(), taken, unknown("1"), unknown("901")]);
    assert_eq!((summary.positions, summary.riders_unknown, summary.fixes), (5, 2, 1));
    assert_eq!(last_seen(&desk, 5).await, Some(at("2026-01-26T16:02:00Z")));

    let (again, _) = import(&desk, &file, riders).await;
    assert_eq!(again.fixes, 0, "nothing newer");
    let (by_number, _) = import(&desk, &file, Riders::by_number()).await;
    assert_eq!((by_number.fixes, by_number.riders_unknown), (1, 4));
    assert_eq!(last_seen(&desk, 1).await, Some(at("2026-01-26T16:00:00Z")));
}
