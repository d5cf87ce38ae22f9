//! `dispatch-desk admin erase`: what is to be erased.

use clap::{ArgGroup, Args};

/// Whose personal data.
#[derive(Args, Clone, Debug)]
#[group(skip)]
#[command(group(ArgGroup::new("whose").required(true).args(["task", "region", "rider"])))]
pub struct EraseArgs {
    /// A task that is over, such as T10233.
    #[arg(long)]
    pub task: Option<String>,
    /// All tasks of a region that have been over for a while, such as G1.
    #[arg(long, requires = "older_than_days")]
    pub region: Option<String>,
    /// How many days they have been over.
    #[arg(long, requires = "region", value_parser = clap::value_parser!(u32).range(0..=36_500))]
    pub older_than_days: Option<u32>,
    /// A rider who is shut out and holds nothing, such as R17.
    #[arg(long)]
    pub rider: Option<String>,
    /// Why: asked, `not_needed` or mistake. It stands in the log. (Of a region's old tasks the age is the reason.)
    #[arg(long, default_value = "not_needed")]
    pub reason: String,
    /// Do it. Without it nothing is done, and it is said how much it would be.
    #[arg(long)]
    pub yes: bool,
}
