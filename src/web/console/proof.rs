//! By what somebody has proven who they are: good for as long as it stays what it was.

use serde::{Deserialize, Serialize};
use tower_sessions::Session;

use super::super::{desk::Desk, password};
use crate::{
    domain::id::{StaffId, Timestamp},
    store::{self, Tx, token_hash},
};

/// Where a session keeps who has given the password and not yet the second factor.
pub(super) const PENDING: &str = "pending";
/// How long they have for it, in milliseconds.
const PENDING_MS: i64 = 5 * 60_000;

/// Somebody between password and second factor.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Pending {
    pub(super) staff: StaffId,
    /// As [`Proven::proof`].
    pub(super) proof: Option<String>,
    pub(super) since: Timestamp,
    pub(super) next: String,
}

/// Who has given the password and may now give the second factor.
pub(super) async fn pending(session: &Session, now: Timestamp) -> Option<Pending> {
    let pending = session.get::<Pending>(PENDING).await.ok().flatten()?;
    (now.ms_since(pending.since) < PENDING_MS).then_some(pending)
}

/// Who has proven that they are it, and by which password: its hash, hashed; none if by a link.
pub(super) struct Proven {
    pub(super) staff: StaffId,
    pub(super) proof: Option<String>,
}

/// Which password somebody has now, as [`Proven::proof`] has it.
pub(super) async fn proof_of(tx: &mut Tx, staff: StaffId) -> store::Result<Option<String>> {
    Ok(tx.password_of(staff).await?.map(|(_, phc)| token_hash(&phc)))
}

/// Hashes a password anew that was hashed at less than what we ask for now, unless it was changed meanwhile.
pub(super) async fn strengthen(
    desk: &Desk,
    staff: StaffId,
    login: &str,
    password: String,
    proof: Option<&str>,
) -> Option<String> {
    let phc = password::make(desk, password).await.ok().flatten()?;
    let kept = async {
        let mut tx = desk.db().begin().await?;
        let now = tx.now().await?;
        if proof_of(&mut tx, staff).await? != proof.map(str::to_owned) {
            return Ok(None);
        }
        tx.set_password(staff, login, &phc, now).await?;
        tx.commit().await?;
        Ok::<_, store::Error>(Some(token_hash(&phc)))
    };
    kept.await.unwrap_or_else(|error| {
        tracing::warn!(%error, "a password keeps its old hash");
        None
    })
}
