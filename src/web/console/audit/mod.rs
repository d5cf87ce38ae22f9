//! The auditor's page: events and attempts, searched and exported.
//!
//! Auditors and admins see what belongs to their regions, by SQL. What belongs to no region (changes of the whole desk,
//! attempts that name no task) all of them see.
//!
//! | file | |
//! |---|---|
//! | `filter` | what was asked for, and what of it can not be used |
//! | `page` | a page of what was found |
//! | `row` | one row of the log in words |
//! | `export` | the same as a file, in pieces |

mod export;
mod filter;
mod page;
mod row;

pub(super) use export::{csv, jsonl};
pub(super) use page::page;
