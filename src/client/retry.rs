//! How often to ask again, and how long to wait before.

use std::time::Duration;

/// How a client asks again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// How often it asks at most, the first time included.
    pub attempts: u32,
    /// The longest wait before the second time; it doubles with each time.
    pub first: Duration,
    /// No wait is longer.
    pub longest: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self { attempts: 6, first: Duration::from_millis(50), longest: Duration::from_secs(2) }
    }
}

impl Retry {
    /// Asks once.
    pub const NEVER: Self = Self { attempts: 1, first: Duration::ZERO, longest: Duration::ZERO };

    /// How long to wait after the `failed`th time (1, 2, …), where `chance` lies in 0 … 1: anything up to the limit, so
    /// that those who failed together do not come back together.
    pub(super) fn wait(&self, failed: u32, chance: f64) -> Duration {
        let doubled = self.first.saturating_mul(2_u32.saturating_pow(failed.saturating_sub(1)));
        doubled.min(self.longest).mul_f64(chance.clamp(0.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_limit() {
        let retry = Retry::default();
        let ms = |failed| retry.wait(failed, 1.0).as_millis();
        assert_eq!([ms(1), ms(2), ms(3), ms(6), ms(7), ms(99)], [50, 100, 200, 1600, 2000, 2000]);
        assert_eq!(retry.wait(3, 0.0), Duration::ZERO);
    }
}
