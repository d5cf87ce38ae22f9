//! Hints between the nodes on one PostgreSQL. They make it quick; that nothing is missed, the numbers see to.

use std::time::Duration;

use super::Hub;
use crate::store::{self, Product};

/// No more than one hint in this time: each is a round trip.
const SENT_EVERY: Duration = Duration::from_millis(20);
/// When listening has failed, it is tried again after this time. The poll goes on meanwhile.
const AGAIN_AFTER: Duration = Duration::from_millis(500);

impl Hub {
    /// Tells the other nodes whenever this one has committed, until it is dropped.
    pub(super) async fn send_hints(&self) {
        if self.db().product() == Product::Sqlite {
            return std::future::pending().await;
        }
        let mut head = self.0.executor.head();
        while head.changed().await.is_ok() {
            if let Err(error) = self.db().hint().await {
                tracing::debug!(%error, "a hint could not be sent; the others look by themselves");
            }
            tokio::time::sleep(SENT_EVERY).await;
        }
    }

    /// Hears what other nodes say, until it is dropped.
    pub(super) async fn hear_hints(&self) {
        if self.db().product() == Product::Sqlite {
            return std::future::pending().await;
        }
        loop {
            if let Err(error) = self.listen().await {
                tracing::debug!(%error, "hints can not be heard; it looks by itself");
            }
            tokio::time::sleep(AGAIN_AFTER).await;
        }
    }

    async fn listen(&self) -> store::Result<()> {
        let Some(mut hints) = self.db().hints().await? else { return Ok(()) };
        loop {
            // At once: what was said before anyone listened was missed.
            self.0.look.notify_one();
            hints.next().await?;
        }
    }
}
