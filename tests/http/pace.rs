//! A rider may try one task often, but not without end: each try is kept.

use serde_json::json;

use crate::{harness::*, http::Face};

for_each_database!(
    a_rider_who_tries_without_end_is_slowed_down_and_leaves_no_trace,
    |desk| async move {
        let http = Face::of(desk).await;
        let task = http.create().await;
        http.done(rider(1), task, 1, GRAB).await;
        let path = format!("/api/v1/tasks/{}/grab", task.0);
        // Each server counts by itself; this is about the first one.
        let grab = |who: i64| {
            let ask = http.post(&rider(who), &path, &json!({ "revision": 1 }));
            crate::http::Ask { node: 0, ..ask }
        };
        for _ in 0..30 {
            grab(2).await.refused("TAKEN_BY_OTHER");
        }
        let attempts = || async {
            let got = http.get(&D1, &format!("/api/v1/tasks/{}/attempts", task.0)).await.is(200);
            got.at("/items").as_array().expect("a list").len()
        };
        let kept = attempts().await;
        for accept in ["en", "zh-CN"] {
            let got = grab(2).header("accept-language", accept).await.problem(429, "TOO_MANY");
            assert_eq!(got.headers["retry-after"], "1");
            assert_eq!(got.at("/title").as_str().expect("a sentence").is_ascii(), accept == "en");
            assert_eq!(got.at("/request_id"), got.headers["x-request-id"]);
        }
        assert_eq!(attempts().await, kept, "nothing of it is stored");
        // By other doors it is the same rider and the same task.
        let decline = http.post(
            &rider(2),
            &format!("/api/v1/tasks/{}/decline", task.0),
            &json!({ "revision": 1 }),
        );
        crate::http::Ask { node: 0, ..decline }.await.problem(429, "TOO_MANY");
        // Others, other tasks, and staff are not hurt.
        grab(3).await.refused("TAKEN_BY_OTHER");
        let other = http.create().await;
        let grabbed = http.post(
            &rider(2),
            &format!("/api/v1/tasks/{}/grab", other.0),
            &json!({ "revision": 1 }),
        );
        crate::http::Ask { node: 0, ..grabbed }.await.done();
        for _ in 0..35 {
            let offer = http.post(
                &D1,
                &format!("/api/v1/tasks/{}/offer", task.0),
                &json!({ "revision": 1, "rider_id": 2 }),
            );
            crate::http::Ask { node: 0, ..offer }.await.refused("STALE_REVISION");
        }
        // Two a second from here on; a replay is a try like any other.
        http.clock.advance_ms(500);
        let again = grab(2).key("k-again");
        again.clone().await.refused("TAKEN_BY_OTHER");
        again.clone().await.problem(429, "TOO_MANY");
        http.clock.advance_ms(500);
        let replayed = again.await.refused("TAKEN_BY_OTHER");
        assert_eq!(replayed.headers["idempotency-replayed"], "true");
    }
);

for_each_database!(whoever_has_a_link_to_one_task_fills_no_log_with_it, |desk| async move {
    let http = Face::of(desk).await;
    let task = http.create().await;
    let path = format!("/api/v1/track/{}/cancel", http.tracking(task).await);
    let cancel = || {
        let ask = http.anonymous("POST", &path).key(http.recorder.fresh_key().as_str());
        crate::http::Ask { node: 0, ..ask.json(&json!({ "revision": 1 })) }
    };
    cancel().await.done();
    for _ in 1..30 {
        cancel().await.is(200);
    }
    cancel().await.problem(429, "TOO_MANY");
    let got = http.get(&D1, &format!("/api/v1/tasks/{}/attempts", task.0)).await.is(200);
    assert_eq!(
        got.at("/items").as_array().expect("a list").len(),
        1 + 30,
        "its creation, and those"
    );
});

for_each_database!(whoever_tries_one_task_after_another_is_slowed_down_too, |desk| async move {
    let http = Face::of(desk).await;
    let mut slowed = 0;
    for number in 1..=610 {
        let path = format!("/api/v1/tasks/{}/grab", 900_000 + number);
        let ask = http.post(&rider(3), &path, &json!({ "revision": 1 }));
        let got = crate::http::Ask { node: 0, ..ask }.await;
        slowed += usize::from(got.status == 429);
    }
    assert_eq!(slowed, 10, "six hundred at once are enough for anybody");
});
