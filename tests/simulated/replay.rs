//! Replays: a small file that is made here, positions, and the published trips where they are at hand.

use std::{
    fmt::Write,
    path::{Path, PathBuf},
    process::Command,
};

use dispatch_desk::{
    domain::command::Verb,
    replay::{Error, Options, Report, replay},
};

fn options(file: &Path, mapping: &str) -> Options {
    Options {
        file: file.to_owned(),
        mapping: mapping.to_owned(),
        speed: 0.0,
        database: None,
        audit_key: None,
        riders: 30,
        limit: None,
        zone: chrono_tz::America::Chicago,
        seed: 3,
    }
}

async fn play(options: &Options) -> Result<Report, Error> {
    let (_stop, stopped) = tokio::sync::watch::channel(false);
    replay(options, stopped).await
}

/// Trips as the city publishes them: of `rows`, every tenth does not say where it began.
fn trips(rows: i64) -> String {
    let mut text = "fare,trip_start_timestamp,pickup_latitude,pickup_longitude,dropoff_latitude,dropoff_longitude\n".to_owned();
    for row in 0..rows {
        let start = 1_400_000_000 + (row * 7_919 % rows) * 900;
        let lat = if row % 10 == 0 { String::new() } else { format!("41.8{row:03}") };
        writeln!(text, "{}.25,{start},{lat},-87.63,41.9,-87.6{row:03}", row % 40 + 4).unwrap();
    }
    text
}

/// All tasks are accounted for, and the log fits the rows.
fn must_be_whole(report: &Report) {
    assert!(report.is_sound(), "{report}");
    assert!(report.tally.failures().is_empty(), "{report}");
    let created = report.tally.count(Verb::Create);
    let left = report.left;
    let all = left.delivered + left.cancelled + left.on_the_way + left.offered + left.open;
    assert_eq!(all, created, "{report}");
    assert_eq!(created + u64::try_from(report.refused.len()).unwrap(), report.rows, "{report}");
    assert_eq!((left.on_the_way, left.offered, left.open), (0, 0, 0), "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_small_file_is_played_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trips.csv");
    std::fs::write(&file, trips(60)).unwrap();
    let report = play(&options(&file, "chicago")).await.unwrap();
    must_be_whole(&report);
    assert_eq!((report.rows, report.refused.len()), (60, 6));
    assert!(report.left.delivered > 40, "{report}");
    let refused = folder.path().join("refused.csv");
    report.write_refused(&refused).unwrap();
    assert_eq!(std::fs::read_to_string(refused).unwrap().lines().count(), 7);

    let few = Options { limit: Some(10), ..options(&file, "chicago") };
    assert_eq!(play(&few).await.unwrap().rows, 10);
    // At a speed, it takes its time: the sixty quarters of an hour take three seconds, and people hurry.
    let fast = Options { speed: 18_000.0, limit: Some(20), ..options(&file, "chicago") };
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let playing = tokio::spawn(async move { replay(&fast, stopped).await });
    tokio::time::sleep(std::time::Duration::from_secs(4)).await;
    stop.send_replace(true);
    let report = playing.await.unwrap().unwrap();
    assert!(report.is_sound() && report.tally.count(Verb::Create) > 0, "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_can_not_be_played_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trips.csv");
    assert!(matches!(play(&options(&file, "chicago")).await, Err(Error::File(_))));
    std::fs::write(&file, trips(1)).unwrap();
    assert!(matches!(play(&options(&file, "chicago")).await, Err(Error::Nothing(_))));
    assert!(matches!(play(&options(&file, "no-such")).await, Err(Error::Mapping(_))));
    // A database with something in it is left alone.
    std::fs::write(&file, trips(5)).unwrap();
    let database = Some(format!("sqlite://{}", folder.path().join("desk.db").display()));
    let kept = Options { database, ..options(&file, "chicago") };
    must_be_whole(&play(&kept).await.unwrap());
    assert!(matches!(play(&kept).await, Err(Error::InUse)));
}

#[test]
fn the_program_says_by_its_exit_code_whether_all_fits() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("trips.csv"), trips(12)).unwrap();
    let ran = Command::new(env!("CARGO_BIN_EXE_dispatch-desk"))
        .current_dir(folder.path())
        .args(["replay", "trips.csv", "--mapping", "chicago", "--speed", "0", "--riders", "10"])
        .args(["--zone", "America/Chicago", "--errors", "refused.csv"])
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&ran.stdout);
    assert_eq!(ran.status.code(), Some(0), "{printed}\n{}", String::from_utf8_lossy(&ran.stderr));
    for words in ["tasks            10 created", "all fit together", "p50", "refused.csv"] {
        assert!(printed.contains(words), "{words}: {printed}");
    }
    assert!(folder.path().join("refused.csv").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn positions_are_played_as_positions_of_riders() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("positions.csv");
    let mut text = "id,vehicle_id,timestamp,latitude,longitude\n".to_owned();
    for id in 1..=90 {
        let (bus, minute, second) = (id % 3, id / 3, id % 60);
        writeln!(
            text,
            "{id},bus-{bus},2024-05-01 08:{minute:02}:{second:02},53.4{id:02},-2.9{id:02}"
        )
        .unwrap();
    }
    std::fs::write(&file, text).unwrap();
    let report = play(&options(&file, "bus")).await.unwrap();
    assert!(report.is_sound(), "{report}");
    assert_eq!(report.tally.positions, 90, "{report}");
    assert!(report.positions.unwrap().0 > 20, "{report}");
}

/// The data that issues speak of, if it is on this machine.
fn data() -> PathBuf {
    std::env::var_os("DISPATCH_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data"), PathBuf::from)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_published_trips_are_played_to_their_end() {
    let file = data().join("chicago_taxi_trips.csv");
    if !file.exists() {
        eprintln!("SKIPPED: {} is not there; set DISPATCH_DATA", file.display());
        return;
    }
    let report = play(&Options { limit: Some(300), ..options(&file, "chicago") }).await.unwrap();
    must_be_whole(&report);
    assert_eq!(report.rows, 300);
    assert!(report.refused.iter().all(|row| !row.code.is_empty() && !row.why.is_empty()));
}
