//! The pages in a real browser: three people at once, presses that come twice, rules of access, and pictures.
//!
//! Needs Debian's `chromium` and `chromium-driver`. Without them it says that it skips, or fails if
//! `CI_REQUIRE_BROWSER=1`.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

#[path = "../harness/mod.rs"]
mod harness;

#[expect(dead_code, reason = "the pages' own tests use all of it")]
#[path = "../pages/browser.rs"]
mod browser;
#[path = "../pages/files.rs"]
mod files;
#[path = "../pages/gallery.rs"]
mod gallery;

mod access;
mod driver;
mod framed;
mod live;
mod pictures;
mod place;
mod shown;
mod three;
mod twice;
