//! The folder that a run's evidence goes to.

use std::{
    fs::{self, File},
    io::{self, BufWriter},
    path::{Path, PathBuf},
};

/// The record, from which everything else can be made again.
pub(super) const HISTORY: &str = "history.jsonl";
/// The record of a run that is not over, or was broken off: nobody takes it for a whole one.
const PARTIAL: &str = "history.partial";

/// Makes the folder ready. One that a run has written is written again; whatever else is in a folder stays untouched.
///
/// # Errors
/// If there is something in it that no run has written, or it can not be made.
pub(super) fn ready(folder: &Path) -> io::Result<()> {
    if folder.exists() {
        let is_empty = fs::read_dir(folder)?.next().is_none();
        let is_ours = [HISTORY, PARTIAL].iter().any(|name| folder.join(name).exists());
        if !is_empty && !is_ours {
            let why =
                format!("{} is not empty, and no acceptance run has written it", folder.display());
            return Err(io::Error::other(why));
        }
    }
    fs::create_dir_all(folder)
}

/// Opens the record of a new run, under the name of one that is not over.
///
/// # Errors
/// If it can not be made.
pub(super) fn begin(folder: &Path) -> io::Result<(PathBuf, BufWriter<File>)> {
    let partial = folder.join(PARTIAL);
    let file = File::create(&partial)?;
    Ok((partial, BufWriter::new(file)))
}

/// Gives the record its name.
///
/// # Errors
/// If it can not be renamed.
pub(super) fn complete(folder: &Path, partial: &Path) -> io::Result<()> {
    File::open(partial)?.sync_all()?;
    fs::rename(partial, folder.join(HISTORY))
}
