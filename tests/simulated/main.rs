//! The client, simulated people, the demo and the replay, against real servers.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod client;
mod cut;
mod demo;
mod hour;
mod replay;
mod scene;
