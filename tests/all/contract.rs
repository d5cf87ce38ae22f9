//! The contract of the store: every statement does the same on both databases.
//!
//! Every public method of `Tx` and of `Db` has a case in one of these files, on SQLite and on PostgreSQL, against the
//! same expected figures. `coverage` fails for a statement without one.

mod access;
mod accounts;
mod append_only;
mod apply;
mod audit;
mod authority;
mod constraints;
mod counts;
mod coverage;
mod edits;
mod erase;
mod lists;
mod live;
mod locks;
mod log;
mod measures;
mod opening;
mod parity;
mod people;
mod places;
mod positions;
pub mod raw;
mod readers;
mod reads;
mod rounds;
mod rows;
mod seals;
mod signals;
mod steps;
mod survival;
mod unique;
mod whole;
