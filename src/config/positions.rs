//! Where riders are looked up.

use std::fmt;

use clap::Args;

/// Where riders are looked up.
#[derive(Args, Clone)]
pub struct PositionsAt {
    /// The index of riders' positions that several nodes share, such as `redis://host:6379`; each node has one of its
    /// own if missing.
    #[arg(long = "positions", env = "DISPATCH_POSITIONS", hide_env_values = true)]
    pub index: Option<String>,
}

impl fmt::Debug for PositionsAt {
    /// The address may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PositionsAt").field("given", &self.index.is_some()).finish()
    }
}
