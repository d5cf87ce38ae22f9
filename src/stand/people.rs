//! Who takes part in an acceptance run, and under which tokens.

use serde::{Deserialize, Serialize};

use super::Error;
use crate::{
    admin,
    domain::{
        command::{Actor, Role},
        geo::{Area, Place},
        id::{RegionId, RiderId, StaffId, Timestamp},
        policy::{Policy, RegionMode},
        task::Vehicle,
    },
    store::Db,
};

/// The people of a run with their tokens. As a file, it is what `--credentials` takes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct People {
    /// `dispatch-credentials/1`.
    pub format: String,
    /// The region that everything happens in.
    pub region: RegionId,
    /// A place in it, in degrees: where tasks are picked up.
    pub lat: f64,
    /// The other coordinate of the place.
    pub lng: f64,
    /// Who orders.
    pub intake: String,
    /// Two dispatchers of the region.
    pub dispatchers: Dispatchers,
    /// A supervisor of the region.
    pub supervisor: String,
    /// An auditor of the region; of all regions, if the whole log is to be checked.
    pub auditor: String,
    /// A dispatcher of another region.
    pub foreigner: String,
    /// The riders.
    pub riders: Vec<RiderSeat>,
}

/// Two dispatchers: two people, two tokens.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dispatchers {
    /// One.
    pub first: String,
    /// The other.
    pub second: String,
}

/// A rider of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RiderSeat {
    /// The desk's number.
    pub id: RiderId,
    /// The name that a customer sees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The rider's token.
    pub token: String,
    /// How many tasks and offers at once.
    pub capacity: u32,
    /// Whether of another region.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub foreign: bool,
    /// What the rider goes with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vehicle: Option<Vehicle>,
}

/// How many of which are wanted.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// How the region dispatches.
    pub mode: RegionMode,
    /// Ordinary riders: one place, no vehicle.
    pub riders: usize,
    /// Of each other kind: two places, three places, with a bicycle, with a car, of another region.
    pub others: usize,
    /// Where the two regions are.
    pub centre: Place,
}

impl Default for Wanted {
    fn default() -> Self {
        let centre = Place { lat: 31.2304, lng: 121.4737 };
        Self { mode: RegionMode::Reserve, riders: 202, others: 3, centre }
    }
}

const SOURCE: &str = "acceptance";
const RADIUS_M: f64 = 5_000.0;

struct New {
    capacity: u32,
    foreign: bool,
    vehicle: Option<Vehicle>,
}

impl People {
    /// Enters two regions and everybody who is wanted, each with a token.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn enter(db: &Db, wanted: &Wanted) -> Result<Self, Error> {
        let plain = New { capacity: 1, foreign: false, vehicle: None };
        let ordinary = (0..wanted.riders).map(|_| New { ..plain });
        let others = (0..wanted.others).flat_map(|_| {
            [
                New { capacity: 2, ..plain },
                New { capacity: 3, ..plain },
                New { vehicle: Some(Vehicle::Bicycle), ..plain },
                New { vehicle: Some(Vehicle::Car), ..plain },
                New { foreign: true, ..plain },
            ]
        });
        let mut tx = db.begin().await?;
        let (first, ..) = tx.next_ids().await?;
        let (home, abroad) = (first, RegionId(first.0 + 1));
        let (lat, lng) = (wanted.centre.lat, wanted.centre.lng);
        for (region, name, lat) in
            [(home, "acceptance", lat), (abroad, "acceptance, abroad", lat - 1.0)]
        {
            let centre = Place { lat, lng };
            let area = Area::Circle { centre, radius_m: RADIUS_M };
            tx.add_region(region, name, chrono_tz::Asia::Shanghai, &area).await?;
            let policy = Policy { mode: wanted.mode, ..Policy::default() };
            tx.add_policy(region, Timestamp(0), &policy).await?;
        }
        let (_, first_rider, first_staff) = tx.next_ids().await?;
        let staff: [(Role, &[RegionId]); 5] = [
            (Role::Dispatcher, &[home]),
            (Role::Dispatcher, &[home]),
            (Role::Supervisor, &[home]),
            (Role::Auditor, &[home, abroad]),
            (Role::Dispatcher, &[abroad]),
        ];
        let mut employed = Vec::new();
        for ((role, regions), id) in staff.into_iter().zip(first_staff.0..) {
            let name = format!("acceptance {role} {id}");
            tx.add_staff(StaffId(id), &name, role, regions).await?;
            employed.push(Actor::Staff(StaffId(id)));
        }
        let mut seats = Vec::new();
        for (new, id) in ordinary.chain(others).zip(first_rider.0..) {
            let New { capacity, foreign, vehicle } = new;
            let (id, name) = (RiderId(id), format!("rider {id}"));
            let region = if foreign { abroad } else { home };
            tx.add_rider(id, region, &name, capacity, vehicle).await?;
            let token = String::new();
            seats.push(RiderSeat { id, name: Some(name), token, capacity, foreign, vehicle });
        }
        tx.commit().await?;
        let mut tokens = Vec::new();
        for actor in employed {
            tokens.push(admin::token(db, &actor, SOURCE).await?);
        }
        for seat in &mut seats {
            seat.token = admin::token(db, &Actor::Rider(seat.id), SOURCE).await?;
        }
        let intake = admin::token(db, &admin::source(SOURCE)?, SOURCE).await?;
        let mut tokens = tokens.into_iter();
        let mut next = || tokens.next().unwrap_or_default();
        Ok(Self {
            format: "dispatch-credentials/1".to_owned(),
            region: home,
            lat,
            lng,
            intake,
            dispatchers: Dispatchers { first: next(), second: next() },
            supervisor: next(),
            auditor: next(),
            foreigner: next(),
            riders: seats,
        })
    }
}
