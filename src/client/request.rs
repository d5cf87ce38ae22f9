//! Commands as they are written.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::Error;
use crate::domain::{
    command::{Act, NewTask, RequestKey, Stop},
    id::{RegionId, Revision, Timestamp},
    task::Vehicle,
};

/// One position of a rider.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Fix {
    /// Counts up on the device.
    pub seq: i64,
    /// When it was taken.
    #[serde(with = "crate::domain::id::rfc3339")]
    pub at: Timestamp,
    /// Degrees, WGS-84.
    pub lat: f64,
    /// Degrees, WGS-84.
    pub lng: f64,
}

/// A new task as it is written.
#[derive(Serialize)]
pub(super) struct NewTaskBody<'a> {
    request_key: &'a RequestKey,
    region: RegionId,
    pickup: &'a Stop,
    dropoff: &'a Stop,
    #[serde(with = "crate::domain::id::rfc3339::option", skip_serializing_if = "Option::is_none")]
    release_at: Option<Timestamp>,
    #[serde(with = "crate::domain::id::rfc3339::option", skip_serializing_if = "Option::is_none")]
    ready_at: Option<Timestamp>,
    #[serde(with = "crate::domain::id::rfc3339::option", skip_serializing_if = "Option::is_none")]
    due_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vehicle: Option<Vehicle>,
    priority: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    fee: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
}

/// The body that brings a task into being.
pub(super) fn new_task<'a>(key: &'a RequestKey, new: &'a NewTask) -> NewTaskBody<'a> {
    NewTaskBody {
        request_key: key,
        region: new.region,
        pickup: &new.pickup,
        dropoff: &new.dropoff,
        release_at: new.release_at,
        ready_at: new.ready_at,
        due_at: new.due_at,
        vehicle: new.vehicle,
        priority: new.priority,
        fee: new.fee,
        note: new.note.as_deref(),
    }
}

/// The body of a verb: the revision and what the verb takes.
pub(super) fn act(revision: Revision, act: &Act) -> Value {
    let mut body = Map::new();
    let mut put = |name: &str, value: Value| {
        if !value.is_null() {
            body.insert(name.to_owned(), value);
        }
    };
    put("revision", json!(revision));
    put("reason", json!(act.reason()));
    put("rider_id", json!(act.named_rider()));
    match act {
        Act::Offer { seconds, .. } => put("seconds", json!(seconds)),
        Act::Reassign { seconds, handover_confirmed, .. } => {
            put("seconds", json!(seconds));
            put("handover_confirmed", json!(handover_confirmed));
        }
        Act::Grab { ticket } => put("ticket", json!(ticket)),
        Act::Assign { .. }
        | Act::Accept
        | Act::Decline { .. }
        | Act::Withdraw { .. }
        | Act::Expire
        | Act::Cancel { .. }
        | Act::HandBack { .. }
        | Act::Arrive
        | Act::PickUp
        | Act::Deliver => {}
    }
    Value::Object(body)
}

/// A path with an unguessable name in it. Whatever could lead elsewhere is no such name.
pub(super) fn path(before: &str, name: &str, after: &str) -> Result<String, Error> {
    let plain = !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if plain {
        Ok(format!("{before}{name}{after}"))
    } else {
        Err(Error::Request(format!("{name:?} can not stand in a path")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::RiderId;

    #[test]
    fn a_verb_is_written_with_what_it_takes_and_nothing_else() {
        let offer = act(Revision(3), &Act::Offer { rider: RiderId(7), seconds: None, round: None });
        assert_eq!(offer, json!({ "revision": 3, "rider_id": 7 }));
        assert_eq!(act(Revision(1), &Act::Grab { ticket: None }), json!({ "revision": 1 }));
        let reassign = Act::Reassign {
            rider: RiderId(2),
            seconds: Some(30),
            handover_confirmed: false,
            reason: None,
        };
        let written =
            json!({ "revision": 4, "rider_id": 2, "seconds": 30, "handover_confirmed": false });
        assert_eq!(act(Revision(4), &reassign), written);
    }

    #[test]
    fn a_name_that_leads_elsewhere_is_none() {
        assert_eq!(path("/t/", "a-B_9", "/x").ok().as_deref(), Some("/t/a-B_9/x"));
        for bad in ["", "../tasks", "a/b", "a?b", "a%2e", "台"] {
            assert!(path("/t/", bad, "").is_err(), "{bad}");
        }
    }
}
