//! What a task says beside its state: where from, where to, and what can be edited.

use serde::{Deserialize, Serialize};

use super::{
    geo::Place,
    id::{RegionId, Timestamp},
    task::Vehicle,
};

/// Where goods are fetched or brought, and who is there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// Latitude in degrees, WGS-84.
    pub lat: f64,
    /// Longitude in degrees, WGS-84.
    pub lng: f64,
    /// As people write it.
    pub address: String,
    /// Whom to ask for.
    pub name: Option<String>,
    /// Whom to call.
    pub phone: Option<String>,
}

impl Stop {
    /// Its position on the map.
    pub const fn place(&self) -> Place {
        Place { lat: self.lat, lng: self.lng }
    }
}

/// A task to be created.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewTask {
    /// The region whose desk decides on it.
    pub region: RegionId,
    /// Where to fetch.
    pub pickup: Stop,
    /// Where to bring.
    pub dropoff: Stop,
    /// Nobody may take it before; at once if not given.
    pub release_at: Option<Timestamp>,
    /// When the goods are ready.
    pub ready_at: Option<Timestamp>,
    /// When they should be there.
    pub due_at: Option<Timestamp>,
    /// What the rider has to drive.
    pub vehicle: Option<Vehicle>,
    /// Higher is more urgent.
    pub priority: i64,
    /// What the rider earns, in the smallest unit of the region's currency.
    pub fee: Option<i64>,
    /// What the rider should know.
    pub note: Option<String>,
}

impl NewTask {
    /// Every text in it.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        [&self.pickup, &self.dropoff]
            .into_iter()
            .flat_map(|stop| [Some(&stop.address), stop.name.as_ref(), stop.phone.as_ref()])
            .chain([self.note.as_ref()])
            .flatten()
            .map(String::as_str)
    }
}

/// What an edit of the details changes; `None` leaves a field as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DetailChanges {
    /// What the rider should know.
    pub note: Option<String>,
    /// Where to fetch, in words.
    pub pickup_address: Option<String>,
    /// Where to bring, in words.
    pub dropoff_address: Option<String>,
    /// When the goods should be there.
    pub due_at: Option<Timestamp>,
    /// Nobody may take it before.
    pub release_at: Option<Timestamp>,
    /// Higher is more urgent.
    pub priority: Option<i64>,
}

impl DetailChanges {
    /// Every text in it.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        [&self.note, &self.pickup_address, &self.dropoff_address]
            .into_iter()
            .flatten()
            .map(String::as_str)
    }

    /// The names of the fields that change: this goes into the log, their texts do not.
    pub fn fields(&self) -> Vec<&'static str> {
        let Self { note, pickup_address, dropoff_address, due_at, release_at, priority } = self;
        [
            ("note", note.is_some()),
            ("pickup_address", pickup_address.is_some()),
            ("dropoff_address", dropoff_address.is_some()),
            ("due_at", due_at.is_some()),
            ("release_at", release_at.is_some()),
            ("priority", priority.is_some()),
        ]
        .into_iter()
        .filter_map(|(field, changes)| changes.then_some(field))
        .collect()
    }
}
