//! The rows of the file: tasks, positions, and what could be neither.

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::BufReader,
};

use super::{Error, Options, report::Refused};
use crate::{
    domain::{
        command::{NewTask, RequestKey},
        geo::{Area, Place},
        id::{RegionId, Timestamp},
        refusal::Lang,
    },
    intake::{Given, Mapping, PositionRow, RowKind, rows},
};

/// The region of a replay.
pub(super) const REGION: RegionId = RegionId(1);

/// A row that becomes a task.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// When it was ordered, by the file.
    pub at: Timestamp,
    pub key: RequestKey,
    pub new: NewTask,
}

/// What the file holds.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub rows: u64,
    /// In the order of time.
    pub orders: Vec<Order>,
    /// In the order of time.
    pub positions: Vec<PositionRow>,
    pub refused: Vec<Refused>,
}

impl Contents {
    /// A circle around all that happens.
    pub(super) fn area(&self) -> Area {
        let places: Vec<Place> = self
            .orders
            .iter()
            .map(|order| order.new.pickup.place())
            .chain(self.positions.iter().map(|position| position.place))
            .collect();
        let middle = |of: fn(&Place) -> f64| {
            let (low, high) = places
                .iter()
                .map(of)
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| {
                    (low.min(at), high.max(at))
                });
            f64::midpoint(low, high)
        };
        let centre = Place { lat: middle(|place| place.lat), lng: middle(|place| place.lng) };
        let mut radius_m = 1_000.0;
        loop {
            let area = Area::Circle { centre, radius_m };
            // Half around the earth is far enough.
            if radius_m > 2.1e7 || places.iter().all(|place| area.contains(*place)) {
                return area;
            }
            radius_m *= 1.5;
        }
    }
}

fn mapping(name: &str) -> Result<Mapping, Error> {
    let is_file = std::path::Path::new(name).extension().is_some_and(|ending| ending == "toml");
    if is_file {
        let text = std::fs::read_to_string(name)
            .map_err(|error| Error::File(format!("{name}: {error}")))?;
        Ok(Mapping::from_toml(&text)?)
    } else {
        Ok(Mapping::named(name)?)
    }
}

/// Reads all of it: rows do not come in the order of time, so none can happen before the last is read.
pub(super) fn read(options: &Options) -> Result<Contents, Error> {
    let shown = options.file.display();
    let failed = |what: String| Error::File(format!("{shown}: {what}"));
    let mapping = mapping(&options.mapping)?;
    let given = Given::new(REGION, options.zone);
    let input = File::open(&options.file).map_err(|error| failed(error.to_string()))?;
    let found = rows(BufReader::new(input), &mapping, &given)
        .map_err(|error| failed(error.sentence(Lang::En)))?;
    let mut contents = Contents::default();
    let mut keys = HashSet::new();
    for row in found.take(options.limit.unwrap_or(usize::MAX)) {
        let row = row.map_err(|error| failed(error.sentence(Lang::En)))?;
        let spot = row.spot.to_string();
        let refuse = |field: Option<String>, code: &str, why: String| {
            contents.refused.push(Refused { spot, field, code: code.to_owned(), why });
        };
        match row.what {
            RowKind::Blank => continue,
            RowKind::Position(position) => contents.positions.push(position),
            RowKind::Refused { field, problem } => {
                refuse(field, problem.code(), problem.sentence(Lang::En));
            }
            RowKind::Task(task) => {
                let new = task.new;
                let at = task.placed_at.or(new.ready_at).or(new.release_at).or(new.due_at);
                if !keys.insert(task.key.clone()) {
                    refuse(None, "TWICE", "the same order stands above".to_owned());
                } else if let Some(at) = at {
                    contents.orders.push(Order { at, key: task.key, new });
                } else {
                    refuse(None, "NO_TIME", "nothing says when it happened".to_owned());
                }
            }
        }
        contents.rows += 1;
    }
    if contents.orders.is_empty() && contents.positions.is_empty() {
        return Err(Error::Nothing(super::report::grouped(&contents.refused)));
    }
    contents.orders.sort_by_key(|order| order.at);
    contents.positions.sort_by_key(|position| position.at);
    Ok(contents)
}

/// Labels in the order in which they come up.
pub(super) fn labels(positions: &[PositionRow]) -> HashMap<String, usize> {
    let mut labels = HashMap::new();
    for position in positions {
        let next = labels.len();
        labels.entry(position.rider.clone()).or_insert(next);
    }
    labels
}
