//! Opening a database: what is refused, how connections are set up, how transactions begin.

use std::{str::FromStr, sync::Arc, time::Duration};

use sqlx::{
    Connection, PgPool, Sqlite, SqlitePool, Transaction,
    migrate::Migrator,
    postgres::{PgConnectOptions, PgPoolOptions},
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

use super::{
    error::{Error, Result},
    sql::Sql,
    tx::{Driver, Tx, execute},
};
use crate::{
    clock::{Clock, ManualClock, SystemClock},
    domain::id::Timestamp,
    fault::{Fault, planted},
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
enum Pools {
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

    /// Begins a transaction that may write. On SQLite it waits for the one writer.
    pub async fn begin(&self) -> Result<Tx> {
        let driver = match &self.pools {
            // Deferred transactions fail when they turn into writers; this one asks at once.
            Pools::Sqlite { writer, .. } => {
                Driver::Sqlite(begin_sqlite(writer, "BEGIN IMMEDIATE").await?)
            }
            Pools::Postgres(pool) => Driver::Postgres(pool.begin().await?),
        };
        Ok(Tx { driver, time: self.time.clone() })
    }

    /// Begins a transaction that only reads, all of it from one snapshot.
    pub async fn read(&self) -> Result<Tx> {
        let driver = match &self.pools {
            Pools::Sqlite { readers, .. } => Driver::Sqlite(begin_sqlite(readers, "BEGIN").await?),
            Pools::Postgres(pool) => Driver::Postgres(
                pool.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?,
            ),
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

/// Begins a transaction on a connection of `pool`.
///
/// SQLite ends a transaction by itself when the disk is full or fails. The driver still counts it as open, since the
/// rollback that follows finds nothing to roll back, and such a connection would refuse to begin for ever; a new one
/// takes its place.
async fn begin_sqlite(
    pool: &SqlitePool,
    begin: &'static str,
) -> sqlx::Result<Transaction<'static, Sqlite>> {
    loop {
        match pool.begin_with(begin).await {
            Err(sqlx::Error::InvalidSavePointStatement) => {}
            other => return other,
        }
        let mut connection = pool.acquire().await?;
        // Several may be in the pool; a sound one is given back.
        let sound = match connection.begin_with(begin).await {
            Ok(sound) => sound.rollback().await.is_ok(),
            Err(_) => false,
        };
        if !sound {
            connection.close().await?;
        }
    }
}

async fn sqlite_pools(options: SqliteConnectOptions) -> Result<Pools> {
    let synchronous = if planted(Fault::NormalSync) {
        SqliteSynchronous::Normal
    } else {
        // Every commit is on the disk before anyone is answered.
        SqliteSynchronous::Full
    };
    let options = options
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(synchronous)
        .busy_timeout(Duration::from_secs(5))
        // Without it, REPLACE would get past the triggers that keep the log as it is.
        .pragma("recursive_triggers", "on")
        .pragma("cache_size", "-65536")
        .pragma("temp_store", "memory");
    if let Some(folder) = options.get_filename().parent().filter(|folder| !folder.exists()) {
        std::fs::create_dir_all(folder).map_err(|error| Error::Unreachable(error.into()))?;
    }
    let writer = SqlitePoolOptions::new()
        .max_connections(1)
        .acquire_timeout(Duration::from_secs(5))
        .idle_timeout(None)
        .max_lifetime(None)
        .connect_with(options.clone())
        .await?;
    let readers = SqlitePoolOptions::new()
        .max_connections(8)
        .connect_lazy_with(options.read_only(true).create_if_missing(false));
    Ok(Pools::Sqlite { writer, readers })
}

async fn postgres_pool(options: PgConnectOptions) -> Result<PgPool> {
    let options = options.application_name("dispatch-desk").options([
        // A generic plan that was made while a table was empty would scan it for ever.
        ("plan_cache_mode", "force_custom_plan"),
        ("jit", "off"),
        // A silent partition must not hold row locks without bound.
        ("statement_timeout", "5s"),
        ("lock_timeout", "2s"),
        ("idle_in_transaction_session_timeout", "10s"),
        ("tcp_user_timeout", "10s"),
    ]);
    Ok(PgPoolOptions::new()
        .max_connections(16)
        .acquire_timeout(Duration::from_secs(5))
        .connect_with(options)
        .await?)
}

fn at_least(product: &'static str, found: &str, needed: &'static str) -> Result<()> {
    let numbers = |version: &str| -> Vec<u32> {
        let version = version.split_whitespace().next().unwrap_or_default();
        version.split('.').map_while(|part| part.parse().ok()).collect()
    };
    if numbers(found) >= numbers(needed) {
        Ok(())
    } else {
        Err(Error::TooOld { product, found: found.to_owned(), needed })
    }
}

/// An address as it may be shown: without the password of `scheme://user:password@host`, and without options,
/// which may hold one too. It may be written wrongly, so what can not be told apart is left out.
fn without_password(url: &str) -> String {
    let (scheme, rest) = url.split_at(url.find("://").map_or(0, |at| at + 3));
    match (rest.rfind('@'), rest.find('?')) {
        (Some(at), Some(options)) if options < at => format!("{scheme}***"),
        (at, options) => {
            let user = at.and_then(|at| rest[..at].find(':').map(|colon| &rest[..colon]));
            let host =
                &rest[at.filter(|_| user.is_some()).unwrap_or(0)..options.unwrap_or(rest.len())];
            let user = user.map_or_else(String::new, |user| format!("{user}:***"));
            format!("{scheme}{user}{host}{}", if options.is_some() { "?***" } else { "" })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_database_is_refused_by_name_and_number() {
        assert!(at_least("SQLite", "3.51.3", Db::SQLITE_NEEDED).is_ok());
        assert!(at_least("SQLite", "3.60.0", Db::SQLITE_NEEDED).is_ok());
        assert!(
            at_least("PostgreSQL", "15.18 (Debian 15.18-0+deb12u1)", Db::POSTGRES_NEEDED).is_ok()
        );
        let error =
            at_least("SQLite", "3.46.0", Db::SQLITE_NEEDED).map_err(|error| error.to_string());
        insta::assert_snapshot!(error.err().unwrap_or_default(), @"SQLite 3.46.0 is too old: 3.51.3 or newer is needed");
        let error =
            at_least("PostgreSQL", "14.2", Db::POSTGRES_NEEDED).map_err(|error| error.to_string());
        insta::assert_snapshot!(error.err().unwrap_or_default(), @"PostgreSQL 14.2 is too old: 15 or newer is needed");
    }

    #[test]
    fn a_password_is_not_shown() {
        assert_eq!(without_password("mysql://desk:s3cret@db/x"), "mysql://desk:***@db/x");
        assert_eq!(without_password("desk:s3cret@db/x"), "desk:***@db/x");
        assert_eq!(without_password("mysql://desk@db/x?password=s3cret"), "mysql://desk@db/x?***");
        assert_eq!(without_password("mysql://desk:s?3cret@db/x"), "mysql://***");
        assert_eq!(without_password("sqlite://data/desk.db"), "sqlite://data/desk.db");
    }
}
