//! The rules, proved without a database: the table and the order of answers, laws that hold for every
//! sequence of commands, every interleaving of a few clients, and the judge of recorded runs.
//!
//! `DISPATCH_TEST_ROUNDS=full` asks for more rounds.

mod declared;
mod desk;
mod history;
mod model;
mod properties;
mod table;

/// `usual` rounds, or `full` if the environment asks for it.
fn rounds(usual: u32, full: u32) -> u32 {
    let asked = std::env::var("DISPATCH_TEST_ROUNDS").is_ok_and(|rounds| rounds == "full");
    if asked { full } else { usual }
}
