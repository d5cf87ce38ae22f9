//! Finding somebody for a task: who could take it, who is asked, and what follows when nobody answers.
//!
//! ```text
//!  the log ──► follow ──► search (task, due) ──► turn ──► look: locate, facts, rank      (proposes)
//!                ▲                                 │
//!                │                                 ├─► round: tickets for the best         one transaction,
//!  dispatchers ──┴─ wish: start, widen, stop       ├─► exclusive offer ──► executor        with its log entries
//!  riders ───────── member: tickets, no thanks,    └─► manual pool
//!                   grabs of a fair window ─────────────────────────► executor             (decides)
//! ```
//!
//! **Architecture invariants.** The index of positions proposes, the store decides: nothing here changes a task's row,
//! and a wrong or missing position can cost a better candidate, never a wrong owner. A search acts when it is due by the
//! store's clock, and looks at the task anew each time: a timer that comes early, late or twice finds nothing to do.
//! A round ends in the transaction that takes its task away (`executor::batch::rounds`).
//!
//! | file | |
//! |---|---|
//! | `look` | riders near a pickup, with all that is known of them, ranked |
//! | `preview` | who would be asked
//! | `view` | a task whose taker is looked for, and what comes next
//! | `turn` | one look at a task's search: what comes next |
//! | `writing`, `ledger`, `reply` | what is written about it; what is answered
//! | `wish`, `grant` | what dispatchers ask for, under a request key |
//! | `member` | what riders see of rounds, and answer |
//! | `window` | grabs that are collected, then ranked |
//! | `follow` | what in the log begins a search, or hurries it |
//! | `run` | when to look |

mod follow;
mod grant;
mod ledger;
mod look;
mod member;
mod preview;
mod reply;
mod run;
mod turn;
mod view;
mod window;
mod wish;
mod writing;

pub use self::{
    look::{Looked, Wanted, among},
    member::{DeclineReply, Invitation, TicketOf},
    preview::Preview,
    reply::{RoundReply, RoundView},
    window::Grabbed,
    wish::{Options, Wish},
};
use super::executor::Executor;
use crate::{domain::fingerprint::hex, locate::Locator, store};

/// Finds riders for tasks. Cheap to clone; all clones are one.
#[derive(Clone, Debug)]
pub struct Rounds {
    executor: Executor,
    locator: Locator,
}

impl Rounds {
    /// Rounds that ask the riders whom `locator` knows, and act through `executor`.
    pub const fn new(executor: Executor, locator: Locator) -> Self {
        Self { executor, locator }
    }

    /// Where riders are.
    pub const fn locator(&self) -> &Locator {
        &self.locator
    }

    /// An unguessable number of 128 bits, used once.
    fn nonce(&self) -> store::Result<String> {
        let mut bytes = [0; 16];
        let entropy = &self.executor.settings().entropy;
        entropy.fill(&mut bytes).map_err(|error| store::Error::Driver(error.into()))?;
        Ok(hex(&bytes))
    }
}
