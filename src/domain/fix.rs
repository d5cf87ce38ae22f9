//! Where a rider was, and when: one position as the desk keeps it.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{geo::Place, id::Timestamp};

/// Which device a position came from, as a number that tells devices apart and says nothing else about them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeviceMark(pub i64);

impl DeviceMark {
    /// The mark of a device that calls itself so.
    pub fn of(name: &str) -> Self {
        let mut mark = [0; 8];
        mark.copy_from_slice(&Sha256::digest(name.as_bytes())[..8]);
        // Never 0, and never negative.
        Self((i64::from_be_bytes(mark) & i64::MAX).max(1))
    }

    /// Whether the device said what it is.
    pub const fn is_known(self) -> bool {
        self.0 != 0
    }
}

/// A position that its device has kept for longer is of no use, in milliseconds: a day.
pub const KEPT_MS: i64 = 86_400_000;

/// When something that a device says it took at `taken_at` was so, by the desk's clock: as long before `received` as the
/// device's own clock says that it had passed when it was sent. So it does not matter whether that clock is right, as
/// long as it goes. `None` if it had been kept for more than a day.
pub fn instant(taken_at: Timestamp, sent_at: Timestamp, received: Timestamp) -> Option<Timestamp> {
    let kept_ms = sent_at.ms_since(taken_at).max(0);
    (kept_ms <= KEPT_MS).then(|| received.plus_ms(-kept_ms))
}

/// One position of a rider.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fix {
    /// Counts up on the device: an older one never replaces a newer one.
    pub seq: i64,
    /// When the rider was there, by the desk's clock: a telephone with a wrong clock is neither fresh for ever nor stale
    /// for ever.
    pub at: Timestamp,
    /// What the device's own clock said; kept as evidence, and trusted with nothing.
    pub taken_at: Timestamp,
    /// Where, WGS-84.
    pub place: Place,
    /// The radius in metres within which the device believes itself to be, if it said so.
    pub accuracy_m: Option<f64>,
    /// The device. Numbers of two devices can not be compared.
    pub device: DeviceMark,
}

impl Fix {
    /// A position that was taken at `at`, by a device that says nothing of itself.
    pub const fn new(seq: i64, at: Timestamp, place: Place) -> Self {
        Self { seq, at, taken_at: at, place, accuracy_m: None, device: DeviceMark(0) }
    }

    /// Whether it replaces `last`. On one device the number decides. A new device counts anew, so between two devices the
    /// time does, by the desk's clock.
    pub const fn follows(&self, last: &Self) -> bool {
        if self.device.0 == last.device.0 { self.seq > last.seq } else { self.at.0 >= last.at.0 }
    }

    /// How old it is at `now`, in milliseconds; never less than nothing.
    pub fn age_ms(&self, now: Timestamp) -> i64 {
        now.ms_since(self.at).max(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Place = Place { lat: 31.2304, lng: 121.4737 };

    fn fix(device: i64, seq: i64, at: i64) -> Fix {
        Fix { device: DeviceMark(device), ..Fix::new(seq, Timestamp(at), HERE) }
    }

    #[test]
    fn on_one_device_the_number_decides_whatever_the_clock_says() {
        assert!(fix(1, 8, 10).follows(&fix(1, 7, 90)));
        assert!(!fix(1, 7, 90).follows(&fix(1, 7, 10)));
        assert!(!fix(1, i64::MIN, 90).follows(&fix(1, i64::MAX, 10)));
    }

    #[test]
    fn a_new_device_counts_anew() {
        assert!(fix(2, 1, 20).follows(&fix(1, 9_000, 10)));
        assert!(!fix(2, 9_000, 9).follows(&fix(1, 1, 10)), "what it sent late changes nothing");
    }

    #[test]
    fn a_wrong_clock_makes_nobody_fresh_or_stale() {
        let received = Timestamp(1_796_000_000_000);
        for wrong_by in [0, -30 * KEPT_MS, 30 * KEPT_MS] {
            let sent = received.plus_ms(wrong_by);
            let at = |ago_ms: i64| instant(sent.plus_ms(-ago_ms), sent, received);
            assert_eq!(at(0), Some(received));
            assert_eq!(at(90_000), Some(received.plus_ms(-90_000)));
            assert_eq!(at(-5_000), Some(received), "taken after it was sent: a clock that jumped");
            assert_eq!(at(KEPT_MS), Some(received.plus_ms(-KEPT_MS)));
            assert_eq!(at(KEPT_MS + 1), None);
        }
    }

    #[test]
    fn no_position_is_from_the_future() {
        assert_eq!(fix(1, 1, 10).age_ms(Timestamp(25)), 15);
        assert_eq!(fix(1, 1, 10).age_ms(Timestamp(5)), 0);
    }
}
