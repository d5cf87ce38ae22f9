//! Places on the map and the stops at them.

use super::{Fault, text};
use crate::{
    domain::{geo, order::Stop as TaskStop},
    intake::{
        Given,
        json::Json,
        mapping::{Build, Need},
        problem::{Needed, Problem},
        source::Row,
        spec::{Datum, Order, PositionSpec, StopSpec},
        trouble::MappingError,
        values::text::{ADDRESS_LIMIT, NAME_LIMIT, Text},
    },
};

/// Nearer than this to (0, 0), in degrees, nobody has filled the place in. Only water is there.
const NULL_ISLAND: f64 = 0.01;

/// Where a place comes from.
#[derive(Debug)]
pub(in crate::intake) struct Place {
    fields: Fields,
    scale: f64,
    datum: Datum,
}

#[derive(Debug)]
enum Fields {
    Apart { lat: Text, lng: Text },
    Point { point: Text, order: Order },
}

impl Place {
    fn new(
        name: &str,
        (lat, lng, point): (Option<Text>, Option<Text>, Option<Text>),
        order: Order,
        scale: Option<f64>,
        datum: Datum,
    ) -> Result<Self, MappingError> {
        let fields = match (lat, lng, point) {
            (Some(lat), Some(lng), None) => Fields::Apart { lat, lng },
            (None, None, Some(point)) => Fields::Point { point, order },
            _ => return Err(MappingError::field(name, "either lat and lng, or point")),
        };
        let scale = scale.unwrap_or(1.0);
        if !(scale.is_finite() && scale > 0.0) {
            return Err(MappingError::field(name, "scale is a positive number"));
        }
        Ok(Self { fields, scale, datum })
    }

    pub(in crate::intake) fn of_position(
        spec: &PositionSpec,
        build: &Build<'_>,
    ) -> Result<Self, MappingError> {
        let text = |spec: &Option<_>| build.text(spec.as_ref());
        let sources = (text(&spec.lat)?, text(&spec.lng)?, text(&spec.point)?);
        Self::new("position", sources, spec.order, spec.scale, build.spec.datum)
    }

    pub(in crate::intake) fn needs<'a>(&'a self, needs: &mut Vec<Need<'a>>) {
        match &self.fields {
            Fields::Apart { lat, lng } => {
                needs.extend([lat, lng].into_iter().filter_map(Text::need));
            }
            Fields::Point { point, .. } => needs.extend(point.need()),
        }
    }

    /// The place in WGS-84. `what` is the task's name for it.
    pub(in crate::intake) fn read(&self, row: Row<'_>, what: Needed) -> Result<geo::Place, Fault> {
        let (label, first, second) = match &self.fields {
            Fields::Apart { lat, lng } => {
                let of = |text: &Text| {
                    let missing = || Fault::at(text.label(), Problem::Missing(what));
                    text.read(row).filter(|raw| !text::means_none(raw)).ok_or_else(missing)
                };
                (lat.label(), number(lat.label(), &of(lat)?)?, number(lng.label(), &of(lng)?)?)
            }
            Fields::Point { point, order } => {
                let missing = || Fault::at(point.label(), Problem::Missing(what));
                let (one, other) = pair(point, row).ok_or_else(missing)?;
                let one = number(point.label(), &one)?;
                let other = number(point.label(), &other)?;
                let (lat, lng) = if *order == Order::LatLng { (one, other) } else { (other, one) };
                (point.label(), lat, lng)
            }
        };
        let place = geo::Place { lat: first / self.scale, lng: second / self.scale };
        if !place.is_on_earth() {
            let text = format!("{}, {}", place.lat, place.lng);
            return Err(Fault::at(label, Problem::NotOnEarth(text)));
        }
        if place.lat.abs() < NULL_ISLAND && place.lng.abs() < NULL_ISLAND {
            return Err(Fault::at(label, Problem::NullIsland));
        }
        Ok(match self.datum {
            Datum::Wgs84 => place,
            Datum::Gcj02 => geo::datum::gcj02_to_wgs84(place),
        })
    }
}

/// The two numbers of a text `a,b` or of an array `[a, b]`. An empty array is no place.
fn pair(point: &Text, row: Row<'_>) -> Option<(String, String)> {
    let list = point.sources().find_map(|source| match row.node(source) {
        Some(Json::List(values)) => Some(values),
        _ => None,
    });
    if let Some(values) = list {
        let [one, other] = values.as_slice() else { return None };
        return Some((one.scalar()?.to_owned(), other.scalar()?.to_owned()));
    }
    let text = text::ascii_digits(&point.read(row)?);
    let (one, other) = text.split_once(',')?;
    Some((one.trim().to_owned(), other.trim().to_owned()))
}

fn number(label: String, raw: &str) -> Result<f64, Fault> {
    let ascii = text::ascii_digits(raw);
    let plain = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+');
    let number = ascii.parse::<f64>().ok().filter(|_| ascii.chars().all(plain));
    number.ok_or_else(|| Fault::at(label, Problem::BadNumber(raw.to_owned())))
}

/// Where a stop comes from.
#[derive(Debug)]
pub(in crate::intake) struct Stop {
    name: &'static str,
    given: bool,
    place: Option<Place>,
    address: Option<Text>,
    contact: Option<Text>,
    phone: Option<Text>,
}

impl Stop {
    pub(in crate::intake) fn new(
        name: &'static str,
        spec: &StopSpec,
        build: &Build<'_>,
    ) -> Result<Self, MappingError> {
        let text = |spec: &Option<_>| build.text(spec.as_ref());
        let sources = (text(&spec.lat)?, text(&spec.lng)?, text(&spec.point)?);
        let place = (!spec.given)
            .then(|| Place::new(name, sources, spec.order, spec.scale, build.spec.datum))
            .transpose()?;
        if !spec.given && spec.address.is_none() {
            return Err(MappingError::field(name, "a stop needs an address"));
        }
        Ok(Self {
            name,
            given: spec.given,
            place,
            address: text(&spec.address)?,
            contact: text(&spec.name)?,
            phone: text(&spec.phone)?,
        })
    }

    pub(in crate::intake) fn needs<'a>(&'a self, needs: &mut Vec<Need<'a>>) {
        if let Some(place) = &self.place {
            place.needs(needs);
        }
        let texts = [&self.address, &self.contact, &self.phone];
        needs.extend(texts.into_iter().flatten().filter_map(Text::need));
    }

    pub(in crate::intake) fn read(&self, row: Row<'_>, given: &Given) -> Result<TaskStop, Fault> {
        let within = |text: &Option<Text>| match text {
            Some(text) => text.within(row, NAME_LIMIT),
            None => Ok(None),
        };
        let (name, phone) = (within(&self.contact)?, within(&self.phone)?);
        if self.given {
            let missing = || Fault::at(self.name, Problem::PickupNotGiven);
            let stop = given.pickup.as_ref().ok_or_else(missing)?;
            let (name, phone) = (name.or(stop.name.clone()), phone.or(stop.phone.clone()));
            return Ok(TaskStop { name, phone, ..stop.clone() });
        }
        let missing = |label: String| Fault::at(label, Problem::Missing(self.address_of()));
        let (Some(place), Some(address)) = (&self.place, &self.address) else {
            return Err(missing(self.name.to_owned()));
        };
        let place = place.read(row, self.place_of())?;
        let text = address.within(row, ADDRESS_LIMIT)?.ok_or_else(|| missing(address.label()))?;
        Ok(TaskStop { lat: place.lat, lng: place.lng, address: text, name, phone })
    }

    fn place_of(&self) -> Needed {
        if self.name == "pickup" { Needed::PickupPlace } else { Needed::DropoffPlace }
    }

    fn address_of(&self) -> Needed {
        if self.name == "pickup" { Needed::PickupAddress } else { Needed::DropoffAddress }
    }
}
