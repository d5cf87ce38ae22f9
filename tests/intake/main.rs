//! Files of other systems: what each row becomes, and what the desk makes of it.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

#[path = "../harness/mod.rs"]
mod harness;

mod csv_files;
mod desk;
mod json_files;
mod mappings;
mod places;
mod positions;
mod program;
mod real_files;
mod round_trip;
mod scene;
mod shapes;
mod shapes_refused;
mod streaming;
mod times;
mod values;
mod whole_files;
