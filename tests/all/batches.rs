//! Several commands in one transaction come to the same as one after another.

mod draw;
mod keys;
mod same;
