//! The database beside the desk: plain SQL of a test's own, and desks on what others have left behind.

use std::sync::Arc;

use dispatch_desk::{
    clock::ManualClock,
    engine::{
        executor::{Executor, Settings},
        reconcile::reconcile,
    },
    store::{Db, Time},
};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor as _, PgConnection};

use super::{
    cast::{self, NOON},
    desk::{Database, Desk, Home},
    record::Recorder,
};

impl Desk {
    /// Runs statements of a test's own: those for SQLite or those for PostgreSQL.
    pub async fn sql(&self, sqlite: &str, postgres: &str) {
        match self.database {
            Database::Sqlite => {
                let mut connection = sqlx::SqliteConnection::connect(&self.home.url)
                    .await
                    .expect("the file can be opened");
                connection
                    .execute(sqlx::raw_sql(AssertSqlSafe(sqlite.to_owned())))
                    .await
                    .expect("SQLite takes the statements");
                connection.close().await.expect("the file can be closed");
            }
            Database::Postgres => {
                let mut connection = self.beside().await;
                connection
                    .execute(sqlx::raw_sql(AssertSqlSafe(postgres.to_owned())))
                    .await
                    .expect("PostgreSQL takes the statements");
                connection.close().await.expect("the connection can be closed");
            }
        }
    }

    /// A connection of the test's own to the desk's PostgreSQL.
    pub async fn beside(&self) -> PgConnection {
        PgConnection::connect(&self.home.url).await.expect("PostgreSQL can be reached")
    }

    /// Makes every change of one task fail, as a row does that a constraint or a trigger turns down.
    pub async fn spoil(&self, task: dispatch_desk::domain::id::TaskId) {
        let id = task.0;
        self.sql(
            &format!(
                "CREATE TRIGGER spoiled BEFORE UPDATE ON task WHEN NEW.id = {id} \
                 BEGIN SELECT RAISE(ABORT, 'this row is spoiled'); END"
            ),
            &format!(
                "CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
                 RAISE EXCEPTION 'this row is spoiled'; END $$; \
                 CREATE TRIGGER spoiled BEFORE UPDATE ON task FOR EACH ROW \
                 WHEN (NEW.id = {id}) EXECUTE FUNCTION spoil()"
            ),
        )
        .await;
    }

    /// Takes that back.
    pub async fn mend(&self) {
        self.sql("DROP TRIGGER spoiled", "DROP TRIGGER spoiled ON task; DROP FUNCTION spoil()")
            .await;
    }

    /// A desk on a database that others have worked on, with the record of what they were answered.
    pub async fn reopen(database: Database, home: Home, recorder: Recorder) -> Self {
        let clock = Arc::new(ManualClock::at(NOON));
        let time = Time::Manual(Arc::clone(&clock));
        let db = Db::open(&home.url, time).await.expect("the database opens again");
        let executor = Executor::start(db.clone(), Settings::default());
        Self { database, db, clock, executor, recorder, home }
    }

    /// Fails if log and rows differ anywhere.
    pub async fn reconciled(&self) {
        let report = reconcile(&self.db, |_| ()).await.expect("everything can be read");
        assert!(report.differences.is_empty(), "{:#?}", report.differences);
    }
}

/// Brings the cast into the database at `url`, and leaves it closed.
pub async fn prepare(url: &str) {
    let time = Time::Manual(Arc::new(ManualClock::at(NOON)));
    let db = Db::open(url, time).await.expect("a new database opens");
    cast::enter(&db).await.expect("the cast enters");
    db.close().await;
}

/// What SQLite itself finds wrong with a file; `ok` if nothing.
pub async fn integrity(url: &str) -> String {
    let options: sqlx::sqlite::SqliteConnectOptions = url.parse().expect("an address");
    let mut connection = options.connect().await.expect("the file can be opened");
    let (found,): (String,) = sqlx::query_as("PRAGMA integrity_check")
        .fetch_one(&mut connection)
        .await
        .expect("the file can be checked");
    connection.close().await.expect("the file can be closed");
    found
}
