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
    /// Ask the Redis of --positions which grabs can only come second, across all nodes: they wait behind everything else,
    /// so that a storm on one task holds up nobody. Only an optimisation: the database decides each of them all the
    /// same, and without a Redis that answers each node goes by what it knows itself. Commands of one rider on several
    /// tasks may be decided in another order than they came in.
    #[arg(long, env = "DISPATCH_PRE_TRIM", requires_if("true", "index"))]
    pub pre_trim: bool,
}

impl fmt::Debug for PositionsAt {
    /// The address may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PositionsAt")
            .field("given", &self.index.is_some())
            .field("pre_trim", &self.pre_trim)
            .finish()
    }
}
