//! Connections: how each database is set up, and what is too old.

use std::time::Duration;

use sqlx::{
    Connection, PgPool, Sqlite, SqlitePool, Transaction,
    postgres::{PgConnectOptions, PgPoolOptions},
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

use super::{
    db::Pools,
    error::{Error, Result},
};
use crate::fault::{Fault, planted};

/// Runs a BEGIN to its end, whatever becomes of whoever waits for it.
///
/// Given up in the middle, it would go on at the database while its connection is handed to somebody else, who would
/// then stand in a transaction that nobody has opened: read-only, perhaps, and never committed. So it is a task of its
/// own; if nobody waits any more, the transaction is dropped by it, and so rolled back.
pub(super) async fn begin_whole<T: Send + 'static>(
    begin: impl Future<Output = sqlx::Result<T>> + Send + 'static,
) -> sqlx::Result<T> {
    match tokio::spawn(begin).await {
        Ok(begun) => begun,
        // It did not panic, or the program would have said so: the runtime is ending.
        Err(_) => Err(sqlx::Error::PoolClosed),
    }
}

/// Begins a transaction on a connection of `pool`.
///
/// SQLite ends a transaction by itself when the disk is full or fails. The driver still counts it as open, since the
/// rollback that follows finds nothing to roll back, and such a connection would refuse to begin for ever; a new one
/// takes its place.
pub(super) async fn begin_sqlite(
    pool: SqlitePool,
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

pub(super) async fn sqlite_pools(options: SqliteConnectOptions) -> Result<Pools> {
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
        // 16 MiB. At each commit SQLite walks all cached pages (the page of its lock byte makes it believe that the
        // file was cut), so a larger cache costs more than it saves; the system caches the file as well.
        .pragma("cache_size", "-16384")
        // A checkpoint at each batch would write the same pages again and again.
        .pragma("wal_autocheckpoint", "4000")
        .pragma("temp_store", "memory")
        // What was erased is written over, not only forgotten: it is gone from the file with the next checkpoint.
        .pragma("secure_delete", "on");
    if let Some(folder) = options.get_filename().parent().filter(|folder| !folder.exists()) {
        std::fs::create_dir_all(folder).map_err(|error| Error::Unreachable(error.into()))?;
    }
    let writer = SqlitePoolOptions::new()
        .max_connections(1)
        .acquire_timeout(Duration::from_secs(5))
        // It lives in this process: there is no line that could be cut while nobody looks.
        .test_before_acquire(false)
        .idle_timeout(None)
        .max_lifetime(None)
        .connect_with(options.clone())
        .await?;
    let readers = SqlitePoolOptions::new()
        .max_connections(8)
        .connect_lazy_with(options.read_only(true).create_if_missing(false));
    Ok(Pools::Sqlite { writer, readers })
}

pub(super) async fn postgres_pool(options: PgConnectOptions) -> Result<PgPool> {
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

pub(super) fn at_least(product: &'static str, found: &str, needed: &'static str) -> Result<()> {
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
pub(super) fn without_password(url: &str) -> String {
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
    use super::{super::db::Db, *};

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
