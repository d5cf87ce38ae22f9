//! Who is there: two regions, their riders and their staff.

use dispatch_desk::{
    domain::{
        command::{Act, Actor, NewTask, Role, Stop},
        geo::{Area, Place},
        id::{RegionId, RiderId, StaffId, Timestamp},
        policy::Policy,
    },
    store::{Db, Result},
};

/// The manual clock starts here: 2026-11-30T04:00Z, noon in Shanghai.
pub const NOON: Timestamp = Timestamp(1_796_011_200_000);
/// The region where everything happens.
pub const NORTH: RegionId = RegionId(1);
/// The other one.
pub const SOUTH: RegionId = RegionId(2);
/// Riders 1 to this many work in the north; each holds up to two tasks.
pub const RIDERS: i64 = 60;
/// A rider of the south.
pub const FOREIGN_RIDER: i64 = 901;
/// How many tasks a rider may hold.
pub const CAPACITY: u32 = 2;

/// A dispatcher of the north.
pub const D1: Actor = Actor::Staff(StaffId(1));
/// Another dispatcher of the north.
pub const D2: Actor = Actor::Staff(StaffId(2));
/// A supervisor of the north.
pub const SUPERVISOR: Actor = Actor::Staff(StaffId(3));
/// A dispatcher of the south.
pub const FOREIGN_DISPATCHER: Actor = Actor::Staff(StaffId(4));
/// An admin of the north.
pub const ADMIN: Actor = Actor::Staff(StaffId(5));
/// An auditor of the north.
pub const AUDITOR: Actor = Actor::Staff(StaffId(6));

/// Before the first task: a place to read all of them from.
pub const fn first() -> dispatch_desk::domain::id::TaskId {
    dispatch_desk::domain::id::TaskId(0)
}

/// The rider of that number.
pub const fn rider(number: i64) -> Actor {
    Actor::Rider(RiderId(number))
}

/// The shop that orders.
pub fn shop() -> Actor {
    Actor::Intake("shop".to_owned())
}

/// A grab without a ticket.
pub const GRAB: Act = Act::Grab { ticket: None };
/// A cancel without a reason.
pub const CANCEL: Act = Act::Cancel { reason: None };
/// A decline without a reason.
pub const DECLINE: Act = Act::Decline { reason: None };
/// A withdrawal without a reason.
pub const WITHDRAW: Act = Act::Withdraw { reason: None };
/// A hand-back without a reason.
pub const HAND_BACK: Act = Act::HandBack { reason: None };

/// An offer to a rider for the policy's own time, 30 s.
pub const fn offer(number: i64) -> Act {
    Act::Offer { rider: RiderId(number), seconds: None, round: None }
}

/// A direct assign.
pub const fn assign(number: i64) -> Act {
    Act::Assign { rider: RiderId(number), reason: None }
}

/// A reassign with the handover confirmed.
pub const fn reassign(number: i64) -> Act {
    Act::Reassign { rider: RiderId(number), seconds: None, handover_confirmed: true, reason: None }
}

/// An order of the north, to be fetched at People's Square.
pub fn order() -> NewTask {
    let stop = |lat, lng, address: &str| Stop {
        lat,
        lng,
        address: address.to_owned(),
        name: Some("王女士".to_owned()),
        phone: Some("13800001234".to_owned()),
    };
    NewTask {
        region: NORTH,
        pickup: stop(31.2304, 121.4737, "人民大道 100 号"),
        dropoff: stop(31.2397, 121.4998, "世纪大道 1 号"),
        release_at: None,
        ready_at: None,
        due_at: None,
        vehicle: None,
        priority: 0,
        fee: Some(850),
        note: Some("放前台".to_owned()),
    }
}

/// Brings the cast into the database.
pub async fn enter(db: &Db) -> Result<()> {
    let mut tx = db.begin().await?;
    let centre = Place { lat: 31.2304, lng: 121.4737 };
    for (region, name) in [(NORTH, "north"), (SOUTH, "south")] {
        let area = Area::Circle { centre, radius_m: 50_000.0 };
        tx.add_region(region, name, chrono_tz::Asia::Shanghai, &area).await?;
        tx.add_policy(region, Timestamp(0), &Policy::default()).await?;
    }
    for number in 1..=RIDERS {
        tx.add_rider(RiderId(number), NORTH, &format!("rider {number}"), CAPACITY, None).await?;
    }
    tx.add_rider(RiderId(FOREIGN_RIDER), SOUTH, "foreign rider", CAPACITY, None).await?;
    let staff = [
        (1, Role::Dispatcher, NORTH),
        (2, Role::Dispatcher, NORTH),
        (3, Role::Supervisor, NORTH),
        (4, Role::Dispatcher, SOUTH),
        (5, Role::Admin, NORTH),
        (6, Role::Auditor, NORTH),
    ];
    for (number, role, region) in staff {
        tx.add_staff(StaffId(number), &format!("staff {number}"), role, &[region]).await?;
    }
    tx.commit().await
}
