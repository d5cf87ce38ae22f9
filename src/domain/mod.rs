//! What is true of tasks, riders and offers: the transition table and the decisions that follow it.
//!
//! **Architecture invariant.** Pure: no database, no network, no clock, no logging, no randomness.
//! Time and facts are arguments. It knows no other module, so it can be read, tested and trusted alone.
//!
//! | file | |
//! |---|---|
//! | [`id`], [`task`], [`actor`], [`act`], [`order`], [`command`], [`event`] | the words |
//! | [`table`] | who may ask what, and where it leads |
//! | [`decide`](mod@decide) | the order of answers |
//! | [`refusal`], [`answer`], [`legal`](mod@legal) | what is said to whom |
//! | [`facts`], [`policy`], [`geo`], [`fix`] | what decisions rest on |
//! | [`rank`], [`round`], [`ticket`] | who is asked first; who is asked next; the right to answer |
//! | [`admin`], [`authority`], [`scope`] | what is done to the desk itself; who may; what a token may |
//! | [`reveal`] | which masked number is shown, and why |
//! | [`fingerprint`] | what makes two requests the same |
//! | [`history`] | the judge of a recorded run |
//! | [`seal`] | what binds the log, so that a change of it shows |
//!
//! # How to add a verb
//! A variant of [`act::Verb`] and of [`act::Act`]; the compiler then asks for its cells and
//! its roles in [`table`], its check in `decide::checks`, and its place in [`legal`](mod@legal). Accept
//! the changed snapshot of the table; add the verb to the literal table of `tests/rules/table.rs`.

#![deny(clippy::wildcard_enum_match_arm)]

pub mod act;
pub mod actor;
pub mod admin;
pub mod answer;
pub mod authority;
pub mod command;
pub mod decide;
pub mod erase;
pub mod event;
pub mod facts;
pub mod fingerprint;
pub mod fix;
pub mod geo;
pub mod history;
pub mod id;
pub mod legal;
pub mod order;
pub mod policy;
pub mod rank;
pub mod refusal;
pub mod reveal;
pub mod round;
pub mod scope;
pub mod seal;
pub mod table;
pub mod task;
pub(crate) mod text_enum;
pub mod ticket;
