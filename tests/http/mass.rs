//! S16: nobody sets what is not theirs to set by naming it, and nothing that stands twice is believed once.

use serde_json::json;

use crate::{
    harness::*,
    http::{Face, order_body, with},
};

/// Members that no body takes beside its own: who, what, where, when.
fn extras() -> [(&'static str, serde_json::Value); 9] {
    [
        ("rider_id", json!(2)),
        ("operator_id", json!(1)),
        ("actor", json!("D1")),
        ("state", json!("assigned")),
        ("role", json!("admin")),
        ("region_id", json!(2)),
        ("created_at", json!("2020-01-01T00:00:00Z")),
        ("id", json!(7)),
        ("owner", json!(2)),
    ]
}

for_each_database!(members_that_a_body_does_not_take_change_nothing, |desk| async move {
    let http = Face::of(desk).await;
    let task = http.create().await;
    http.done(D1, task, 1, offer(1)).await;
    let offers = http.read().await.offers_of(task).await.expect("offers can be read");
    let tracking = http.tracking(task).await;
    let before = http.read().await.head().await.expect("it can be read").0;
    let mut refused = 0;
    for (name, operation) in http.book.operations() {
        let (method, template) = name.split_once(' ').expect("a method and a path");
        if method == "GET" || !operation["requestBody"].is_object() {
            continue;
        }
        let token = if template.contains("/offers/") { &offers[0].token } else { &tracking };
        let path = template.replace("{id}", &task.0.to_string()).replace("{token}", token);
        let end = template.rsplit('/').next().unwrap_or_default();
        let of_rider = [
            "grab",
            "accept",
            "decline",
            "hand-back",
            "arrive",
            "pick-up",
            "deliver",
            "duty",
            "location",
        ];
        let (who, body) = match end {
            "tasks" => (shop(), order_body(&order(), Some("k-mass".to_owned()))),
            "offer" | "assign" => (SUPERVISOR, json!({ "revision": 2, "rider_id": 1 })),
            "reassign" => (D1, json!({ "revision": 2, "rider_id": 1, "handover_confirmed": true })),
            "detail" => (D1, json!({ "detail_revision": 1, "note": "x" })),
            "bulk" => {
                (D1, json!({ "verb": "withdraw", "items": [{ "task_id": task.0, "revision": 2 }] }))
            }
            "accept" if template.contains("offers") => (rider(1), json!({})),
            "duty" => (rider(1), json!({ "duty": "off" })),
            "location" => {
                let fix =
                    json!({ "seq": 1, "at": "2026-11-30T04:00:00Z", "lat": 31.2, "lng": 121.4 });
                (rider(1), json!({ "fixes": [fix] }))
            }
            end if of_rider.contains(&end) => (rider(1), json!({ "revision": 2 })),
            _ => (D1, json!({ "revision": 2 })),
        };
        for (member, value) in extras() {
            if body.get(member).is_some() {
                continue;
            }
            let bad = with(&body, json!({ member: value }));
            let ask = http.request(method, &who, &path).json(&bad);
            let got =
                ask.key(http.recorder.fresh_key().as_str()).await.problem(422, "BODY_INVALID");
            assert_eq!(got.at("/pointer"), format!("/{member}"), "{name}: {got:#?}");
            refused += 1;
        }
    }
    assert!(refused > 100, "{refused}");
    // Who accepts is whoever is signed in, whatever the address says.
    let path = format!("/api/v1/tasks/{}/accept?rider_id=2&revision=2", task.0);
    let got = http.post(&rider(2), &path, &json!({ "revision": 2 })).await;
    assert!([400, 409].contains(&got.status), "{got:#?}");
    assert_eq!(http.read().await.head().await.expect("it can be read").0, before);
    assert!(http.task(task).await.state.is_held_by(dispatch_desk::domain::id::RiderId(1)));
});

for_each_database!(a_parameter_that_stands_twice_is_refused, |desk| async move {
    let http = Face::of(desk).await;
    http.create().await;
    for query in [
        "/api/v1/tasks?state=open&state=offered",
        "/api/v1/tasks?region=1&region=2",
        "/api/v1/events?after=0&after=5",
        "/api/v1/events?limit=1&limi%74=5",
    ] {
        http.get(&D1, query).await.problem(400, "QUERY_INVALID");
    }
});
