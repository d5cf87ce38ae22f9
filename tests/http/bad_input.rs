//! Bad input: the documented code, in the language that was asked for, and never a 500.

use serde_json::{Value, json};

use crate::{
    harness::*,
    http::{Face, LANGS, order_body, with, without},
};

/// What an order may not be, with the code and the place.
fn bad_orders() -> Vec<(Value, u16, &'static str, &'static str)> {
    let good = order_body(&order(), Some("k-bad".to_owned()));
    let change = |changes: Value| with(&good, changes);
    let stop = |changes: Value| change(json!({ "dropoff": with(&good["dropoff"], changes) }));
    vec![
        (json!([]), 422, "BODY_INVALID", ""),
        (json!("order"), 422, "BODY_INVALID", ""),
        (json!(null), 422, "BODY_INVALID", ""),
        (json!({}), 422, "BODY_INVALID", ""),
        (without(&good, "request_key"), 400, "KEY_MISSING", "/request_key"),
        (without(&good, "region"), 422, "BODY_INVALID", ""),
        (without(&good, "pickup"), 422, "BODY_INVALID", ""),
        (change(json!({ "id": 5 })), 422, "BODY_INVALID", "/id"),
        (change(json!({ "source": "other" })), 422, "BODY_INVALID", "/source"),
        (change(json!({ "revision": 7 })), 422, "BODY_INVALID", "/revision"),
        (change(json!({ "request_key": "" })), 422, "BODY_INVALID", "/request_key"),
        (change(json!({ "request_key": "a b" })), 422, "BODY_INVALID", "/request_key"),
        (change(json!({ "request_key": "订单" })), 422, "BODY_INVALID", "/request_key"),
        (change(json!({ "request_key": "k".repeat(256) })), 422, "BODY_INVALID", "/request_key"),
        (change(json!({ "request_key": 5 })), 422, "BODY_INVALID", "/request_key"),
        (change(json!({ "region": "1" })), 422, "BODY_INVALID", "/region"),
        (change(json!({ "region": 1.5 })), 422, "BODY_INVALID", "/region"),
        (
            change(json!({ "region": 9_223_372_036_854_775_808_u64 })),
            422,
            "BODY_INVALID",
            "/region",
        ),
        (change(json!({ "region": 99 })), 404, "NOT_FOUND", ""),
        (change(json!({ "region": -1 })), 404, "NOT_FOUND", ""),
        (change(json!({ "vehicle": "rocket" })), 422, "BODY_INVALID", "/vehicle"),
        (change(json!({ "priority": null })), 422, "BODY_INVALID", "/priority"),
        (change(json!({ "priority": 1e3 })), 422, "BODY_INVALID", "/priority"),
        (change(json!({ "fee": "8.50" })), 422, "BODY_INVALID", "/fee"),
        (change(json!({ "note": { "text": "x" } })), 422, "BODY_INVALID", "/note"),
        (change(json!({ "note": "\u{0}" })), 400, "NUL_IN_TEXT", ""),
        (stop(json!({ "address": "a\u{0}" })), 400, "NUL_IN_TEXT", ""),
        (stop(json!({ "name": "\u{0}b" })), 400, "NUL_IN_TEXT", ""),
        (stop(json!({ "lat": 90.5 })), 400, "NOT_ON_EARTH", ""),
        (stop(json!({ "lng": -180.5 })), 400, "NOT_ON_EARTH", ""),
        (stop(json!({ "lat": "31" })), 422, "BODY_INVALID", "/dropoff/lat"),
        (stop(json!({ "lat": null })), 422, "BODY_INVALID", "/dropoff/lat"),
        (stop(json!({ "more": 1 })), 422, "BODY_INVALID", "/dropoff/more"),
        (
            change(json!({ "pickup": [31.2, 121.4, "a", null, null] })),
            422,
            "BODY_INVALID",
            "/pickup",
        ),
        (change(json!({ "pickup": null })), 422, "BODY_INVALID", "/pickup"),
        (stop(json!({ "address": null })), 422, "BODY_INVALID", "/dropoff/address"),
        (change(json!({ "due_at": "1969-12-31T23:59:59.999Z" })), 400, "TIME_OUT_OF_RANGE", ""),
        (change(json!({ "ready_at": "0000-01-01T00:00:00Z" })), 400, "TIME_OUT_OF_RANGE", ""),
        (
            change(json!({ "release_at": "9999-12-31T23:59:59-01:00" })),
            400,
            "TIME_OUT_OF_RANGE",
            "",
        ),
        (change(json!({ "due_at": "10000-01-01T00:00:00Z" })), 422, "BODY_INVALID", "/due_at"),
        (change(json!({ "due_at": "2026-02-30T00:00:00Z" })), 422, "BODY_INVALID", "/due_at"),
        (change(json!({ "due_at": 1_796_011_200_000_u64 })), 422, "BODY_INVALID", "/due_at"),
    ]
}

for_each_database!(a_bad_order_is_refused_with_the_place_that_is_wrong, |desk| async move {
    let http = Face::of(desk).await;
    for (body, status, code, at) in bad_orders() {
        let mut sentences = Vec::new();
        for (_, accept) in LANGS {
            let ask = http.request("POST", &shop(), "/api/v1/tasks").json(&body);
            let got = ask.header("accept-language", accept).await.problem(status, code);
            let pointer = got.at("/pointer");
            assert_eq!(pointer.as_str().unwrap_or_default(), at, "{body}: {got:#?}");
            sentences.push(got.at("/title").as_str().unwrap_or_default().to_owned());
        }
        assert!(!sentences[0].is_ascii() && sentences[1].is_ascii(), "{sentences:?}");
    }
    assert_eq!(http.read().await.head().await.expect("it can be read").0, 0, "not one was made");
    // Far away from the region: a refusal, and no mistake.
    let far = with(&order_body(&order(), None)["pickup"], json!({ "lat": -31.2 }));
    let far = with(&order_body(&order(), Some("k-far".to_owned())), json!({ "pickup": far }));
    let far = http.request("POST", &shop(), "/api/v1/tasks").json(&far).await;
    assert_eq!(far.refused("OUTSIDE_REGION").at("/task"), Value::Null);
    // The largest and the smallest that there can be are no mistake, nor is any text.
    for (number, extreme) in [i64::MIN, i64::MAX].into_iter().enumerate() {
        let key = Some(format!("k-extreme-{number}"));
        let text = "\u{1}\u{7f}\u{2028}🛵\u{202e}'; DROP TABLE task; --".repeat(50);
        let body = with(
            &order_body(&order(), key),
            json!({ "priority": extreme, "fee": extreme, "note": text }),
        );
        let made = http.request("POST", &shop(), "/api/v1/tasks").json(&body).await.is(201);
        let seen = http.get(&D1, &made.headers["location"]).await.is(200);
        assert_eq!(
            (seen.at("/detail/fee"), seen.at("/priority")),
            (json!(extreme), json!(extreme))
        );
        assert_eq!(seen.at("/detail/note"), text);
    }
});

for_each_database!(a_bad_command_is_refused_and_its_key_stays_free, |desk| async move {
    let http = Face::of(desk).await;
    let task = http.create().await;
    let path = |verb: &str| format!("/api/v1/tasks/{}/{verb}", task.0);
    let bodies = [
        ("grab", json!({}), 428, "REVISION_MISSING", "/revision"),
        ("grab", json!({ "revision": null }), 428, "REVISION_MISSING", "/revision"),
        ("grab", json!({ "revision": "1" }), 422, "BODY_INVALID", "/revision"),
        ("grab", json!({ "revision": 1.0 }), 422, "BODY_INVALID", "/revision"),
        ("grab", json!({ "revision": 1e99 }), 422, "BODY_INVALID", "/revision"),
        ("grab", json!({ "revision": [1] }), 422, "BODY_INVALID", "/revision"),
        ("grab", json!({ "revision": 1, "rider_id": 2 }), 422, "BODY_INVALID", "/rider_id"),
        ("grab", json!({ "revision": 1, "state": "open" }), 422, "BODY_INVALID", "/state"),
        ("grab", json!({ "revision": 1, "ticket": 5 }), 422, "BODY_INVALID", "/ticket"),
        ("grab", json!({ "revision": 1, "ticket": [1, "x"] }), 422, "BODY_INVALID", "/ticket"),
        (
            "grab",
            json!({ "revision": 1, "ticket": { "round": 1 } }),
            422,
            "BODY_INVALID",
            "/ticket",
        ),
        (
            "grab",
            json!({ "revision": 1, "ticket": { "round": 1, "nonce": "\u{0}" } }),
            400,
            "NUL_IN_TEXT",
            "",
        ),
        ("decline", json!({ "revision": 1, "reason": "" }), 422, "BODY_INVALID", "/reason"),
        (
            "decline",
            json!({ "revision": 1, "reason": "a".repeat(41) }),
            422,
            "BODY_INVALID",
            "/reason",
        ),
        ("hand-back", json!({ "revision": 1, "reason": "原因" }), 422, "BODY_INVALID", "/reason"),
        ("accept", json!([1]), 422, "BODY_INVALID", ""),
    ];
    for (verb, body, status, code, at) in bodies {
        let got = http.post(&rider(1), &path(verb), &body).key("k-one").await.problem(status, code);
        let pointer = got.at("/pointer");
        assert_eq!(pointer.as_str().unwrap_or_default(), at, "{body}: {got:#?}");
    }
    let bodies = [
        ("offer", json!({ "revision": 1 }), ""),
        ("offer", json!({ "revision": 1, "rider_id": "R1" }), "/rider_id"),
        ("offer", json!({ "revision": 1, "rider_id": 1, "seconds": -1 }), "/seconds"),
        (
            "offer",
            json!({ "revision": 1, "rider_id": 1, "seconds": 4_294_967_296_u64 }),
            "/seconds",
        ),
        ("reassign", json!({ "revision": 1, "rider_id": 1 }), ""),
        (
            "reassign",
            json!({ "revision": 1, "rider_id": 1, "handover_confirmed": "yes" }),
            "/handover_confirmed",
        ),
    ];
    for (verb, body, at) in bodies {
        let got = http.post(&D1, &path(verb), &body).await.problem(422, "BODY_INVALID");
        assert_eq!(got.at("/pointer").as_str().unwrap_or_default(), at, "{got:#?}");
    }
    // A revision is a number like any other: it is not the task's, and that is an answer.
    for revision in [0, -1, i64::MAX, i64::MIN] {
        let got = http.post(&rider(1), &path("grab"), &json!({ "revision": revision })).await;
        got.refused("STALE_REVISION");
    }
    let grab = || http.post(&rider(1), &path("grab"), &json!({ "revision": 1 }));
    grab().without("idempotency-key").await.problem(400, "KEY_MISSING");
    for bad in ["", " ", "a b", "键", &"k".repeat(256), "a\tb"] {
        let code = if bad.trim().is_empty() { "KEY_MISSING" } else { "KEY_MALFORMED" };
        grab().header("idempotency-key", bad).await.problem(400, code);
    }
    grab().also("idempotency-key", "another").await.problem(400, "KEY_MALFORMED");
    let long = "k".repeat(255);
    grab().key(&long).await.done();
    assert_eq!(grab().key(&long).await.is(200).headers["idempotency-replayed"], "true");
});

for_each_database!(what_is_no_json_is_said_to_be_none, |desk| async move {
    let http = Face::of(desk).await;
    let task = http.create().await;
    let path = format!("/api/v1/tasks/{}/grab", task.0);
    let send = |media: &str, body: &[u8]| {
        http.request("POST", &rider(1), &path).key("k-json").bytes(media, body)
    };
    let good = br#"{"revision":1}"#;
    let json = "application/json";
    for (body, code, status) in [
        (&b""[..], "BODY_MALFORMED", 400),
        (b"{", "BODY_MALFORMED", 400),
        (b"{\"revision\":1", "BODY_MALFORMED", 400),
        (b"{\"revision\":1}}", "BODY_MALFORMED", 400),
        (b"{\"revision\":1} {}", "BODY_MALFORMED", 400),
        (b"{'revision':1}", "BODY_MALFORMED", 400),
        (b"{\"revision\":01}", "BODY_MALFORMED", 400),
        (b"{\"revision\":NaN}", "BODY_MALFORMED", 400),
        (b"\xef\xbb\xbf{\"revision\":1}", "BODY_MALFORMED", 400),
        (b"{\"revision\":1,\"x\":\"\xff\xfe\"}", "BODY_MALFORMED", 400),
        (b"\xff\xfe{\x00}\x00", "BODY_MALFORMED", 400),
        (b"{\"revision\":1,\"revision\":2}", "BODY_INVALID", 422),
        (b"{\"rev\\u0000ision\":1}", "BODY_INVALID", 422),
    ] {
        for (_, accept) in LANGS {
            let got = send(json, body).header("accept-language", accept).await;
            got.problem(status, code);
        }
    }
    let deep = format!("{{\"ticket\":{}", "[".repeat(200_000));
    send(json, deep.as_bytes()).await;
    for media in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonp",
        "",
        "multipart/form-data",
        "application/json+x",
    ] {
        send(media, good).await.problem(415, "MEDIA_TYPE");
    }
    send(json, good).without("content-type").await.problem(415, "MEDIA_TYPE");
    for media in ["application/json; charset=utf-8", "Application/JSON"] {
        send(media, good).await.is(200);
    }
});

for_each_database!(what_is_not_there_is_not_there_in_whatever_form, |desk| async move {
    let http = Face::of(desk).await;
    http.create().await;
    for id in
        ["0", "-1", "999999", "x", "9223372036854775808", "1.0", "%31%00", "%ff", "１", "1%20", "T"]
    {
        let path = format!("/api/v1/tasks/{id}");
        http.get(&D1, &path).await.problem(404, "NOT_FOUND");
        http.get(&D1, &format!("{path}/events")).await.problem(404, "NOT_FOUND");
        http.post(&D1, &format!("{path}/cancel"), &json!({ "revision": 1 }))
            .await
            .problem(404, "NOT_FOUND");
    }
    for path in [
        "/api/v1/task",
        "/api/v2/tasks",
        "/api/v1/tasks/1/explode",
        "/api/v1/",
        "/api/v1/tasks/",
        "/api",
    ] {
        for (lang, accept) in LANGS {
            let got = http.get(&D1, path).header("accept-language", accept).await;
            let got = got.problem(404, "NOT_FOUND");
            let zh = lang == dispatch_desk::domain::refusal::Lang::Zh;
            assert_eq!(got.at("/title") == "没有找到，或不在您的区域内。", zh);
        }
        http.post(&D1, path, &json!({})).await.problem(404, "NOT_FOUND");
    }
});

for_each_database!(a_body_that_is_too_long_is_refused_and_the_next_request_is_served, |desk| {
    async move {
        let http = Face::of(desk).await;
        let task = http.create().await;
        let long = json!({ "revision": 1, "x": "x".repeat(2 << 20) }).to_string();
        let path = format!("/api/v1/tasks/{}/cancel", task.0);
        for _ in 0..10 {
            let got =
                http.request("POST", &D1, &path).key("k").bytes("application/json", long.clone());
            got.await.problem(413, "BODY_TOO_LARGE");
            // What is too long for whoever it comes from is not looked at any further.
            let got =
                http.anonymous("POST", &path).key("k").bytes("application/json", long.clone());
            got.await.problem(413, "BODY_TOO_LARGE");
            // Refused for another reason, before anything of the body was read.
            let fits = long[..60_000].to_owned();
            let got =
                http.anonymous("POST", &path).key("k").bytes("application/json", fits.clone());
            got.await.problem(401, "NOT_SIGNED_IN");
            let got = http.request("POST", &D1, &path).key("k").bytes("text/plain", fits);
            got.await.problem(415, "MEDIA_TYPE");
            http.get(&D1, "/api/v1/tasks").await.is(200);
        }
        // A note of half a megabyte is long, but fits.
        let note = json!({ "detail_revision": 1, "note": "界".repeat(170_000) });
        http.patch(&D1, &format!("/api/v1/tasks/{}/detail", task.0), &note).await.done();
    }
});
