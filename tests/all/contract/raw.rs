//! A connection of the test's own, beside the store: for rows that the store would never write, and for what
//! only the database itself can say.

use dispatch_desk::store::Error;
use sqlx::{AssertSqlSafe, PgPool, SqlitePool};

use crate::harness::{Database, Desk};

/// A connection to a desk's database.
#[derive(Debug)]
pub enum Raw {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

impl Raw {
    /// A connection to the database of `desk`.
    pub async fn of(desk: &Desk) -> Self {
        Self::open(desk.database, &desk.home.url).await
    }

    /// A connection to the database at `url`; a missing file is an error.
    pub async fn open(database: Database, url: &str) -> Self {
        match database {
            Database::Sqlite => Self::Sqlite(SqlitePool::connect(url).await.expect("a database")),
            Database::Postgres => Self::Postgres(PgPool::connect(url).await.expect("a database")),
        }
    }

    /// Which database it is.
    pub fn database(&self) -> Database {
        match self {
            Self::Sqlite(_) => Database::Sqlite,
            Self::Postgres(_) => Database::Postgres,
        }
    }

    /// Runs statements and says how many rows the last one touched, or how the store would name the failure.
    pub async fn run(&self, sql: &str) -> Result<u64, Error> {
        let sql = AssertSqlSafe(sql.to_owned());
        Ok(match self {
            Self::Sqlite(pool) => sqlx::raw_sql(sql).execute(pool).await?.rows_affected(),
            Self::Postgres(pool) => sqlx::raw_sql(sql).execute(pool).await?.rows_affected(),
        })
    }

    /// The rows of a query that returns one column of text.
    pub async fn texts(&self, sql: &str) -> Vec<String> {
        let sql = AssertSqlSafe(sql.to_owned());
        let rows: Vec<(String,)> = match self {
            Self::Sqlite(pool) => sqlx::query_as(sql).fetch_all(pool).await.expect("a query"),
            Self::Postgres(pool) => sqlx::query_as(sql).fetch_all(pool).await.expect("a query"),
        };
        rows.into_iter().map(|(text,)| text).collect()
    }

    /// The one number that a query returns.
    pub async fn number(&self, sql: &str) -> i64 {
        let sql = AssertSqlSafe(sql.to_owned());
        let (number,): (i64,) = match self {
            Self::Sqlite(pool) => sqlx::query_as(sql).fetch_one(pool).await.expect("a query"),
            Self::Postgres(pool) => sqlx::query_as(sql).fetch_one(pool).await.expect("a query"),
        };
        number
    }

    /// The rows of a query that returns one column of doubles.
    pub async fn reals(&self, sql: &str) -> Vec<f64> {
        let sql = AssertSqlSafe(sql.to_owned());
        let rows: Vec<(f64,)> = match self {
            Self::Sqlite(pool) => sqlx::query_as(sql).fetch_all(pool).await.expect("a query"),
            Self::Postgres(pool) => sqlx::query_as(sql).fetch_all(pool).await.expect("a query"),
        };
        rows.into_iter().map(|(real,)| real).collect()
    }

    /// Everything in a table, a line a row, in the order of its texts.
    pub async fn dump(&self, table: &str) -> Vec<String> {
        match self {
            Self::Postgres(_) => {
                self.texts(&format!("SELECT CAST(t AS text) FROM {table} t ORDER BY 1")).await
            }
            Self::Sqlite(_) => {
                let names = format!("SELECT name FROM pragma_table_info('{table}') ORDER BY cid");
                let columns = self.texts(&names).await;
                let quoted: Vec<_> = columns.iter().map(|name| format!("quote({name})")).collect();
                let row = quoted.join(" || ',' || ");
                self.texts(&format!("SELECT {row} FROM {table} ORDER BY 1")).await
            }
        }
    }

    /// Every row of every table, to show that nothing was written.
    pub async fn dump_all(&self) -> Vec<(String, Vec<String>)> {
        let mut dumps = Vec::new();
        for table in self.tables().await {
            let rows = self.dump(&table).await;
            dumps.push((table, rows));
        }
        dumps
    }

    /// The names of the product's own tables, sorted.
    pub async fn tables(&self) -> Vec<String> {
        let sql = match self {
            Self::Sqlite(_) => {
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            }
            Self::Postgres(_) => {
                "SELECT CAST(table_name AS text) FROM information_schema.tables \
                 WHERE table_schema = current_schema()"
            }
        };
        let mut tables = self.texts(sql).await;
        // The first is kept by the migrations, the second exists under a manual clock alone.
        tables.retain(|table| table != "_sqlx_migrations" && table != "manual_clock");
        tables.sort();
        tables
    }
}
