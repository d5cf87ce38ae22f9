//! When each row happens on the desk's own day, and how fast people are.

use crate::{domain::id::Timestamp, simulate::Manners};

/// How many tasks a rider does in an hour without falling behind. With two places, five offers for each task of which
/// most are ignored for two minutes, and a quarter of an hour on the way, five could be done; this leaves some air.
const PER_HOUR: f64 = 3.5;
/// Nobody is faster than that: the shortest offer of a region lasts five seconds.
const FASTEST: f64 = 24.0;
/// How long an offer waits at the pace of life.
const OFFER_SECONDS: f64 = 120.0;

/// How the file's times become the desk's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Plan {
    first: Timestamp,
    /// So many seconds of the file are one of the desk's.
    pub squeeze: f64,
    /// How much faster than life people are.
    pub pace: f64,
    /// Whether the desk's time waits for the real one.
    pub is_real: bool,
}

impl Plan {
    /// For `orders` between `first` and `last`, and so many riders.
    ///
    /// * As fast as possible (`speed` 0): people keep the pace of life, and the orders are squeezed, or stretched, onto
    ///   a day on which the riders are busy and do not fall behind. The order of the rows and the proportion of the
    ///   times between them stay.
    /// * At a speed: the orders come `speed` times as fast, in real time, and people are as much faster than life as it
    ///   takes to keep up, within bounds.
    pub(super) fn new(
        (first, last): (Timestamp, Timestamp),
        orders: usize,
        riders: usize,
        speed: f64,
    ) -> Self {
        let count = |number: usize| f64::from(u32::try_from(number.max(1)).unwrap_or(u32::MAX));
        let needed_ms = count(orders) / (count(riders) * PER_HOUR) * 3_600_000.0;
        let span_ms = milliseconds(last.ms_since(first)).max(1.0);
        if speed > 0.0 {
            let pace = (needed_ms / (span_ms / speed)).clamp(1.0, FASTEST);
            Self { first, squeeze: speed, pace, is_real: true }
        } else {
            Self { first, squeeze: span_ms / needed_ms, pace: 1.0, is_real: false }
        }
    }

    /// When a row of `at` happens.
    pub(super) fn when(&self, at: Timestamp) -> Timestamp {
        let squeezed = milliseconds(at.ms_since(self.first)) / self.squeeze;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the cast saturates, far beyond any file"
        )]
        let squeezed = squeezed as i64;
        self.first.plus_ms(squeezed)
    }

    /// How people behave.
    pub(super) fn manners(&self, seed: u64) -> Manners {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it lies between 5 and 120"
        )]
        let offer_seconds = (OFFER_SECONDS / self.pace).clamp(5.0, OFFER_SECONDS) as u32;
        Manners {
            pace: self.pace,
            offer_seconds: Some(offer_seconds),
            browse_ms: Some(1_200_000),
            dispatch_ms: 20_000,
            offers_per_look: 64,
            abreast: 64,
            // What happens within so many seconds of the desk's day happens side by side.
            window_ms: if self.is_real { 0 } else { 10_000 },
            most_in_a_step: 512,
            ..Manners::published(seed, "replay")
        }
    }
}

/// As a number that can be divided; the years 1970 to 9999 keep every millisecond.
fn milliseconds(ms: i64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "times are far below 2^53 milliseconds")]
    let ms = ms as f64;
    ms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years_are_squeezed_onto_a_busy_day_in_their_proportion() {
        let (first, last) = (Timestamp(1_000_000), Timestamp(1_000_000 + 100_000_000_000));
        let plan = Plan::new((first, last), 7_000, 100, 0.0);
        assert_eq!(plan.when(first), first);
        // 7,000 at 350 an hour: twenty hours.
        assert_eq!(plan.when(last).ms_since(first) / 1_000, 72_000);
        let middle = plan.when(Timestamp(1_000_000 + 50_000_000_000));
        assert_eq!(middle.ms_since(first) / 1_000, 36_000);
        assert!((plan.pace - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn at_a_speed_people_are_as_fast_as_it_takes() {
        let (first, last) = (Timestamp(0), Timestamp(36_000_000));
        let easy = Plan::new((first, last), 100, 100, 2.0);
        assert!((easy.pace - 1.0).abs() < f64::EPSILON && easy.is_real);
        assert_eq!(easy.when(last), Timestamp(18_000_000));
        let hard = Plan::new((first, last), 7_000, 100, 20.0);
        assert!(hard.pace > 20.0 && hard.pace <= FASTEST, "{}", hard.pace);
        assert_eq!(hard.manners(1).offer_seconds, Some(5));
    }
}
