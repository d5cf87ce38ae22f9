//! Short ways to read a file and to say what should come out.

use dispatch_desk::{
    domain::{
        id::{RegionId, Timestamp},
        order::{NewTask, Stop},
    },
    intake::{FileError, Given, Mapping, Row, RowKind, TaskRow, rows},
};

/// Where the shop is, for files that do not say it.
pub fn shop_stop() -> Stop {
    stop(31.2304, 121.4737, "人民大道 100 号", Some("王女士"), Some("13800001234"))
}

pub fn stop(lat: f64, lng: f64, address: &str, name: Option<&str>, phone: Option<&str>) -> Stop {
    Stop {
        lat,
        lng,
        address: address.to_owned(),
        name: name.map(str::to_owned),
        phone: phone.map(str::to_owned),
    }
}

/// The region G1 in Shanghai's time, with the shop's place.
pub fn given() -> Given {
    let mut given = Given::new(RegionId(1), chrono_tz::Asia::Shanghai);
    given.pickup = Some(shop_stop());
    given
}

/// A task from one stop to another, with nothing else.
pub fn bare(pickup: Stop, dropoff: Stop) -> NewTask {
    NewTask {
        region: RegionId(1),
        pickup,
        dropoff,
        release_at: None,
        ready_at: None,
        due_at: None,
        vehicle: None,
        priority: 0,
        fee: None,
        note: None,
    }
}

pub fn at(rfc3339: &str) -> Timestamp {
    let time = chrono::DateTime::parse_from_rfc3339(rfc3339).expect("a time");
    Timestamp(time.timestamp_millis())
}

/// The bytes of a shape.
pub fn shape(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/intake/shapes/");
    std::fs::read(format!("{folder}{name}")).expect("a shape")
}

/// All rows of a file that can be read to its end.
pub fn read(mapping: &Mapping, given: &Given, file: &[u8]) -> Vec<Row> {
    let rows = rows(file, mapping, given).expect("a file that can be read");
    rows.collect::<Result<_, _>>().expect("a file that can be read to its end")
}

/// Why a file can not be read.
pub fn trouble(mapping: &Mapping, file: &[u8]) -> FileError {
    let given = given();
    match rows(file, mapping, &given) {
        Err(error) => error,
        Ok(mut rows) => rows.find_map(Result::err).expect("trouble"),
    }
}

pub fn named(name: &str) -> Mapping {
    Mapping::named(name).expect("a mapping that comes with the program")
}

/// The task of a row.
#[track_caller]
pub fn task(row: &Row) -> &TaskRow {
    match &row.what {
        RowKind::Task(task) => task,
        other => panic!("{} is no task: {other:?}", row.spot),
    }
}

/// Where a row stands, and what it is in short: the key of a task, or the field and the code of a refusal.
pub fn short(row: &Row) -> String {
    let what = match &row.what {
        RowKind::Task(task) => task.key.as_str().to_owned(),
        RowKind::Position(position) => format!("{} #{}", position.rider, position.seq),
        RowKind::Refused { field, problem } => {
            format!("{} {}", field.as_deref().unwrap_or("-"), problem.code())
        }
        RowKind::Blank => "blank".to_owned(),
    };
    format!("{}: {what}", row.spot)
}

pub fn shorts(mapping: &Mapping, file: &str) -> Vec<String> {
    read(mapping, &given(), file.as_bytes()).iter().map(short).collect()
}

/// A mapping of our own for CSV with the columns id, lat, lng, to, and what `more` adds.
pub fn plain(more: &str) -> Mapping {
    let text = format!(
        "about = 'plain'\nformat = 'csv'\nkey = '{{id}}'\n{more}\n\
         [pickup]\ngiven = true\n[dropoff]\nlat = 'lat'\nlng = 'lng'\naddress = 'to'\n"
    );
    Mapping::from_toml(&text).expect("a mapping")
}

/// The same for JSON.
pub fn plain_json(more: &str) -> Mapping {
    let text = format!(
        "about = 'plain'\nformat = 'json'\nkey = '{{/id}}'\n{more}\n\
         [pickup]\ngiven = true\n[dropoff]\nlat = '/lat'\nlng = '/lng'\naddress = '/to'\n"
    );
    Mapping::from_toml(&text).expect("a mapping")
}
