//! Which rider a label in a file of positions means.

use std::collections::BTreeMap;

use crate::domain::id::RiderId;

/// Labels and riders. A label that is not listed means the rider of that number, if nothing is listed at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Riders {
    listed: Option<BTreeMap<String, RiderId>>,
}

/// A list of riders that can not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the list of riders can not be used: {0}")]
pub struct BadRiders(String);

impl Riders {
    /// Labels are riders' numbers (`17` or `R17`).
    pub const fn by_number() -> Self {
        Self { listed: None }
    }

    /// Reads a list: TOML (`"4716" = "R17"`) or CSV (`label,rider` in the first line).
    ///
    /// # Errors
    /// [`BadRiders`], with the line or label that means nothing.
    pub fn parse(text: &str) -> Result<Self, BadRiders> {
        let bad = |why: String| BadRiders(why);
        let mut listed = BTreeMap::new();
        let mut list = |label: &str, rider: &str| {
            let Some(rider) = RiderId::parse(rider.trim()) else {
                return Err(bad(format!("\"{rider}\" is no rider's number")));
            };
            match listed.insert(label.trim().to_owned(), rider) {
                None => Ok(()),
                Some(_) => Err(bad(format!("\"{label}\" is listed twice"))),
            }
        };
        if let Ok(table) = toml::from_str::<BTreeMap<String, toml::Value>>(text) {
            for (label, rider) in &table {
                match rider {
                    toml::Value::String(rider) => list(label, rider)?,
                    toml::Value::Integer(number) => list(label, &number.to_string())?,
                    _ => return Err(bad(format!("\"{label}\" names no rider"))),
                }
            }
        } else {
            let mut rows = csv::Reader::from_reader(text.as_bytes());
            for row in rows.deserialize::<(String, String)>() {
                let (label, rider) = row.map_err(|error| BadRiders(error.to_string()))?;
                list(&label, &rider)?;
            }
        }
        if listed.is_empty() {
            return Err(bad("it is empty".to_owned()));
        }
        Ok(Self { listed: Some(listed) })
    }

    /// Whom a label means.
    pub fn of(&self, label: &str) -> Option<RiderId> {
        match &self.listed {
            Some(listed) => listed.get(label).copied(),
            None => RiderId::parse(label),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_toml_or_csv() {
        for list in ["\"4716\" = \"R17\"\n", "label,rider\n4716,R17\n", "\"4716\" = 17"] {
            let riders = Riders::parse(list).expect(list);
            assert_eq!((riders.of("4716"), riders.of("17")), (Some(RiderId(17)), None), "{list}");
        }
        assert_eq!(Riders::by_number().of("R17"), Some(RiderId(17)));
        for bad in ["", "label,rider\n", "a = \"x\"", "label,rider\na,R1\na,R2\n"] {
            assert!(Riders::parse(bad).is_err(), "{bad:?}");
        }
    }
}
