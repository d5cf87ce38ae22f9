//! Dispatch Desk.

pub mod clock;
pub mod config;
pub mod domain;
pub mod engine;
pub mod fault;
pub mod store;
