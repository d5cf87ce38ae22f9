//! The flags of `replay`.

use std::path::PathBuf;

use clap::Args;

/// A file of another system, played through the desk.
#[derive(Args, Clone, Debug)]
pub struct ReplayArgs {
    /// The file: CSV, JSON, JSON Lines or form bodies, in UTF-8.
    pub file: PathBuf,
    /// A mapping that comes with the program, such as chicago or bus, or FILE.toml.
    #[arg(long)]
    pub mapping: String,
    /// So many seconds of the file pass in one; 0 is as fast as possible.
    #[arg(long, default_value_t = 0.0)]
    pub speed: f64,
    /// An empty database of its own; a temporary one if not given.
    #[arg(long, hide_env_values = true)]
    pub database: Option<String>,
    /// How many riders there are.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub riders: u16,
    /// Play only so many rows.
    #[arg(long)]
    pub limit: Option<usize>,
    /// The zone of times that have none, and of the region, such as America/Chicago.
    #[arg(long, default_value = "UTC")]
    pub zone: String,
    /// Where all chance comes from.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Where the refused rows are written, as CSV; nothing is if there are none.
    #[arg(long, default_value = "data/replay-refused.csv")]
    pub errors: PathBuf,
}
