//! One verb on many tasks.

use serde_json::{Value, json};

use crate::{
    harness::*,
    http::{Ask, Face},
    short::actions,
};

fn bulk<'a>(http: &'a Face, key: &str, verb: &str, items: &Value) -> Ask<'a> {
    http.post(&D1, "/api/v1/bulk", &json!({ "verb": verb, "items": items })).key(key)
}

for_each_database!(a_bulk_says_for_each_task_what_became_of_it, |desk| async move {
    let http = Face::of(desk).await;
    let tasks = http.create_many(4).await;
    http.done(rider(9), tasks[1], 1, GRAB).await;
    let item = |task: i64, revision: i64, rider: i64| json!({ "task_id": task, "revision": revision, "rider_id": rider });
    let items = json!([
        item(tasks[0].0, 1, 1),
        item(tasks[1].0, 1, 2),
        item(999_999, 1, 3),
        { "task_id": tasks[2].0, "revision": 1, "rider_id": 4, "seconds": 60 },
        { "task_id": tasks[3].0, "revision": 1, "rider_id": 5, "seconds": 100_000 },
    ]);
    let got = bulk(&http, "b1", "offer", &items).await.is(200);
    let of = |got: &crate::http::Got, field: &str| -> Vec<Value> {
        let items = got.at("/items");
        items.as_array().expect("a list").iter().map(|item| item[field].clone()).collect()
    };
    assert_eq!(of(&got, "status"), [200, 409, 404, 200, 422]);
    assert_eq!(of(&got, "task_id")[2], 999_999);
    assert_eq!(
        (got.at("/done"), got.at("/refused"), got.at("/failed")),
        (json!(2), json!(1), json!(2))
    );
    assert_eq!(got.at("/items/0/answer/task/rider_id"), 1);
    assert_eq!(got.at("/items/1/answer/code"), "STALE_REVISION");
    assert_eq!(got.at("/items/2/problem/code"), "NOT_FOUND");
    assert_eq!(got.at("/items/3/answer/task/offer_until"), "2026-11-30T04:01:00.000Z");
    assert_eq!(got.at("/items/4/problem/code"), "OFFER_SECONDS");
    assert!(got.at("/server_time").is_string());

    // Again under the same key: what was decided is replayed, byte for byte.
    for _ in &http.origins {
        let again = bulk(&http, "b1", "offer", &items).await.is(200);
        assert_eq!(of(&again, "answer"), of(&got, "answer"));
        assert_eq!(
            of(&again, "replayed"),
            [json!(true), json!(true), Value::Null, json!(true), Value::Null]
        );
    }
    // Each has a key of its own, by which it can be asked for alone.
    let path = format!("/api/v1/tasks/{}/offer", tasks[0].0);
    let alone = http.post(&D1, &path, &json!({ "revision": 1, "rider_id": 1 }));
    let alone = alone.key(&format!("b1#{}", tasks[0].0)).await.done();
    assert_eq!(alone.headers["idempotency-replayed"], "true");
    assert!(got.body.contains(&alone.body), "the same bytes");
    // The same key for something else.
    let other = bulk(&http, "b1", "cancel", &json!([{ "task_id": tasks[0].0, "revision": 2 }]));
    let other = other.await.is(200);
    assert_eq!(other.at("/items/0/problem/code"), "REQUEST_KEY_REUSED");
    assert_eq!(actions(&http, tasks[0]).await, ["create", "offer"]);
});

for_each_database!(a_bulk_that_makes_no_sense_does_nothing_by_halves, |desk| async move {
    let http = Face::of(desk).await;
    let task = http.create().await.0;
    let other = http.create().await.0;
    let one = |more: Value| {
        let item = crate::http::with(&json!({ "task_id": task, "revision": 1 }), more);
        json!([{ "task_id": other, "revision": 1, "rider_id": 1 }, item])
    };
    let rider_one = || one(json!({ "rider_id": 1 }));
    let cancel =
        |more: Value| json!([crate::http::with(&json!({ "task_id": task, "revision": 1 }), more)]);
    for (verb, items, status, code, at) in [
        ("offer", json!([]), 422, "BODY_INVALID", "/items"),
        (
            "cancel",
            json!([{ "task_id": task, "revision": 1 }, { "task_id": task, "revision": 2 }]),
            400,
            "TASK_TWICE",
            "/items/1/task_id",
        ),
        ("cancel", json!([{ "task_id": task }]), 428, "REVISION_MISSING", "/items/0/revision"),
        ("cancel", json!([{ "revision": 1 }]), 422, "BODY_INVALID", "/items/0"),
        (
            "cancel",
            json!([{ "task_id": "T1", "revision": 1 }]),
            422,
            "BODY_INVALID",
            "/items/0/task_id",
        ),
        ("offer", one(json!({})), 422, "BODY_INVALID", "/items/1/rider_id"),
        (
            "offer",
            one(json!({ "rider_id": 2, "reason": "why" })),
            422,
            "BODY_INVALID",
            "/items/1/reason",
        ),
        (
            "assign",
            one(json!({ "rider_id": 2, "seconds": 30 })),
            422,
            "BODY_INVALID",
            "/items/1/seconds",
        ),
        ("reassign", rider_one(), 422, "BODY_INVALID", "/items/0/handover_confirmed"),
        ("cancel", rider_one(), 422, "BODY_INVALID", "/items/0/rider_id"),
        (
            "withdraw",
            cancel(json!({ "handover_confirmed": true })),
            422,
            "BODY_INVALID",
            "/items/0/handover_confirmed",
        ),
        ("cancel", json!([[task, 1]]), 422, "BODY_INVALID", "/items/0"),
        ("cancel", cancel(json!({ "more": 1 })), 422, "BODY_INVALID", "/items/0/more"),
        (
            "cancel",
            cancel(json!({ "reason": "Not A Code" })),
            422,
            "BODY_INVALID",
            "/items/0/reason",
        ),
        ("grab", cancel(json!({})), 422, "BODY_INVALID", "/verb"),
        ("expire", cancel(json!({})), 422, "BODY_INVALID", "/verb"),
        ("create", cancel(json!({})), 422, "BODY_INVALID", "/verb"),
        ("destroy", cancel(json!({})), 422, "BODY_INVALID", "/verb"),
    ] {
        let got = bulk(&http, "b2", verb, &items).await.problem(status, code);
        assert_eq!(got.at("/pointer"), at, "{got:#?}");
    }
    let many = |count: i64| {
        let items = (1_000..1_000 + count).map(|task| json!({ "task_id": task, "revision": 1 }));
        json!(items.collect::<Vec<_>>())
    };
    bulk(&http, "b3", "cancel", &many(501)).await.problem(422, "BODY_INVALID");
    let got = bulk(&http, "b3", "cancel", &many(500)).await.is(200);
    assert_eq!(got.at("/failed"), 500);
    // With the number of the task, the key must not be longer than a key may be.
    bulk(&http, &"k".repeat(254), "cancel", &cancel(json!({}))).await.problem(400, "KEY_MALFORMED");
    let keyless = bulk(&http, "x", "cancel", &cancel(json!({}))).without("idempotency-key");
    keyless.await.problem(400, "KEY_MISSING");
    assert_eq!(http.read().await.head().await.expect("it can be read").0, 2, "nothing was done");

    // Who issues no commands is told so for each task.
    let body = json!({ "verb": "cancel", "items": cancel(json!({})) });
    for who in [ADMIN, AUDITOR, rider(1)] {
        let got = http.post(&who, "/api/v1/bulk", &body).await.is(200);
        assert_eq!(got.at("/items/0/problem/code"), "FORBIDDEN");
    }
});
