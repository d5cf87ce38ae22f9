//! Files that staff import: who did it stands in the log, beside the tasks, which speak for their source.

use super::{Error, Office, Result};
use crate::{
    domain::{
        actor::Actor,
        admin::{AdminAction, AdminEvent, AdminSubject},
        authority::Matter,
        id::RegionId,
    },
    engine::executor::Executor,
};

impl Executor {
    /// Notes that `actor` imports a file into `region`, if they may and it is theirs at this moment: what they could when
    /// they uploaded it does not count. A source that speaks for itself, by a token, is nobody else's to import for.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn begin_import(&self, actor: &Actor, region: RegionId, source: &str) -> Result<()> {
        let mut office = Office::open_for(self, actor, Matter::Import).await?;
        if !office.reaches(region) {
            return Err(Error::NotFound);
        }
        // Its orders are told apart by its own keys: a file is not to take them before it does.
        let shop = Actor::source(source).ok_or(Error::Invalid("source"))?;
        let now = office.now();
        if !office.tx.tokens_of(&shop, now).await?.is_empty() {
            return Err(Error::Invalid("source"));
        }
        let imported = AdminEvent::new(AdminAction::Imported, AdminSubject::Region(region));
        office.note(imported.in_region(region).with("source", source));
        office.commit().await?;
        Ok(())
    }
}
