//! Flags and their environment twins, parsed once. Nothing else reads the environment.

mod import;

use std::fmt;

use clap::{Args, Parser, Subcommand};

pub use import::ImportArgs;

/// Dispatch Desk (派单台): one owner per task revision, every outcome recorded, every answer explained.
#[derive(Debug, Parser)]
#[command(name = "dispatch-desk", version, about)]
pub struct Config {
    /// What to run.
    #[command(subcommand)]
    pub run: Run,
}

/// What to run.
#[derive(Debug, Subcommand)]
pub enum Run {
    /// Compare the log with the rows and print what differs; exit code 1 if anything does, 2 if it could not be done.
    Reconcile {
        /// Which database.
        #[command(flatten)]
        database: Database,
    },
    /// Bring the orders of a file to the desk; exit code 1 if rows were refused, 2 if it could not be done.
    Import(Box<ImportArgs>),
    /// Print the versions of this program and of its database.
    Version {
        /// Which database.
        #[command(flatten)]
        database: Database,
        /// As JSON, for scripts.
        #[arg(long)]
        json: bool,
    },
}

/// Where the data is.
#[derive(Args, Clone)]
pub struct Database {
    /// `sqlite://FILE` for the embedded database, `postgres://USER:PASSWORD@HOST/NAME` for a server.
    #[arg(
        long = "database",
        env = "DISPATCH_DATABASE",
        default_value = "sqlite://data/dispatch.db",
        hide_env_values = true
    )]
    pub url: String,
}

impl fmt::Debug for Database {
    /// The address may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = self.url.split_once("://").map_or("", |(scheme, _)| scheme);
        write!(f, "Database({scheme}://…)")
    }
}
