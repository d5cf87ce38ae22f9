//! The ledger of offers, written beside the tasks.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    error::Result,
    sql::{Sql, rows, setwise},
    tx::{Tx, execute},
    write::{Steps, all_moved},
};
use crate::domain::{
    event::Change,
    task::{OfferAnswer, State},
};

const END_OFFERS: Sql = setwise!(
    "UPDATE offer SET answer = r.answer, answered_at = r.at, reason = r.reason FROM ",
    rows(task int, revision int, answer text, at int, reason text),
    " WHERE offer.task_id = r.task AND offer.revision = r.revision AND offer.answer IS NULL"
);

const INSERT_OFFERS: Sql = setwise!(
    "INSERT INTO offer (task_id, revision, token, rider_id, offered_at, offer_until, answered_at, answer, reason, \
     policy_version) SELECT r.task, r.revision, r.token, r.rider, r.offered_at, r.until, r.at, r.answer, \
     r.reason, r.policy_version FROM ",
    rows(task int, revision int, token text, rider int, offered_at int, until int, at int, answer text,
         reason text, policy_version int),
    " WHERE true"
);
#[derive(Default, Serialize)]
struct NetOffer {
    task: i64,
    revision: i64,
    token: Option<String>,
    rider: i64,
    offered_at: i64,
    until: i64,
    at: Option<i64>,
    answer: Option<&'static str>,
    reason: Option<String>,
    policy_version: i64,
}

impl Tx {
    /// Writes what became of waiting offers, and the new ones.
    pub(super) async fn write_offers(
        &mut self,
        changes: &[Steps<'_>],
        mut token: impl FnMut() -> Result<String>,
    ) -> Result<()> {
        let mut ended = Vec::new();
        let mut made: BTreeMap<(i64, i64), NetOffer> = BTreeMap::new();
        for change in changes {
            let mut before = change.before;
            for step in change.steps {
                let event = step.event();
                if let State::Offered { rider, .. } = &before.state {
                    let end = NetOffer {
                        task: before.id.0,
                        revision: before.revision.0,
                        rider: rider.0,
                        at: Some(event.at.0),
                        answer: OfferAnswer::by(event.action).map(OfferAnswer::as_str),
                        reason: event.reason.as_ref().map(|reason| reason.as_str().to_owned()),
                        ..NetOffer::default()
                    };
                    match made.get_mut(&(end.task, end.revision)) {
                        Some(offer) => {
                            (offer.at, offer.answer, offer.reason) =
                                (end.at, end.answer, end.reason);
                        }
                        None => ended.push(end),
                    }
                }
                if let (Change::Offered { until, policy_version, .. }, Some(rider)) =
                    (&event.change, event.rider)
                {
                    let offer = NetOffer {
                        task: event.task.0,
                        revision: event.to.0,
                        token: Some(token()?),
                        rider: rider.0,
                        offered_at: event.at.0,
                        until: until.0,
                        policy_version: *policy_version,
                        ..NetOffer::default()
                    };
                    made.insert((offer.task, offer.revision), offer);
                }
                before = step.after();
            }
        }
        if !ended.is_empty() {
            let moved = execute!(self, END_OFFERS, rows(&ended));
            all_moved("offer", moved, ended.len())?;
        }
        if !made.is_empty() {
            execute!(self, INSERT_OFFERS, rows(&made.into_values().collect::<Vec<_>>()));
        }
        Ok(())
    }
}
