//! What readers of the log and of the ledger ask for: events by region or rider, offers.

use sqlx::FromRow;

use super::{
    error::Result,
    lists::region_rows,
    rows::{LoggedEvent, read},
    sql::{Sql, paged},
    tx::{Tx, execute, fetch},
};
use crate::domain::{
    id::{RegionId, Revision, RiderId, TaskId, Timestamp},
    task::OfferAnswer,
};

pub(super) const EVENTS_OF_REGIONS: Sql = paged!(
    "SELECT e.number, e.event_id, e.kind, e.subject, e.region_id, e.task_id, e.from_revision, e.to_revision, \
     e.action, e.actor_kind, e.actor_id, e.rider_id, e.mode, e.reason, e.key_hash, e.occurred_at, \
     e.detail_version, e.detail FROM ",
    "dispatch_event",
    "number",
    "p.number > $2 AND (p.kind <> 'admin' OR $4 = 1)",
    order("", "ASC"),
    "$3",
    " CROSS JOIN dispatch_event e WHERE e.number = k.number ORDER BY e.number"
);
pub(super) const OFFER: Sql = Sql::same(
    "SELECT token, task_id, revision, rider_id, offered_at, offer_until, answered_at, answer, reason, \
     policy_version FROM offer WHERE token = $1",
);
pub(super) const OFFERS_OF: Sql = Sql::same(
    "SELECT token, task_id, revision, rider_id, offered_at, offer_until, answered_at, answer, reason, \
     policy_version FROM offer WHERE task_id = $1 ORDER BY revision",
);
pub(super) const OFFERS_TO: Sql = Sql::same(
    "SELECT token, task_id, revision, rider_id, offered_at, offer_until, answered_at, answer, reason, \
     policy_version FROM offer WHERE rider_id = $1 AND offered_at >= $2 \
     ORDER BY offered_at DESC, task_id DESC, revision DESC LIMIT $3",
);
/// A write that changes nothing: whether anything can be stored at all.
const TOUCH: Sql = Sql::same("UPDATE task_counter SET number = number WHERE id = 1");

/// An offer as its readers see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offered {
    /// Its unguessable name.
    pub token: String,
    /// For which task.
    pub task: TaskId,
    /// The revision that it made: the one that its rider names.
    pub revision: Revision,
    /// To whom.
    pub rider: RiderId,
    /// When.
    pub at: Timestamp,
    /// The deadline.
    pub until: Timestamp,
    /// How it ended, and when.
    pub answered: Option<(OfferAnswer, Timestamp)>,
    /// Why, as a code.
    pub reason: Option<String>,
    /// The policy that set its length.
    pub policy_version: i64,
}

#[derive(Debug, FromRow)]
struct OfferRow {
    token: String,
    task_id: i64,
    revision: i64,
    rider_id: i64,
    offered_at: i64,
    offer_until: i64,
    answered_at: Option<i64>,
    answer: Option<String>,
    reason: Option<String>,
    policy_version: i64,
}

impl OfferRow {
    fn offered(self) -> Result<Offered> {
        let answer =
            |text: &String| read("offer", "answer", self.task_id, text, OfferAnswer::parse);
        let answer = self.answer.as_ref().map(answer).transpose()?;
        Ok(Offered {
            token: self.token,
            task: TaskId(self.task_id),
            revision: Revision(self.revision),
            rider: RiderId(self.rider_id),
            at: Timestamp(self.offered_at),
            until: Timestamp(self.offer_until),
            answered: answer.zip(self.answered_at.map(Timestamp)),
            reason: self.reason,
            policy_version: self.policy_version,
        })
    }
}

/// A page of the log for a reader who may not see all of it. Nothing between `after` and `through` that the reader may
/// see is missing from it: no gap means that one page's `after` is the `through` of the page before.
#[derive(Clone, Debug)]
pub struct EventPage {
    /// Beyond which number it starts.
    pub after: i64,
    /// Up to which number it goes.
    pub through: i64,
    /// The number of the last event of all.
    pub head: i64,
    /// What the reader may see, in order.
    pub items: Vec<LoggedEvent>,
}

impl Tx {
    /// Up to `limit` events of `regions` with larger numbers than `after`; with what was done about people, ways in and
    /// rules only for whoever `audits`. Use it in a reading transaction: the head
    /// and the rows must be of one moment.
    pub async fn events_of_regions(
        &mut self,
        regions: &[RegionId],
        after: i64,
        limit: i64,
        audits: bool,
    ) -> Result<EventPage> {
        let (head, _) = self.head().await?;
        let regions = region_rows(regions);
        let items =
            fetch!(self, LoggedEvent, EVENTS_OF_REGIONS, &regions, after, limit, i64::from(audits));
        let full = i64::try_from(items.len()).unwrap_or(i64::MAX) >= limit;
        let last = items.last().map_or(after, |event| event.number);
        let through = if full { last } else { head.max(last) };
        Ok(EventPage { after, through, head, items })
    }

    /// The offer of that name.
    pub async fn offer(&mut self, token: &str) -> Result<Option<Offered>> {
        fetch!(self, OfferRow, OFFER, token).pop().map(OfferRow::offered).transpose()
    }

    /// All offers of a task, the oldest first.
    pub async fn offers_of(&mut self, task: TaskId) -> Result<Vec<Offered>> {
        fetch!(self, OfferRow, OFFERS_OF, task.0).into_iter().map(OfferRow::offered).collect()
    }

    /// Up to `limit` offers that a rider got since `since`, the latest first.
    pub async fn offers_to(
        &mut self,
        rider: RiderId,
        since: Timestamp,
        limit: i64,
    ) -> Result<Vec<Offered>> {
        fetch!(self, OfferRow, OFFERS_TO, rider.0, since.0, limit)
            .into_iter()
            .map(OfferRow::offered)
            .collect()
    }

    /// Writes without changing anything, to learn whether anything can be written.
    pub async fn touch(&mut self) -> Result<()> {
        execute!(self, TOUCH);
        Ok(())
    }
}
