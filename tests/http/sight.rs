//! Who sees what of a task.

use dispatch_desk::domain::command::{Act, Actor};
use serde_json::{Value, json};

use crate::{
    harness::*,
    http::{Face, Got},
};

const PHONE: &str = "13800001234";
const STREET: &str = "世纪大道 1 号";
const NOTE: &str = "放前台";

async fn seen(http: &Face, who: &Actor, task: i64) -> Got {
    http.get(who, &format!("/api/v1/tasks/{task}")).await.is(200)
}

/// How much is seen of whom to call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Nothing,
    Masked,
    Whole,
}
use Seen::{Masked, Nothing, Whole};

/// Phone, street, the customer's link, and who holds it. With the phone goes the note.
fn shows(got: &Got) -> (Seen, bool, bool, Value) {
    let of = |end: &str| got.at(&format!("/detail/{end}/phone"));
    let called = match (of("pickup").as_str(), got.body.contains(PHONE)) {
        (None, false) => Nothing,
        (Some("138****1234"), false) => Masked,
        (Some(PHONE), true) => Whole,
        other => panic!("{other:?}: {got:#?}"),
    };
    assert_eq!(of("pickup"), of("dropoff"));
    assert_eq!(called != Nothing, got.body.contains(NOTE));
    (called, got.body.contains(STREET), got.body.contains("/t/"), got.at("/task/rider_id"))
}

for_each_database!(a_reader_sees_as_much_as_the_relation_allows, |desk| async move {
    let http = Face::of(desk).await;
    let task = http.create().await;
    let (id, null) = (task.0, Value::Null);
    let at = async |who: Actor| shows(&seen(&http, &who, id).await);

    // Open: whoever could take it sees where it goes, and not whom to call.
    for who in [D1, D2, SUPERVISOR, shop()] {
        assert_eq!(at(who).await, (Masked, true, true, null.clone()));
    }
    // Whoever may not cancel does not get the link by which the customer does.
    for who in [ADMIN, AUDITOR] {
        assert_eq!(at(who).await, (Masked, true, false, null.clone()));
    }
    assert_eq!(at(rider(1)).await, (Nothing, true, false, null.clone()));

    http.done(D1, task, 1, offer(1)).await;
    assert_eq!(at(D2).await, (Masked, true, true, json!(1)));
    assert_eq!(at(rider(1)).await, (Nothing, true, false, json!(1)));
    assert_eq!(
        at(rider(2)).await,
        (Nothing, false, false, null.clone()),
        "of another's: the state"
    );

    http.done(rider(1), task, 2, Act::Accept).await;
    assert_eq!(at(rider(1)).await, (Whole, true, false, json!(1)), "now they have to call");
    assert_eq!(at(D1).await, (Masked, true, true, json!(1)));
    let other = seen(&http, &rider(2), id).await;
    assert_eq!(shows(&other), (Nothing, false, false, null.clone()));
    assert_eq!((other.at("/task/state"), other.at("/legal")), (json!("assigned"), json!([])));

    http.done(D1, task, 3, reassign(2)).await;
    assert_eq!(at(rider(1)).await, (Nothing, false, false, null.clone()), "it was taken from them");
    assert_eq!(at(rider(2)).await, (Nothing, true, false, json!(2)));
    http.done(D1, task, 4, CANCEL).await;
    assert_eq!(at(rider(2)).await, (Nothing, false, false, null));
    // Admins and auditors can do nothing with it.
    for who in [ADMIN, AUDITOR] {
        assert_eq!(seen(&http, &who, id).await.at("/legal"), json!([]));
    }
});

for_each_database!(a_rider_never_learns_of_another_rider, |desk| async move {
    // What staff do about a rider is none of what the rider is told.
    desk.executor
        .make_rider_link(&D1, dispatch_desk::domain::id::RiderId(1))
        .await
        .expect("a link");
    let http = Face::of(desk).await;
    let task = http.create().await;
    let path = |verb: &str| format!("/api/v1/tasks/{}/{verb}", task.0);
    http.done(D1, task, 1, offer(41)).await;
    http.done(rider(41), task, 2, Act::Accept).await;
    http.done(rider(41), task, 3, Act::Arrive).await;
    let mut heard = Vec::new();
    for (verb, revision) in
        [("grab", 1), ("grab", 2), ("accept", 2), ("decline", 3), ("arrive", 4), ("hand-back", 4)]
    {
        heard.push(
            http.post(&rider(1), &path(verb), &json!({ "revision": revision })).await.is(409),
        );
    }
    assert!(heard.iter().any(|got| got.at("/beaten_by/by") == "another rider"));
    http.done(D1, task, 4, reassign(1)).await;
    http.done(rider(1), task, 5, Act::Accept).await;
    for path in [
        "/api/v1/rider/pool".to_owned(),
        "/api/v1/rider/tasks".to_owned(),
        "/api/v1/events".to_owned(),
        format!("/api/v1/tasks/{}", task.0),
    ] {
        heard.push(http.get(&rider(1), &path).await.is(200));
    }
    for got in &heard {
        for other in ["R41", "rider 41", "\"rider_id\":41", "\"id\":\"41\""] {
            assert!(!got.body.contains(other), "{other}: {got:#?}");
        }
    }
    // In the log stands what concerns them, and no more.
    let log = http.get(&rider(1), "/api/v1/events").await.is(200);
    for item in log.at("/items").as_array().expect("a list") {
        assert_eq!(item["rider_id"], 1, "{item}");
        assert_ne!(item["kind"], "admin", "{item}");
    }
    assert_eq!(log.at("/through"), log.at("/head"));
    http.get(&rider(1), &format!("/api/v1/tasks/{}/events", task.0))
        .await
        .problem(403, "FORBIDDEN");
});

for_each_database!(the_attempts_of_the_losers_are_read_by_the_desk_alone, |desk| async move {
    let http = Face::of(desk).await;
    let task = http.create().await;
    let path = format!("/api/v1/tasks/{}", task.0);
    http.post(&rider(1), &format!("{path}/grab"), &json!({ "revision": 1 })).await.done();
    http.post(&rider(2), &format!("{path}/grab"), &json!({ "revision": 1 }))
        .await
        .refused("TAKEN_BY_OTHER");
    let read = http.get(&D1, &format!("{path}/attempts")).await.is(200);
    let told: Vec<_> = read
        .at("/items")
        .as_array()
        .expect("a list")
        .iter()
        .map(|item| {
            (
                item["actor"]["id"].clone(),
                item["verb"].clone(),
                item["code"].clone(),
                item["revision_seen"].clone(),
            )
        })
        .collect();
    let told = serde_json::to_value(told).expect("JSON");
    assert_eq!(
        told,
        json!([
            ["shop", "create", "done", 1],
            ["1", "grab", "done", 2],
            ["2", "grab", "TAKEN_BY_OTHER", 2]
        ])
    );
    let attempts = format!("{path}/attempts");
    http.get(&rider(2), &attempts).await.problem(403, "FORBIDDEN");
    http.get(&FOREIGN_DISPATCHER, &attempts).await.problem(404, "NOT_FOUND");
});

for_each_database!(a_shop_sees_its_own_orders_alone, |desk| async move {
    let http = Face::of(desk).await;
    let (own, theirs) = (http.create().await, Actor::Intake("other_shop".to_owned()));
    seen(&http, &shop(), own.0).await;
    let events = format!("/api/v1/tasks/{}/events", own.0);
    http.get(&shop(), &events).await.is(200);
    for path in [format!("/api/v1/tasks/{}", own.0), events] {
        http.get(&theirs, &path).await.problem(404, "NOT_FOUND");
    }
    let cancel = format!("/api/v1/tasks/{}/cancel", own.0);
    http.post(&theirs, &cancel, &json!({ "revision": 1 })).await.problem(404, "NOT_FOUND");
    let edit = format!("/api/v1/tasks/{}/detail", own.0);
    http.patch(&shop(), &edit, &json!({ "detail_revision": 1, "note": "door 2" })).await.done();
    http.post(&shop(), &cancel, &json!({ "revision": 1, "reason": "sold_out" })).await.done();
    for path in ["/api/v1/tasks", "/api/v1/events", "/api/v1/rider/tasks"] {
        http.get(&shop(), path).await.problem(403, "FORBIDDEN");
    }
    // A dispatcher's own order is no shop's.
    let body = crate::http::order_body(&order(), Some("by-hand".to_owned()));
    let made = http.request("POST", &D1, "/api/v1/tasks").json(&body).await.is(201);
    let path = format!("/api/v1/tasks/{}", made.at("/task/id"));
    http.get(&shop(), &path).await.problem(404, "NOT_FOUND");
});
