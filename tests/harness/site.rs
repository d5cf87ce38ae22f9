//! A desk with its web server in front, in this process: real connections, and a clock that only moves when told to.

use std::net::SocketAddr;

use dispatch_desk::{
    domain::{
        command::{Actor, NewTask},
        geo::Place,
        id::{RiderId, StaffId, TaskId},
    },
    store::{Link, LinkPurpose, token_hash},
    web::{self, Limits, Origin, Server},
};

use super::{
    Database, Desk,
    cast::{D1, NORTH, SOUTH},
};

/// The password of everybody who has one.
pub const PASSWORD: &str = "correct horse battery";

/// A desk that can be reached.
#[derive(Debug)]
pub struct Site {
    pub desk: Desk,
    pub address: SocketAddr,
    /// Where browsers believe they are.
    pub origin: String,
    server: Server,
}

impl Site {
    /// On a new SQLite database.
    pub async fn open() -> Self {
        Self::on(Desk::open(Database::Sqlite).await).await
    }

    /// On a desk that is there.
    pub async fn on(desk: Desk) -> Self {
        Self::at(desk, None).await
    }

    /// The same, behind a proxy that makes it `origin`.
    pub async fn at(desk: Desk, origin: Option<&str>) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let origin = origin.map_or_else(|| format!("http://{address}"), str::to_owned);
        let parsed = Origin::parse(&origin).expect("an origin");
        let web = web::Desk::new(desk.executor.clone(), parsed);
        let server = Server::start(web, listener, Limits::default()).expect("a server");
        Self { desk, address, origin, server }
    }

    /// A link that signs `actor` in once within an hour: its path.
    pub async fn link(&self, actor: &Actor) -> String {
        // Without the event of a link that an admin makes: cases count those of their own.
        let secret = format!("{:032x}", rand::random::<u128>());
        let link = Link { actor: actor.clone(), purpose: LinkPurpose::Enter };
        let mut tx = self.desk.db.begin().await.expect("a transaction");
        let now = tx.now().await.expect("a time");
        let added = tx.add_link(&token_hash(&secret), &link, now, now.plus_ms(3_600_000), 1).await;
        added.expect("a link");
        tx.commit().await.expect("a commit");
        format!("/enter/{secret}")
    }

    /// Gives a member of staff a name and [`PASSWORD`] to sign in with.
    pub async fn password(&self, staff: i64, login: &str) {
        let phc = web::hash_password(PASSWORD, &[7; 16]).expect("a hash");
        let mut tx = self.desk.db.begin().await.expect("a transaction");
        let now = tx.now().await.expect("a time");
        tx.set_password(StaffId(staff), login, &phc, now).await.expect("a password");
        tx.end_sessions_of(&Actor::Staff(StaffId(staff))).await.expect("no sessions");
        tx.commit().await.expect("a commit");
    }

    /// How many live streams are open.
    pub fn streams(&self) -> usize {
        self.server.hub().figures().open
    }

    /// Gives a member of staff both regions: who rules the whole desk has all that there are.
    pub async fn gives_all(&self, staff: i64) {
        let mut tx = self.desk.db.begin().await.expect("a transaction");
        for region in [NORTH, SOUTH] {
            tx.add_staff_region(StaffId(staff), region).await.expect("a region");
        }
        tx.commit().await.expect("a commit");
    }

    /// Where the customer of a task looks: the path of the tracking page.
    pub async fn tracking(&self, task: TaskId) -> String {
        let card = self.desk.read().await.card(task).await.expect("a read").expect("a task");
        format!("/t/{}", card.detail.tracking_token.expect("a token"))
    }

    /// A new open task, ordered on the console: it has a tracking page.
    pub async fn order(&self, new: NewTask) -> TaskId {
        use dispatch_desk::domain::command::What;
        let command = self.desk.command(D1, What::Create(Box::new(new)));
        let answer = self.desk.send(command).await.came.answer();
        answer.task.expect("a task").id
    }

    /// Seals all of the log.
    pub async fn seal(&self) {
        use dispatch_desk::{
            domain::seal::{Key, Keys},
            engine::sealer::{CHUNK, Sealer, Step},
        };
        let keys = Keys::one(Key::new([7; 32]));
        let sealer = Sealer::new(self.desk.db.clone(), keys, CHUNK);
        assert_eq!(sealer.seal_all().await.expect("a seal"), Step::Nothing);
    }

    /// Shuts a member of staff out, or lets them in again.
    pub async fn disable(&self, staff: i64, disabled: bool) {
        let mut tx = self.desk.db.begin().await.expect("a transaction");
        tx.disable_staff(StaffId(staff), disabled).await.expect("a change");
        tx.commit().await.expect("a commit");
    }

    /// Says where a rider is now.
    pub async fn fix(&self, rider: i64, lat: f64, lng: f64) {
        let now = dispatch_desk::clock::Clock::now(&*self.desk.clock);
        let mut tx = self.desk.db.begin().await.expect("a transaction");
        tx.put_fix(RiderId(rider), now.0, now, Place { lat, lng }).await.expect("a position");
        tx.commit().await.expect("a commit");
    }

    /// Ends it in good order and checks that the log folds to the rows. (Who asked for what over HTTP is not on the
    /// harness's record, so the judge of histories has nothing to say.)
    pub async fn close(self) {
        let report = dispatch_desk::engine::reconcile::reconcile(&self.desk.db, |_| ()).await;
        let report = report.expect("everything can be read");
        assert!(report.differences.is_empty(), "{:#?}", report.differences);
        self.server.stop().await;
    }
}
