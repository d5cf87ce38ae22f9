//! For people who buy dispatch software: what did invite, accept, expire and grab really return, and who owned the task
//! on all three ends?
//!
//! ```text
//!  scenarios ──► runner ── HTTP, three kinds of client ──► the product
//!                  │
//!                  ▼ every request with its answer
//!               record ──► judge ◄── the declared table
//!                            │
//!                            ▼
//!                         report
//! ```
//!
//! **Architecture invariant.** The judge reads the record and nothing else, so a verdict can be computed again by anybody,
//! years later. The room shares with the product its words and the judge of histories, and no decision.
//!
//! | file | |
//! |---|---|
//! | `words` | the words of scenarios |
//! | `table` | the declared table, and a world moved by it |
//! | `scenario` | what is played |
//! | `product`, `wire` | how a product is called, and the connections to it |
//! | `runner` | plays |
//! | `record` | what was asked and answered, in chained lines |
//! | `judge` | the verdict, from the record alone |
//! | `report`, `evidence` | what is written of it, and the folder that it goes to |
//! | `known_bad` | small servers that the suite must fail |
//! | `command` | from the command line to the verdict |

mod command;
mod evidence;
pub mod judge;
pub mod known_bad;
mod product;
pub mod record;
pub mod report;
pub mod runner;
pub mod scenario;
pub mod table;
mod wire;
pub mod words;

pub use command::{Asked, Error, Request, rejudge, run};

/// A bar that shows how far a run has come, on the error output.
pub fn bar() -> indicatif::ProgressBar {
    let style = indicatif::ProgressStyle::with_template("{bar:30} {pos} / {len} {elapsed} {msg}");
    let bar = indicatif::ProgressBar::new(0);
    style.map_or(bar.clone(), |style| bar.with_style(style))
}
