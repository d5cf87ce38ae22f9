//! The ways to write a time, and what each makes of a text.

use chrono::{LocalResult, NaiveDateTime, TimeZone, Utc};

use crate::{domain::id::Timestamp, intake::problem::Problem};

/// One way to write a time.
#[derive(Debug)]
pub(super) enum Form {
    Rfc3339,
    /// Since 1970: the unit is told by the number of digits, or named.
    Epoch(Option<i64>),
    /// `PT15M` after the order was placed.
    Duration,
    /// Local time, in the words of chrono.
    Local(Pattern),
}

#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) text: String,
    pub(super) says: Says,
    pub(super) minutes: bool,
}

/// What a pattern says, and what is left to the base date and the zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    Instant,
    DateAndTime,
    DayAndTime,
    Time,
}

impl Pattern {
    pub(super) fn new(text: &str) -> Self {
        let any = |marks: &[&str]| marks.iter().any(|mark| text.contains(mark));
        let says = if any(&["%z", "%:z", "%#z"]) {
            Says::Instant
        } else if !any(&["%d", "%e", "%F", "%j"]) {
            Says::Time
        } else if any(&["%Y", "%y", "%F"]) {
            Says::DateAndTime
        } else {
            Says::DayAndTime
        };
        Self { text: text.to_owned(), says, minutes: any(&["%M", "%T", "%R"]) }
    }
}

/// What one form makes of a text.
pub(super) enum Read {
    At(Timestamp),
    Other,
    Refused(Problem),
}

/// The instant of a local time, if there is exactly one.
pub(super) fn instant<Z: TimeZone>(zone: &Z, local: NaiveDateTime, text: &str) -> Read {
    match zone.from_local_datetime(&local) {
        LocalResult::Single(at) => Read::At(Timestamp(at.with_timezone(&Utc).timestamp_millis())),
        LocalResult::Ambiguous(..) => Read::Refused(Problem::AmbiguousTime(text.to_owned())),
        LocalResult::None => Read::Refused(Problem::NoSuchTime(text.to_owned())),
    }
}

/// Whole numbers since 1970. `unit`: how many microseconds one counts for; told by the digits if not given.
pub(super) fn epoch(text: &str, unit: Option<i64>) -> Read {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Read::Other;
    }
    let unit = unit.or(match text.len() {
        9..=10 => Some(1_000_000),
        12..=13 => Some(1_000),
        15..=16 => Some(1),
        _ => None,
    });
    let Some(unit) = unit else { return Read::Other };
    match text.parse::<i64>().ok().and_then(|number| number.checked_mul(unit)) {
        Some(us) => Read::At(Timestamp(us.div_euclid(1_000))),
        None => Read::Refused(Problem::TimeOutOfRange(text.to_owned())),
    }
}

/// `P1DT2H15M30S` in milliseconds. Years and months have no fixed length and are refused.
pub(super) fn duration_ms(text: &str) -> Option<i64> {
    let rest = text.strip_prefix('P')?;
    let (mut total, mut digits, mut in_time, mut any) = (0_i64, String::new(), false, false);
    for c in rest.chars() {
        let unit = match (c, in_time) {
            ('T', false) if digits.is_empty() => {
                in_time = true;
                continue;
            }
            ('0'..='9', _) => {
                digits.push(c);
                continue;
            }
            ('W', false) => 7 * 86_400_000,
            ('D', false) => 86_400_000,
            ('H', true) => 3_600_000,
            ('M', true) => 60_000,
            ('S', true) => 1_000,
            _ => return None,
        };
        total = total.checked_add(digits.parse::<i64>().ok()?.checked_mul(unit)?)?;
        digits.clear();
        any = true;
    }
    (any && digits.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_fixed_length_or_none() {
        assert_eq!(duration_ms("PT15M"), Some(900_000));
        assert_eq!(duration_ms("P1DT2H0M3S"), Some(93_603_000));
        for bad in ["", "P", "PT", "PT15", "P1Y", "P1M", "15M", "PT-5M", "PT1M2"] {
            assert_eq!(duration_ms(bad), None, "{bad}");
        }
    }
}
