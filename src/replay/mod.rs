//! A file of another system, played through the desk: its rows become tasks at their own times, and people who act by
//! themselves dispatch, accept and deliver them over HTTP. At the end the log is compared with the rows.
//!
//! # Whose time it is
//! The replay starts a private server on a database of its own, with a clock that it moves itself. The day of the desk
//! begins with the first row; offers lapse, riders think and drive by that clock, at the pace of life. So nothing has
//! to be cut short to be fast: the clock jumps to whatever is due next. With a speed, those jumps wait for the real
//! time to pass as well.
//!
//! How the file's times are squeezed onto that day is for `plan` to say.
//!
//! | file | |
//! |---|---|
//! | `file` | the rows: tasks, positions, and what could be neither |
//! | `plan` | when each row happens, and how fast people are |
//! | `stage` | the private server with its people |
//! | `play` | tasks: from the first order until everything is done |
//! | `positions` | a file of positions |
//! | `report` | what came of it |

mod file;
mod plan;
mod play;
mod positions;
mod report;
mod stage;

use std::{io, path::PathBuf};

use tokio::sync::watch;

pub use self::report::Report;
use self::{file::Contents, stage::Stage};
use crate::{
    admin, client,
    clock::SystemEntropy,
    engine::{
        reconcile::reconcile,
        seal_keys,
        sealer::{self, Sealer},
    },
    intake, store,
};

/// What is played, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// The file.
    pub file: PathBuf,
    /// A mapping that comes with the program, or `FILE.toml`.
    pub mapping: String,
    /// So many seconds of the file pass in one; 0 is as fast as possible.
    pub speed: f64,
    /// An empty database; a temporary one if not given.
    pub database: Option<String>,
    /// Where the key is that seals the log of that database, made if it is missing; a temporary one is not sealed.
    pub audit_key: Option<PathBuf>,
    /// How many riders.
    pub riders: usize,
    /// Only so many rows.
    pub limit: Option<usize>,
    /// The zone of times that have none, and of the region.
    pub zone: chrono_tz::Tz,
    /// Where all chance comes from.
    pub seed: u64,
}

/// Why it could not be played.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It can not be read, or is of another kind than the mapping reads.
    #[error("{0}")]
    File(String),
    /// The mapping makes no sense, or there is none of that name.
    #[error(transparent)]
    Mapping(#[from] intake::MappingError),
    /// Nothing in it can be played.
    #[error("no row of the file can be played; refused: {0}")]
    Nothing(String),
    /// There is something in the database.
    #[error("the database is in use: a replay needs one of its own, since it moves the clock")]
    InUse,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The key of the seals can not be had.
    #[error(transparent)]
    Key(#[from] seal_keys::KeyFileError),
    /// A token could not be made.
    #[error(transparent)]
    Admin(#[from] admin::Error),
    /// The server does not answer.
    #[error(transparent)]
    Client(#[from] client::Error),
    /// A file or a connection failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Plays the file. It ends early, in good order, when `stop` changes.
///
/// # Errors
/// [`Error`]. What the desk refuses is no error: it is in the report.
pub async fn replay(options: &Options, stop: watch::Receiver<bool>) -> Result<Report, Error> {
    let contents = file::read(options)?;
    let temporary = Temporary::new(options.database.is_none())?;
    let url = match (&options.database, &temporary.0) {
        (Some(url), _) => url.clone(),
        (None, Some(folder)) => format!("sqlite://{}", folder.join("replay.db").display()),
        (None, None) => return Err(Error::InUse),
    };
    let stage = Stage::build(options, &contents, &url).await?;
    let Contents { orders, positions, refused, rows, .. } = contents;
    let mut report = if positions.is_empty() {
        play::play(options, &stage, orders, stop).await?
    } else {
        positions::play(options, &stage, positions, stop).await?
    };
    (report.rows, report.refused) = (rows, refused);
    let compared = reconcile(stage.db(), |_| {}).await?;
    report.compared = Some(compared);
    if let Some(path) = &options.audit_key {
        let keys = seal_keys::read_or_make(path, &SystemEntropy)?;
        Sealer::new(stage.db().clone(), keys, sealer::CHUNK).seal_all().await?;
    }
    stage.end().await;
    Ok(report)
}

/// A folder that is gone when this is.
#[derive(Debug)]
struct Temporary(Option<PathBuf>);

impl Temporary {
    fn new(wanted: bool) -> io::Result<Self> {
        if !wanted {
            return Ok(Self(None));
        }
        let mut number = 0;
        loop {
            let name = format!("dispatch-replay-{}-{number}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            match std::fs::create_dir(&folder) {
                Ok(()) => return Ok(Self(Some(folder))),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.0.as_ref().map(std::fs::remove_dir_all) {
            tracing::warn!(%error, "the temporary database could not be removed");
        }
    }
}
