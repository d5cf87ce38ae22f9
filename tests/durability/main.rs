//! What was acknowledged lasts: through kill -9, a full disk, a broken one, and a database that restarts.

#[path = "../harness/mod.rs"]
mod harness;

mod broken_disk;
mod full_disk;
mod killed;
mod restarted;
mod sync_order;
