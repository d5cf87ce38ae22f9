//! Lists of tasks with what is written on them: by region and state, by rider, by the customer's link.

use std::collections::BTreeSet;

use sqlx::FromRow;

use super::{
    error::Result,
    load::ids,
    rows::TaskRow,
    sql::{Sql, paged},
    tx::{Tx, fetch},
};
use crate::domain::{
    id::{RegionId, Revision, RiderId, TaskId, Timestamp},
    order::Stop,
    task::{Stage, StateName, Task, Vehicle},
};

/// The columns of a [`Card`], from `task t`, `task_detail d` and `rider w`.
macro_rules! card_columns {
    () => {
        "t.id, t.region_id, t.source, t.state, t.rider_id, t.rider_slot, t.stage, t.mode, t.offer_until, \
         t.revision, t.release_at, t.vehicle, t.priority, t.changed_at, t.changed_by_kind, t.changed_by_id, \
         d.detail_revision, d.pickup_lat, d.pickup_lng, d.pickup_address, d.pickup_name, d.pickup_phone, \
         d.dropoff_lat, d.dropoff_lng, d.dropoff_address, d.dropoff_name, d.dropoff_phone, d.ready_at, d.due_at, \
         d.fee, d.note, d.tracking_token, d.erased_at, w.name AS rider_name"
    };
}

/// A page of cards over regions.
macro_rules! listed {
    ($which:literal, order($before:literal, $order:literal)) => {
        paged!(
            concat!("SELECT ", card_columns!(), " FROM "),
            "task",
            "id",
            $which,
            order($before, $order),
            "$4",
            concat!(
                " CROSS JOIN task t JOIN task_detail d ON d.task_id = t.id LEFT JOIN rider w ON w.id = t.rider_id \
                 WHERE t.id = k.id ORDER BY t.id ",
                $order
            )
        )
    };
}

/// A list that names no regions.
macro_rules! cards {
    ($tail:literal) => {
        Sql::same(concat!(
            "SELECT ",
            card_columns!(),
            " FROM task t JOIN task_detail d ON d.task_id = t.id LEFT JOIN rider w ON w.id = t.rider_id ",
            $tail
        ))
    };
}

pub(super) const FREE: Sql =
    listed!("p.state = $2 AND p.stage IS NULL AND p.id > $3", order("p.stage ASC, ", "ASC"));
pub(super) const FREE_LATEST: Sql =
    listed!("p.state = $2 AND p.stage IS NULL AND p.id < $3", order("p.stage DESC, ", "DESC"));
pub(super) const STAGED: Sql =
    listed!("p.state = $2 AND p.stage = $5 AND p.id > $3", order("p.stage ASC, ", "ASC"));
pub(super) const STAGED_LATEST: Sql =
    listed!("p.state = $2 AND p.stage = $5 AND p.id < $3", order("p.stage DESC, ", "DESC"));
pub(super) const POOL: Sql = cards!(
    "WHERE t.region_id = $1 AND t.state = 'open' AND t.stage IS NULL AND t.release_at <= $2 AND t.id > $3 \
     AND (t.vehicle IS NULL OR t.vehicle = $5) \
     AND NOT EXISTS (SELECT 1 FROM round n WHERE n.task_id = t.id AND n.status = 'running') \
     ORDER BY t.stage, t.id LIMIT $4"
);
const CARD: Sql = cards!("WHERE t.id = $1");
pub(super) const CARDS_HELD: Sql =
    cards!("WHERE t.rider_id = $1 AND t.rider_slot IS NOT NULL ORDER BY t.id");
pub(super) const CARD_TRACKED: Sql = cards!("WHERE d.tracking_token = $1");
pub(super) const CARD_OF_ORDER: Sql = cards!("WHERE t.source = $1 AND t.request_key = $2");

/// What is written on a task beside its state.
#[derive(Clone, Debug, PartialEq)]
pub struct Detail {
    /// Number of the last edit.
    pub revision: Revision,
    /// Where from.
    pub pickup: Stop,
    /// Where to.
    pub dropoff: Stop,
    /// When the goods are ready.
    pub ready_at: Option<Timestamp>,
    /// When it should have arrived.
    pub due_at: Option<Timestamp>,
    /// What the rider gets, in minor units of the region's currency.
    pub fee: Option<i64>,
    /// A note for the rider.
    pub note: Option<String>,
    /// The unguessable end of the customer's link; `None` for a task from before there were any.
    pub tracking_token: Option<String>,
    /// When addresses, names, phones and the note were erased; there are none then, and the places are rounded.
    pub erased_at: Option<Timestamp>,
}

/// A task with what is written on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// The task.
    pub task: Task,
    /// What is written on it.
    pub detail: Detail,
    /// The name of the invited rider or owner; none if it was erased.
    pub rider_name: Option<String>,
}

#[derive(Debug, FromRow)]
struct CardRow {
    #[sqlx(flatten)]
    task: TaskRow,
    detail_revision: i64,
    pickup_lat: f64,
    pickup_lng: f64,
    pickup_address: String,
    pickup_name: Option<String>,
    pickup_phone: Option<String>,
    dropoff_lat: f64,
    dropoff_lng: f64,
    dropoff_address: String,
    dropoff_name: Option<String>,
    dropoff_phone: Option<String>,
    ready_at: Option<i64>,
    due_at: Option<i64>,
    fee: Option<i64>,
    note: Option<String>,
    tracking_token: Option<String>,
    erased_at: Option<i64>,
    rider_name: Option<String>,
}

impl CardRow {
    fn card(self) -> Result<Card> {
        let task = self.task.task()?;
        // A rider whose name was erased is called by the number.
        let number = task.state.rider().map(|rider| rider.to_string());
        Ok(Card {
            task,
            detail: Detail {
                revision: Revision(self.detail_revision),
                pickup: Stop {
                    lat: self.pickup_lat,
                    lng: self.pickup_lng,
                    address: self.pickup_address,
                    name: self.pickup_name,
                    phone: self.pickup_phone,
                },
                dropoff: Stop {
                    lat: self.dropoff_lat,
                    lng: self.dropoff_lng,
                    address: self.dropoff_address,
                    name: self.dropoff_name,
                    phone: self.dropoff_phone,
                },
                ready_at: self.ready_at.map(Timestamp),
                due_at: self.due_at.map(Timestamp),
                fee: self.fee,
                note: self.note,
                tracking_token: self.tracking_token,
                erased_at: self.erased_at.map(Timestamp),
            },
            rider_name: self.rider_name.filter(|name| Some(name) != number.as_ref()),
        })
    }
}

/// Regions as the parameter of a list, each of them once.
pub(super) fn region_rows(regions: &[RegionId]) -> String {
    ids(regions.iter().map(|region| region.0).collect::<BTreeSet<_>>().into_iter())
}

/// Which tasks of which regions, and from where on.
#[derive(Clone, Copy, Debug)]
pub struct Listing<'a> {
    /// The regions that the reader may see.
    pub regions: &'a [RegionId],
    /// Only those in this state.
    pub state: StateName,
    /// Only those at this stage. Assigned tasks have one, the others have none.
    pub stage: Option<Stage>,
    /// Beyond this task: above it, or below it when the latest come first.
    pub beyond: TaskId,
    /// Whether the latest come first.
    pub latest_first: bool,
    /// At most so many.
    pub limit: i64,
}

impl Tx {
    /// A page of tasks in the order of their numbers.
    pub async fn listed(&mut self, listing: &Listing<'_>) -> Result<Vec<Card>> {
        let Listing { regions, state, stage, beyond, latest_first, limit } = *listing;
        let regions = region_rows(regions);
        let (beyond, state) = (beyond.0, state.as_str());
        let found = match stage {
            None => {
                let sql = if latest_first { FREE_LATEST } else { FREE };
                fetch!(self, CardRow, sql, &regions, state, beyond, limit)
            }
            Some(at) => {
                let sql = if latest_first { STAGED_LATEST } else { STAGED };
                fetch!(self, CardRow, sql, &regions, state, beyond, limit, at.as_str())
            }
        };
        found.into_iter().map(CardRow::card).collect()
    }

    /// Open tasks of `region` that may be grabbed at `now` with this vehicle, beyond task `after`.
    ///
    /// Tasks that a running round shows to a few are not among them: those need a ticket.
    pub async fn pool(
        &mut self,
        region: RegionId,
        vehicle: Option<Vehicle>,
        now: Timestamp,
        after: TaskId,
        limit: i64,
    ) -> Result<Vec<Card>> {
        let vehicle = vehicle.map(Vehicle::as_str);
        let found = fetch!(self, CardRow, POOL, region.0, now.0, after.0, limit, vehicle);
        found.into_iter().map(CardRow::card).collect()
    }

    /// One task with what is written on it.
    pub async fn card(&mut self, task: TaskId) -> Result<Option<Card>> {
        fetch!(self, CardRow, CARD, task.0).pop().map(CardRow::card).transpose()
    }

    /// The tasks and offers that a rider holds, with what is written on them.
    pub async fn cards_held_by(&mut self, rider: RiderId) -> Result<Vec<Card>> {
        fetch!(self, CardRow, CARDS_HELD, rider.0).into_iter().map(CardRow::card).collect()
    }

    /// The task behind a customer's link.
    pub async fn card_tracked(&mut self, token: &str) -> Result<Option<Card>> {
        fetch!(self, CardRow, CARD_TRACKED, token).pop().map(CardRow::card).transpose()
    }

    /// The task that `source` ordered under a request key.
    pub async fn card_of_order(&mut self, source: &str, request_key: &str) -> Result<Option<Card>> {
        fetch!(self, CardRow, CARD_OF_ORDER, source, request_key)
            .pop()
            .map(CardRow::card)
            .transpose()
    }
}
