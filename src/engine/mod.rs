//! The imperative shell around the domain: what happens, by itself and in which order.
//!
//! **Architecture invariant.** Only the executor writes tasks. The expiry asks it like everyone else; nothing
//! releases, repairs or moves a task behind its back.
//!
//! | file | |
//! |---|---|
//! | [`executor`] | commands in, outcomes out |
//! | [`office`] | changes of the desk itself: people, regions, rules, tokens |
//! | [`rounds`] | finds riders for tasks: rounds, exclusive offers, the manual pool |
//! | [`expiry`] | releases offers whose deadline has passed |
//! | [`reconcile`] | folds the log against the rows and says what differs |
//! | [`sealer`], [`seal_keys`], [`verify`] | the log is sealed as it grows; whether it still fits its seals |
//! | [`export`] | the log as a file |
//! | [`positions`] | where riders are: noted at once, written a moment later |
//! | [`hub`] | live readers of the log |
//! | [`signals`] | what looks wrong about riders, kept for dispatchers |
//! | [`health`] | whether commands can be taken |
//! | [`meters`] | what a node counts while it runs |

pub mod executor;
pub mod expiry;
pub mod export;
pub mod health;
pub mod housekeeping;
pub mod hub;
pub mod meters;
pub mod office;
pub mod positions;
pub mod reconcile;
pub mod rounds;
pub mod seal_keys;
pub mod sealer;
pub mod signals;
pub mod verify;
