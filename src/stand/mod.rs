//! A desk of its own for one acceptance run, and the people that such a run needs.
//!
//! The desk runs through the same entry as `serve`, on a database that is made for it and removed again, with a clock
//! that only moves when it is told to. From then on it is asked over HTTP like any other.

mod people;

use std::{net::Ipv4Addr, path::PathBuf, sync::Arc};

use tokio::net::TcpListener;

pub use people::{Dispatchers, People, RiderSeat, Wanted};

use crate::{
    admin,
    clock::{Clock, Entropy, ManualClock, SystemClock, SystemEntropy},
    domain::{
        fingerprint::hex,
        id::Timestamp,
        policy::RegionMode,
        seal::{Key, Keys},
    },
    engine::executor::{Executor, Settings},
    store::{self, Db, Product, Scratch, Time},
    web::{Desk, Limits, Origin, Server},
};

/// Why there is no desk.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A token could not be made.
    #[error(transparent)]
    Admin(#[from] admin::Error),
    /// A folder or an address could not be had.
    #[error(transparent)]
    File(#[from] std::io::Error),
}

/// Where the database of a private desk is.
#[derive(Clone, Debug)]
pub enum Kind {
    /// In a file of its own.
    Sqlite,
    /// A database of its own on the PostgreSQL server at this address.
    Postgres(String),
}

/// A desk of its own.
#[derive(Debug)]
pub struct PrivateDesk {
    /// Where it is asked.
    pub origin: String,
    /// Who works there.
    pub people: People,
    /// Its database, with the version.
    pub database: String,
    db: Db,
    server: Server,
    place: Place,
}

/// What has to be removed at the end.
#[derive(Debug)]
enum Place {
    Folder(PathBuf),
    Database(Scratch),
}

impl PrivateDesk {
    /// Starts one, in which a region dispatches in the way of `mode`. Its clock stands at the present time.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn start(kind: &Kind, mode: RegionMode) -> Result<Self, Error> {
        let mut name = [0; 6];
        SystemEntropy.fill(&mut name)?;
        let name = format!("dispatch_acceptance_{}", hex(&name));
        let (url, place) = match kind {
            Kind::Sqlite => {
                let folder = std::env::temp_dir().join(&name);
                std::fs::create_dir(&folder)?;
                (format!("sqlite://{}/desk.db", folder.display()), Place::Folder(folder))
            }
            Kind::Postgres(server) => {
                let scratch = Scratch::make(server, &name).await?;
                (scratch.url().to_owned(), Place::Database(scratch))
            }
        };
        match Self::on(&url, mode).await {
            Ok((db, server, origin, people, database)) => {
                Ok(Self { origin, people, database, db, server, place })
            }
            Err(error) => {
                place.remove().await;
                Err(error)
            }
        }
    }

    async fn on(
        url: &str,
        mode: RegionMode,
    ) -> Result<(Db, Server, String, People, String), Error> {
        // Whole seconds, so that moments are easy to read in the record.
        let now = Timestamp(SystemClock.now().0 / 1_000 * 1_000);
        let db = Db::open(url, Time::Manual(Arc::new(ManualClock::at(now)))).await?;
        db.set_time(now).await?;
        let people = People::enter(&db, &Wanted { mode, ..Wanted::default() }).await?;
        let product = match db.product() {
            Product::Sqlite => "SQLite",
            Product::Postgres => "PostgreSQL",
        };
        let database = format!("{product} {}", db.version().await?);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let origin = format!("http://{}", listener.local_addr()?);
        let parsed = Origin::parse(&origin).map_err(std::io::Error::other)?;
        let desk = Desk::new(Executor::start(db.clone(), Settings::default()), parsed);
        // The key goes with the desk: its log is looked at while it runs, and kept nowhere.
        let mut key = [0; 32];
        SystemEntropy.fill(&mut key)?;
        let server = Server::start(desk, listener, Limits::default())?;
        let server = server.sealing(Keys::one(Key::new(key)));
        Ok((db, server, origin, people, database))
    }

    /// What its clock shows.
    pub fn now(&self) -> Timestamp {
        self.db.clock().now()
    }

    /// Sets its clock.
    ///
    /// # Errors
    /// Whatever the database says.
    pub async fn set_time(&self, to: Timestamp) -> Result<(), Error> {
        Ok(self.db.set_time(to).await?)
    }

    /// Ends it, and removes its database.
    pub async fn end(self) {
        self.server.stop().await;
        self.db.close().await;
        self.place.remove().await;
    }
}

impl Place {
    async fn remove(self) {
        match self {
            Self::Folder(folder) => {
                if let Err(error) = std::fs::remove_dir_all(&folder) {
                    tracing::warn!("{} is left behind: {error}", folder.display());
                }
            }
            Self::Database(scratch) => {
                let name = scratch.url().rsplit('/').next().unwrap_or_default().to_owned();
                if let Err(error) = scratch.remove().await {
                    tracing::warn!("database {name} is left behind: {error}");
                }
            }
        }
    }
}
