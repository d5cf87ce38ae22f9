//! The house rules of DESIGN §3, read off the sources. Needs no database.
//!
//! Each rule is a function from a source to what it finds wrong, so each can be shown a bad sample.

mod edges;
mod rules;
mod source;
mod supply;
