//! One transaction on either database, and the macros that run one statement on both.
//!
//! What runs a statement is the same four functions for all of them, with futures that have no type of their own: each
//! caller's future is checked and compiled anew, and with the library's whole future inside of each the compiler would
//! spend most of its time on that.

use std::pin::Pin;

use sqlx::{
    FromRow, PgConnection, Postgres, Row, Sqlite, SqliteConnection, Transaction,
    postgres::{PgArguments, PgQueryResult, PgRow},
    query::Query,
    sqlite::{SqliteArguments, SqliteQueryResult, SqliteRow},
};

use super::{
    db::Time,
    error::Result,
    sql::{Sql, setwise},
};
use crate::domain::id::Timestamp;

/// A transaction. Dropping it rolls back.
#[derive(Debug)]
pub struct Tx {
    pub(super) driver: Driver,
    pub(super) time: Time,
}

#[derive(Debug)]
pub(super) enum Driver {
    Sqlite(Transaction<'static, Sqlite>),
    Postgres(Transaction<'static, Postgres>),
}

/// Runs one body against whichever database is live; it is compiled once per driver. The body sees the
/// connection and the statement's text for that database.
#[cfg(test)]
macro_rules! on {
    ($tx:expr, $sql:expr, |$conn:ident, $text:ident| $body:expr) => {
        match &mut $tx.driver {
            $crate::store::tx::Driver::Sqlite(tx) => {
                let ($conn, $text) = (&mut **tx, $sql.sqlite);
                $body
            }
            $crate::store::tx::Driver::Postgres(tx) => {
                let ($conn, $text) = (&mut **tx, $sql.postgres);
                $body
            }
        }
    };
}

/// Executes a statement with its parameters and says how many rows it touched.
macro_rules! execute {
    ($tx:expr, $sql:expr $(, $bind:expr)* $(,)?) => {
        match &mut $tx.driver {
            $crate::store::tx::Driver::Sqlite(tx) => {
                let query = sqlx::query($sql.sqlite)$(.bind($bind))*;
                $crate::store::tx::done_on_sqlite(tx, query).await?.rows_affected()
            }
            $crate::store::tx::Driver::Postgres(tx) => {
                let query = sqlx::query($sql.postgres)$(.bind($bind))*;
                $crate::store::tx::done_on_postgres(tx, query).await?.rows_affected()
            }
        }
    };
}

/// Fetches all rows of a statement as a type that reads them by column name.
macro_rules! fetch {
    ($tx:expr, $row:ty, $sql:expr $(, $bind:expr)* $(,)?) => {
        match &mut $tx.driver {
            $crate::store::tx::Driver::Sqlite(tx) => {
                let query = sqlx::query($sql.sqlite)$(.bind($bind))*;
                $crate::store::tx::typed::<$row, _>(&$crate::store::tx::rows_on_sqlite(tx, query).await?)?
            }
            $crate::store::tx::Driver::Postgres(tx) => {
                let query = sqlx::query($sql.postgres)$(.bind($bind))*;
                $crate::store::tx::typed::<$row, _>(&$crate::store::tx::rows_on_postgres(tx, query).await?)?
            }
        }
    };
}

/// What a statement will have come to.
pub(super) type Running<'c, T> = Pin<Box<dyn Future<Output = sqlx::Result<T>> + Send + 'c>>;

/// Executes a statement on SQLite.
pub(super) fn done_on_sqlite<'c>(
    conn: &'c mut SqliteConnection,
    query: Query<'c, Sqlite, SqliteArguments>,
) -> Running<'c, SqliteQueryResult> {
    Box::pin(query.execute(conn))
}

/// Executes a statement on PostgreSQL.
pub(super) fn done_on_postgres<'c>(
    conn: &'c mut PgConnection,
    query: Query<'c, Postgres, PgArguments>,
) -> Running<'c, PgQueryResult> {
    Box::pin(query.execute(conn))
}

/// The rows of a statement on SQLite.
pub(super) fn rows_on_sqlite<'c>(
    conn: &'c mut SqliteConnection,
    query: Query<'c, Sqlite, SqliteArguments>,
) -> Running<'c, Vec<SqliteRow>> {
    Box::pin(query.fetch_all(conn))
}

/// The rows of a statement on PostgreSQL.
pub(super) fn rows_on_postgres<'c>(
    conn: &'c mut PgConnection,
    query: Query<'c, Postgres, PgArguments>,
) -> Running<'c, Vec<PgRow>> {
    Box::pin(query.fetch_all(conn))
}

/// Rows as the type that reads them.
pub(super) fn typed<T, R>(rows: &[R]) -> sqlx::Result<Vec<T>>
where
    R: Row,
    T: for<'r> FromRow<'r, R>,
{
    rows.iter().map(T::from_row).collect()
}

#[cfg(test)]
pub(super) use on;
pub(super) use {execute, fetch};

/// The instant of the store: on PostgreSQL the database's own clock, read when asked for and not at
/// the start of the transaction.
const CLOCK: Sql = Sql {
    sqlite: "SELECT 0",
    postgres: "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)",
};

/// The instant that a test has set, for all processes on one PostgreSQL.
const MANUAL_CLOCK: Sql = Sql { sqlite: "SELECT 0", postgres: "SELECT now_ms FROM manual_clock" };

/// Counts a row source, to prove that one statement serves both databases.
const COUNT: Sql = setwise!("SELECT COUNT(*), MAX(r.number) FROM ", rows(number int), "");

impl Tx {
    /// The store's present instant. No other statement reads the time.
    pub async fn now(&mut self) -> Result<Timestamp> {
        let sql = match (&self.driver, &self.time) {
            (Driver::Sqlite(_), time) => return Ok(time.now()),
            (Driver::Postgres(_), Time::System) => &CLOCK,
            (Driver::Postgres(_), Time::Manual(_)) => &MANUAL_CLOCK,
        };
        let rows = fetch!(self, (i64,), sql);
        Ok(Timestamp(rows.first().map_or(0, |(now,)| *now)))
    }

    /// Makes everything that was done in it last.
    pub async fn commit(self) -> Result<()> {
        match self.driver {
            Driver::Sqlite(tx) => tx.commit().await?,
            Driver::Postgres(tx) => tx.commit().await?,
        }
        Ok(())
    }

    /// Undoes everything that was done in it.
    pub async fn rollback(self) -> Result<()> {
        match self.driver {
            Driver::Sqlite(tx) => tx.rollback().await?,
            Driver::Postgres(tx) => tx.rollback().await?,
        }
        Ok(())
    }

    /// Sends numbers through a set-wise row source and returns how many came out, and the largest.
    pub async fn echo(&mut self, numbers: &[i64]) -> Result<(i64, Option<i64>)> {
        #[derive(serde::Serialize)]
        struct Row {
            number: i64,
        }
        let rows: Vec<_> = numbers.iter().map(|number| Row { number: *number }).collect();
        let rows = fetch!(self, (i64, Option<i64>), COUNT, super::sql::rows(&rows));
        Ok(rows.first().copied().unwrap_or_default())
    }
}
