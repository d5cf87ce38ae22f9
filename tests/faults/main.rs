//! Fail-points and planted faults, in a build of their own.

#[path = "../harness/mod.rs"]
mod harness;

mod halves;
mod killed;
mod lane;
mod planted;
mod planted_rules;
mod planted_store;
mod scene;
