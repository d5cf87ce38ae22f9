//! Several commands in one transaction come to the same as one after another.

mod chains;
mod draw;
mod keys;
mod same;
