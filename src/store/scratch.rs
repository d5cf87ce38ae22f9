//! A database that is made for one use and removed again.

use std::str::FromStr;

use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection, postgres::PgConnectOptions};

use super::{
    connect::without_password,
    error::{Error, Result},
};

/// A database of its own on a PostgreSQL server.
#[derive(Debug)]
pub struct Scratch {
    server: String,
    name: String,
    url: String,
}

impl Scratch {
    /// Makes the database `name` on the server at `server`, a `postgres://` address whose user may create databases.
    ///
    /// # Errors
    /// [`Error::Address`] if it is no such address or no such name, or whatever the server says.
    pub async fn make(server: &str, name: &str) -> Result<Self> {
        let address = || Error::Address(without_password(server));
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        if name.is_empty() || !name.bytes().all(plain) {
            return Err(Error::Address(name.to_owned()));
        }
        let options = PgConnectOptions::from_str(server).map_err(|_| address())?;
        let mut connection = PgConnection::connect_with(&options).await?;
        // The name has letters, digits and underscores alone.
        sqlx::query(AssertSqlSafe(format!("CREATE DATABASE {name}")))
            .execute(&mut connection)
            .await?;
        connection.close().await?;
        let url = options.database(name).to_url_lossy().to_string();
        Ok(Self { server: server.to_owned(), name: name.to_owned(), url })
    }

    /// Its address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Removes it, with whatever is in it.
    ///
    /// # Errors
    /// Whatever the server says.
    pub async fn remove(self) -> Result<()> {
        let options = PgConnectOptions::from_str(&self.server)
            .map_err(|_| Error::Address(without_password(&self.server)))?;
        let mut connection = PgConnection::connect_with(&options).await?;
        let drop = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        sqlx::query(AssertSqlSafe(drop)).execute(&mut connection).await?;
        connection.close().await?;
        Ok(())
    }
}
