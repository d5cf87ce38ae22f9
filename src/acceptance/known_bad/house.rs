//! Who works there: the same people that a private desk has, made in memory.

use std::{
    collections::{BTreeMap, HashMap},
    io,
};

use crate::{
    clock::{Entropy, SystemEntropy},
    domain::{
        command::{Actor, Role},
        facts::Staff,
        fingerprint::hex,
        geo::{Area, Place},
        id::{RegionId, RiderId, StaffId},
        policy::{Policy, Region, RegionMode},
        task::Vehicle,
    },
    stand::{Dispatchers, People, RiderSeat, Wanted},
};

const HOME: RegionId = RegionId(1);
const ABROAD: RegionId = RegionId(2);
const RADIUS_M: f64 = 5_000.0;
/// The shop that orders.
const SOURCE: &str = "acceptance";

/// Everybody and everything that never changes.
#[derive(Debug)]
pub(super) struct House {
    pub(super) people: People,
    actors: HashMap<String, Actor>,
    staff: BTreeMap<StaffId, Staff>,
    seats: BTreeMap<RiderId, RiderSeat>,
    regions: [Region; 2],
}

/// An unguessable text.
pub(super) fn secret() -> io::Result<String> {
    let mut bytes = [0; 16];
    SystemEntropy.fill(&mut bytes)?;
    Ok(format!("small_{}", hex(&bytes)))
}

impl House {
    /// Lets everybody in. The region dispatches in the way of `mode`.
    pub(super) fn open(mode: RegionMode) -> io::Result<Self> {
        let Wanted { riders, others, centre, .. } = Wanted::default();
        let mut actors = HashMap::new();
        let mut enter = |actor: Actor| {
            let token = secret()?;
            actors.insert(token.clone(), actor);
            io::Result::Ok(token)
        };
        let jobs = [
            (Role::Dispatcher, vec![HOME]),
            (Role::Dispatcher, vec![HOME]),
            (Role::Supervisor, vec![HOME]),
            (Role::Auditor, vec![HOME, ABROAD]),
            (Role::Dispatcher, vec![ABROAD]),
        ];
        let mut staff = BTreeMap::new();
        for ((role, regions), id) in jobs.into_iter().zip((1..).map(StaffId)) {
            staff.insert(id, Staff { id, role, regions, disabled: false });
        }
        let mut employed = |id: i64| enter(Actor::Staff(StaffId(id)));
        let dispatchers = Dispatchers { first: employed(1)?, second: employed(2)? };
        let (supervisor, auditor, foreigner) = (employed(3)?, employed(4)?, employed(5)?);
        let mut seats = Vec::new();
        for ((capacity, foreign, vehicle), id) in kinds(riders, others).zip((1..).map(RiderId)) {
            let (name, token) = (Some(format!("rider {id}")), enter(Actor::Rider(id))?);
            seats.push(RiderSeat { id, name, token, capacity, foreign, vehicle });
        }
        let intake = enter(Actor::Intake(SOURCE.to_owned()))?;
        let Place { lat, lng } = centre;
        let region = |id, lat| Region {
            id,
            time_zone: chrono_tz::Asia::Shanghai,
            area: Area::Circle { centre: Place { lat, lng }, radius_m: RADIUS_M },
            policy: Policy { mode, ..Policy::default() },
        };
        let people = People {
            format: "dispatch-credentials/1".to_owned(),
            region: HOME,
            lat,
            lng,
            intake,
            dispatchers,
            supervisor,
            auditor,
            foreigner,
            riders: seats.clone(),
        };
        Ok(Self {
            people,
            actors,
            staff,
            seats: seats.into_iter().map(|seat| (seat.id, seat)).collect(),
            regions: [region(HOME, lat), region(ABROAD, lat - 1.0)],
        })
    }

    /// Who has this token.
    pub(super) fn actor(&self, token: &str) -> Option<&Actor> {
        self.actors.get(token)
    }

    /// The acting member of staff.
    pub(super) fn staff(&self, actor: &Actor) -> Option<&Staff> {
        match actor {
            Actor::Staff(id) => self.staff.get(id),
            Actor::System | Actor::Intake(_) | Actor::Customer(_) | Actor::Rider(_) => None,
        }
    }

    /// A rider.
    pub(super) fn seat(&self, rider: RiderId) -> Option<&RiderSeat> {
        self.seats.get(&rider)
    }

    /// A region.
    pub(super) fn region(&self, id: RegionId) -> Option<&Region> {
        self.regions.iter().find(|region| region.id == id)
    }

    /// Where a rider works.
    pub(super) const fn region_of(seat: &RiderSeat) -> RegionId {
        if seat.foreign { ABROAD } else { HOME }
    }
}

/// Capacity, whether of another region, vehicle: ordinary riders first.
fn kinds(ordinary: usize, others: usize) -> impl Iterator<Item = (u32, bool, Option<Vehicle>)> {
    let special = [
        (2, false, None),
        (3, false, None),
        (1, false, Some(Vehicle::Bicycle)),
        (1, false, Some(Vehicle::Car)),
        (1, true, None),
    ];
    let plain = (0..ordinary).map(|_| (1, false, None));
    plain.chain((0..others).flat_map(move |_| special))
}
