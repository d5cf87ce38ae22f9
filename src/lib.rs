//! Dispatch Desk.

pub mod clock;
pub mod domain;
pub mod fault;
