//! Money: decimal texts become whole smallest units without going through a floating-point number.

use super::{Fault, text};
use crate::intake::{
    mapping::Need,
    problem::Problem,
    source::{Row, Source},
    spec::{Format, MoneySpec},
    trouble::MappingError,
};

/// Where an amount comes from.
#[derive(Debug)]
pub(in crate::intake) struct Money {
    from: Vec<Source>,
    decimals: u32,
    optional: bool,
    decimal_comma: bool,
}

impl Money {
    pub(in crate::intake) fn new(spec: &MoneySpec, format: Format) -> Result<Self, MappingError> {
        if spec.decimals > 4 {
            return Err(MappingError::field("fee.decimals", "a currency has 0 to 4 decimals"));
        }
        let from = spec.from.clone().list();
        Ok(Self {
            from: from.iter().map(|text| Source::parse(text, format)).collect::<Result<_, _>>()?,
            decimals: spec.decimals,
            optional: spec.optional,
            decimal_comma: spec.decimal_comma,
        })
    }

    pub(in crate::intake) fn need(&self) -> Need<'_> {
        Need { sources: self.from.iter().collect(), optional: self.optional }
    }

    /// The amount in smallest units; none if the row has none.
    pub(in crate::intake) fn read(&self, row: Row<'_>) -> Result<Option<i64>, Fault> {
        let found = self.from.iter().find_map(|source| Some((source, row.text(source)?)));
        let Some((source, raw)) = found else { return Ok(None) };
        if text::means_none(&raw) {
            return Ok(None);
        }
        let amount = smallest_units(&raw, self.decimals, self.decimal_comma);
        let bad = || Fault::at(source.label(), Problem::BadMoney(raw.clone().into_owned()));
        amount.ok_or_else(bad).map(Some)
    }
}

/// `"12.5"` with 2 decimals is 1250. Groups of three may be parted (`1,234.50`); signs, symbols, exponents and more
/// decimals than the currency has are refused.
fn smallest_units(raw: &str, decimals: u32, decimal_comma: bool) -> Option<i64> {
    let ascii = text::ascii_digits(raw);
    let (point, group) = if decimal_comma { (',', '.') } else { ('.', ',') };
    let (whole, fraction) = ascii.split_once(point).unwrap_or((&ascii, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let mut groups = whole.split(group);
    let first = groups.next()?;
    let grouped = whole.contains(group);
    if first.is_empty() || !digits(first) || (grouped && first.len() > 3) {
        return None;
    }
    let mut all = first.to_owned();
    for part in groups {
        if part.len() != 3 || !digits(part) {
            return None;
        }
        all.push_str(part);
    }
    let fraction = fraction.trim_end_matches('0');
    let places = usize::try_from(decimals).ok()?;
    if !digits(fraction) || fraction.len() > places {
        return None;
    }
    format!("{all}{fraction:0<places$}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::smallest_units;

    #[test]
    fn decimals_become_whole_smallest_units() {
        for (text, decimals, amount) in [
            ("409.94", 2, 40_994),
            ("37.4", 2, 3_740),
            ("0", 2, 0),
            ("12.450", 2, 1_245),
            ("21000", 0, 21_000),
            ("1,234.50", 2, 123_450),
            ("٣٧٫٥٠", 2, 3_750),
            ("１２．３", 2, 1_230),
            ("90071992547409.93", 2, 9_007_199_254_740_993),
        ] {
            assert_eq!(smallest_units(text, decimals, false), Some(amount), "{text}");
        }
        assert_eq!(smallest_units("1.234,5", 2, true), Some(123_450));
        for bad in [
            "",
            "-1",
            "1e3",
            "18.665",
            "$5",
            "1,23",
            "12,34.5",
            "1.2.3",
            "99999999999999999999",
            ".5",
        ] {
            assert_eq!(smallest_units(bad, 2, false), None, "{bad}");
        }
    }
}
