//! Where riders are: the indexes against brute force, on positions drawn and real.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod memory;
mod redis;
mod server;
mod suite;
