//! Positions in Redis, shared by several nodes.
//!
//! Its `GEO` index is kept per region and finds who is near, about: it keeps places to some decimetres and takes the earth
//! for a little larger. Beside it stands each exact position. A search takes a few more than it needs, a little further,
//! and orders them by the exact positions; it takes more until no one who was left out could be nearer. So the answer is
//! the same as that of [`memory`](super::memory), rider by rider.
//!
//! Each change is one script, so a position and its place in the index change together. A search is answered only if
//! everybody is in it: a Redis that was emptied says so until it was filled again ([`Index::begin`], [`Index::filled`]).
//! What takes longer than [`PATIENCE`] counts as away.

mod record;

use std::{
    fmt,
    sync::{Arc, LazyLock},
    time::Duration,
};

use ::redis::{
    AsyncTypedCommands, Client, FromRedisValue, Script, ScriptInvocation,
    aio::{ConnectionManager, ConnectionManagerConfig},
};

use super::{Away, Near, Wanted, best::Best};
use crate::domain::{
    fix::Fix,
    geo::Place,
    id::{RegionId, RiderId},
};

/// How long Redis may take: a round does not wait for distances.
pub const PATIENCE: Duration = Duration::from_millis(200);

/// Redis can not index places nearer to the poles, in degrees.
const FARTHEST_LAT: f64 = 85.05;
/// Where its searches become unsure around the globe, in metres: from here on everybody is looked at.
const FARTHEST_M: f64 = 500_000.0;
/// Its earth is larger than ours: 6,372,797.56 m against 6,371,008.77 m, and a little for rounding.
const STRETCH: f64 = 1.000_3;
/// Its places are off by half a cell of 0.6 m by 0.3 m, at both ends of a distance at most, and a little for rounding.
const BLUR_M: f64 = 2.0;

static NOTE: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("note.lua")));
static MOVE: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("move.lua")));
static NEAR: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("near.lua")));
static FILLED: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("filled.lua")));

/// The index. Cheap to clone; all clones share a connection.
#[derive(Clone)]
pub struct Index(Arc<Inner>);

struct Inner {
    connection: ConnectionManager,
    /// In braces, so that a cluster keeps all of it on one node.
    prefix: String,
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index").field("prefix", &self.0.prefix).finish_non_exhaustive()
    }
}

fn away(error: &dyn fmt::Display) -> Away {
    Away(error.to_string())
}

/// One of those who are near, about.
type Rough = (RiderId, f64, Fix);

impl Index {
    /// An index at `redis://…`, whose keys begin with `name`. It connects when it is asked.
    ///
    /// # Errors
    /// If that is no address of a Redis.
    pub fn open(url: &str, name: &str) -> Result<Self, Away> {
        let client = Client::open(url).map_err(|error| away(&error))?;
        let config = ConnectionManagerConfig::new()
            .set_number_of_retries(0)
            .set_connection_timeout(Some(PATIENCE))
            .set_response_timeout(Some(PATIENCE));
        let connection = ConnectionManager::new_lazy_with_config(client, config);
        let connection = connection.map_err(|error| away(&error))?;
        Ok(Self(Arc::new(Inner { connection, prefix: format!("{{{name}}}:") })))
    }

    fn key(&self, name: &str) -> String {
        format!("{}{name}", self.0.prefix)
    }

    fn connection(&self) -> ConnectionManager {
        self.0.connection.clone()
    }

    async fn run<T: FromRedisValue>(&self, script: &ScriptInvocation<'_>) -> Result<T, Away> {
        let mut connection = self.connection();
        in_time(script.invoke_async(&mut connection)).await
    }

    /// As [`Locator::nearest`](super::Locator::nearest).
    ///
    /// # Errors
    /// [`Away`], also if not everybody may be in it.
    pub async fn nearest(
        &self,
        region: RegionId,
        from: Place,
        radius_m: f64,
        limit: usize,
        wanted: Wanted<'_>,
    ) -> Result<Vec<Near>, Away> {
        if !from.is_on_earth() || limit == 0 || radius_m.is_nan() || radius_m < 0.0 {
            return Ok(Vec::new());
        }
        let all = from.lat.abs() > FARTHEST_LAT || radius_m > FARTHEST_M;
        let within = (!all).then(|| radius_m.mul_add(STRETCH, BLUR_M));
        let mut count = limit.saturating_mul(2).clamp(64, 1 << 20);
        loop {
            let (found, rough) = self.rough(region, from, within, count).await?;
            let mut best = Best::new(from, radius_m, limit, wanted);
            for (rider, _, fix) in &rough {
                best.offer(*rider, fix);
            }
            // Whoever was left out is at least as far as the last of them, about.
            let last_m = rough.iter().map(|(_, metres, _)| *metres).fold(0.0, f64::max);
            if all || found < count || best.worst_m() < last_m / STRETCH - BLUR_M {
                return Ok(best.in_order());
            }
            count = count.saturating_mul(4);
        }
    }

    /// The nearest `count`, about, of those within so many metres, and all near the poles. Without metres: everybody.
    async fn rough(
        &self,
        region: RegionId,
        from: Place,
        within_m: Option<f64>,
        count: usize,
    ) -> Result<(usize, Vec<Rough>), Away> {
        let mut script = NEAR.prepare_invoke();
        script.key(self.key("fix")).key(self.key("state"));
        script.key(self.key(&format!("near:{region}", region = region.0)));
        script.key(self.key(&format!("polar:{region}", region = region.0)));
        script.arg(from.lng).arg(from.lat);
        script.arg(within_m.map(|metres| metres.to_string()).unwrap_or_default()).arg(count);
        let answer: Option<Vec<String>> = self.run(&script).await?;
        let answer = answer.ok_or_else(|| Away("it is not filled".to_owned()))?;
        let (found, rows) = answer.split_first().ok_or_else(|| Away("no answer".to_owned()))?;
        let found = found.parse().map_err(|_| Away("no count".to_owned()))?;
        let read = |row: &[String]| {
            let [rider, metres, record] = row else { return None };
            let (of, fix) = record::read(record)?;
            let rider = RiderId(rider.parse().ok()?);
            (of == region).then_some((rider, metres.parse().ok()?, fix))
        };
        Ok((found, rows.chunks(3).filter_map(read).collect()))
    }

    /// As [`Locator::note`](super::Locator::note). A position that is not on earth is not taken.
    ///
    /// # Errors
    /// [`Away`].
    pub async fn note(&self, region: RegionId, rider: RiderId, fix: Fix) -> Result<bool, Away> {
        if !fix.place.is_on_earth() {
            return Ok(false);
        }
        let mut script = NOTE.key(self.key("fix"));
        script.arg(&self.0.prefix).arg(rider.0).arg(region.0);
        for number in [fix.device.0, fix.seq, fix.at.0] {
            script.arg(record::ordered(number));
        }
        script.arg(record::rest(&fix)).arg(fix.place.lng).arg(fix.place.lat);
        script.arg(u8::from(fix.place.lat.abs() > FARTHEST_LAT));
        self.run::<bool>(&script).await
    }

    /// As [`Locator::relocate`](super::Locator::relocate).
    ///
    /// # Errors
    /// [`Away`].
    pub async fn relocate(&self, region: RegionId, rider: RiderId) -> Result<(), Away> {
        self.put(rider, &region.0.to_string()).await
    }

    /// As [`Locator::forget`](super::Locator::forget).
    ///
    /// # Errors
    /// [`Away`].
    pub async fn forget(&self, rider: RiderId) -> Result<(), Away> {
        self.put(rider, "").await
    }

    async fn put(&self, rider: RiderId, region: &str) -> Result<(), Away> {
        let mut script = MOVE.key(self.key("fix"));
        script.arg(&self.0.prefix).arg(rider.0).arg(region);
        self.run::<bool>(&script).await.map(|_| ())
    }

    /// As [`Locator::of`](super::Locator::of).
    ///
    /// # Errors
    /// [`Away`].
    pub async fn of(&self, rider: RiderId) -> Result<Option<Fix>, Away> {
        let (mut connection, key) = (self.connection(), self.key("fix"));
        let record = in_time(connection.hget(&key, rider.0)).await?;
        Ok(record.as_deref().and_then(record::read).map(|(_, fix)| fix))
    }

    /// How many riders have a position here.
    ///
    /// # Errors
    /// [`Away`].
    pub async fn count(&self) -> Result<usize, Away> {
        let (mut connection, key) = (self.connection(), self.key("fix"));
        in_time(connection.hlen(&key)).await
    }

    /// Whether everybody is in it: it was filled, and not emptied since.
    ///
    /// # Errors
    /// [`Away`].
    pub async fn is_whole(&self) -> Result<bool, Away> {
        let (mut connection, key) = (self.connection(), self.key("state"));
        let state = in_time(connection.get(&key)).await?;
        Ok(state.as_deref() == Some("whole"))
    }

    /// Begins to fill it, under a name that nobody else uses.
    ///
    /// # Errors
    /// [`Away`].
    pub async fn begin(&self, name: &str) -> Result<(), Away> {
        let (mut connection, key) = (self.connection(), self.key("state"));
        in_time(connection.set(&key, name)).await
    }

    /// Ends the filling of that name. Whether everybody is in it now: not if it was emptied meanwhile, or another filling
    /// has begun.
    ///
    /// # Errors
    /// [`Away`].
    pub async fn filled(&self, name: &str) -> Result<bool, Away> {
        let mut script = FILLED.key(self.key("state"));
        self.run(script.arg(name)).await
    }
}

/// Waits for an answer, and no longer than for [`PATIENCE`].
async fn in_time<T>(answer: impl Future<Output = ::redis::RedisResult<T>>) -> Result<T, Away> {
    match tokio::time::timeout(PATIENCE, answer).await {
        Ok(answer) => answer.map_err(|error| away(&error)),
        Err(_) => Err(Away(format!("no answer within {} ms", PATIENCE.as_millis()))),
    }
}
