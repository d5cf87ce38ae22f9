//! The private server with its people, and the clock that the replay moves.

use std::{net::Ipv4Addr, sync::Arc, time::Duration};

use tokio::net::TcpListener;

use super::{
    Error, Options,
    file::{Contents, REGION, labels},
};
use crate::{
    admin,
    client::Client,
    clock::ManualClock,
    domain::{
        command::{Actor, Role},
        geo::Place,
        id::{RiderId, StaffId, TaskId, Timestamp},
        policy::Policy,
        task::Vehicle,
    },
    engine::executor::{Executor, Settings},
    simulate::{Cast, Seat},
    store::{Db, Time},
    web::{Desk, Limits, Origin, Server},
};

/// Whose orders they are.
const SOURCE: &str = "replay";
const DISPATCHERS: i64 = 2;
/// How long the release of lapsed offers may take, in real time, before the day goes on all the same.
const PATIENCE: Duration = Duration::from_secs(5);

/// A server with its people.
#[derive(Debug)]
pub(super) struct Stage {
    db: Db,
    server: Server,
    pub shop: Client,
    pub dispatchers: Vec<Client>,
    pub riders: Vec<(RiderId, Client, usize)>,
    pub first: Timestamp,
    pub centre: Place,
}

impl Stage {
    /// Builds it on an empty database; its day begins with the first row.
    pub(super) async fn build(
        options: &Options,
        contents: &Contents,
        url: &str,
    ) -> Result<Self, Error> {
        let orders = contents.orders.iter().map(|order| order.at);
        let first = orders.chain(contents.positions.iter().map(|position| position.at)).min();
        let first = first.unwrap_or(Timestamp(0));
        let clock = Arc::new(ManualClock::at(first));
        let db = Db::open(url, Time::Manual(clock)).await?;
        let capacities = Self::seed(&db, options, contents, first).await?;
        db.set_time(first).await?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let origin = format!("http://{}", listener.local_addr()?);
        let desk_origin = Origin::parse(&origin).map_err(std::io::Error::other)?;
        let nobody = Client::new(&origin, None)?;
        let speaker = async |actor: Actor| -> Result<Client, Error> {
            let token = admin::token(&db, &actor, SOURCE).await?;
            Ok(nobody.speaking_for(Some(&token))?)
        };
        let shop = speaker(admin::source(SOURCE)?).await?;
        let mut dispatchers = Vec::new();
        for number in 1..=DISPATCHERS {
            dispatchers.push(speaker(Actor::Staff(StaffId(number))).await?);
        }
        let mut riders = Vec::new();
        for (id, capacity) in capacities {
            riders.push((id, speaker(Actor::Rider(id)).await?, capacity));
        }
        let centre = contents.orders.first().map(|order| order.new.pickup.place());
        let desk = Desk::new(Executor::start(db.clone(), Settings::default()), desk_origin);
        let server = Server::start(desk, listener, Limits::default())?;
        let centre = centre.unwrap_or(Place { lat: 0.0, lng: 0.0 });
        Ok(Self { db, server, shop, dispatchers, riders, first, centre })
    }

    /// Puts a region and its people in. Returns the riders and how much each can hold.
    async fn seed(
        db: &Db,
        options: &Options,
        contents: &Contents,
        first: Timestamp,
    ) -> Result<Vec<(RiderId, usize)>, Error> {
        let mut tx = db.begin().await?;
        if !tx.regions(first).await?.is_empty() || tx.head().await?.0 > 0 {
            return Err(Error::InUse);
        }
        tx.add_region(REGION, SOURCE, options.zone, &contents.area()).await?;
        tx.add_policy(REGION, Timestamp(0), &Policy::default()).await?;
        for number in 1..=DISPATCHERS {
            let name = format!("dispatcher {number}");
            tx.add_staff(StaffId(number), &name, Role::Dispatcher, &[REGION]).await?;
        }
        // Riders have what the tasks ask for.
        let mut wanted: Vec<Option<Vehicle>> = Vec::new();
        for order in &contents.orders {
            if !wanted.contains(&order.new.vehicle) {
                wanted.push(order.new.vehicle);
            }
        }
        let labels = labels(&contents.positions);
        let count = if labels.is_empty() { options.riders } else { labels.len() };
        let mut names: Vec<_> = (1..=count).map(|number| format!("rider {number}")).collect();
        for (label, index) in labels {
            names[index] = label;
        }
        let mut riders = Vec::new();
        for (index, name) in names.iter().enumerate() {
            let id = RiderId(i64::try_from(index).unwrap_or(i64::MAX - 1) + 1);
            let vehicle = wanted.get(index % wanted.len().max(1)).copied().flatten();
            let capacity = index % 3 + 1;
            let places = u32::try_from(capacity).unwrap_or(1);
            tx.add_rider(id, REGION, name, places, vehicle).await?;
            riders.push((id, capacity));
        }
        tx.commit().await?;
        Ok(riders)
    }

    /// Everybody who takes part.
    pub(super) fn cast(&self) -> Cast {
        let seat = |(id, client, capacity): &(RiderId, Client, usize)| Seat {
            id: *id,
            client: client.clone(),
            capacity: *capacity,
            place: self.centre,
        };
        Cast {
            riders: self.riders.iter().map(seat).collect(),
            dispatchers: self.dispatchers.clone(),
            shop: self.shop.clone(),
        }
    }

    /// Where everything is kept.
    pub(super) const fn db(&self) -> &Db {
        &self.db
    }

    /// Moves the clock to `at`, never back, and waits until the server has released what lapsed by then.
    pub(super) async fn move_to(&self, at: Timestamp) -> Result<(), Error> {
        let now = self.db.clock().now().max(at);
        self.db.set_time(now).await?;
        let released = async {
            loop {
                let mut tx = self.db.read().await?;
                let due = tx.due(now, (Timestamp(i64::MIN), TaskId(i64::MIN)), 1).await?;
                tx.rollback().await?;
                if due.is_empty() {
                    return Ok(());
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let Ok(done) = tokio::time::timeout(PATIENCE, released).await else {
            tracing::warn!("lapsed offers are still waiting for their release");
            return Ok(());
        };
        done
    }

    /// Ends it in good order.
    pub(super) async fn end(self) {
        self.server.stop().await;
    }
}
