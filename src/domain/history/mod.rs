//! The judge of a recorded run: was there one owner per revision, for everyone who looked?
//!
//! A client writes down what it asked, what it was told, and when ([`Line`]); after the run the
//! log of every task is added. [`History::parse`] makes requests of the lines, and [`judge()`] says
//! whether one order of effects explains them all. That is linearizability, decided exactly and in
//! linear time, because the answers leave nothing to search for:
//!
//! * a success names the revision that it made, so the order of the changes is given;
//! * a refusal, a repeat and a read name the revision that they saw, so each is tied to one row;
//! * what is legal on that row is asked of [`decide`](mod@super::decide) itself;
//! * what is left is time. Let T(v) be the moment in which revision v came to be. Who made v saw it
//!   happen between asking and being told; who saw v was told after T(v) and asked before T(v + 1).
//!   Bounds on a line hold together exactly if no lower bound of a revision lies above an upper bound of
//!   the same or a later one, and one pass with a running maximum finds out.
//!
//! | file | |
//! |---|---|
//! | `line` | one line of the recording |
//! | `recording`, `request`, `retries` | lines become requests with one answer each |
//! | `docket` | which requests and events belong to which revision of which task |
//! | `judge`, `makers` | the log is folded, and each request judged at the row that it is tied to |
//! | `explain`, `rules` | what the rules say there, with facts that stand in nobody's way |
//! | `times` | the pass over the bounds |
//! | `violation` | what can be wrong, in sentences |
//!
//! Facts beside the task (a rider's places, duty, tickets) are in no recording. A refusal that rests
//! on them must be the one that the rules give once that fact stands in the way; whether it did is for
//! another judge, and [`Verdict::on_facts`] hands those refusals over.

mod docket;
mod explain;
mod judge;
mod line;
mod makers;
mod recording;
mod request;
mod retries;
mod rules;
mod times;
mod violation;

pub use judge::{Verdict, judge};
pub use line::{Invoke, Line, Logged, Return, Start};
pub use recording::{Broken, Recording};
pub use request::{Call, History, Op, Reply, View};
pub use violation::{Finding, Party, Said, Violation};
