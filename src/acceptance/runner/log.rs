//! The log of the whole run: how far it went before, and every page since.

use super::{Error, Runner};
use crate::acceptance::{
    product::{self, Bounds},
    record::{Exchange, Line, Purpose},
    words::Who,
};

impl Runner {
    /// How far the log goes before anything is played: what was done to the desk itself to set it up stands in it, too.
    /// From its beginning, if the product does not say.
    pub(super) async fn beginning(&mut self) -> Result<i64, Error> {
        let bounds = self.page(Purpose::Beginning, 0).await?;
        Ok(bounds.map_or(0, |bounds| bounds.head))
    }

    /// Reads the whole log since, page by page.
    pub(super) async fn numbers(&mut self, before: i64) -> Result<(), Error> {
        let mut after = before;
        loop {
            match self.page(Purpose::Numbers, after).await? {
                Some(bounds) if bounds.through > after && bounds.through < bounds.head => {
                    after = bounds.through;
                }
                _ => return Ok(()),
            }
        }
    }

    async fn page(&mut self, purpose: Purpose, after: i64) -> Result<Option<Bounds>, Error> {
        let request = product::numbers(after);
        let token = self.troupe.people().auditor.clone();
        let sent = self.wire.send(Some(&token), None, &request, None).await;
        let bounds = sent.reply.as_ref().ok().and_then(product::bounds);
        self.line(Line::Exchange(Box::new(Exchange {
            scenario: String::new(),
            round: 0,
            step: 0,
            purpose,
            who: Who::Auditor,
            asks: Vec::new(),
            method: request.method.to_owned(),
            path: request.kept_path,
            key: None,
            sent: None,
            failed: sent.reply.as_ref().err().cloned(),
            reply: sent.reply.ok(),
            lost: false,
            began_ns: sent.began_ns,
            ended_ns: sent.ended_ns,
        })))?;
        Ok(bounds)
    }
}
