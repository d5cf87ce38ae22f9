//! The flags of `acceptance`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// What to do for an acceptance.
#[derive(Clone, Debug, Subcommand)]
pub enum Acceptance {
    /// Play the scenarios, judge what came back, write the evidence; exit code 0 passed, 1 failed, 2 could not run.
    Run(Box<AcceptanceRun>),
    /// Compute every verdict again, from the record alone; exit code 0 passed, 1 failed, 2 the record does not hold together.
    Rejudge {
        /// The folder that a run has written.
        folder: PathBuf,
    },
    /// List the small servers with a known fault, or start one of them to be asked by anything.
    KnownBad {
        /// Which one; without it they are listed.
        name: Option<String>,
        /// Where it listens.
        #[arg(long, default_value = "127.0.0.1:0")]
        listen: std::net::SocketAddr,
    },
    /// List the scenarios.
    Scenarios,
}

/// Which database a private server has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PrivateDatabase {
    /// Embedded.
    Sqlite,
    /// A database of its own on the server that `--postgres` names.
    Postgres,
}

/// How to run the acceptance suite.
#[derive(Args, Clone, Debug)]
pub struct AcceptanceRun {
    /// The address of the product to ask; without it a private server is started, with a clock that can be set.
    #[arg(long, requires = "credentials")]
    pub target: Option<String>,
    /// Who works there: a file that `admin acceptance-people` writes.
    #[arg(long, env = "DISPATCH_ACCEPTANCE_CREDENTIALS", requires = "target")]
    pub credentials: Option<PathBuf>,
    /// The declared transition table: a file, or `reserve_then_confirm` or `immediate`.
    #[arg(long, default_value = "reserve_then_confirm")]
    pub table: String,
    /// Only these scenarios; all if none is named.
    #[arg(long = "scenario", value_name = "ID")]
    pub scenarios: Vec<String>,
    /// Scenarios of your own: all `.toml` files of this folder, instead of those that come along.
    #[arg(long)]
    pub scenario_folder: Option<PathBuf>,
    /// How often each race is run.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub rounds: u32,
    /// Where all chance comes from.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The database of a private server.
    #[arg(long, value_enum, default_value = "sqlite", conflicts_with = "target")]
    pub database: PrivateDatabase,
    /// A PostgreSQL server on which a private server may make a database, as `postgres://USER:PASSWORD@HOST/NAME`.
    #[arg(
        long,
        env = "DISPATCH_ACCEPTANCE_POSTGRES",
        hide_env_values = true,
        default_value = "postgres://postgres@127.0.0.1/postgres"
    )]
    pub postgres: String,
    /// A known-bad server instead of a private one.
    #[arg(long, conflicts_with_all = ["target", "database"], value_name = "NAME")]
    pub known_bad: Option<String>,
    /// Where the evidence goes; a folder that is not there yet, or that a run has written.
    #[arg(long, default_value = "acceptance-report")]
    pub out: PathBuf,
    /// The language of `report.html`; the other one is written beside it.
    #[arg(long, default_value = "zh-CN", value_parser = ["zh-CN", "en"])]
    pub lang: String,
}
