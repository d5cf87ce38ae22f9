//! How a database can fail, and what that means for whoever asked.

use sqlx::error::ErrorKind;

/// A failure of the store. A refusal is none: it is an answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another transaction was in the way; the same work can be tried again at once.
    #[error("another transaction was in the way: {0}")]
    Busy(#[source] sqlx::Error),
    /// A unique key is taken, or a row has moved since it was read; look again and decide again.
    #[error("the data changed meanwhile: {0}")]
    Moved(String),
    /// A constraint or trigger turned a statement down: one of its rows is bad.
    #[error("the database refused a row: {0}")]
    Rejected(#[source] sqlx::Error),
    /// What is stored can not be what was written.
    #[error("{table} row {row}: {column} holds {value:?}")]
    Corrupt {
        /// Where.
        table: &'static str,
        /// Which column.
        column: &'static str,
        /// Which row.
        row: String,
        /// What stands there.
        value: String,
    },
    /// The disk is full. It may be freed: nothing was written, and a later try may work.
    #[error("the disk is full: {0}")]
    Full(#[source] sqlx::Error),
    /// Reading or writing the disk failed. After that nothing on it can be trusted until a restart.
    #[error("the disk failed: {0}")]
    Broken(#[source] sqlx::Error),
    /// The database file or server takes no writes.
    #[error("the database is read-only: {0}")]
    ReadOnly(#[source] sqlx::Error),
    /// The connection is gone, or none could be had. Whether the last commit counted is unknown.
    #[error("the database can not be reached: {0}")]
    Unreachable(#[source] sqlx::Error),
    /// The database is older than this program needs.
    #[error("{product} {found} is too old: {needed} or newer is needed")]
    TooOld {
        /// SQLite or PostgreSQL.
        product: &'static str,
        /// What is there.
        found: String,
        /// What is needed.
        needed: &'static str,
    },
    /// A setting under which acknowledged commands could be lost.
    #[error(
        "PostgreSQL runs with {setting}={found}: acknowledged commands could be lost; set it to on"
    )]
    Unsafe {
        /// Which setting.
        setting: &'static str,
        /// Its value.
        found: String,
    },
    /// The tables do not fit this program.
    #[error("the tables do not fit this program: {0}")]
    Schema(#[from] sqlx::migrate::MigrateError),
    /// The address of the database can not be read.
    #[error("{0:?} is no database address: write sqlite://FILE or postgres://USER@HOST/NAME")]
    Address(String),
    /// Anything else.
    #[error("the database failed: {0}")]
    Driver(#[source] sqlx::Error),
}

/// The store's result.
pub type Result<T> = std::result::Result<T, Error>;

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::Database(database) => {
                let code = database.code().unwrap_or_default().into_owned();
                let sqlite = database.try_downcast_ref::<sqlx::sqlite::SqliteError>().is_some();
                match database.kind() {
                    ErrorKind::UniqueViolation => Self::Moved(error.to_string()),
                    ErrorKind::ForeignKeyViolation
                    | ErrorKind::NotNullViolation
                    | ErrorKind::CheckViolation
                    | ErrorKind::ExclusionViolation => Self::Rejected(error),
                    _ if sqlite => of_sqlite(&code, error),
                    _ => of_postgres(&code, error),
                }
            }
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::BeginFailed
            | sqlx::Error::WorkerCrashed => Self::Unreachable(error),
            _ => Self::Driver(error),
        }
    }
}

/// By SQLite's primary result code, the lower byte of the extended one.
fn of_sqlite(code: &str, error: sqlx::Error) -> Error {
    match code.parse::<i32>().unwrap_or_default() & 0xff {
        5 | 6 => Error::Busy(error),
        8 => Error::ReadOnly(error),
        // The log's index can not grow: there is no room for it.
        10 if code == "4874" => Error::Full(error),
        10 | 11 | 26 => Error::Broken(error),
        13 => Error::Full(error),
        14 => Error::Unreachable(error),
        // A trigger's RAISE(ABORT), and values of the wrong type in STRICT tables.
        19 | 20 => Error::Rejected(error),
        _ => Error::Driver(error),
    }
}

/// By PostgreSQL's SQLSTATE.
fn of_postgres(code: &str, error: sqlx::Error) -> Error {
    match code {
        // Serialisation failure, deadlock, lock and statement time-outs.
        "40001" | "40P01" | "55P03" | "57014" => Error::Busy(error),
        "25006" => Error::ReadOnly(error),
        "53100" => Error::Full(error),
        "58030" | "XX001" | "XX002" => Error::Broken(error),
        // A trigger's RAISE EXCEPTION.
        "P0001" => Error::Rejected(error),
        _ if code.starts_with("22") || code.starts_with("23") => Error::Rejected(error),
        _ if code.starts_with("08") || code.starts_with("57P") || code.starts_with("53") => {
            Error::Unreachable(error)
        }
        _ => Error::Driver(error),
    }
}

/// What to do about a failed transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Load, decide and write again.
    Again,
    /// Find the one bad command among many; it fails alone.
    Bisect,
    /// Tell everyone that it is not possible now.
    GiveUp,
    /// Stop taking commands until a restart.
    Stop,
    /// Ask on a new connection whether the commit counted.
    LookUp,
}

impl Error {
    /// No connection could be had in time.
    pub const fn no_connection() -> Self {
        Self::Unreachable(sqlx::Error::PoolTimedOut)
    }

    /// What to do about it.
    pub const fn remedy(&self) -> Remedy {
        match self {
            Self::Busy(_) | Self::Moved(_) => Remedy::Again,
            Self::Rejected(_) | Self::Corrupt { .. } | Self::Driver(_) => Remedy::Bisect,
            Self::Full(_)
            | Self::ReadOnly(_)
            | Self::TooOld { .. }
            | Self::Unsafe { .. }
            | Self::Schema(_)
            | Self::Address(_) => Remedy::GiveUp,
            Self::Broken(_) => Remedy::Stop,
            Self::Unreachable(_) => Remedy::LookUp,
        }
    }
}

#[cfg(feature = "faults")]
impl Error {
    /// A failure as a fail-point asks for it: `full`, `broken`, `lost`, `busy`, or anything else.
    pub fn injected(kind: Option<&str>) -> Self {
        let cause = || sqlx::Error::Io(std::io::Error::other("injected"));
        match kind {
            Some("full") => Self::Full(cause()),
            Some("broken") => Self::Broken(cause()),
            Some("lost") => Self::Unreachable(cause()),
            Some("busy") => Self::Busy(cause()),
            _ => Self::Driver(cause()),
        }
    }
}
