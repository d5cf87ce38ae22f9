//! A real server on a database of its own, with a clock that the test moves.

use std::{sync::Arc, time::Duration};

use dispatch_desk::{
    admin,
    client::Client,
    clock::ManualClock,
    domain::{
        command::{Actor, NewTask, RequestKey, Role, Stop},
        geo::{Area, Place},
        id::{RegionId, RiderId, StaffId, TaskId, Timestamp},
    },
    engine::executor::{Executor, Settings},
    store::{Db, Time},
    web::{Desk, Limits, Origin, Server},
};

pub const NOON: Timestamp = Timestamp(1_796_000_000_000);
pub const CENTRE: Place = Place { lat: 31.23, lng: 121.47 };
pub const REGION: RegionId = RegionId(1);

pub struct Scene {
    pub db: Db,
    pub origin: String,
    server: Server,
    _folder: tempfile::TempDir,
}

impl Scene {
    /// A server, a region, a dispatcher D1, and one rider for each of the capacities.
    pub async fn start(capacities: &[u32]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("desk.db").display());
        let db = Db::open(&url, Time::Manual(Arc::new(ManualClock::at(NOON)))).await.unwrap();
        let area = Area::Circle { centre: CENTRE, radius_m: 20_000.0 };
        let zone = chrono_tz::Asia::Shanghai;
        let region = admin::region(&db, "上海", zone, &area).await.unwrap();
        assert_eq!(region, REGION);
        admin::staff(&db, "赵强", Role::Dispatcher, &[REGION]).await.unwrap();
        for capacity in capacities {
            admin::rider(&db, "骑手", REGION, *capacity, None).await.unwrap();
        }
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let executor = Executor::start(db.clone(), Settings::default());
        let desk = Desk::new(executor, Origin::parse(&origin).unwrap());
        let server = Server::start(desk, listener, Limits::default()).unwrap();
        Self { db, origin, server, _folder: folder }
    }

    pub async fn client(&self, actor: &Actor) -> Client {
        let token = admin::token(&self.db, actor, "test").await.unwrap();
        Client::new(&self.origin, Some(&token)).unwrap()
    }

    pub async fn dispatcher(&self) -> Client {
        self.client(&Actor::Staff(StaffId(1))).await
    }

    pub async fn rider(&self, number: i64) -> Client {
        self.client(&Actor::Rider(RiderId(number))).await
    }

    pub async fn shop(&self) -> Client {
        self.client(&Actor::Intake("shop".to_owned())).await
    }

    /// Moves the clock and waits until the server has released what lapsed.
    pub async fn move_to(&self, at: Timestamp) {
        self.db.set_time(at).await.unwrap();
        loop {
            let mut tx = self.db.read().await.unwrap();
            let first = (Timestamp(i64::MIN), TaskId(i64::MIN));
            let due = tx.due(at, first, 1).await.unwrap();
            tx.rollback().await.unwrap();
            if due.is_empty() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    pub async fn end(self) {
        self.server.stop().await;
    }
}

pub fn key(text: &str) -> RequestKey {
    RequestKey::parse(text).unwrap()
}

pub fn order() -> NewTask {
    let stop = |address: &str| Stop {
        lat: CENTRE.lat,
        lng: CENTRE.lng,
        address: address.to_owned(),
        name: None,
        phone: Some("13800000001".to_owned()),
    };
    NewTask {
        region: REGION,
        pickup: stop("青梧路 88 号"),
        dropoff: stop("清和坊 3 号"),
        release_at: None,
        ready_at: Some(NOON),
        due_at: Some(NOON.plus_ms(1_800_000)),
        vehicle: None,
        priority: 1,
        fee: Some(900),
        note: Some("轻放 \"汤\"".to_owned()),
    }
}
