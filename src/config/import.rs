//! The flags of `import`.

use std::path::PathBuf;

use clap::Args;

use super::Database;

/// What to import, as what, and where to.
#[derive(Args, Clone, Debug)]
pub struct ImportArgs {
    /// The file: CSV, JSON, JSON Lines or form bodies, in UTF-8.
    #[arg(required_unless_present = "list")]
    pub file: Option<PathBuf>,
    /// A mapping that comes with the program, or FILE.toml.
    #[arg(long, required_unless_present = "list")]
    pub mapping: Option<String>,
    /// The region of all tasks, as G1.
    #[arg(long, required_unless_present = "list")]
    pub region: Option<String>,
    /// Whose orders they are; the mapping's name if not given. Keys of different sources never meet.
    #[arg(long)]
    pub source: Option<String>,
    /// The date of times without one, and the year of dates without one, as 2026-11-30.
    #[arg(long)]
    pub base_date: Option<String>,
    /// Where goods are fetched, for files of a shop that do not say it: LAT,LNG,ADDRESS.
    #[arg(long, allow_hyphen_values = true)]
    pub pickup: Option<String>,
    /// Positions: which rider a label means, as TOML ("4716" = "R17") or CSV (label,rider).
    #[arg(long)]
    pub riders: Option<PathBuf>,
    /// Only say what would be, and write nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Write the refused rows to this CSV file.
    #[arg(long)]
    pub errors: Option<PathBuf>,
    /// The language of sentences: zh-CN or en.
    #[arg(long, default_value = "en")]
    pub lang: String,
    /// List the mappings and do nothing else.
    #[arg(long)]
    pub list: bool,
    /// Which database.
    #[command(flatten)]
    pub database: Database,
}
