//! The pages, as browsers get them: every form's happy and refused path for three roles, sent twice, gone back to,
//! with hostile texts, and every page as a picture in words.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

#[path = "../harness/mod.rs"]
mod harness;

mod accounts;
mod audit;
mod browser;
mod budget;
mod console;
mod crawl;
mod customer;
mod doors;
mod files;
mod forms;
mod gallery;
mod hostile;
mod import;
mod kept;
mod live;
mod locales;
mod measures;
mod personal;
mod problems;
mod reach;
mod rider;
mod set_up;
mod sign_in;
mod sign_in_cost;
mod snapshots;
mod spreadsheet;
mod twice;
mod uploads;
mod ways_in;
