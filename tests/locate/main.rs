//! Where riders are: the indexes against brute force, on positions drawn and real.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

#[path = "../harness/mod.rs"]
mod harness;

mod memory;
mod pre_trim;
mod redis;
mod server;
mod suite;
