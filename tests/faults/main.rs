//! Fail-points and planted faults, in a build of their own.

#[path = "../harness/mod.rs"]
mod harness;
