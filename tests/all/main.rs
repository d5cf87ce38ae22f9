//! The tests that need a database, in one binary. Each runs on SQLite and on PostgreSQL.

#[path = "../harness/mod.rs"]
mod harness;

mod lifecycle;
