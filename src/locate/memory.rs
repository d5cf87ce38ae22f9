//! Positions in this process: the riders of each region by H3 cell.
//!
//! A search starts in the cell of the place and goes outwards ring by ring. It stops as soon as no further ring can hold
//! anyone nearer than the worst of those found; [`reach_m`] says how far a ring reaches at least. Where riders are so
//! thin that there are more cells to look into than cells with anyone in them, it looks into those instead.
//!
//! One lock, held for what is changed or searched and never across an `await`. Cells are worked out before it is taken,
//! so a position holds it for well under a microsecond, a usual search for some tens of them.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use h3o::{CellIndex, LatLng, Resolution};

use super::{Near, Wanted, best::Best};
use crate::domain::{
    fix::Fix,
    geo::Place,
    id::{RegionId, RiderId},
};

/// Cells of about 0.1 km²: a dense city has some six riders in each, so that little is looked at in vain.
const CELLS: Resolution = Resolution::Nine;

/// Metres from any point of a cell to whatever lies beyond `rings` rings around it, at least.
///
/// In a plane of regular hexagons with edge `a`, the rows of cells are 1.5 `a` apart, and what lies beyond ring k begins
/// 1.5 k − 0.5 edges away. H3 draws such a plane on the faces of an icosahedron, through their centres; that shrinks it by
/// the cosine of the angle to the face's centre across, and by its square along. The corners of a face are 37.38° away, so
/// nothing shrinks below 0.631 of the edge at a face's centre: 213.7 m become 134.9 m. Folding at the edges of the faces
/// keeps the cells and their neighbours. What is left to 130 m is for rounding and for another radius of the earth.
fn reach_m(rings: u32) -> f64 {
    const SMALLEST_EDGE_M: f64 = 130.0;
    (f64::from(rings).mul_add(1.5, -0.5) * SMALLEST_EDGE_M).max(0.0)
}

/// How many cells a ring has, at most.
const fn cells_in(ring: u32) -> usize {
    if ring == 0 { 1 } else { 6 * ring as usize }
}

/// The index. Cheap to clone; all clones are one.
#[derive(Clone, Debug, Default)]
pub struct Index(Arc<RwLock<Riders>>);

/// A rider in a cell.
#[derive(Clone, Copy, Debug)]
struct Spot {
    rider: RiderId,
    fix: Fix,
}

type Cells = HashMap<CellIndex, Vec<Spot>>;

#[derive(Debug, Default)]
struct Riders {
    regions: HashMap<RegionId, Cells>,
    seats: HashMap<RiderId, Seat>,
}

/// Where a rider's spot is.
#[derive(Clone, Copy, Debug)]
struct Seat {
    region: RegionId,
    cell: CellIndex,
    index: usize,
}

/// The cell of a place; none if it is not on earth.
fn cell(place: Place) -> Option<CellIndex> {
    let place = if place.is_on_earth() { place } else { return None };
    LatLng::new(place.lat, place.lng).ok().map(|point| point.to_cell(CELLS))
}

impl Index {
    // A panic in `wanted` can not leave the riders half changed: searches change nothing.
    fn look(&self) -> RwLockReadGuard<'_, Riders> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self) -> RwLockWriteGuard<'_, Riders> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// As [`Locator::nearest`](super::Locator::nearest).
    pub fn nearest(
        &self,
        region: RegionId,
        from: Place,
        radius_m: f64,
        limit: usize,
        wanted: Wanted<'_>,
    ) -> Vec<Near> {
        let Some(centre) = cell(from) else { return Vec::new() };
        let mut best = Best::new(from, radius_m, limit, wanted);
        if let Some(cells) = self.look().regions.get(&region) {
            search(cells, centre, &mut best);
        }
        best.in_order()
    }

    /// As [`Locator::note`](super::Locator::note). A position that is not on earth is not taken.
    pub fn note(&self, region: RegionId, rider: RiderId, fix: Fix) -> bool {
        let Some(cell) = cell(fix.place) else { return false };
        let mut riders = self.change();
        if let Some(seat) = riders.seats.get(&rider).copied() {
            let Some(spot) = riders.spot(seat) else { return false };
            if !fix.follows(&spot.fix) {
                return false;
            }
            if (seat.region, seat.cell) == (region, cell) {
                spot.fix = fix;
                return true;
            }
            riders.leave(rider);
        }
        riders.enter(region, cell, Spot { rider, fix });
        true
    }

    /// As [`Locator::relocate`](super::Locator::relocate).
    pub fn relocate(&self, region: RegionId, rider: RiderId) {
        let mut riders = self.change();
        if riders.seats.get(&rider).is_none_or(|seat| seat.region == region) {
            return;
        }
        if let Some((cell, spot)) = riders.leave(rider) {
            riders.enter(region, cell, spot);
        }
    }

    /// As [`Locator::forget`](super::Locator::forget).
    pub fn forget(&self, rider: RiderId) {
        self.change().leave(rider);
    }

    /// As [`Locator::of`](super::Locator::of).
    pub fn of(&self, rider: RiderId) -> Option<Fix> {
        let riders = self.look();
        let seat = riders.seats.get(&rider)?;
        let spot = riders.regions.get(&seat.region)?.get(&seat.cell)?.get(seat.index)?;
        Some(spot.fix)
    }

    /// How many riders have a position here.
    pub fn count(&self) -> usize {
        self.look().seats.len()
    }
}

impl Riders {
    fn spot(&mut self, seat: Seat) -> Option<&mut Spot> {
        self.regions.get_mut(&seat.region)?.get_mut(&seat.cell)?.get_mut(seat.index)
    }

    fn enter(&mut self, region: RegionId, cell: CellIndex, spot: Spot) {
        let spots = self.regions.entry(region).or_default().entry(cell).or_default();
        self.seats.insert(spot.rider, Seat { region, cell, index: spots.len() });
        spots.push(spot);
    }

    /// Takes a rider out. The last one of the cell moves into the seat that is free now.
    fn leave(&mut self, rider: RiderId) -> Option<(CellIndex, Spot)> {
        let seat = self.seats.remove(&rider)?;
        let cells = self.regions.get_mut(&seat.region)?;
        let Entry::Occupied(mut spots) = cells.entry(seat.cell) else { return None };
        let spot = spots.get_mut().swap_remove(seat.index);
        if let Some(moved) = spots.get().get(seat.index) {
            self.seats.entry(moved.rider).and_modify(|seat_of| seat_of.index = seat.index);
        } else if spots.get().is_empty() {
            spots.remove();
        }
        Some((seat.cell, spot))
    }
}

/// Looks outwards from `centre` until nobody better can come.
fn search(cells: &Cells, centre: CellIndex, best: &mut Best<'_>) {
    let mut looked = 0;
    for ring in 0_u32.. {
        if ring > 0 && reach_m(ring - 1) > best.worst_m() {
            return;
        }
        looked += cells_in(ring);
        if looked > cells.len() {
            // Those of the rings before would be found twice.
            best.clear();
            cells.values().flatten().for_each(|spot| best.offer(spot.rider, &spot.fix));
            return;
        }
        let mut offer = |cell: CellIndex| {
            let spots = cells.get(&cell).into_iter().flatten();
            spots.for_each(|spot| best.offer(spot.rider, &spot.fix));
        };
        // The quick walk does not know its way around the twelve pentagons.
        let quick: Option<Vec<_>> = centre.grid_ring_fast(ring).collect();
        quick.unwrap_or_else(|| centre.grid_ring(ring)).into_iter().for_each(&mut offer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::Timestamp;

    /// The bound that stops searches holds everywhere, worst where the faces of the icosahedron meet: what lies in a ring
    /// is never nearer than what the rings before reach.
    #[test]
    fn nothing_beyond_the_rings_is_nearer_than_they_reach() {
        let mut chance = fastrand::Rng::with_seed(9);
        let corners: Vec<_> = CELLS.pentagons().collect();
        assert_eq!(corners.len(), 12);
        for round in 0..4_000 {
            let from = if round % 2 == 0 {
                // Around a corner of the icosahedron, where cells are smallest.
                let at = LatLng::from(corners[chance.usize(..12)]);
                let shift = chance.f64() * 0.05;
                let (lat, lng) = (
                    at.lat() + (chance.f64() - 0.5) * shift,
                    at.lng() + (chance.f64() - 0.5) * shift,
                );
                Place { lat: lat.clamp(-90.0, 90.0), lng: lng.clamp(-180.0, 180.0) }
            } else {
                Place {
                    lat: (chance.f64() * 2.0 - 1.0).asin().to_degrees(),
                    lng: chance.f64() * 360.0 - 180.0,
                }
            };
            let Some(centre) = cell(from) else { panic!("{from:?} is on earth") };
            let ring = chance.u32(1..6);
            let around: Vec<CellIndex> = centre.grid_ring(ring);
            for cell in around {
                for corner in cell.boundary().iter() {
                    let there = Place { lat: corner.lat(), lng: corner.lng() };
                    let metres = from.metres_to(there);
                    assert!(metres >= reach_m(ring - 1), "{from:?} ring {ring}: {metres}");
                }
            }
        }
    }

    #[test]
    fn seats_stay_right_when_others_leave() {
        let index = Index::default();
        let here = Place { lat: 31.2304, lng: 121.4737 };
        let fix = |seq| Fix::new(seq, Timestamp(seq), here);
        for rider in 1..=5 {
            assert!(index.note(RegionId(1), RiderId(rider), fix(rider)));
        }
        index.forget(RiderId(2));
        index.forget(RiderId(5));
        assert!(index.note(RegionId(2), RiderId(3), fix(9)));
        index.relocate(RegionId(2), RiderId(4));
        for (rider, seq) in [(1, Some(1)), (2, None), (3, Some(9)), (4, Some(4)), (5, None)] {
            assert_eq!(index.of(RiderId(rider)).map(|fix| fix.seq), seq, "{rider}");
        }
        let of = |region| -> Vec<i64> {
            let found = index.nearest(RegionId(region), here, 1.0, 9, &|_| true);
            found.iter().map(|near| near.rider.0).collect()
        };
        assert_eq!((of(1), of(2)), (vec![1], vec![3, 4]));
        for rider in 1..=5 {
            index.forget(RiderId(rider));
        }
        let riders = index.look();
        assert!(riders.seats.is_empty() && riders.regions.values().all(HashMap::is_empty));
    }
}
