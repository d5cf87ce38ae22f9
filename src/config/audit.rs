//! Flags of the audit: the key of the seals, and what is asked of the log.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::Database;

/// Where the key of the seals is.
#[derive(Args, Clone, Debug)]
pub struct AuditKey {
    /// The file with the key that seals the log, 64 hexadecimal digits a line, the newest key last; `serve` makes it if
    /// it is missing. By default it lies beside the SQLite file, or at data/dispatch.audit-key for PostgreSQL. All
    /// servers of one database share it. Keep a copy where nobody who writes to the database can change it.
    #[arg(long = "audit-key", env = "DISPATCH_AUDIT_KEY", value_name = "FILE")]
    pub file: Option<PathBuf>,
}

impl AuditKey {
    /// The file, with the default for `database`.
    pub fn path(&self, database: &Database) -> PathBuf {
        let beside = || {
            let file = database.url.strip_prefix("sqlite:")?;
            let file = file.trim_start_matches("//").split('?').next().unwrap_or_default();
            let root = if database.url.starts_with("sqlite:///") { "/" } else { "" };
            let file = format!("{root}{}", file.trim_start_matches('/'));
            (!file.is_empty() && !file.starts_with(':')).then(|| PathBuf::from(file))
        };
        let path = self.file.clone().or_else(|| Some(beside()?.with_extension("audit-key")));
        path.unwrap_or_else(|| PathBuf::from("data/dispatch.audit-key"))
    }
}

/// What is asked of the log.
#[derive(Clone, Debug, Subcommand)]
pub enum Audit {
    /// Check the whole log against its seals; exit code 1 if something does not fit, 2 if it could not be checked.
    Verify {
        /// The key of the seals.
        #[command(flatten)]
        key: AuditKey,
        /// A head that was noted elsewhere, such as 12:5f…; without one, a cut tail with its seals can not be seen.
        #[arg(long, value_name = "NUMBER:DIGEST")]
        head: Vec<String>,
        /// A file in which heads were noted: the program's own log, or an export.
        #[arg(long, value_name = "FILE")]
        head_file: Option<PathBuf>,
    },
    /// Print the present head, to be noted elsewhere; exit code 1 if nothing is sealed yet.
    Head,
    /// Print the whole log, the latest first, and the present head.
    Export {
        /// In which form.
        #[arg(long, value_enum, default_value_t = ExportForm::Jsonl)]
        format: ExportForm,
    },
}

/// The form of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportForm {
    /// A JSON object a line; the last one holds the head.
    Jsonl,
    /// A table for spreadsheets.
    Csv,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_lies_beside_the_sqlite_file() {
        let path = |url: &str, file: Option<&str>| {
            let key = AuditKey { file: file.map(PathBuf::from) };
            key.path(&Database { url: url.to_owned() }).display().to_string()
        };
        for (url, expected) in [
            ("sqlite://data/dispatch.db", "data/dispatch.audit-key"),
            ("sqlite:///var/lib/desk.db?mode=rwc", "/var/lib/desk.audit-key"),
            ("sqlite:desk.db", "desk.audit-key"),
            ("sqlite::memory:", "data/dispatch.audit-key"),
            ("postgres://desk@db/desk", "data/dispatch.audit-key"),
        ] {
            assert_eq!(path(url, None), expected, "{url}");
        }
        assert_eq!(path("sqlite://data/dispatch.db", Some("/run/key")), "/run/key");
    }
}
