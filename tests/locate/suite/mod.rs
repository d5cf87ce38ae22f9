//! What every index must do, whatever it is made of.

pub mod changes;
pub mod real;
pub mod search;

use dispatch_desk::{
    domain::{
        fix::Fix,
        geo::Place,
        id::{RegionId, RiderId, Timestamp},
    },
    locate::{Locator, Near, Wanted},
};

pub const CITY: RegionId = RegionId(1);
pub const NEXT_CITY: RegionId = RegionId(2);

/// All positions, and the plainest way to ask them.
#[derive(Default)]
pub struct Brute(pub Vec<(RegionId, RiderId, Fix)>);

impl Brute {
    /// The same question as to an index, answered by looking at everybody.
    pub fn nearest(
        &self,
        region: RegionId,
        from: Place,
        radius_m: f64,
        limit: usize,
        wanted: impl Fn(RiderId) -> bool,
    ) -> Vec<Near> {
        let here = self.0.iter().filter(|(of, rider, _)| *of == region && wanted(*rider));
        let near = here.map(|(_, rider, fix)| {
            let distance_m = from.metres_to(fix.place);
            Near { rider: *rider, fix: *fix, distance_m }
        });
        let mut near: Vec<_> = near.filter(|near| near.distance_m <= radius_m).collect();
        near.sort_by(|a, b| a.distance_m.total_cmp(&b.distance_m).then(a.rider.0.cmp(&b.rider.0)));
        near.truncate(limit);
        near
    }

    /// Notes a position here and in the index, which must take it.
    pub async fn note(&mut self, index: &Locator, region: RegionId, rider: RiderId, fix: Fix) {
        assert!(index.note(region, rider, fix).await.unwrap(), "{rider} {fix:?}");
        match self.0.iter_mut().find(|(_, known, _)| *known == rider) {
            Some(known) => *known = (region, rider, fix),
            None => self.0.push((region, rider, fix)),
        }
    }

    /// Asks both.
    pub async fn compare(
        &self,
        index: &Locator,
        from: Place,
        radius_m: f64,
        limit: usize,
        wanted: impl Fn(RiderId) -> bool + Send + Sync,
    ) -> usize {
        let found = answer(index, from, radius_m, limit, &wanted).await;
        let expected = self.nearest(CITY, from, radius_m, limit, &wanted);
        assert_eq!(found, expected, "{limit} within {radius_m} m of {from:?}");
        found.len()
    }
}

/// What an index answers. One elsewhere may be away for a moment on a busy machine: then it is asked again.
async fn answer(
    index: &Locator,
    from: Place,
    radius_m: f64,
    limit: usize,
    wanted: Wanted<'_>,
) -> Vec<Near> {
    let mut tries = 0;
    loop {
        match index.nearest(CITY, from, radius_m, limit, wanted).await {
            Ok(found) => return found,
            Err(away) if tries == 50 => panic!("{away}"),
            Err(_) => tries += 1,
        }
    }
}

/// A position with all there is to say of one.
pub fn fix(seq: i64, lat: f64, lng: f64) -> Fix {
    let at = Timestamp(1_796_000_000_000 + seq);
    Fix {
        taken_at: at.plus_ms(-7),
        accuracy_m: Some(12.5),
        ..Fix::new(seq, at, Place { lat, lng })
    }
}
