//! The file with the keys of the seals: read, or made if it is missing.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use crate::{
    clock::Entropy,
    domain::seal::{Key, Keys, NoKeys},
};

/// The keys can not be had.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    /// The file can not be read or written.
    #[error("{0}: {1}")]
    File(PathBuf, #[source] io::Error),
    /// It holds no keys.
    #[error("{0}: {1}")]
    NoKeys(PathBuf, #[source] NoKeys),
}

/// Reads the keys from `path`.
///
/// # Errors
/// If there is no such file, or it holds no keys.
pub fn read(path: &Path) -> Result<Keys, KeyFileError> {
    let failed = |error| KeyFileError::File(path.to_owned(), error);
    let mode = fs::metadata(path).map_err(failed)?.mode();
    if mode & 0o077 != 0 {
        tracing::warn!(file = %path.display(), "others can read the audit key: set its mode to 600");
    }
    let file = fs::read(path).map_err(failed)?;
    Keys::parse(&file).map_err(|error| KeyFileError::NoKeys(path.to_owned(), error))
}

/// Reads the keys from `path`, which is made with a new key if it is missing, readable by its owner alone.
///
/// # Errors
/// If it can neither be read nor made, or holds no keys.
pub fn read_or_make(path: &Path, entropy: &dyn Entropy) -> Result<Keys, KeyFileError> {
    let failed = |error| KeyFileError::File(path.to_owned(), error);
    if !path.try_exists().map_err(failed)? {
        make(path, entropy).map_err(failed)?;
    }
    read(path)
}

/// Whoever reads it finds a whole key or no file at all, even if two programs make it at once.
fn make(path: &Path, entropy: &dyn Entropy) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder)?;
    }
    let (mut bytes, mut name) = ([0; 32], [0; 8]);
    entropy.fill(&mut bytes)?;
    entropy.fill(&mut name)?;
    let mut draft = path.as_os_str().to_owned();
    draft.push(format!(".{}", crate::domain::fingerprint::hex(&name)));
    let draft = PathBuf::from(draft);
    let mut file: File =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    let written = writeln!(file, "{}", Key::new(bytes).line()).and_then(|()| file.sync_all());
    let linked = written.and_then(|()| fs::hard_link(&draft, path));
    fs::remove_file(&draft)?;
    match linked {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Ok(()) => {
            tracing::info!(file = %path.display(), "a new audit key was made: keep a copy elsewhere");
            Ok(())
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemEntropy;

    #[test]
    fn a_missing_key_is_made_once_for_its_owner_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("data/desk.audit-key");
        assert!(matches!(read(&path), Err(KeyFileError::File(..))));
        let made = read_or_make(&path, &SystemEntropy).expect("a key");
        assert_eq!(fs::metadata(&path).expect("a file").mode() & 0o777, 0o600);
        assert_eq!(read_or_make(&path, &SystemEntropy).expect("the same key"), made);
        let left = fs::read_dir(folder.path().join("data")).expect("a folder").count();
        assert_eq!(left, 1, "no drafts are left");
        fs::write(&path, "not a key\n").expect("written");
        let wrong = read_or_make(&path, &SystemEntropy).expect_err("no key");
        assert!(wrong.to_string().contains("line 1 is no key"), "{wrong}");
    }

    #[test]
    fn two_that_make_it_at_once_have_the_same_key() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("desk.audit-key");
        let keys: Vec<_> = std::thread::scope(|scope| {
            let makers: Vec<_> =
                (0..8).map(|_| scope.spawn(|| read_or_make(&path, &SystemEntropy))).collect();
            makers.into_iter().map(|maker| maker.join().expect("it ends").expect("a key")).collect()
        });
        assert!(keys.windows(2).all(|pair| pair[0] == pair[1]));
    }
}
