//! What nobody should send, and databases that nobody should open: told by name, and nothing is stored.

mod keys;
mod locked;
mod numbers;
mod opening;
mod secrets;
mod texts;
