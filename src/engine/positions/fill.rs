//! The index is filled from the database: at the start, and whenever it may have lost somebody.

use futures_util::{StreamExt, TryStreamExt, stream};

use super::Positions;
use crate::{
    clock::{Entropy, SystemEntropy},
    domain::{fingerprint::hex, id::RiderId},
    locate::Locator,
    store::{self, Db, Located, Product},
};

/// How many positions are read at once, and noted at once.
const PAGE: i64 = 10_000;
const AT_ONCE: usize = 64;

impl Positions {
    /// Fills the index from the database. Positions that were noted meanwhile stay. Returns how many were read.
    ///
    /// # Errors
    /// Whatever the database says. That the index is away is logged: it is filled once it is back.
    pub async fn load(&self, db: &Db) -> store::Result<usize> {
        let mut name = [0; 8];
        SystemEntropy.fill(&mut name).map_err(|error| store::Error::Driver(error.into()))?;
        let name = hex(&name);
        if let Err(away) = self.0.locator.begin(&name).await {
            tracing::warn!(%away, "the index of positions is not filled");
            return Ok(0);
        }
        let (mut tx, mut last, mut read) = (db.read().await?, RiderId(0), 0);
        loop {
            let page = tx.fixes(last, PAGE).await?;
            let Some(end) = page.last() else { break };
            last = end.rider;
            read += page.len();
            let note = |at: Located| self.0.locator.note(at.region, at.rider, at.fix);
            let noted: Result<Vec<_>, _> =
                stream::iter(page).map(note).buffer_unordered(AT_ONCE).try_collect().await;
            if let Err(away) = noted {
                tracing::warn!(%away, "the index of positions is not filled");
                return Ok(read);
            }
        }
        if !matches!(self.0.locator.filled(&name).await, Ok(true)) {
            tracing::warn!(
                "the index of positions is not filled: it was emptied, or somebody else fills it"
            );
        }
        Ok(read)
    }

    /// Fills an index that has lost somebody, and one that does not learn what other nodes are told.
    pub(super) async fn look_again(&self, db: &Db) {
        let alone =
            matches!(self.0.locator, Locator::Memory(_)) && db.product() == Product::Postgres;
        if !alone && !matches!(self.0.locator.is_whole().await, Ok(false)) {
            return;
        }
        if let Err(error) = self.load(db).await {
            tracing::warn!(%error, "the index of positions is not filled");
        }
    }
}
