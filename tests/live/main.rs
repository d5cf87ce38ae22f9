//! Live streams: no gap and no double, whatever happens to connections, nodes and hints; nothing for anyone who may not
//! see it; and an end in good order.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

#[expect(dead_code, reason = "these tests need only a part of it")]
#[path = "../harness/book.rs"]
mod book;
#[path = "../harness/mod.rs"]
mod harness;
#[expect(dead_code, reason = "these tests need only a part of it")]
#[path = "../harness/http.rs"]
mod http;

mod chain;
mod client;
mod cuts;
mod ends;
mod network;
mod nodes;
mod program;
mod rounds;
mod sight;
mod stopped;
