//! The JSON API over HTTP: real servers, a client that holds every answer against the `OpenAPI` document, on SQLite and
//! on PostgreSQL with two servers.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

#[path = "../harness/book.rs"]
mod book;
#[path = "../harness/mod.rs"]
mod harness;
#[path = "../harness/http.rs"]
mod http;
#[expect(dead_code, reason = "the servers expire by themselves, and commands go through them")]
#[path = "../races/short.rs"]
mod short;

mod bad_input;
mod bulk;
mod customers;
mod deadline;
mod described;
mod details;
mod edge;
mod fuzz;
mod good_order;
mod hang_up;
mod health;
mod keys;
mod lists;
mod logs;
mod mass;
mod metrics;
mod offers;
mod pace;
mod personal;
mod process;
mod readers;
mod riders;
mod rounds;
mod sight;
mod takers;
mod verbs;
mod who;
mod wire;
