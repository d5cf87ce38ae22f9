//! Who sees what: staff their regions, riders what concerns them, customers what becomes of their order.

use dispatch_desk::domain::{
    command::{Act, NewTask},
    id::{RiderId, TaskId},
};
use serde_json::json;

use crate::{
    client::{Frame, Stream, request},
    harness::*,
    http::Face,
};

fn to_the_south() -> NewTask {
    NewTask { region: SOUTH, ..order() }
}

/// Numbers of the events that came.
fn numbers(events: &[Frame]) -> Vec<i64> {
    events.iter().map(|frame| frame.number("number")).collect()
}

for_each_database!(staff_see_their_regions_and_that_nothing_is_missing, |desk| async move {
    let face = Face::of(desk).await;
    let mut north = Stream::begun(&face, &D1, "?after=0").await;
    let mut south = Stream::begun(&face, &FOREIGN_DISPATCHER, "?after=0").await;
    for to_the_north in [true, false, false, true, false, true] {
        face.create_with(if to_the_north { order() } else { to_the_south() }).await;
    }
    north.until(6).await;
    south.until(5).await;
    assert_eq!(north.numbers, [1, 4, 6]);
    assert_eq!(south.numbers, [2, 3, 5]);
    // What is behind the last one is told with the next heartbeat, so that a resume need not read it again.
    south.sees_nothing(&face, 6).await;
});

/// The task as riders see it through its whole life, with what each of them is told: the numbers, with an `!` where
/// the event is theirs.
async fn told(face: &Face, who: i64, through: i64) -> Vec<String> {
    let mut stream = Stream::begun(face, &rider(who), "?after=0").await;
    let pulled = face.get(&rider(who), "/api/v1/events?after=0").await.is(200).at("/items");
    let end = face.read().await.head().await.unwrap().0;
    assert_eq!(end, through);
    let mut events = stream.beats(face, end).await;
    events.retain(|frame| frame.name == "event");
    for event in &events {
        let text = event.data.to_string();
        for other in (1..=RIDERS).filter(|other| *other != who) {
            assert!(!text.contains(&format!("\"rider_id\":{other},")), "{text}");
            assert!(!text.contains(&format!("\"kind\":\"rider\",\"id\":\"{other}\"")), "{text}");
        }
        assert_eq!(event.data["region"], 1, "{text}");
    }
    let data: Vec<_> = events.iter().map(|event| event.data.clone()).collect();
    assert_eq!(json!(data), pulled, "pushed and pulled are one");
    let mine = |event: &Frame| event.data["rider_id"] == who;
    let said =
        |event: &Frame| format!("{}{}", event.number("number"), if mine(event) { "!" } else { "" });
    events.iter().map(said).collect()
}

for_each_database!(
    riders_are_told_what_concerns_them_and_no_other_riders_name,
    |desk| async move {
        let face = Face::of(desk).await;
        let task = face.create().await; // 1
        face.done(D1, task, 1, offer(1)).await; // 2
        face.done(rider(1), task, 2, DECLINE).await; // 3
        face.done(rider(2), task, 3, GRAB).await; // 4
        face.done(rider(2), task, 4, Act::Arrive).await; // 5
        let note = face.note(D1, task, 1, "ring twice");
        face.send(note).await; // 6
        face.done(D1, task, 5, reassign(3)).await; // 7
        face.done(rider(3), task, 6, Act::Accept).await; // 8
        face.done(D1, task, 7, CANCEL).await; // 9
        assert_eq!(told(&face, 1, 9).await, ["2!", "3!"]);
        // The owner is told that the task is taken away, not to whom.
        assert_eq!(told(&face, 2, 9).await, ["4!", "5!", "7"]);
        let third = told(&face, 3, 9).await;
        assert_eq!(third[..2], ["7!", "8!"]);
        assert!(third[2].starts_with('9'), "{third:?}");
        assert_eq!(told(&face, 4, 9).await, Vec::<String>::new());
        assert_eq!(told(&face, FOREIGN_RIDER, 9).await, Vec::<String>::new());
    }
);

for_each_database!(the_owner_is_told_at_once_what_is_written_on_the_task, |desk| async move {
    let face = Face::of(desk).await;
    let task = face.create().await;
    face.done(rider(2), task, 1, GRAB).await;
    let mut owner = Stream::begun(&face, &rider(2), "?after=2").await;
    let mut other = Stream::begun(&face, &rider(5), "?after=2").await;
    let note = face.note(D1, task, 1, "ring twice");
    face.send(note).await;
    let told = owner.word().await;
    assert_eq!((told.number("number"), &told.data["kind"]), (3, &json!("detail")));
    other.sees_nothing(&face, 3).await;
});

async fn round(face: &Face, task: TaskId, asked: &[i64]) {
    let mut tx = face.db.begin().await.unwrap();
    let tickets: Vec<_> = asked.iter().map(|rider| (RiderId(*rider), "n")).collect();
    tx.start_round(1, task, NOON, NOON.plus_ms(60_000), &tickets).await.unwrap();
    tx.commit().await.unwrap();
}

for_each_database!(who_was_asked_in_a_round_is_told_that_it_is_gone, |desk| async move {
    let face = Face::of(desk).await;
    let task = face.create().await;
    round(&face, task, &[1, 2, FOREIGN_RIDER]).await;
    let mut loser = Stream::begun(&face, &rider(2), "").await;
    let mut bystander = Stream::begun(&face, &rider(3), "").await;
    let mut foreigner = Stream::begun(&face, &rider(FOREIGN_RIDER), "").await;
    let ticket = dispatch_desk::domain::command::Ticket { round: 1, nonce: "n".to_owned() };
    face.done(rider(1), task, 1, Act::Grab { ticket: Some(ticket) }).await;
    let gone = loser.word().await;
    assert_eq!((&gone.data["action"], &gone.data["rider_id"]), (&json!("grab"), &json!(null)));
    assert_eq!(gone.data["actor"], json!({ "kind": "rider" }));
    // What becomes of it later is no business of theirs.
    face.done(rider(1), task, 2, Act::Arrive).await;
    for stream in [&mut loser, &mut bystander, &mut foreigner] {
        stream.sees_nothing(&face, 3).await;
    }
});

for_each_database!(
    an_open_task_without_a_round_stirs_the_pool_of_its_region_alone,
    |desk| async move {
        let face = Face::of(desk).await;
        let mut here = Stream::begun(&face, &rider(1), "").await;
        let mut there = Stream::begun(&face, &rider(FOREIGN_RIDER), "").await;
        face.create().await;
        let hint = here.word().await;
        assert_eq!((hint.name.as_str(), hint.data), ("pool", json!({})));
        there.sees_nothing(&face, 1).await;
    }
);

for_each_database!(customers_see_their_order_and_nothing_else, |desk| async move {
    let face = Face::of(desk).await;
    let (task, other) = (face.create().await, face.create().await);
    let path = format!("/api/v1/track/{}", face.tracking(task).await);
    let number = face.get(&D1, &path).await.is(200).at("/head");
    let path = format!("/t/{}/stream?after={number}", face.tracking(task).await);
    let answer = request(&face.origins[0], &path).send().await.expect("an answer");
    let mut stream = Stream::of(answer);
    assert_eq!(stream.next().await.name, "hello");
    face.done(D1, task, 1, offer(1)).await;
    face.done(D1, other, 1, offer(1)).await;
    face.done(rider(1), task, 2, Act::Accept).await;
    face.done(rider(1), task, 3, Act::Arrive).await;
    let events = stream.until(6).await;
    assert_eq!(numbers(&events), [3, 5, 6]);
    let said: Vec<_> = events
        .iter()
        .map(|event| (event.data["state"].clone(), event.data["stage"].clone()))
        .collect();
    let words = [
        ("offered", json!(null)),
        ("assigned", json!("waiting")),
        ("assigned", json!("at_pickup")),
    ];
    assert_eq!(said, words.map(|(state, stage)| (json!(state), stage)));
    for event in events {
        let fields: Vec<_> = event.data.as_object().expect("fields").keys().cloned().collect();
        let allowed = ["number", "occurred_at", "stage", "state", "task_id", "to_revision"];
        assert!(fields.iter().all(|field| allowed.contains(&field.as_str())), "{fields:?}");
    }
    let nobody = request(&face.origins[0], &format!("/t/{}/stream", "0".repeat(32))).send().await;
    assert_eq!(nobody.expect("an answer").status().as_u16(), 404);
});
