//! Chance, from a seed.

use fastrand::Rng;

/// A source of its own for the deed of this number: neighbours have nothing in common.
pub(super) fn chance(seed: u64, number: u64) -> Rng {
    // SplitMix64, so that seeds that lie side by side do not give numbers that do.
    let mut mixed = seed.wrapping_add(number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    Rng::with_seed(mixed ^ (mixed >> 31))
}

/// Milliseconds whose logarithm is normal: half of them are below `median_ms`; `spread` is 0.5 for journeys, more for
/// moods.
pub(super) fn lognormal_ms(chance: &mut Rng, median_ms: f64, spread: f64) -> i64 {
    // Box and Muller.
    let (one, other) = (1.0 - chance.f64(), chance.f64());
    let normal = (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos();
    whole(median_ms * (spread * normal).exp())
}

/// Milliseconds between two arrivals that know nothing of each other (Poisson).
pub(super) fn gap_ms(chance: &mut Rng, mean_ms: f64) -> i64 {
    whole(-(1.0 - chance.f64()).ln() * mean_ms)
}

/// To whole milliseconds, at least one and at most a day.
pub(super) fn whole(ms: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "it is cut to a day before")]
    let whole = ms.clamp(1.0, 86_400_000.0) as i64;
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_answers_come_before_the_median() {
        let mut chance = chance(7, 1);
        let drawn: Vec<_> =
            (0..20_000).map(|_| lognormal_ms(&mut chance, 37_000.0, 1.44)).collect();
        let before = |ms| drawn.iter().filter(|drawn| **drawn < ms).count();
        assert!((9_700..10_300).contains(&before(37_000)), "{}", before(37_000));
        // A quarter within 14 s, as published.
        assert!((4_700..5_300).contains(&before(14_000)), "{}", before(14_000));
    }

    #[test]
    fn arrivals_have_their_mean() {
        let mut chance = chance(7, 2);
        let sum: i64 = (0..20_000).map(|_| gap_ms(&mut chance, 1_000.0)).sum();
        assert!((19_400_000..20_600_000).contains(&sum), "{sum}");
    }
}
