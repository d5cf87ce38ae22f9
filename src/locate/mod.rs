//! Where riders are, and who is nearest.
//!
//! **Architecture invariant.** It proposes and never decides: whether somebody may take a task stands in the store. What
//! it says may be a moment old, or missing ([`Away`]); a caller then ranks without distance. It is asked with a rule of
//! who is wanted, so that nobody has to scan a city for the few who are free.
//!
//! | file | |
//! |---|---|
//! | [`memory`] | an index in this process, on H3 cells |
//! | `best` | the nearest few of many |
//! | [`redis`](mod@redis) | an index that several nodes share |

mod best;
pub mod memory;
pub mod redis;

use crate::domain::{
    fix::Fix,
    geo::Place,
    id::{RegionId, RiderId},
};

/// A rider and how far away they are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    /// The rider.
    pub rider: RiderId,
    /// The last known position.
    pub fix: Fix,
    /// Metres along the ground.
    pub distance_m: f64,
}

/// Positions can not be had now: go on without distances.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("positions can not be had now: {0}")]
pub struct Away(pub String);

/// Whom a search is for.
pub type Wanted<'a> = &'a (dyn Fn(RiderId) -> bool + Send + Sync);

/// The H3 cell of resolution 7 (about 5 km²) that a place lies in, as lists of the manual pool name it; 0 for what is no
/// place on earth.
pub fn pool_cell(place: Place) -> i64 {
    let cell = h3o::LatLng::new(place.lat, place.lng).map(|at| at.to_cell(h3o::Resolution::Seven));
    cell.map_or(0, |cell| u64::from(cell).cast_signed())
}

/// An index of the last known position of each rider, by region. Cheap to clone; all clones are one index.
#[derive(Clone, Debug)]
pub enum Locator {
    /// In this process.
    Memory(memory::Index),
    /// In Redis.
    Redis(redis::Index),
}

impl Default for Locator {
    fn default() -> Self {
        Self::Memory(memory::Index::default())
    }
}

impl Locator {
    /// The index at `url`, such as `redis://host`; the one in this process if there is none.
    ///
    /// # Errors
    /// If that is no address of an index.
    pub fn open(url: Option<&str>) -> Result<Self, Away> {
        let Some(url) = url else { return Ok(Self::default()) };
        redis::Index::open(url, "dispatch-desk").map(Self::Redis)
    }

    /// The nearest `limit` riders of `region` within `radius_m` metres of `from` (the edge counts as inside), of those whom
    /// `wanted` lets pass: nearest first, at equal distances by number.
    ///
    /// `wanted` is asked while the index is held: it must be quick, and must not ask the index anything.
    ///
    /// # Errors
    /// [`Away`].
    pub async fn nearest(
        &self,
        region: RegionId,
        from: Place,
        radius_m: f64,
        limit: usize,
        wanted: Wanted<'_>,
    ) -> Result<Vec<Near>, Away> {
        match self {
            Self::Memory(index) => Ok(index.nearest(region, from, radius_m, limit, wanted)),
            Self::Redis(index) => index.nearest(region, from, radius_m, limit, wanted).await,
        }
    }

    /// Notes where a rider of `region` is. Whether it was taken: one that does not [follow](Fix::follows) the last known
    /// position is not. A rider who was in another region is in this one from now on.
    ///
    /// # Errors
    /// [`Away`].
    pub async fn note(&self, region: RegionId, rider: RiderId, fix: Fix) -> Result<bool, Away> {
        match self {
            Self::Memory(index) => Ok(index.note(region, rider, fix)),
            Self::Redis(index) => index.note(region, rider, fix).await,
        }
    }

    /// Takes a rider along to another region, with the last known position. Nothing happens if there is none.
    ///
    /// # Errors
    /// [`Away`].
    pub async fn relocate(&self, region: RegionId, rider: RiderId) -> Result<(), Away> {
        match self {
            Self::Memory(index) => index.relocate(region, rider),
            Self::Redis(index) => index.relocate(region, rider).await?,
        }
        Ok(())
    }

    /// Forgets where a rider is.
    ///
    /// # Errors
    /// [`Away`].
    pub async fn forget(&self, rider: RiderId) -> Result<(), Away> {
        match self {
            Self::Memory(index) => index.forget(rider),
            Self::Redis(index) => index.forget(rider).await?,
        }
        Ok(())
    }

    /// The last known position of a rider.
    ///
    /// # Errors
    /// [`Away`].
    pub async fn of(&self, rider: RiderId) -> Result<Option<Fix>, Away> {
        match self {
            Self::Memory(index) => Ok(index.of(rider)),
            Self::Redis(index) => index.of(rider).await,
        }
    }

    /// How many riders have a position here.
    ///
    /// # Errors
    /// [`Away`].
    pub async fn count(&self) -> Result<usize, Away> {
        match self {
            Self::Memory(index) => Ok(index.count()),
            Self::Redis(index) => index.count().await,
        }
    }

    /// Whether everybody of whom a position was noted may be in it. One in this process loses nobody.
    ///
    /// # Errors
    /// [`Away`].
    pub async fn is_whole(&self) -> Result<bool, Away> {
        match self {
            Self::Memory(_) => Ok(true),
            Self::Redis(index) => index.is_whole().await,
        }
    }

    /// Begins to fill it, under a name that nobody else uses.
    ///
    /// # Errors
    /// [`Away`].
    pub async fn begin(&self, name: &str) -> Result<(), Away> {
        match self {
            Self::Memory(_) => Ok(()),
            Self::Redis(index) => index.begin(name).await,
        }
    }

    /// Ends the filling of that name. Whether everybody is in it now.
    ///
    /// # Errors
    /// [`Away`].
    pub async fn filled(&self, name: &str) -> Result<bool, Away> {
        match self {
            Self::Memory(_) => Ok(true),
            Self::Redis(index) => index.filled(name).await,
        }
    }
}
