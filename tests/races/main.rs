//! Races through the executor, on SQLite and on PostgreSQL with two processes.

#[path = "../harness/mod.rs"]
mod harness;

mod batch;
mod capacity;
mod creation;
mod deadline;
mod edits;
mod finality;
mod hang_up;
mod hot;
mod keys;
mod pairs;
mod readers;
mod riders;
mod short;
mod swaps;
mod takers;
mod twins;
