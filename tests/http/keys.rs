//! One key is one request, through whichever server it comes (C21, C22, C24).

use dispatch_desk::domain::command::{Act, Command, What};
use serde_json::{Value, json};

use crate::{
    harness::{
        node::back,
        race::Overlap,
        record::{Came, Sent},
        *,
    },
    http::{Face, order_body},
    short::{actions, clear},
};

/// Ten times at once and ten times in a row, by turns to the servers.
async fn twenty_times(http: &Face, command: &Command, overlap: &mut Overlap) -> Vec<Sent> {
    let mut sent = http.contest(vec![command.clone(); 10]).await;
    overlap.count(&sent);
    for _ in 0..10 {
        sent.push(http.tell(command.clone()).await);
    }
    sent
}

/// All bodies are the same, byte for byte, and all but one say that they are repeated.
#[track_caller]
fn one_answer(sent: &[Sent]) {
    // Whoever asks while the first is under way may be told so; the answer is there a moment later.
    let decided = || {
        let busy = Came::Error("REQUEST_IN_PROGRESS".to_owned());
        sent.iter().filter(move |sent| sent.came != busy).map(|sent| back(&sent.came))
    };
    let first = decided().next().expect("somebody was answered");
    for this in decided() {
        assert_eq!((&this.body, this.status), (&first.body, first.status));
        assert_eq!((&this.location, &this.etag), (&first.location, &first.etag));
    }
    assert_eq!(decided().filter(|this| !this.replayed).count(), 1);
}

for_each_database!(one_key_through_all_servers_has_one_effect_and_one_answer, |desk| async move {
    let http = Face::of(desk).await;
    let mut overlap = Overlap::default();
    for _ in 0..rounds(3, 60) {
        let tasks = http.create_many(2).await;
        let invite = http.change(D1, tasks[0], 1, offer(1));
        one_answer(&twenty_times(&http, &invite, &mut overlap).await);
        assert_eq!(actions(&http, tasks[0]).await, ["create", "offer"]);

        // A refusal is kept like a success, and stays when its cause has gone.
        let early = http.change(rider(3), tasks[1], 2, GRAB);
        let mut sent = twenty_times(&http, &early, &mut overlap).await;
        http.done(D1, tasks[1], 1, offer(4)).await;
        sent.push(http.tell(early).await);
        one_answer(&sent);
        assert_eq!(sent[0].came.code(), "STALE_REVISION");

        let create = http.command(shop(), What::Create(Box::new(order())));
        let sent = twenty_times(&http, &create, &mut overlap).await;
        one_answer(&sent);
        let made = sent[0].came.answer().task.expect("a created task").id;
        assert_eq!(actions(&http, made).await, ["create"]);
        clear(&http, &[tasks[0], tasks[1], made]).await;
    }
    overlap.report("C21 over HTTP: one key, twenty times");
    http.check().await;
});

for_each_database!(a_key_answers_for_its_own_request_alone, |desk| async move {
    let http = Face::of(desk).await;
    let tasks = http.create_many(2).await;
    let path = |task: usize, verb: &str| format!("/api/v1/tasks/{}/{verb}", tasks[task].0);
    let ask = |who, path: &str, body: &Value| {
        let (who, body): (_, &Value) = (who, body);
        http.post(&who, path, body).key("K")
    };
    let first = ask(rider(1), &path(0, "grab"), &json!({ "revision": 1 })).await.done();
    assert!(!first.headers.contains_key("idempotency-replayed"));
    for _ in &http.origins {
        // Another task, another verb, another revision.
        for (path, body) in [
            (path(1, "grab"), json!({ "revision": 1 })),
            (path(0, "arrive"), json!({ "revision": 1 })),
            (path(0, "grab"), json!({ "revision": 2 })),
            (path(0, "decline"), json!({ "revision": 1, "reason": "far" })),
        ] {
            ask(rider(1), &path, &body).await.problem(422, "REQUEST_KEY_REUSED");
        }
        // The same JSON in another order and with other spaces, in another language: the first answer.
        for text in ["{ \"ticket\" : null ,\n \"revision\" :1 }", "{\"revision\":1}"] {
            let again = ask(rider(1), &path(0, "grab"), &json!({}));
            let again = again.bytes("application/json", text).in_chinese().await.is(200);
            assert_eq!(again.body, first.body);
            assert_eq!(again.headers["idempotency-replayed"], "true");
            assert_eq!(again.headers["content-type"], first.headers["content-type"]);
        }
    }
    // Another rider's key of the same text is another key, and a run of its own.
    let own = ask(rider(2), &path(0, "grab"), &json!({ "revision": 1 })).await;
    let own = own.refused("TAKEN_BY_OTHER");
    assert!(!own.headers.contains_key("idempotency-replayed"));
    assert_ne!(own.body, first.body);
    // A key that was not used up by what could not be carried out.
    http.post(&rider(5), &path(1, "grab"), &json!({}))
        .key("L")
        .await
        .problem(428, "REVISION_MISSING");
    http.post(&rider(5), &path(1, "grab"), &json!({ "revision": 1 })).key("L").await.done();
    assert_eq!(actions(&http, tasks[0]).await, ["create", "grab"]);
    assert_eq!(actions(&http, tasks[1]).await, ["create", "grab"]);
});

for_each_database!(a_create_is_answered_again_as_on_the_first_day, |desk| async move {
    let http = Face::of(desk).await;
    for who in [shop(), D1] {
        let body = order_body(&order(), Some(format!("order of {}", who.kind()).replace(' ', "-")));
        // The header is not needed: the order's own number is the key.
        let create = || http.request("POST", &who, "/api/v1/tasks").json(&body);
        let first = create().await.is(201).done();
        let id = first.at("/task/id").as_i64().expect("a number");
        assert_eq!(first.headers["location"], format!("/api/v1/tasks/{id}"));
        assert_eq!(first.headers["etag"], "\"1\"");
        assert_eq!(first.at("/task/revision"), 1);
        http.get(&who, &first.headers["location"]).await.is(200);

        let task = dispatch_desk::domain::id::TaskId(id);
        for (actor, revision, act) in
            [(D1, 1, offer(1)), (rider(1), 2, Act::Accept), (rider(1), 3, Act::Arrive)]
        {
            http.tell(http.change(actor, task, revision, act)).await;
        }
        for _ in &http.origins {
            let again = create().await.is(201);
            assert_eq!(again.body, first.body, "that day's answer, not today's");
            for name in ["location", "etag", "content-type"] {
                assert_eq!(again.headers[name], first.headers[name]);
            }
            assert_eq!(again.headers["idempotency-replayed"], "true");
        }
        // The same number for another order.
        let mut other = body.clone();
        other["note"] = json!("another order");
        let other = http.request("POST", &who, "/api/v1/tasks").json(&other).await;
        other.problem(422, "REQUEST_KEY_REUSED");
        http.done(D1, task, 4, CANCEL).await;
    }
});
