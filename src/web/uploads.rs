//! Files that somebody has uploaded and looks at before they are imported: in memory, for an hour, a few of them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    domain::{command::Actor, id::Timestamp},
    import::{Preview, SourceName, Summary},
    intake::{FileError, Given, Mapping},
};

/// A file may be this long, in bytes (5 MiB). Longer ones are for the command line.
pub(super) const FILE_LIMIT: usize = 5 << 20;
/// A file may have so many rows.
pub(super) const ROWS_LIMIT: u64 = 20_000;
/// All files together, in bytes.
const ALL_LIMIT: usize = 64 << 20;
/// How long a file is kept, in milliseconds.
const KEPT_MS: i64 = 3_600_000;
/// How many refused rows are kept to be shown.
pub(super) const MOST_LINES: usize = 200;

/// An uploaded file with what was chosen for it.
#[derive(Debug)]
pub(super) struct Upload {
    pub(super) owner: Actor,
    pub(super) at: Timestamp,
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
    pub(super) mapping: Mapping,
    pub(super) mapping_name: String,
    pub(super) given: Given,
    pub(super) source: SourceName,
    pub(super) preview: Result<Preview, FileError>,
    pub(super) progress: Mutex<Progress>,
}

/// How far its import has come.
#[derive(Clone, Debug, Default)]
pub(super) enum Progress {
    /// Nobody has asked for it.
    #[default]
    Waiting,
    /// Under way.
    Running(Summary, Vec<Refused>),
    /// All rows have their outcome.
    Done(Summary, Vec<Refused>),
    /// It broke off; asking again goes on where it was, since every row has its key.
    Broken(Summary, Vec<Refused>, String),
}

/// A row that came to nothing.
#[derive(Clone, Debug)]
pub(super) struct Refused {
    /// Where it stands in the file.
    pub(super) spot: String,
    pub(super) field: String,
    pub(super) code: String,
    pub(super) sentence: String,
}

impl Upload {
    /// How far its import has come.
    pub(super) fn progress(&self) -> Progress {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes how far it has come.
    pub(super) fn note(&self, progress: Progress) {
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = progress;
    }

    /// Starts the import, unless it runs or is done. Returns whether it is ours to run.
    pub(super) fn start(&self) -> bool {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let starts = matches!(*progress, Progress::Waiting | Progress::Broken(..));
        if starts {
            *progress = Progress::Running(Summary::default(), Vec::new());
        }
        starts
    }
}

/// All of them, by an unguessable name.
#[derive(Debug, Default)]
pub(super) struct Uploads(Mutex<HashMap<String, Arc<Upload>>>);

impl Uploads {
    /// Keeps a file. The oldest make room for it.
    pub(super) fn put(&self, token: String, upload: Upload, now: Timestamp) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, kept| now.ms_since(kept.at) < KEPT_MS);
        loop {
            let total: usize = all.values().map(|kept| kept.bytes.len()).sum();
            let oldest = all.iter().min_by_key(|(_, kept)| kept.at).map(|(token, _)| token.clone());
            match oldest.filter(|_| total + upload.bytes.len() > ALL_LIMIT) {
                Some(oldest) => all.remove(&oldest),
                None => break,
            };
        }
        all.insert(token, Arc::new(upload));
    }

    /// A file of `owner`, if it is not over. Those that are go.
    pub(super) fn get(&self, token: &str, owner: &Actor, now: Timestamp) -> Option<Arc<Upload>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, kept| now.ms_since(kept.at) < KEPT_MS);
        all.get(token).filter(|kept| kept.owner == *owner).map(Arc::clone)
    }
}
