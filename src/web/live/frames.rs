//! What is told, as bytes of an event stream. An event is written once for everybody who sees as much of it.

use bytes::Bytes;
use serde::Serialize;
use serde_json::json;

use super::super::api::EventItem;
use crate::{
    domain::{
        event::Change,
        id::{Revision, TaskId, Timestamp, rfc3339},
        task::{Stage, StateName},
    },
    engine::hub::{Sight, Told},
    store::LoggedEvent,
};

/// One frame. `retry_ms`: when to come back after the connection broke.
pub(super) fn frame(told: &Told, retry_ms: u16) -> Bytes {
    match told {
        Told::Hello { epoch, head, after, now } => {
            let data = json!({
                "epoch": epoch, "head": head, "after": after, "server_time": now.to_string(),
            });
            let retry = format!("retry: {retry_ms}\n");
            [retry.as_bytes(), &text("hello", Some(*after), &data)].concat().into()
        }
        Told::Reset { why, head } => {
            text("reset", Some(*head), &json!({ "reason": why.as_str(), "after": head }))
        }
        Told::Event(seen) => seen.item().frame(seen.sight, |event| event_frame(event, seen.sight)),
        Told::Through { after, through } => {
            text("through", Some(*through), &json!({ "after": after, "through": through }))
        }
        Told::Changed { after, through, tasks, others, actions } => {
            let data = json!({ "after": after, "through": through, "tasks": tasks, "others": others, "actions": actions });
            text("changes", Some(*through), &data)
        }
        Told::Pool => Bytes::from_static(b"event: pool\ndata: {}\n\n"),
        Told::Ping(pulse) => {
            let at = pulse.at.to_string();
            text("ping", None, &json!({ "head": pulse.head, "server_time": at }))
        }
        Told::Bye(why) => text("bye", None, &json!({ "reason": why.as_str() })),
    }
}

/// JSON has no line ends of its own, so it is one line of data.
fn text(name: &str, id: Option<i64>, data: &impl Serialize) -> Bytes {
    let data = serde_json::to_string(data).unwrap_or_default();
    let id = id.map_or_else(String::new, |id| format!("id: {id}\n"));
    format!("{id}event: {name}\ndata: {data}\n\n").into()
}

fn event_frame(event: &LoggedEvent, sight: Sight) -> Bytes {
    let number = Some(event.number);
    match sight {
        Sight::Desk => text("event", number, &EventItem::of(event, None)),
        // Nobody has this number: as somebody sees it who is none of the riders in it.
        Sight::Others => text("event", number, &EventItem::of(event, Some(i64::MIN))),
        Sight::Mine => text("event", number, &EventItem::of(event, event.rider_id)),
        Sight::Customer => text("event", number, &OrderEvent::of(event)),
    }
}

/// An event as customers see it: what it makes of the order.
#[derive(Debug, Serialize)]
struct OrderEvent {
    number: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to_revision: Option<Revision>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<StateName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stage: Option<Stage>,
    #[serde(with = "rfc3339")]
    occurred_at: Timestamp,
}

impl OrderEvent {
    fn of(event: &LoggedEvent) -> Self {
        let change = event.task_event().ok().flatten().map(|event| event.change);
        let (state, stage) = match change {
            None => (None, None),
            Some(Change::Created { .. } | Change::Open) => (Some(StateName::Open), None),
            Some(Change::Offered { .. }) => (Some(StateName::Offered), None),
            Some(Change::Assigned { .. }) => (Some(StateName::Assigned), Some(Stage::Waiting)),
            Some(Change::Stage { stage }) => (Some(StateName::Assigned), Some(stage)),
            Some(Change::Cancelled) => (Some(StateName::Cancelled), None),
        };
        Self {
            number: event.number,
            task_id: event.task_id.map(TaskId),
            to_revision: event.to_revision.map(Revision),
            state,
            stage,
            occurred_at: Timestamp(event.occurred_at),
        }
    }
}
