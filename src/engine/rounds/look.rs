//! Riders near a pickup, with all that is known of them, in order.

use std::collections::HashMap;

use super::Rounds;
use crate::{
    domain::{
        geo::Place,
        id::{RiderId, TaskId, Timestamp},
        policy::Region,
        rank::{Ranking, Search, Seen, rank},
        task::Task,
    },
    locate::Near,
    store::{self, Tx},
};

/// How many riders are looked at for each one who is asked, at first; and at least, and at most.
const LOOKED_AT_PER_ASKED: usize = 8;
const LEAST: usize = 64;
const MOST: usize = 4_096;
/// What riders have answered counts for so long, in milliseconds.
const WEEK_MS: i64 = 7 * 86_400_000;
/// Waiting longer than this counts no more, in milliseconds.
const WORK_MS: i64 = 30 * 60_000;

/// Where to look, how far, and for how many.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wanted {
    /// The pickup.
    pub from: Place,
    /// The circle, in metres.
    pub radius_m: u32,
    /// How many are asked at most.
    pub batch: u32,
}

/// Who would be asked, who not and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Looked {
    /// The order, and the reasons.
    pub ranking: Ranking,
    /// The circle; none if positions are not to be had, so that distance did not count.
    pub radius_m: Option<u32>,
    /// Riders on duty in the region who were not looked at: they are farther away, or nobody knows where.
    pub farther: u32,
}

/// The riders that the index has found.
#[derive(Debug)]
pub(super) struct Found {
    /// The nearest; none if the index is away.
    near: Option<Vec<Near>>,
    /// Whether there may be more within the circle.
    cut: bool,
    limit: usize,
}

impl Rounds {
    /// The riders within the circle, as many as it takes.
    pub(super) async fn find(&self, region: &Region, wanted: Wanted, limit: usize) -> Found {
        let radius = f64::from(wanted.radius_m);
        let near = self.locator.nearest(region.id, wanted.from, radius, limit, &|_| true).await;
        match near {
            Ok(near) => Found { cut: near.len() >= limit, near: Some(near), limit },
            Err(error) => {
                tracing::warn!(?error, "positions are not to be had: riders are asked without");
                Found { near: None, cut: false, limit }
            }
        }
    }

    /// Looks for riders for `task`: first at the nearest few, then at more while nobody among them will do.
    ///
    /// # Errors
    /// Whatever the database says. That positions are not to be had is no error.
    pub async fn look(
        &self,
        tx: &mut Tx,
        task: &Task,
        region: &Region,
        wanted: Wanted,
    ) -> store::Result<Looked> {
        let now = tx.now().await?;
        let asked = usize::try_from(wanted.batch).unwrap_or(MOST);
        let mut limit = asked.saturating_mul(LOOKED_AT_PER_ASKED).clamp(LEAST, MOST);
        loop {
            let found = self.find(region, wanted, limit).await;
            let looked = ranked(tx, task, region, wanted, &found, now).await?;
            let few = looked.ranking.candidates.len() < asked;
            if !(few && found.cut && found.limit < MOST) {
                return Ok(looked);
            }
            limit = (limit * 4).min(MOST);
        }
    }
}

/// Where a rider was last seen: metres from the pickup, and when.
type Places = HashMap<RiderId, (u32, Timestamp)>;

/// Puts riders whom somebody else has found into the same order: all of them, at any distance.
///
/// # Errors
/// Whatever the database says.
pub async fn among(
    tx: &mut Tx,
    task: &Task,
    region: &Region,
    from: Place,
    riders: &[(RiderId, Option<(Place, Timestamp)>)],
) -> store::Result<Ranking> {
    let now = tx.now().await?;
    let ids: Vec<_> = riders.iter().map(|(rider, _)| *rider).collect();
    let place = |(rider, seen): &(RiderId, Option<(Place, Timestamp)>)| {
        seen.map(|(place, at)| (*rider, (metres(place.metres_to(from)), at)))
    };
    let places: Places = riders.iter().filter_map(place).collect();
    let seen = seen(tx, task.id, &ids, &places, now).await?;
    let search = Search { task, region, radius_m: None, batch: u32::MAX, now };
    Ok(rank(&search, &seen))
}

/// Puts those who were found into order.
async fn ranked(
    tx: &mut Tx,
    task: &Task,
    region: &Region,
    wanted: Wanted,
    found: &Found,
    now: Timestamp,
) -> store::Result<Looked> {
    let (ids, radius_m) = if let Some(near) = &found.near {
        (near.iter().map(|near| near.rider).collect(), Some(wanted.radius_m))
    } else {
        let most = i64::try_from(found.limit).unwrap_or(i64::MAX);
        (tx.riders_on_duty(region.id, most).await?, None)
    };
    let near = found.near.iter().flatten();
    let places: Places =
        near.map(|near| (near.rider, (metres(near.distance_m), near.fix.at))).collect();
    let seen = seen(tx, task.id, &ids, &places, now).await?;
    let search = Search { task, region, radius_m, batch: wanted.batch, now };
    let on_duty = tx.count_on_duty(region.id).await?;
    let looked_at = seen.iter().filter(|seen| seen.rider.duty == crate::domain::facts::Duty::On);
    let looked_at = u32::try_from(looked_at.count()).unwrap_or(u32::MAX);
    Ok(Looked {
        ranking: rank(&search, &seen),
        radius_m,
        farther: on_duty.saturating_sub(looked_at),
    })
}

/// All that is known of these riders.
async fn seen(
    tx: &mut Tx,
    task: TaskId,
    ids: &[RiderId],
    places: &Places,
    now: Timestamp,
) -> store::Result<Vec<Seen>> {
    let riders = tx.riders_seen(ids).await?;
    let requests = tx.requests_of(ids, now.plus_ms(-WEEK_MS)).await?;
    let work = tx.last_work_of(ids, now.plus_ms(-WORK_MS)).await?;
    let week: Vec<_> = ids.iter().map(|rider| (*rider, now.plus_ms(-WEEK_MS))).collect();
    let hand_backs: HashMap<_, _> = tx.hand_backs(&week).await?.into_iter().collect();
    let before = tx.before(task).await?;
    let seen = riders.into_iter().map(|mut rider| {
        let id = rider.id;
        let place = places.get(&id);
        rider.last_fix_at = place.map(|(_, at)| *at);
        let requests = requests.get(&id).copied().unwrap_or_default();
        Seen {
            distance_m: place.map(|(metres, _)| *metres),
            last_work_at: work.get(&id).copied(),
            asked: requests.asked,
            answered: requests.answered,
            hand_backs: hand_backs.get(&id).copied().unwrap_or_default(),
            before: before.get(&id).copied(),
            rider,
        }
    });
    Ok(seen.collect())
}

/// Whole metres; distances on earth fit.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a distance on earth is between 0 and 20,040 km"
)]
fn metres(distance: f64) -> u32 {
    distance.round() as u32
}
