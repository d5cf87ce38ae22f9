//! The tests that need a database, in one binary. Each runs on SQLite and on PostgreSQL.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

#[path = "../harness/mod.rs"]
mod harness;

mod bad_input;
mod batches;
mod commands;
mod contract;
mod expiry;
mod lifecycle;
mod personal;
mod positions;
mod rounds;
mod seals;
