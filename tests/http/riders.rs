//! The rider's client.

use dispatch_desk::domain::{command::Act, id::RiderId};
use serde_json::{Value, json};

use crate::{harness::*, http::Face};

for_each_database!(a_rider_has_what_is_offered_and_what_is_theirs, |desk| async move {
    let http = Face::of(desk).await;
    let tasks = http.create_many(3).await;
    http.done(D1, tasks[0], 1, offer(1)).await;
    http.done(rider(1), tasks[1], 1, GRAB).await;
    let mine = http.get(&rider(1), "/api/v1/rider/tasks").await.is(200);
    let items = mine.at("/items");
    let items = items.as_array().expect("a list");
    assert_eq!(items.len(), 2);
    for item in items {
        let (state, legal) = (&item["task"]["state"], &item["legal"]);
        if state == "offered" {
            assert_eq!(legal, &json!(["accept", "decline"]));
            assert!(item["task"]["offer_until"].is_string());
            assert_eq!(item["detail"]["pickup"]["phone"], Value::Null);
        } else {
            assert_eq!(legal, &json!(["hand-back", "arrive"]));
            assert_eq!(item["detail"]["pickup"]["phone"], "13800001234");
        }
    }
    assert_eq!(mine.at("/next_cursor"), Value::Null);
    // Delivered is no longer in hand.
    http.done(rider(1), tasks[1], 2, Act::Arrive).await;
    http.done(rider(1), tasks[1], 3, Act::PickUp).await;
    http.done(rider(1), tasks[1], 4, Act::Deliver).await;
    let mine = http.get(&rider(1), "/api/v1/rider/tasks").await.is(200);
    assert_eq!(mine.at("/items").as_array().map(Vec::len), Some(1));
    http.get(&D1, "/api/v1/rider/tasks").await.problem(403, "FORBIDDEN");
});

for_each_database!(a_rider_goes_on_and_off_duty, |desk| async move {
    let http = Face::of(desk).await;
    let duty = |duty: &str| http.post(&rider(1), "/api/v1/rider/duty", &json!({ "duty": duty }));
    for wanted in ["paused", "off", "off", "on"] {
        assert_eq!(duty(wanted).await.is(200).json(), json!({ "duty": wanted }));
        let known = http.read().await.rider(RiderId(1)).await.expect("it can be read");
        assert_eq!(known.expect("known").duty.as_str(), wanted);
    }
    // Setting it again is no change, and no event.
    assert_eq!(http.read().await.head().await.expect("it can be read").0, 3);
    for bad in ["asleep", "ON", ""] {
        let got = duty(bad).await.problem(422, "BODY_INVALID");
        assert_eq!(got.at("/pointer"), "/duty");
    }
    let body = json!({ "duty": "off", "rider_id": 2 });
    http.post(&rider(1), "/api/v1/rider/duty", &body).await.problem(422, "BODY_INVALID");
    http.post(&D1, "/api/v1/rider/duty", &json!({ "duty": "off" })).await.problem(403, "FORBIDDEN");
});

for_each_database!(the_latest_position_is_kept, |desk| async move {
    let http = Face::of(desk).await;
    let fix = |seq: i64, lat: f64, lng: f64| json!({ "seq": seq, "at": "2026-11-30T04:00:00Z", "lat": lat, "lng": lng });
    let send =
        |fixes: Value| http.post(&rider(1), "/api/v1/rider/location", &json!({ "fixes": fixes }));
    let kept = async |fixes: Value| {
        let got = send(fixes).await.is(200).json();
        let of = |fix: &Value| {
            let older = fix.get("why") == Some(&json!("older"));
            assert_eq!(fix["taken"], json!(!older), "{fix}");
            !older
        };
        let taken = got["fixes"].as_array().expect("one answer each").iter().map(of);
        (got["kept"] == json!(true), taken.collect::<Vec<_>>())
    };
    // Two servers know of each other's positions once they are written.
    let written = async |seq: i64| {
        for _ in 0..2_000 {
            let known = http.read().await.rider_account(RiderId(1)).await.expect("it can be read");
            if known.and_then(|known| known.fix).is_some_and(|fix| fix.seq == seq) {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        panic!("{seq} was not written");
    };
    // In any order; the largest number counts.
    let three = json!([fix(2, 31.2, 121.4), fix(9, 31.3, 121.5), fix(5, 31.4, 121.6)]);
    assert_eq!(kept(three).await, (true, vec![true; 3]));
    written(9).await;
    assert_eq!(kept(json!([fix(8, 31.0, 121.0)])).await, (false, vec![false]));
    assert_eq!(
        kept(json!([fix(9, 1.0, 1.0), fix(11, 31.0, 121.0)])).await,
        (true, vec![false, true])
    );
    written(11).await;
    for edge in [fix(i64::MAX - 1, -90.0, -180.0), fix(i64::MAX, 90.0, 180.0)] {
        let seq = edge["seq"].as_i64().expect("a number");
        assert_eq!(kept(json!([edge])).await, (true, vec![true]));
        written(seq).await;
    }
    assert_eq!(kept(json!([fix(i64::MIN, 0.0, 0.0)])).await, (false, vec![false]));

    let many: Vec<_> = (0..100).map(|seq| fix(seq, 0.0, 0.0)).collect();
    send(json!(many)).await.is(200);
    let more: Vec<_> = (0..101).map(|seq| fix(seq, 0.0, 0.0)).collect();
    for wrong in [json!([]), json!(more)] {
        assert_eq!(send(wrong).await.problem(422, "BODY_INVALID").at("/pointer"), "/fixes");
    }
    for (lat, lng) in [(90.1, 0.0), (-91.0, 0.0), (0.0, 180.5), (0.0, -1e9), (1e300, 0.0)] {
        let got = send(json!([fix(1, 0.0, 0.0), fix(2, lat, lng)])).await;
        assert_eq!(got.problem(400, "NOT_ON_EARTH").at("/pointer"), "/fixes/1");
    }
    for at in ["1969-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59"] {
        let fix = json!({ "seq": 1, "at": at, "lat": 0, "lng": 0 });
        send(json!([fix])).await.problem(400, "TIME_OUT_OF_RANGE");
    }
    send(json!([[1, "2026-11-30T04:00:00Z", 0, 0]])).await.problem(422, "BODY_INVALID");
    for at in [json!("yesterday"), json!(1_796_011_200), json!(null), json!("2026-11-30 04:00")] {
        let fix = json!({ "seq": 1, "at": at, "lat": 0, "lng": 0 });
        let got = send(json!([fix])).await.problem(422, "BODY_INVALID");
        assert_eq!(got.at("/pointer"), "/fixes/0/at");
    }
    http.post(&D1, "/api/v1/rider/location", &json!({ "fixes": [fix(1, 0.0, 0.0)] }))
        .await
        .problem(403, "FORBIDDEN");
});

for_each_database!(a_position_is_kept_with_all_that_is_said_of_it, |desk| async move {
    let http = Face::of(desk).await;
    let send = async |body: Value| http.post(&rider(1), "/api/v1/rider/location", &body).await;
    let known = async |seq: i64| {
        for _ in 0..2_000 {
            let known = http.read().await.rider_account(RiderId(1)).await.expect("it can be read");
            if let Some(fix) = known.and_then(|known| known.fix).filter(|fix| fix.seq == seq) {
                return fix;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        panic!("{seq} was not written");
    };
    // A telephone whose clock is a year behind, and which had no network for five minutes.
    let fix = |seq: i64, at: &str| json!({ "seq": seq, "at": at, "lat": 31.175_303_983_645_97, "lng": 121.531_541_859_215, "accuracy_m": 8.5 });
    let body = json!({
        "fixes": [fix(7, "2025-11-30T03:55:00Z"), fix(3, "2025-11-29T03:55:00Z")],
        "crs": "gcj02", "sent_at": "2025-11-30T04:00:00Z", "device": "telephone",
    });
    let got = send(body).await.is(200).json();
    let answers = json!([
        { "seq": 7, "taken": true },
        { "seq": 3, "taken": false, "why": "too_old" },
    ]);
    assert_eq!(got, json!({ "kept": true, "fixes": answers }));
    let kept = known(7).await;
    assert_eq!(kept.at, NOON.plus_ms(-300_000), "five minutes ago, whatever that clock says");
    assert_eq!(kept.taken_at.to_string(), "2025-11-30T03:55:00.000Z");
    assert_eq!(kept.accuracy_m, Some(8.5));
    let place = (kept.place.lat, kept.place.lng);
    assert!((place.0 - 31.177_427_6).abs() < 1e-6 && (place.1 - 121.527_210_6).abs() < 1e-6);

    // A clock that is ahead makes nobody fresh for ever; another telephone counts anew.
    let ahead = json!({ "seq": 1, "at": "2036-01-01T00:00:00Z", "lat": 31.2, "lng": 121.5 });
    let got =
        send(json!({ "fixes": [ahead.clone()], "device": "another one" })).await.is(200).json();
    assert_eq!(got["kept"], json!(true));
    assert_eq!((known(1).await.at, known(1).await.accuracy_m), (NOON, None));
    let got = send(json!({ "fixes": [ahead], "device": "another one" })).await.is(200).json();
    assert_eq!(got["fixes"], json!([{ "seq": 1, "taken": false, "why": "older" }]));

    let good = || json!({ "seq": 9, "at": "2026-11-30T04:00:00Z", "lat": 31, "lng": 121 });
    for (field, bad, pointer) in [
        ("crs", json!("bd09"), "/crs"),
        ("device", json!(""), "/device"),
        ("device", json!("x".repeat(201)), "/device"),
        ("device", json!(7), "/device"),
        ("sent_at", json!("now"), "/sent_at"),
        ("region", json!(1), "/region"),
    ] {
        let got = send(json!({ "fixes": [good()], field: bad })).await;
        assert_eq!(got.problem(422, "BODY_INVALID").at("/pointer"), pointer);
    }
    let early = json!({ "fixes": [good()], "sent_at": "1969-01-01T00:00:00Z" });
    assert_eq!(send(early).await.problem(400, "TIME_OUT_OF_RANGE").at("/pointer"), "/sent_at");
    for bad in [json!(-1), json!(1e9), json!("8")] {
        let mut fix = good();
        fix["accuracy_m"] = bad;
        let got = send(json!({ "fixes": [fix] })).await.problem(422, "BODY_INVALID");
        assert_eq!(got.at("/pointer"), "/fixes/0/accuracy_m");
    }
});
