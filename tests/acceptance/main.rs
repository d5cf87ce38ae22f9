//! The acceptance suite itself: it passes what is right, fails what is wrong for the stated reason, and finds out when
//! its record was changed.

mod altered;
mod known_bad;
mod live;
mod report;
mod scene;
mod whole;
