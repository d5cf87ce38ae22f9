//! Opening a database: what is refused, how connections are set up, how transactions begin.

use std::{str::FromStr, sync::Arc};

use sqlx::{
    PgPool, SqlitePool, migrate::Migrator, postgres::PgConnectOptions, sqlite::SqliteConnectOptions,
};

use super::{
    connect::{at_least, begin_sqlite, begin_whole, postgres_pool, sqlite_pools, without_password},
    error::{Error, Result},
    sql::Sql,
    tx::{Driver, Tx, execute},
};
use crate::{
    clock::{Clock, ManualClock, SystemClock},
    domain::id::Timestamp,
};

static SQLITE_MIGRATIONS: Migrator = sqlx::migrate!("migrations/sqlite");
static POSTGRES_MIGRATIONS: Migrator = sqlx::migrate!("migrations/postgres");

/// Whose clock decides.
#[derive(Clone, Debug)]
pub enum Time {
    /// The machine's on SQLite, the database's on PostgreSQL.
    System,
    /// One that only moves when it is told to; see [`Db::set_time`].
    Manual(Arc<ManualClock>),
}

impl Time {
    pub(super) fn now(&self) -> Timestamp {
        match self {
            Self::System => SystemClock.now(),
            Self::Manual(clock) => clock.now(),
        }
    }
}

/// An open database: SQLite with one writer and a pool of readers, or PostgreSQL.
#[derive(Clone, Debug)]
pub struct Db {
    pools: Pools,
    time: Time,
}

#[derive(Clone, Debug)]
pub(super) enum Pools {
    Sqlite { writer: SqlitePool, readers: SqlitePool },
    Postgres(PgPool),
}

/// Which database it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// Embedded, one process.
    Sqlite,
    /// A server, any number of processes.
    Postgres,
}

impl Db {
    /// The oldest SQLite without the race that corrupts a database when its log is reset.
    pub const SQLITE_NEEDED: &'static str = "3.51.3";
    /// The oldest PostgreSQL that the statements are tested on.
    pub const POSTGRES_NEEDED: &'static str = "15";

    /// Opens `sqlite://FILE` or `postgres://…`, checks that what was acknowledged will last, and brings the
    /// tables up to date.
    ///
    /// # Errors
    /// [`Error::TooOld`], [`Error::Unsafe`], [`Error::Schema`], [`Error::Address`], or whatever kept the
    /// database from being opened.
    pub async fn open(url: &str, time: Time) -> Result<Self> {
        let db = Self::connect(url, time).await?;
        db.check().await?;
        db.migrate().await?;
        Ok(db)
    }

    async fn connect(url: &str, time: Time) -> Result<Self> {
        let address = || Error::Address(without_password(url));
        let pools = if url.starts_with("sqlite:") {
            let options = SqliteConnectOptions::from_str(url).map_err(|_| address())?;
            sqlite_pools(options).await?
        } else if url.starts_with("postgres:") || url.starts_with("postgresql:") {
            let options = PgConnectOptions::from_str(url).map_err(|_| address())?;
            Pools::Postgres(postgres_pool(options).await?)
        } else {
            return Err(address());
        };
        Ok(Self { pools, time })
    }

    pub(super) const fn pools(&self) -> &Pools {
        &self.pools
    }

    /// Which database it is.
    pub const fn product(&self) -> Product {
        match self.pools {
            Pools::Sqlite { .. } => Product::Sqlite,
            Pools::Postgres(_) => Product::Postgres,
        }
    }

    /// The version of the database that is really linked or connected.
    pub async fn version(&self) -> Result<String> {
        let (version,): (String,) = match &self.pools {
            Pools::Sqlite { writer, .. } => {
                sqlx::query_as("SELECT sqlite_version()").fetch_one(writer).await?
            }
            Pools::Postgres(pool) => sqlx::query_as("SHOW server_version").fetch_one(pool).await?,
        };
        Ok(version)
    }

    async fn check(&self) -> Result<()> {
        let found = self.version().await?;
        match &self.pools {
            Pools::Sqlite { .. } => at_least("SQLite", &found, Self::SQLITE_NEEDED),
            Pools::Postgres(pool) => {
                at_least("PostgreSQL", &found, Self::POSTGRES_NEEDED)?;
                for setting in ["fsync", "full_page_writes", "synchronous_commit"] {
                    let (value,): (String,) = sqlx::query_as("SELECT current_setting($1)")
                        .bind(setting)
                        .fetch_one(pool)
                        .await?;
                    if value == "off" {
                        return Err(Error::Unsafe { setting, found: value });
                    }
                }
                Ok(())
            }
        }
    }

    async fn migrate(&self) -> Result<()> {
        match &self.pools {
            Pools::Sqlite { writer, .. } => SQLITE_MIGRATIONS.run(writer).await?,
            Pools::Postgres(pool) => POSTGRES_MIGRATIONS.run(pool).await?,
        }
        if let (Time::Manual(clock), Pools::Postgres(_)) = (&self.time, &self.pools) {
            const TABLE: Sql = Sql::same(
                "CREATE TABLE IF NOT EXISTS manual_clock (id BIGINT PRIMARY KEY, now_ms BIGINT NOT NULL)",
            );
            const FIRST: Sql = Sql::same(
                "INSERT INTO manual_clock (id, now_ms) VALUES (1, $1) ON CONFLICT DO NOTHING",
            );
            let mut tx = self.begin().await?;
            execute!(tx, TABLE);
            execute!(tx, FIRST, clock.now().0);
            tx.commit().await?;
        }
        Ok(())
    }

    /// Begins a transaction that may write. On SQLite it waits for the one writer. Whoever waits for it may give up at
    /// any moment; so it is with [`read`](Self::read).
    pub async fn begin(&self) -> Result<Tx> {
        let driver = match &self.pools {
            // Deferred transactions fail when they turn into writers; this one asks at once.
            Pools::Sqlite { writer, .. } => {
                let begin = begin_sqlite(writer.clone(), "BEGIN IMMEDIATE");
                Driver::Sqlite(begin_whole(begin).await?)
            }
            Pools::Postgres(pool) => {
                let pool = pool.clone();
                Driver::Postgres(begin_whole(async move { pool.begin().await }).await?)
            }
        };
        Ok(Tx { driver, time: self.time.clone() })
    }

    /// Begins a transaction that only reads, all of it from one snapshot.
    pub async fn read(&self) -> Result<Tx> {
        let driver = match &self.pools {
            Pools::Sqlite { readers, .. } => {
                Driver::Sqlite(begin_whole(begin_sqlite(readers.clone(), "BEGIN")).await?)
            }
            Pools::Postgres(pool) => {
                let (pool, snapshot) =
                    (pool.clone(), "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
                Driver::Postgres(begin_whole(async move { pool.begin_with(snapshot).await }).await?)
            }
        };
        Ok(Tx { driver, time: self.time.clone() })
    }

    /// The clock to wait by. It may differ from the store's own by a little; whoever waits looks again.
    pub fn clock(&self) -> Arc<dyn Clock> {
        match &self.time {
            Time::System => Arc::new(SystemClock),
            Time::Manual(clock) => Arc::clone(clock) as Arc<dyn Clock>,
        }
    }

    /// Sets a manual clock, for every process on this database.
    ///
    /// # Panics
    /// If the database was opened with the system's time: that can not be set.
    pub async fn set_time(&self, now: Timestamp) -> Result<()> {
        const SET: Sql = Sql::same("UPDATE manual_clock SET now_ms = $1");
        let Time::Manual(clock) = &self.time else { panic!("only a manual clock can be set") };
        if let Pools::Postgres(_) = &self.pools {
            let mut tx = self.begin().await?;
            execute!(tx, SET, now.0);
            tx.commit().await?;
        }
        clock.set(now);
        Ok(())
    }

    /// Closes all connections, once the transactions in them have ended.
    pub async fn close(&self) {
        match &self.pools {
            Pools::Sqlite { writer, readers } => {
                readers.close().await;
                writer.close().await;
            }
            Pools::Postgres(pool) => pool.close().await,
        }
    }
}
