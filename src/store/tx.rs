//! One transaction on either database, and the macros that run one statement on both.

use sqlx::{Postgres, Sqlite, Transaction};

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
        $crate::store::tx::on!($tx, $sql, |conn, text| {
            sqlx::query(text)$(.bind($bind))*.execute(conn).await?.rows_affected()
        })
    };
}

/// Fetches all rows of a statement as a type that reads them by column name.
macro_rules! fetch {
    ($tx:expr, $row:ty, $sql:expr $(, $bind:expr)* $(,)?) => {
        $crate::store::tx::on!($tx, $sql, |conn, text| {
            sqlx::query_as::<_, $row>(text)$(.bind($bind))*.fetch_all(conn).await?
        })
    };
}

pub(super) use {execute, fetch, on};

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
