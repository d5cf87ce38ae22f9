//! Hints between the nodes on one PostgreSQL that something was committed. A hint may be lost, late or doubled: what is
//! true stands in the log, by number.

use sqlx::postgres::PgListener;

use super::{
    db::{Db, Pools},
    error::Result,
    sql::Sql,
};

const CHANNEL: &str = "dispatch_desk_head";
const HINT: Sql =
    Sql { sqlite: "SELECT 0", postgres: "SELECT pg_notify('dispatch_desk_head', '')" };

/// Hears the hints of all nodes, those of this one too.
#[derive(Debug)]
pub struct Hints {
    listener: PgListener,
}

impl Hints {
    /// Returns at the next hint, or when the connection was lost and made anew: hints may have been missed then.
    pub async fn next(&mut self) -> Result<()> {
        self.listener.try_recv().await?;
        Ok(())
    }
}

impl Db {
    /// Listens for hints; none on SQLite, which serves one process.
    pub async fn hints(&self) -> Result<Option<Hints>> {
        let Pools::Postgres(pool) = self.pools() else { return Ok(None) };
        let mut listener = PgListener::connect_with(pool).await?;
        listener.listen(CHANNEL).await?;
        Ok(Some(Hints { listener }))
    }

    /// Tells all nodes that something was committed. Does nothing on SQLite.
    pub async fn hint(&self) -> Result<()> {
        if let Pools::Postgres(pool) = self.pools() {
            sqlx::query(HINT.postgres).execute(pool).await?;
        }
        Ok(())
    }
}
