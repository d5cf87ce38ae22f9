//! What is written on a task has a revision of its own.

use serde_json::{Value, json};

use crate::{harness::*, http::Face};

for_each_database!(details_are_edited_and_offers_are_not_disturbed, |desk| async move {
    let http = Face::of(desk).await;
    let task = http.create().await;
    let path = format!("/api/v1/tasks/{}", task.0);
    let edit = |body: Value| http.patch(&D1, &format!("{path}/detail"), &body);
    http.done(D1, task, 1, offer(1)).await;
    let done = edit(json!({
        "detail_revision": 1, "note": "后门", "pickup_address": "A", "dropoff_address": "B",
        "due_at": "2026-11-30T13:00:00+08:00", "priority": 5,
    }));
    let done = done.await.done();
    assert_eq!(done.at("/task/revision"), 2, "the offer's revision stays");
    let seen = http.get(&D1, &path).await.is(200);
    assert_eq!(seen.at("/detail/note"), "后门");
    assert_eq!(seen.at("/detail/pickup/address"), "A");
    assert_eq!(seen.at("/detail/dropoff/address"), "B");
    assert_eq!(seen.at("/detail/due_at"), "2026-11-30T05:00:00.000Z");
    assert_eq!((seen.at("/detail/detail_revision"), seen.at("/priority")), (json!(2), json!(5)));
    http.post(&rider(1), &format!("{path}/accept"), &json!({ "revision": 2 })).await.done();

    let stale = edit(json!({ "detail_revision": 1, "note": "too late" })).await;
    stale.refused("STALE_REVISION");
    edit(json!({ "note": "x" })).await.problem(428, "REVISION_MISSING");
    edit(json!({ "detail_revision": null })).await.problem(428, "REVISION_MISSING");
    edit(json!({ "detail_revision": 2, "priority": i64::MIN })).await.done();
    edit(json!({ "detail_revision": 3, "priority": i64::MAX, "note": "" })).await.done();
    for (body, at) in [
        (json!({ "detail_revision": 4, "state": "open" }), "/state"),
        (json!({ "detail_revision": 4, "rider_id": 2 }), "/rider_id"),
        (json!({ "detail_revision": 4, "note": 5 }), "/note"),
        (json!({ "detail_revision": 4, "priority": 1.5 }), "/priority"),
        (json!({ "detail_revision": 4, "priority": "high" }), "/priority"),
        (json!({ "detail_revision": 4, "due_at": "soon" }), "/due_at"),
        (json!({ "detail_revision": "4" }), "/detail_revision"),
    ] {
        assert_eq!(edit(body).await.problem(422, "BODY_INVALID").at("/pointer"), at);
    }
    let early = json!({ "detail_revision": 4, "due_at": "1969-12-31T23:59:59Z" });
    edit(early).await.problem(400, "TIME_OUT_OF_RANGE");
    edit(json!({ "detail_revision": 4, "note": "a\u{0}b" })).await.problem(400, "NUL_IN_TEXT");
    for who in [ADMIN, AUDITOR, rider(1)] {
        let body = json!({ "detail_revision": 4, "note": "x" });
        http.patch(&who, &format!("{path}/detail"), &body).await.problem(403, "FORBIDDEN");
    }
    http.post(&D1, &format!("{path}/cancel"), &json!({ "revision": 3 })).await.done();
    edit(json!({ "detail_revision": 4, "note": "x" })).await.refused("CANCELLED");
    // Free text lives in tables that can be erased, not in the log.
    let log = http.get(&D1, &format!("{path}/events")).await.is(200);
    assert!(log.body.contains("\"edit\"") && !log.body.contains("后门"), "{log:#?}");
});
