//! The customer's client: one task, by an unguessable link.

use dispatch_desk::domain::command::Act;
use serde_json::{Value, json};

use crate::{harness::*, http::Face};

for_each_database!(a_customer_follows_an_order, |desk| async move {
    let http = Face::of(desk).await;
    let task = http.create().await;
    let link = http.tracking(task).await;
    let look = || http.anonymous("GET", &format!("/api/v1/track/{link}"));
    let open = look().await.is(200);
    assert_eq!((open.at("/task/state"), open.at("/legal")), (json!("open"), json!(["cancel"])));
    assert_eq!(open.at("/dropoff_address"), "世纪大道 1 号");
    assert!(!open.body.contains("13800001234") && !open.body.contains("人民大道"), "{open:#?}");

    http.done(D1, task, 1, offer(1)).await;
    let offered = look().await.is(200);
    assert_eq!(offered.at("/task/state"), "offered");
    assert_eq!(
        (offered.at("/task/rider_id"), offered.at("/rider_name")),
        (Value::Null, Value::Null)
    );
    http.done(rider(1), task, 2, Act::Accept).await;
    let assigned = look().await.is(200);
    assert_eq!(assigned.at("/rider_name"), "rider 1");
    http.done(rider(1), task, 3, Act::Arrive).await;
    http.done(rider(1), task, 4, Act::PickUp).await;
    assert_eq!(look().await.is(200).at("/legal"), json!([]));
    http.done(rider(1), task, 5, Act::Deliver).await;
    assert_eq!(look().await.is(200).at("/task/stage"), "delivered");

    let last = link.chars().last().expect("a long link");
    let wrong = format!("{}{}", &link[..link.len() - 1], if last == '0' { '1' } else { '0' });
    let upper = link.to_uppercase();
    let others = [wrong.as_str(), "x", "1", "%20", "%00", "%ff", "a%00b", "%E7%95%8C"];
    for other in others.into_iter().chain((upper != link).then_some(upper.as_str())) {
        for (method, path) in [
            ("GET", format!("/api/v1/track/{other}")),
            ("POST", format!("/api/v1/track/{other}/cancel")),
        ] {
            let ask = http.anonymous(method, &path).key("k-c").json(&json!({ "revision": 1 }));
            ask.await.problem(404, "NOT_FOUND");
        }
    }
});

for_each_database!(a_customer_cancels_and_never_sees_who_was_only_invited, |desk| async move {
    let http = Face::of(desk).await;
    let task = http.create().await;
    let link = http.tracking(task).await;
    let cancel = |revision: i64| {
        let ask = http.anonymous("POST", &format!("/api/v1/track/{link}/cancel"));
        ask.key(http.recorder.fresh_key().as_str()).json(&json!({ "revision": revision }))
    };
    http.anonymous("POST", &format!("/api/v1/track/{link}/cancel"))
        .json(&json!({ "revision": 1 }))
        .await
        .problem(400, "KEY_MISSING");
    let none = http.anonymous("POST", &format!("/api/v1/track/{link}/cancel")).key("k-none");
    none.json(&json!({})).await.problem(428, "REVISION_MISSING");

    // It was offered, declined and offered again meanwhile: the customer learns that something changed, and not whom
    // the desk has asked.
    http.done(D1, task, 1, offer(41)).await;
    let stale = cancel(1).await.refused("STALE_REVISION");
    http.done(rider(41), task, 2, DECLINE).await;
    let again = cancel(2).await.refused("STALE_REVISION");
    http.done(D1, task, 3, offer(42)).await;
    let third = cancel(3).await.refused("STALE_REVISION");
    for got in [stale, again, third] {
        assert_eq!(got.at("/task/rider_id"), Value::Null, "{got:#?}");
        assert!(!got.body.contains("R41") && !got.body.contains("R42"), "{got:#?}");
        assert!(got.at("/beaten_by/action").is_string(), "{got:#?}");
        assert_eq!(got.at("/legal"), json!(["cancel"]));
    }
    let done = cancel(4).await.done();
    assert_eq!(done.at("/task/state"), "cancelled");
    cancel(5).await.is(200);
    assert_eq!(
        http.anonymous("GET", &format!("/api/v1/track/{link}")).await.at("/legal"),
        json!([])
    );

    // Not any more once the goods are on their way.
    let task = http.create().await;
    let link = http.tracking(task).await;
    http.done(rider(1), task, 1, GRAB).await;
    http.done(rider(1), task, 2, Act::Arrive).await;
    http.done(rider(1), task, 3, Act::PickUp).await;
    let ask = http.anonymous("POST", &format!("/api/v1/track/{link}/cancel")).key("k-late");
    let late = ask.json(&json!({ "revision": 4, "reason": "too_slow" })).await.refused("PICKED_UP");
    assert_eq!(late.at("/task/rider_id"), 1, "the owner is no secret");
});
