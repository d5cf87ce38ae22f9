//! Whether commands could be taken now.

use super::Executor;
use crate::{engine::health::Health, store};

impl Executor {
    /// Whether this node can take commands. A node that could not store the last ones tries to write, so that it turns
    /// ready as soon as the database is back, and not only at somebody's next command.
    pub async fn is_ready(&self) -> bool {
        let pulse = &self.shared.pulse;
        let tried = match pulse.health() {
            Health::Stopped => return false,
            Health::Ready => self.look().await,
            Health::Unready => self.touch().await,
        };
        match &tried {
            Ok(()) => pulse.ready(),
            Err(error) => {
                tracing::warn!(%error, "not ready");
                pulse.unready();
            }
        }
        tried.is_ok()
    }

    async fn look(&self) -> store::Result<()> {
        self.shared.db.read().await?.head().await.map(|_| ())
    }

    async fn touch(&self) -> store::Result<()> {
        let mut tx = self.shared.db.begin().await?;
        tx.touch().await?;
        tx.commit().await
    }
}
