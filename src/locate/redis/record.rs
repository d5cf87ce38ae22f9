//! A position as it stands in Redis: text that is ordered as the numbers are, and exact.
//!
//! `device:seq:at:region:taken_at:lat:lng:accuracy`. The first three are 16 hexadecimal digits, shifted so that negative
//! numbers come first: a script there can compare them, which it could not do with numbers beyond 53 bits. Places are the
//! bits of their floating-point numbers.

use crate::domain::{
    fix::{DeviceMark, Fix},
    geo::Place,
    id::{RegionId, Timestamp},
};

/// A number as digits that are ordered as it is.
pub(super) fn ordered(number: i64) -> String {
    format!("{:016x}", number.cast_unsigned() ^ (1 << 63))
}

fn number(digits: &str) -> Option<i64> {
    let shifted = u64::from_str_radix(digits, 16).ok()?;
    Some((shifted ^ (1 << 63)).cast_signed())
}

fn real(digits: &str) -> Option<f64> {
    Some(f64::from_bits(u64::from_str_radix(digits, 16).ok()?))
}

/// What follows the region.
pub(super) fn rest(fix: &Fix) -> String {
    let (lat, lng) = (fix.place.lat.to_bits(), fix.place.lng.to_bits());
    let accuracy = fix.accuracy_m.map(|metres| format!("{:016x}", metres.to_bits()));
    format!("{}:{lat:016x}:{lng:016x}:{}", ordered(fix.taken_at.0), accuracy.unwrap_or_default())
}

/// Reads a record; none if it is none.
pub(super) fn read(record: &str) -> Option<(RegionId, Fix)> {
    let mut fields = record.split(':');
    let device = DeviceMark(number(fields.next()?)?);
    let seq = number(fields.next()?)?;
    let at = Timestamp(number(fields.next()?)?);
    let region = RegionId(fields.next()?.parse().ok()?);
    let taken_at = Timestamp(number(fields.next()?)?);
    let place = Place { lat: real(fields.next()?)?, lng: real(fields.next()?)? };
    let accuracy_m = match fields.next()? {
        "" => None,
        digits => Some(real(digits)?),
    };
    Some((region, Fix { seq, at, taken_at, place, accuracy_m, device }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_ordered_as_numbers_are() {
        let numbers = [i64::MIN, -1_000, -1, 0, 1, 1 << 53, (1 << 53) + 1, i64::MAX];
        let digits = numbers.map(ordered);
        assert!(digits.is_sorted());
        assert_eq!(digits.map(|digits| number(&digits)), numbers.map(Some));
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let place = Place { lat: -0.1, lng: 121.473_700_000_000_01 };
        for accuracy_m in [None, Some(0.0), Some(12.1)] {
            let device = DeviceMark(i64::MAX);
            let fix = Fix { accuracy_m, device, ..Fix::new(i64::MIN, Timestamp(-5), place) };
            let head = [fix.device.0, fix.seq, fix.at.0].map(ordered).join(":");
            let record = format!("{head}:{}:{}", 7, rest(&fix));
            assert_eq!(read(&record), Some((RegionId(7), fix)));
            assert_eq!(read(&record[1..record.len() - 1]).filter(|(_, read)| *read == fix), None);
        }
        assert_eq!(read(""), None);
    }
}
