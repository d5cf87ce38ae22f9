//! Rounds in streams: members are told when they see it, and everybody else when the open tasks are others.
//!
//! On one node: what rounds do on each database stands in `tests/all/rounds`.

use dispatch_desk::{
    domain::{
        command::{Act, Ticket},
        fix::Fix,
        geo::Place,
        id::{RiderId, TaskId},
        policy::Policy,
        round::RoundRules,
    },
    engine::rounds::Rounds,
};
use serde_json::{Value, json};

use crate::{
    client::{Frame, Stream},
    harness::*,
    http::Face,
};

/// A face whose riders stand on a line north of the pickup, 100 m apart; rounds ask six of them, two at a time.
async fn town() -> Face {
    let desk = Desk::open(Database::Sqlite).await;
    let rules = RoundRules { batch: 6, stagger_ms: 3_000, seconds: 60, ..RoundRules::default() };
    let policy = Policy { version: 2, rounds: rules, ..Policy::default() };
    let mut tx = desk.db.begin().await.unwrap();
    tx.add_policy(NORTH, NOON, &policy).await.unwrap();
    tx.commit().await.unwrap();
    let face = Face::of(desk).await;
    for number in 1..=RIDERS {
        let north = 0.000_899_32 * f64::from(i32::try_from(number).unwrap());
        let place = Place { lat: 31.2304 + north, lng: 121.4737 };
        let locator = face.executor.positions().locator();
        locator.note(NORTH, RiderId(number), Fix::new(1, NOON, place)).await.unwrap();
    }
    face
}

async fn wish(face: &Face, task: TaskId, what: &str, body: Value) {
    let path = format!("/api/v1/tasks/{}/rounds{what}", task.0);
    face.request("POST", &D1, &path).json(&body).key(&format!("wish{what}")).await.is(200);
}

/// Lets the desk do what is due; the server does the same by itself, and finds nothing left to do.
async fn look(face: &Face) {
    let locator = face.executor.positions().locator().clone();
    Rounds::new(face.executor.clone(), locator).run_once().await.unwrap();
}

/// The next event that a stream brings.
async fn event(stream: &mut Stream) -> Frame {
    loop {
        let frame = stream.word().await;
        if frame.name == "event" {
            return frame;
        }
    }
}

/// Waits for the word that the open tasks are others.
async fn stirred(stream: &mut Stream) {
    while stream.word().await.name != "pool" {}
}

async fn ticket(face: &Face, number: i64) -> Option<Ticket> {
    let pool = face.get(&rider(number), "/api/v1/rider/pool").await.is(200).json();
    let ticket = &pool["items"][0]["ticket"];
    Some(Ticket { round: ticket["round"].as_i64()?, nonce: ticket["nonce"].as_str()?.to_owned() })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_sees_a_round_later_is_told_when_it_is_so() {
    let face = town().await;
    let task = face.create().await;
    let mut streams = Vec::new();
    for number in [1, 3, 5] {
        streams.push(Stream::begun(&face, &rider(number), "").await);
    }
    let [first, second, third] = &mut streams[..] else { panic!("three") };
    wish(&face, task, "", json!({ "revision": 1 })).await;
    assert_eq!(event(first).await.data["action"], "round-started");
    assert_eq!(ticket(&face, 3).await, None);
    // Somebody says no meanwhile: the others are told in time all the same.
    face.advance_ms(2_999).await;
    look(&face).await;
    face.advance_ms(1).await;
    look(&face).await;
    let told = event(second).await;
    assert_eq!(told.data["action"], "round-shown", "not that it began: they could not see it then");
    assert!(ticket(&face, 3).await.is_some() && ticket(&face, 5).await.is_none());
    face.advance_ms(3_000).await;
    look(&face).await;
    let last = event(third).await;
    assert_eq!(last.data["action"], "round-shown");
    assert!(ticket(&face, 5).await.is_some());
    assert!(last.number("number") > told.number("number"));
    // It is told once: the next thing that they hear is that it is gone.
    face.advance_ms(1_000).await;
    look(&face).await;
    let ticket = ticket(&face, 6).await;
    face.done(rider(6), task, 1, Act::Grab { ticket }).await;
    assert_eq!(event(third).await.data["action"], "grab");
    face.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_round_takes_a_task_from_the_pool_and_gives_it_back() {
    let face = town().await;
    let mut bystander = Stream::begun(&face, &rider(30), "").await;
    let task = face.create().await;
    stirred(&mut bystander).await;
    let open = async || face.get(&rider(30), "/api/v1/rider/pool").await.is(200).at("/items");
    assert_eq!(open().await.as_array().map(Vec::len), Some(1));
    wish(&face, task, "", json!({ "revision": 1 })).await;
    // It is not theirs to take any more.
    stirred(&mut bystander).await;
    assert_eq!(open().await, json!([]));
    face.advance_ms(1_000).await;
    wish(&face, task, "/stop", json!({ "revision": 1 })).await;
    // It is again.
    stirred(&mut bystander).await;
    assert_eq!(open().await.as_array().map(Vec::len), Some(1));
    face.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_happens_within_a_round_stirs_nobody_else() {
    let face = town().await;
    let task = face.create().await;
    wish(&face, task, "", json!({ "revision": 1 })).await;
    face.advance_ms(1_000).await;
    let mut bystander = Stream::begun(&face, &rider(30), "").await;
    wish(&face, task, "/widen", json!({ "revision": 1 })).await;
    face.advance_ms(1_000).await;
    let ticket = ticket(&face, 1).await;
    face.done(rider(1), task, 1, Act::Grab { ticket }).await;
    let (head, _) = face.read().await.head().await.unwrap();
    bystander.sees_nothing(&face, head).await;
    face.check().await;
}
