//! Flags and their environment twins, parsed once. Nothing else reads the environment.

mod acceptance;
mod audit;
mod demo;
mod erase;
mod import;
mod positions;
mod replay;

use std::{fmt, net::SocketAddr};

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use acceptance::{Acceptance, AcceptanceRun, PrivateDatabase};
pub use audit::{Audit, AuditKey, ExportForm};
pub use demo::DemoArgs;
pub use erase::EraseArgs;
pub use import::ImportArgs;
pub use positions::PositionsAt;
pub use replay::ReplayArgs;

/// Dispatch Desk (派单台): one owner per task revision, every outcome recorded, every answer explained.
#[derive(Debug, Parser)]
#[command(name = "dispatch-desk", version, about)]
pub struct Config {
    /// How the log is written to standard error. What it holds is chosen by `RUST_LOG`; `info` if that is not set.
    #[arg(long, global = true, env = "DISPATCH_LOG", value_enum, default_value_t = Log::Text)]
    pub log: Log,
    /// What to run.
    #[command(subcommand)]
    pub run: Run,
}

/// How the log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Log {
    /// Lines for people.
    Text,
    /// One JSON object a line, for programs.
    Json,
}

/// What to run.
#[derive(Debug, Subcommand)]
pub enum Run {
    /// Serve the desk: pages, JSON API, and what happens by itself.
    Serve {
        /// Where and for whom.
        #[command(flatten)]
        listen: Listen,
        /// Which database.
        #[command(flatten)]
        database: Database,
        /// What seals the log.
        #[command(flatten)]
        audit_key: AuditKey,
        /// Where riders are looked up.
        #[command(flatten)]
        positions: PositionsAt,
    },
    /// Try the desk without any set-up: a seeded region, and people who act by themselves.
    Demo(DemoArgs),
    /// Play a file of another system through a desk of its own; exit code 1 if the log and the rows do not fit together.
    Replay(Box<ReplayArgs>),
    /// Ask a product what its invitations, acceptances, expiries and grabs really return, and who owned the task.
    Acceptance {
        /// What to do.
        #[command(subcommand)]
        what: Acceptance,
    },
    /// Add people and regions, make tokens and sign-in links.
    Admin {
        /// Which database.
        #[command(flatten)]
        database: Database,
        /// What to do.
        #[command(subcommand)]
        admin: Admin,
    },
    /// Check the log against its seals, print the present head, export the log.
    Audit {
        /// Which database.
        #[command(flatten)]
        database: Database,
        /// What to do.
        #[command(subcommand)]
        audit: Audit,
    },
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

/// Where the desk listens, and how people reach it.
#[derive(Args, Clone, Debug)]
pub struct Listen {
    /// Address and port to listen on; port 0 takes a free one and prints it.
    #[arg(long, env = "DISPATCH_LISTEN", default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,
    /// Where browsers reach it, such as `https://desk.example`; the address it listens on if missing.
    #[arg(long, env = "DISPATCH_PUBLIC_ORIGIN")]
    pub public_origin: Option<String>,
    /// Where monitors read `/metrics`, such as `127.0.0.1:9464`; nowhere if missing. Whoever reaches that address may read
    /// it: keep it on this machine or in the network of the monitors.
    #[arg(long, env = "DISPATCH_METRICS_LISTEN")]
    pub metrics_listen: Option<SocketAddr>,
    /// Networks of proxies that are believed when they name their clients in `X-Forwarded-For`, such as
    /// `10.0.0.0/8,fd00::/8`. Of others that header is not read.
    #[arg(long, env = "DISPATCH_TRUSTED_PROXY", value_delimiter = ',')]
    pub trusted_proxy: Vec<String>,
    /// How many live streams there may be at once on this node: pages and scripts that follow what happens. Each takes a
    /// file handle beside the thousand of other connections, and about 30 kB of memory.
    #[arg(long, env = "DISPATCH_MAX_STREAMS", default_value_t = 5_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub max_streams: u32,
}

/// What an operator does before there is anybody who could do it on a page.
#[derive(Clone, Debug, Subcommand)]
pub enum Admin {
    /// Make a token for a script; it is printed this once.
    Token {
        /// For whom it speaks.
        #[command(flatten)]
        whom: Whom,
        /// The source of orders that it creates tasks for, such as `shop`.
        #[arg(long, conflicts_with_all = ["staff", "rider"], required_unless_present_any = ["staff", "rider"])]
        source: Option<String>,
        /// What it is for, to tell it from others.
        #[arg(long, default_value = "")]
        label: String,
    },
    /// End a token.
    Revoke {
        /// Its id, or all of it.
        token: String,
    },
    /// Make a link that signs somebody in once.
    Link {
        /// Whom.
        #[command(flatten)]
        whom: Whom,
        /// For how many hours it is good.
        #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..=8760))]
        hours: u32,
        /// Where browsers reach the desk; without it the link is printed as a path.
        #[arg(long, env = "DISPATCH_PUBLIC_ORIGIN", default_value = "")]
        public_origin: String,
    },
    /// Let an admin in again who can not come in: opens the account, takes the second factor away, ends the sessions,
    /// and prints a link to set a new password. Without --staff a new admin is made. It stands in the log.
    Recover {
        /// Which admin, such as D1; a new one if missing.
        #[arg(long)]
        staff: Option<String>,
        /// Where browsers reach the desk; without it the link is printed as a path.
        #[arg(long, env = "DISPATCH_PUBLIC_ORIGIN", default_value = "")]
        public_origin: String,
    },
    /// Set the sign-in name and password of a member of staff; the password is read from standard input.
    Password {
        /// Who, such as D1.
        staff: String,
        /// The name to sign in with.
        #[arg(long)]
        login: String,
    },
    /// Erase personal data: of a task that is over, of a region's old tasks, of a rider who is gone. The log stays.
    Erase(EraseArgs),
    /// Add a region: a circle, with the default rules.
    Region {
        /// Its name.
        name: String,
        /// Its time zone, such as Asia/Shanghai.
        #[arg(long)]
        time_zone: String,
        /// Its middle, as latitude,longitude in degrees.
        #[arg(long, allow_hyphen_values = true)]
        centre: String,
        /// How far it reaches, in metres.
        #[arg(long)]
        radius_m: f64,
    },
    /// Add a member of staff.
    Staff {
        /// Their name.
        name: String,
        /// dispatcher, supervisor, admin or auditor.
        #[arg(long)]
        role: String,
        /// Their regions, such as G1,G2.
        #[arg(long, value_delimiter = ',')]
        regions: Vec<String>,
    },
    /// Add two regions with the people that an acceptance run needs, and print their credentials, which are secret.
    AcceptancePeople {
        /// How many ordinary riders; the largest race needs 200.
        #[arg(long, default_value_t = 202, value_parser = clap::value_parser!(u16).range(1..=5_000))]
        riders: u16,
        /// Where the first region is, as latitude,longitude in degrees; the other one lies a degree south of it.
        #[arg(long, default_value = "31.2304,121.4737", allow_hyphen_values = true)]
        centre: String,
        /// Whether dispatchers of these regions assign at once, without asking the rider.
        #[arg(long)]
        immediate: bool,
    },
    /// Add a rider, on duty.
    Rider {
        /// Their name.
        name: String,
        /// Where they work, such as G1.
        #[arg(long)]
        region: String,
        /// How many tasks and offers at once.
        #[arg(long, default_value_t = 3)]
        capacity: u32,
        /// foot, bicycle, motorcycle, car or van.
        #[arg(long)]
        vehicle: Option<String>,
    },
}

/// One of the desk's people.
#[derive(Args, Clone, Debug)]
#[group(multiple = false)]
pub struct Whom {
    /// A member of staff, such as D1.
    #[arg(long)]
    pub staff: Option<String>,
    /// A rider, such as R17.
    #[arg(long)]
    pub rider: Option<String>,
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

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Config;

    #[test]
    fn every_command_can_be_read() {
        Config::command().debug_assert();
    }
}
