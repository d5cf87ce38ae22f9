//! All SQL. One statement serves both databases.
//!
//! **Architecture invariant.** Nobody else names sqlx, and no statement outside of here reads or writes.
//! A task's row changes by [`Tx::apply`] alone, which takes [`Transition`](crate::domain::decide::Transition)s, and
//! only the decision can make those.
//!
//! | file | |
//! |---|---|
//! | `db`, `connect` | opening, checks, migrations, begin |
//! | `tx`, `sql` | a transaction on either database; the macros `on!`, `fetch!`, `execute!`, `setwise!` |
//! | `load_people`, `load` | locking and loading what a batch needs |
//! | `write`, `offers`, `creations`, `log`, `outcomes` | writing what was decided |
//! | `read`, `people` | reads outside of a batch; regions, riders, staff |
//! | `lists`, `counts`, `readers`, `accounts` | what pages and scripts are shown |
//! | `rounds`, `ledger`, `searches`, `pools`, `candidates` | who was asked; what is searched for; the manual pool; what is known of riders |
//! | `live`, `hints` | what live readers ask for; hints between nodes |
//! | `positions`, `signals` | where riders were last seen; what looks wrong about them |
//! | `erase` | personal data that is no longer kept |
//! | `access` | tokens, passwords, links, sessions |
//! | `seals`, `audit`, `audit_sql` | seals over the log; the auditor's search |
//! | `rows` | rows and what they mean |
//! | `scratch` | a database that is made for one use and removed again |
//! | `error` | how a database fails, and what to do about it |
//!
//! # How to add a statement
//! Write it once as a `const … : Sql` in the portable subset: numbered parameters, 64-bit integers, text enums,
//! no database's own functions. Where the texts must differ, write both in one `Sql`. Call it through `fetch!` or
//! `execute!` from a method of [`Tx`], and add that method to the contract suite, which runs every
//! statement on both databases.

mod access;
mod accounts;
mod audit;
mod audit_sql;
mod candidates;
mod connect;
mod counts;
mod creations;
mod db;
mod erase;
mod error;
mod factors;
mod hints;
mod ledger;
mod lists;
mod live;
mod load;
mod load_people;
mod log;
mod measures;
mod offers;
mod outcomes;
mod people;
mod pools;
mod positions;
mod read;
mod readers;
mod regions;
mod rounds;
mod rows;
mod scratch;
mod seals;
mod searches;
mod sessions;
mod signals;
mod sql;
mod staff;
mod throttle;
mod tokens;
mod tx;
mod write;

pub use access::{Link, LinkPurpose, token_hash};
pub use accounts::{NamedRegion, Names, RiderAccount, StaffAccount};
pub use audit::{Entry, Found, Place, Search};
pub use candidates::Requests;
pub use counts::{Counts, Span};
pub use creations::Created;
pub use db::{Db, Product, Time};
pub use erase::Retention;
pub use error::{Error, Remedy, Result};
pub use factors::{DeskRule, Factor};
pub use hints::Hints;
pub use ledger::{Asked, HeldTicket, LedgerLine};
pub use lists::{Card, Detail, Listing};
pub use live::{Around, AskedIn, Before, OpenSession};
pub use load::{CreatedTask, Member, StoredOutcome};
pub use load_people::LockedRegions;
pub use log::{AttemptRow, EventRow};
pub use measures::{Measures, Share, Spread, StepRounds, Window};
pub use outcomes::{OutcomeRow, etag};
pub use people::RiderChange;
pub use pools::{PoolListing, Pooled};
pub use positions::Located;
pub use read::{Attempt, Due, LedgerOffer, LogCounts};
pub use readers::{EventPage, Offered};
pub use regions::{DatedPolicy, RegionChange, RegionRecord};
pub use rounds::{Round, RoundEnd, Searched};
pub use rows::LoggedEvent;
pub use scratch::Scratch;
pub use seals::Bounds;
pub use searches::{Begin, Intent};
pub use sessions::WebSession;
pub use signals::{KeptSignal, Sighting};
pub use staff::{RiderRecord, StaffChange, StaffRecord};
pub use throttle::Failures;
pub use tokens::ApiToken;
pub use tx::Tx;
pub use write::Steps;

#[cfg(test)]
mod plans;
