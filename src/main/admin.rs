//! `dispatch-desk admin`: reads what was typed, has it done, prints what came of it.

use std::{io::Read, process::ExitCode};

use anyhow::Context;
use dispatch_desk::{
    admin,
    config::{Admin, Database, Whom},
    domain::{
        command::{Actor, Role},
        geo::{Area, Place},
        id::{RegionId, RiderId, StaffId},
        policy::RegionMode,
        task::Vehicle,
    },
    engine::executor::{Executor, Settings},
    stand::{People, Wanted},
    store::{Db, Time},
};

/// Does one thing and prints the outcome alone, so that scripts can use it.
pub async fn run(database: &Database, what: &Admin) -> anyhow::Result<ExitCode> {
    let db = Db::open(&database.url, Time::System).await?;
    let printed = match what {
        Admin::Token { whom, source, label } => {
            let actor = match source {
                Some(source) => admin::source(source)?,
                None => person(whom)?,
            };
            admin::token(&db, &actor, label).await?
        }
        Admin::Revoke { token } => {
            admin::revoke(&db, token).await?;
            "ended".to_owned()
        }
        Admin::Link { whom, hours, public_origin } => {
            let path = admin::link(&db, &person(whom)?, i64::from(*hours) * 3_600_000, 1).await?;
            format!("{}{path}", public_origin.trim_end_matches('/'))
        }
        Admin::Password { staff, login } => {
            let staff = StaffId::parse(staff).with_context(|| format!("{staff}: such as D1"))?;
            let mut password = String::new();
            std::io::stdin().read_to_string(&mut password)?;
            admin::password(&db, staff, login, password.trim_end_matches(['\r', '\n'])).await?;
            format!("{staff} signs in as {login}")
        }
        Admin::Recover { staff, public_origin } => {
            let staff = staff
                .as_deref()
                .map(|text| StaffId::parse(text).with_context(|| format!("{text}: such as D1")));
            let executor = Executor::start(db.clone(), Settings::default());
            let (staff, secret) = executor.recover(staff.transpose()?).await?;
            executor.stop().await;
            let origin = public_origin.trim_end_matches('/');
            format!("{staff} sets a new password by {origin}/enter/{secret}")
        }
        Admin::Erase(erase) => crate::erase::erase(&db, erase).await?,
        Admin::Region { name, time_zone, centre, radius_m } => {
            let area = circle(centre, *radius_m)?;
            let time_zone = time_zone
                .parse()
                .map_err(|_| anyhow::anyhow!("{time_zone}: such as Asia/Shanghai"))?;
            admin::region(&db, name, time_zone, &area).await?.to_string()
        }
        Admin::Staff { name, role, regions } => {
            let role = Role::parse(role).filter(|role| STAFF.contains(role));
            let role = role.context("a role is dispatcher, supervisor, admin or auditor")?;
            let regions = regions.iter().map(|text| region(text)).collect::<Result<Vec<_>, _>>()?;
            admin::staff(&db, name, role, &regions).await?.to_string()
        }
        Admin::AcceptancePeople { riders, centre, immediate } => {
            let wanted = Wanted {
                mode: if *immediate { RegionMode::Immediate } else { RegionMode::Reserve },
                riders: usize::from(*riders),
                centre: place(centre)?,
                ..Wanted::default()
            };
            toml::to_string(&People::enter(&db, &wanted).await?)?
        }
        Admin::Rider { name, region: at, capacity, vehicle } => {
            let vehicle = vehicle.as_ref().map(|text| {
                Vehicle::parse(text).with_context(|| format!("{text}: no vehicle of ours"))
            });
            let vehicle = vehicle.transpose()?;
            admin::rider(&db, name, region(at)?, *capacity, vehicle).await?.to_string()
        }
    };
    println!("{printed}");
    db.close().await;
    Ok(ExitCode::SUCCESS)
}

const STAFF: [Role; 4] = [Role::Dispatcher, Role::Supervisor, Role::Admin, Role::Auditor];

fn person(whom: &Whom) -> anyhow::Result<Actor> {
    match (&whom.staff, &whom.rider) {
        (Some(text), _) => {
            let staff = StaffId::parse(text).with_context(|| format!("{text}: such as D1"))?;
            Ok(Actor::Staff(staff))
        }
        (None, Some(text)) => {
            let rider = RiderId::parse(text).with_context(|| format!("{text}: such as R17"))?;
            Ok(Actor::Rider(rider))
        }
        (None, None) => anyhow::bail!("say for whom: --staff D1 or --rider R17"),
    }
}

fn region(text: &str) -> anyhow::Result<RegionId> {
    RegionId::parse(text).with_context(|| format!("{text}: such as G1"))
}

fn place(text: &str) -> anyhow::Result<Place> {
    let place = text.split_once(',').and_then(|(lat, lng)| {
        Some(Place { lat: lat.trim().parse().ok()?, lng: lng.trim().parse().ok()? })
    });
    let place = place.filter(|place| place.is_on_earth());
    place.context("a centre is latitude,longitude in degrees")
}

fn circle(centre: &str, radius_m: f64) -> anyhow::Result<Area> {
    let centre = place(centre)?;
    anyhow::ensure!(radius_m > 0.0 && radius_m.is_finite(), "a radius is in metres, above 0");
    Ok(Area::Circle { centre, radius_m })
}
