//! Races through the executor, on SQLite and on PostgreSQL with two processes.

#[path = "../harness/mod.rs"]
mod harness;
