//! The flags of `demo`.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;

/// A desk to try.
#[derive(Args, Clone, Debug)]
pub struct DemoArgs {
    /// Address and port to listen on; 127.0.0.1:8080, or one of the next free ports, if not given.
    #[arg(long, env = "DISPATCH_LISTEN")]
    pub listen: Option<SocketAddr>,
    /// Where the demo's own database is.
    #[arg(long, default_value = "data/demo")]
    pub folder: PathBuf,
    /// Remove what an earlier demo has left in the folder, and start over.
    #[arg(long)]
    pub fresh: bool,
    /// Where all chance comes from.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// How much faster than life people are.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub pace: u32,
}
