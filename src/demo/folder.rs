//! The files that belong to the demo, and no others.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Write},
    path::{Path, PathBuf},
};

use super::Error;

const DATABASE: &str = "demo.db";
const LOCK: &str = "demo.lock";
const TOKENS: &str = "demo.tokens";
const AUDIT_KEY: &str = "demo.audit-key";
/// All that a demo ever writes.
const OWN: [&str; 7] =
    [DATABASE, "demo.db-wal", "demo.db-shm", "demo.db-journal", TOKENS, AUDIT_KEY, LOCK];

/// The demo's folder, kept from other demos as long as this lives.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Takes the folder, made if it is missing; with `fresh`, without what an earlier demo has left in it.
    pub(super) fn take(path: &Path, fresh: bool) -> Result<Self, Error> {
        let shown = path.display();
        if fresh && path.exists() {
            // Looked at before anything is written, and emptied only once it is locked.
            only_own(path)?;
        }
        let database = path.join(DATABASE);
        if database.exists() && !path.join(LOCK).exists() {
            let stranger = database.display();
            return Err(Error::Folder(format!(
                "{stranger} was not made by the demo: choose another --folder"
            )));
        }
        fs::create_dir_all(path).map_err(|error| Error::Folder(format!("{shown}: {error}")))?;
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path.join(LOCK))
            .map_err(|error| Error::Folder(format!("{shown}: {error}")))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::Folder(format!(
                    "another demo runs in {shown}: choose another --folder"
                )));
            }
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        let folder = Self { path: path.to_owned(), _lock: lock };
        if fresh {
            folder.empty()?;
        }
        Ok(folder)
    }

    fn empty(&self) -> io::Result<()> {
        for name in OWN.into_iter().filter(|name| *name != LOCK) {
            match fs::remove_file(self.path.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// The address of its database.
    pub(super) fn database(&self) -> String {
        format!("sqlite://{}", self.path.join(DATABASE).display())
    }

    /// Where the key of its seals is.
    pub(super) fn audit_key(&self) -> PathBuf {
        self.path.join(AUDIT_KEY)
    }

    /// The ids of the tokens that the last demo here has made.
    pub(super) fn tokens(&self) -> io::Result<Vec<String>> {
        match fs::read_to_string(self.path.join(TOKENS)) {
            Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Keeps the id of one more token, or forgets all. Of a token only the id is kept, never the secret.
    pub(super) fn keep_token(&self, id: Option<&str>) -> io::Result<()> {
        let path = self.path.join(TOKENS);
        match id {
            None => File::create(path).map(drop),
            Some(id) => writeln!(File::options().append(true).create(true).open(path)?, "{id}"),
        }
    }
}

/// Whether there is nothing in the folder but what a demo has made.
fn only_own(path: &Path) -> Result<(), Error> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let own = OWN.iter().any(|own| entry.file_name() == *own) && entry.file_type()?.is_file();
        if !own {
            return Err(Error::Folder(format!(
                "{} is not the demo's own: nothing was removed. Choose another --folder",
                entry.path().display()
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_demos_own_files_are_ever_removed() -> Result<(), Error> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("demo");
        let taken = Folder::take(&path, true)?;
        assert!(Folder::take(&path, false).is_err(), "one demo at a time");
        taken.keep_token(Some("a1"))?;
        assert_eq!(taken.tokens()?, ["a1"]);
        fs::write(path.join(DATABASE), "x")?;
        drop(taken);
        drop(Folder::take(&path, false)?);
        assert!(path.join(DATABASE).exists(), "it goes on with what is there");
        fs::write(path.join("letter.txt"), "x")?;
        assert!(Folder::take(&path, true).is_err());
        assert!(path.join(DATABASE).exists(), "nothing was removed");
        fs::remove_file(path.join("letter.txt"))?;
        drop(Folder::take(&path, true)?);
        assert!(!path.join(DATABASE).exists());
        Ok(())
    }

    #[test]
    fn a_database_of_somebody_else_is_left_alone() -> Result<(), Error> {
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join(DATABASE), "x")?;
        assert!(Folder::take(folder.path(), false).is_err());
        Ok(())
    }
}
