//! A city full of riders, drawn from a seed.

use dispatch_desk::domain::{
    fix::Fix,
    geo::Place,
    id::{RiderId, Timestamp},
};
use rand::{RngExt, SeedableRng, rngs::StdRng};

pub const RIDERS: i64 = 100_000;

/// Draws places around the middle of a city: dense there, thin at its edge, 7 km to one standard deviation.
pub struct City(StdRng);

impl City {
    pub fn new(seed: u64) -> Self {
        Self(StdRng::seed_from_u64(seed))
    }

    pub fn place(&mut self) -> Place {
        let radius_m = 7_000.0 * (-2.0 * (1.0 - self.0.random::<f64>()).ln()).sqrt();
        let (sin, cos) = (self.0.random::<f64>() * std::f64::consts::TAU).sin_cos();
        let north = radius_m * cos / 111_195.0;
        Place { lat: 31.2304 + north, lng: 121.4737 + radius_m * sin / (111_195.0 * 0.855) }
    }

    /// A rider and where they are now.
    pub fn fix(&mut self, seq: i64) -> (RiderId, Fix) {
        let rider = RiderId(self.0.random_range(1..=RIDERS));
        (rider, Fix::new(seq, Timestamp(1_796_000_000_000 + seq), self.place()))
    }
}
