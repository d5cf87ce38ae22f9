//! An offer by its token: the answer to "was my accept counted?".

use dispatch_desk::domain::{command::Act, id::TaskId};
use serde_json::{Value, json};

use crate::{harness::*, http::Face};

/// The token of the last offer of a task.
async fn last(http: &Face, task: TaskId) -> String {
    let offers = http.read().await.offers_of(task).await.expect("offers can be read");
    offers.last().expect("it was offered").token.clone()
}

for_each_database!(an_offer_says_how_it_ended, |desk| async move {
    let http = Face::of(desk).await;
    for end in ["accepted", "declined", "withdrawn", "expired", "cancelled"] {
        let task = http.create().await;
        http.done(D1, task, 1, offer(1)).await;
        let token = last(&http, task).await;
        let path = format!("/api/v1/offers/{token}");
        for who in [rider(1), D1, AUDITOR] {
            let waits = http.get(&who, &path).await.is(200);
            assert_eq!((waits.at("/task_id"), waits.at("/revision")), (json!(task.0), json!(2)));
            assert_eq!((waits.at("/answer"), waits.at("/answered_at")), (Value::Null, Value::Null));
            assert_eq!(waits.at("/task/state"), "offered");
        }
        for who in [rider(2), FOREIGN_DISPATCHER, rider(FOREIGN_RIDER), shop()] {
            http.get(&who, &path).await.problem(404, "NOT_FOUND");
        }
        match end {
            "accepted" => drop(http.done(rider(1), task, 2, Act::Accept).await),
            "declined" => drop(http.done(rider(1), task, 2, DECLINE).await),
            "withdrawn" => drop(http.done(D1, task, 2, WITHDRAW).await),
            "cancelled" => drop(http.done(D1, task, 2, CANCEL).await),
            _ => {
                http.advance_ms(30_000).await;
                // Whoever touches it releases it, if the server's own expiry has not yet.
                http.ask(rider(1), task, 2, Act::Accept).await;
            }
        }
        for who in [rider(1), D2] {
            let over = http.get(&who, &path).await.is(200);
            assert_eq!(over.at("/answer"), end);
            assert!(over.at("/answered_at").is_string());
            assert_eq!(
                over.at("/task/state"),
                match end {
                    "accepted" => "assigned",
                    "cancelled" => "cancelled",
                    _ => "open",
                }
            );
        }
        let revision = http.task(task).await.revision.0;
        if end != "cancelled" {
            http.done(D1, task, revision, CANCEL).await;
        }
    }
});

for_each_database!(an_offer_is_accepted_by_its_token, |desk| async move {
    let http = Face::of(desk).await;
    let task = http.create().await;
    http.done(D1, task, 1, offer(1)).await;
    let path = format!("/api/v1/offers/{}/accept", last(&http, task).await);
    let nothing = json!({});
    http.post(&rider(2), &path, &nothing).await.refused("NOT_INVITED");
    http.post(&D1, &path, &nothing).await.problem(403, "FORBIDDEN");
    http.post(&FOREIGN_DISPATCHER, &path, &nothing).await.problem(404, "NOT_FOUND");
    http.post(&rider(1), &path, &json!({ "revision": 2 })).await.problem(422, "BODY_INVALID");
    let keyless = http.post(&rider(1), &path, &nothing).without("idempotency-key");
    keyless.await.problem(400, "KEY_MISSING");
    let done = http.post(&rider(1), &path, &nothing).key("once").await.done();
    assert_eq!((done.at("/task/rider_id"), done.at("/event/to_revision")), (json!(1), json!(3)));
    let again = http.post(&rider(1), &path, &nothing).key("once").await.is(200);
    assert_eq!(again.body, done.body);
    // Under the other address it is the same request.
    let same = http.post(
        &rider(1),
        &format!("/api/v1/tasks/{}/accept", task.0),
        &json!({ "revision": 2 }),
    );
    assert_eq!(same.key("once").await.is(200).body, done.body);
    let more = http.post(&rider(1), &path, &nothing).await.is(200);
    assert_eq!(more.at("/code"), "ALREADY_YOURS");

    // Too late is told as such.
    let task = http.create().await;
    http.done(D1, task, 1, offer(2)).await;
    let path = format!("/api/v1/offers/{}/accept", last(&http, task).await);
    http.advance_ms(30_000).await;
    let late = http.post(&rider(2), &path, &nothing).await.refused("OFFER_EXPIRED");
    assert_eq!(late.at("/task/state"), "open");

    for token in ["x", "%00", "%ff", "0", &"a".repeat(300), "%E7%95%8C"] {
        let path = format!("/api/v1/offers/{token}");
        http.get(&rider(1), &path).await.problem(404, "NOT_FOUND");
        http.post(&rider(1), &format!("{path}/accept"), &nothing).await.problem(404, "NOT_FOUND");
    }
});
