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
    /// they uploaded it does not count.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn begin_import(&self, actor: &Actor, region: RegionId, source: &str) -> Result<()> {
        let mut office = Office::open_for(self, actor, Matter::Import).await?;
        if !office.reaches(region) {
            return Err(Error::NotFound);
        }
        let imported = AdminEvent::new(AdminAction::Imported, AdminSubject::Region(region));
        office.note(imported.in_region(region).with("source", source));
        office.commit().await?;
        Ok(())
    }
}
