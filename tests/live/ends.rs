//! How streams end: with their reader's right, when the server stops, when nobody reads; and how many there may be.

use std::time::{Duration, Instant};

use dispatch_desk::{
    domain::{
        command::Actor,
        id::{RiderId, StaffId},
    },
    engine::{hub, office::Office},
    store::RiderChange,
    web::Limits,
};

use crate::{
    client::{Frame, PATIENCE, Stream, request},
    harness::*,
    http::{Face, token_of},
};

/// What ends a reader's right, and is not told to anybody else.
#[derive(Clone, Copy, Debug)]
enum Blow {
    Disabled,
    Revoked,
    MovedAway,
    NewRole,
}

async fn strike(face: &Face, blow: Blow) {
    let mut tx = face.db.begin().await.unwrap();
    match blow {
        Blow::Disabled => drop(tx.disable_staff(StaffId(1), true).await.unwrap()),
        Blow::Revoked => drop(tx.revoke_token("staff-1", NOON).await.unwrap()),
        Blow::MovedAway | Blow::NewRole => {}
    }
    tx.commit().await.unwrap();
    let sql = match blow {
        Blow::MovedAway => "UPDATE staff_region SET region_id = 2 WHERE staff_id = 1",
        Blow::NewRole => "UPDATE staff SET role = 'auditor' WHERE id = 1",
        Blow::Disabled | Blow::Revoked => return,
    };
    face.sql(sql, sql).await;
}

/// Without any word in the log, the end comes within the promised time; and nothing of what is committed after that.
async fn ends_by_itself(desk: Desk, blow: Blow) {
    let face = Face::of(desk).await;
    face.create().await;
    let mut stream = Stream::begun(&face, &D1, "?after=0").await;
    stream.until(1).await;
    let since = Instant::now();
    strike(&face, blow).await;
    let rest = stream.rest().await;
    assert!(since.elapsed() < Duration::from_secs(15), "{blow:?}: {:?}", since.elapsed());
    let last = rest.last().expect("a word of farewell");
    assert_eq!((last.name.as_str(), &last.data["reason"]), ("bye", &"rights".into()), "{rest:?}");
    assert!(rest.iter().all(|frame| frame.name != "event"), "{rest:?}");
    face.create().await;
    // Who comes back with the old number gets what they may see now: nothing of the north, or nothing at all.
    let answer = request(&face.origins[0], "/api/v1/stream?after=0").bearer_auth(token_of(&D1));
    let answer = answer.send().await.expect("an answer");
    match blow {
        Blow::Disabled | Blow::Revoked => assert_eq!(answer.status().as_u16(), 401),
        Blow::MovedAway => Stream::of(answer).sees_nothing(&face, 2).await,
        Blow::NewRole => {
            let mut stream = Stream::of(answer);
            stream.until(2).await;
            assert_eq!(stream.numbers, [1, 2], "an auditor reads all of the region");
        }
    }
    assert_eq!(face.origins.len() == 2, face.database == Database::Postgres);
}

for_each_database!(a_disabled_member_of_staff_reads_no_more, |desk| ends_by_itself(
    desk,
    Blow::Disabled
));
for_each_database!(an_ended_token_reads_no_more, |desk| ends_by_itself(desk, Blow::Revoked));
for_each_database!(another_region_ends_the_stream, |desk| ends_by_itself(desk, Blow::MovedAway));
for_each_database!(another_role_ends_the_stream, |desk| ends_by_itself(desk, Blow::NewRole));

// What an admin does stands in the log; not one event behind it is told, however fast they come.
for_each_database!(not_one_event_after_the_word_that_ends_it, |desk| async move {
    use dispatch_desk::domain::{
        admin::{AdminAction, AdminEvent, AdminSubject},
        command::Role,
    };
    use dispatch_desk::store::StaffChange;
    // It would not look by itself for an hour.
    let live = hub::Settings { rights: Duration::from_hours(1), ..hub::Settings::default() };
    let face = Face::live(desk, Limits::default(), live).await;
    let mut stream = Stream::begun(&face, &D1, "?after=0").await;
    let mut office = Office::open(&face.executor, &ADMIN).await.unwrap();
    let record = office.tx.staff_record(StaffId(1)).await.unwrap().unwrap();
    let change =
        StaffChange { name: "D1", role: Role::Dispatcher, regions: &[SOUTH], disabled: false };
    office.tx.change_staff(StaffId(1), record.revision, &change).await.unwrap();
    office.note(AdminEvent::new(AdminAction::StaffChanged, AdminSubject::Staff(StaffId(1))));
    let orders = async { face.create_many(60).await };
    let (_, committed) = tokio::join!(orders, office.commit());
    committed.unwrap();
    face.create_many(20).await;
    let events = face.read().await.events_after(0, 1_000).await.unwrap();
    let end = events.iter().find(|event| event.kind == "admin").expect("it is in the log").number;
    let rest = stream.rest().await;
    assert_eq!(rest.last().map(|frame| frame.name.as_str()), Some("bye"), "{rest:?}");
    assert!(stream.numbers.iter().all(|number| *number < end), "{end}: {:?}", stream.numbers);
});

for_each_database!(a_rider_who_is_shut_out_or_moved_is_told_to_go, |desk| async move {
    let live = hub::Settings { rights: Duration::from_hours(1), ..hub::Settings::default() };
    let face = Face::live(desk, Limits::default(), live).await;
    for (who, change) in [
        (1, RiderChange { disabled: Some(true), ..RiderChange::default() }),
        (2, RiderChange { region: Some(SOUTH), ..RiderChange::default() }),
    ] {
        let mut stream = Stream::begun(&face, &rider(who), "").await;
        let mut other = Stream::begun(&face, &rider(3), "").await;
        let changed = face.executor.change_rider(&Actor::System, RiderId(who), &change).await;
        changed.unwrap();
        let rest = stream.rest().await;
        assert_eq!(rest.last().map(|frame| frame.name.as_str()), Some("bye"), "{rest:?}");
        let task = face.create().await;
        face.done(rider(3), task, 1, GRAB).await;
        assert_eq!(other.word().await.name, "pool", "others read on");
    }
});

fn names(frames: &[Frame]) -> Vec<&str> {
    frames.iter().map(|frame| frame.name.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stops_says_goodbye_to_every_stream_and_answers_what_is_under_way() {
    let mut face = Face::of(Desk::open(Database::Sqlite).await).await;
    let mut streams = Vec::new();
    for number in 0..50 {
        streams.push(Stream::begun(&face, &rider(1 + number / 4), "").await);
    }
    let tasks = face.create_many(20).await;
    let commands = tasks.iter().map(|task| {
        let body = serde_json::json!({ "revision": 1 });
        let path = format!("/api/v1/tasks/{}/cancel", task.0);
        let ask = request(&face.origins[0], "").build().expect("a request").url().clone();
        let url = ask.join(&path).expect("an address");
        let client = reqwest::Client::builder().no_proxy().build().expect("a client");
        let ask = client.post(url).bearer_auth(token_of(&D1)).json(&body);
        tokio::spawn(ask.header("idempotency-key", format!("stop-{}", task.0)).send())
    });
    let commands: Vec<_> = commands.collect();
    let readers = streams.into_iter().map(|mut stream| {
        tokio::spawn(async move {
            let rest = stream.rest().await;
            (rest, Instant::now())
        })
    });
    let readers: Vec<_> = readers.collect();
    let since = Instant::now();
    face.stop().await;
    let took = since.elapsed();
    assert!(took < Duration::from_secs(10), "{took:?}");
    for reader in readers {
        let (rest, ended) = reader.await.expect("a reader returns");
        assert_eq!(names(&rest).last(), Some(&"bye"), "{rest:?}");
        assert_eq!(rest.last().expect("a frame").data["reason"], "stopping");
        assert!(ended.duration_since(since) < Duration::from_secs(1));
    }
    let mut done = 0;
    for command in commands {
        // Turned away at the door, or answered: nothing in between.
        if let Ok(answer) = command.await.expect("it returns") {
            assert_eq!(answer.status().as_u16(), 200);
            done += 1;
        }
    }
    println!("50 streams and {done} commands ended in {took:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn there_are_only_so_many_per_session_per_person_and_in_all() {
    let caps = hub::Caps { node: 7, person: 5, session: 4 };
    let live = hub::Settings { caps, ..hub::Settings::default() };
    let face = Face::live(Desk::open(Database::Sqlite).await, Limits::default(), live).await;
    let second = dispatch_desk::admin::token(&face.db, &D1, "a second one").await.unwrap();
    let open = async |token: &str| {
        let answer = request(&face.origins[0], "/api/v1/stream").bearer_auth(token).send().await;
        let answer = answer.expect("an answer");
        if answer.status().as_u16() == 200 {
            let mut stream = Stream::of(answer);
            stream.next().await;
            return Ok(stream);
        }
        let status = answer.status().as_u16();
        let body: serde_json::Value = answer.json().await.expect("a problem");
        assert_eq!((status, &body["code"]), (429, &"TOO_MANY_STREAMS".into()), "{body}");
        Err(body["detail"].as_str().expect("which cap").to_owned())
    };
    let (mine, others) = (token_of(&D1), token_of(&D2));
    let mut held = Vec::new();
    for _ in 0..4 {
        held.push(open(&mine).await.expect("there is room"));
    }
    assert_eq!(open(&mine).await.err().as_deref(), Some("session"));
    held.push(open(&second).await.expect("another session"));
    assert_eq!(open(&second).await.err().as_deref(), Some("person"));
    held.push(open(&others).await.expect("somebody else"));
    held.push(open(&others).await.expect("somebody else"));
    assert_eq!(open(&others).await.err().as_deref(), Some("node"));
    // Whoever leaves makes room, and a request that is no stream is not in anybody's way.
    face.anonymous("GET", "/healthz").await.is(200);
    held.clear();
    let since = Instant::now();
    loop {
        if let Ok(stream) = open(&mine).await {
            drop(stream);
            break;
        }
        assert!(since.elapsed() < PATIENCE, "the places are never given back");
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_take_no_place_from_other_requests() {
    let limits = Limits { connections: 4, ..Limits::default() };
    let face = Face::with(Desk::open(Database::Sqlite).await, limits).await;
    let mut streams = Vec::new();
    for number in 0..24 {
        streams.push(Stream::begun(&face, &rider(1 + number / 4), "").await);
    }
    let task = face.create().await;
    face.get(&D1, &format!("/api/v1/tasks/{}", task.0)).await.is(200);
    for stream in &mut streams {
        assert_eq!(stream.word().await.name, "pool");
    }
}

/// How many streams are open.
fn open(face: &Face) -> usize {
    face.servers[0].hub().figures().open
}

/// Somebody who asks for a stream and reads nothing of it.
async fn deaf(face: &Face, who: &Actor) -> tokio::net::TcpStream {
    use tokio::io::AsyncWriteExt;
    let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
    // The less fits into the pipe, the sooner it is full.
    socket.set_recv_buffer_size(1_024).expect("it can be small");
    let address = face.address().parse().expect("an address");
    let mut stream = socket.connect(address).await.expect("it listens");
    let head = format!(
        "GET /api/v1/stream?after=0 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n\r\n",
        token_of(who)
    );
    stream.write_all(head.as_bytes()).await.expect("it is taken");
    stream
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_does_not_read_is_dropped_and_keeps_nobody_waiting() {
    let limits = Limits { write: Duration::from_millis(500), ..Limits::default() };
    let face = Face::with(Desk::open(Database::Sqlite).await, limits).await;
    let rounds = rounds(40, 200);
    let deaf = deaf(&face, &D2).await;
    let mut stream = Stream::begun(&face, &D1, "?after=0").await;
    let mut told = 0;
    let since = Instant::now();
    // More than fits into what lies between, until the server has had enough of it.
    for _ in 0..rounds {
        let tasks = face.create_many(250).await;
        told += i64::try_from(tasks.len()).unwrap();
        stream.until(told).await;
        if open(&face) == 1 {
            break;
        }
    }
    while open(&face) != 1 {
        assert!(since.elapsed() < Duration::from_mins(1), "it is kept for ever");
        tokio::task::yield_now().await;
    }
    drop(deaf);
    let expected: Vec<_> = (1..=told).collect();
    assert_eq!(stream.numbers, expected, "the other one has read everything");
}

for_each_database!(whoever_is_far_behind_reads_the_log_and_misses_nothing, |desk| async move {
    // So few batches are kept that everybody is behind now and then.
    let live = hub::Settings { backlog: 1, ..hub::Settings::default() };
    let face = Face::live(desk, Limits::default(), live).await;
    let mut streams = Vec::new();
    for who in [&D1, &D2, &SUPERVISOR, &AUDITOR] {
        streams.push(Stream::begun(&face, who, "?after=0").await);
    }
    let count = i64::try_from(rounds(600, 5_000)).unwrap();
    let write = async {
        let mut left = count;
        while left > 0 {
            let many = usize::try_from(left.min(40)).unwrap();
            left -= i64::try_from(face.create_many(many).await.len()).unwrap();
        }
    };
    let read = async {
        for stream in &mut streams {
            stream.until(count).await;
        }
    };
    tokio::join!(write, read);
    for stream in &streams {
        assert_eq!(stream.numbers, (1..=count).collect::<Vec<_>>());
    }
});

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_heartbeat_comes_every_fifteen_seconds_and_not_to_everybody_at_once() {
    let face = Face::of(Desk::open(Database::Sqlite).await).await;
    let mut streams = Vec::new();
    for number in 1..=15 {
        streams.push(Stream::begun(&face, &rider(number), "").await);
    }
    for second in 0..45 {
        face.advance_ms(1_000).await;
        // Whoever got one out of turn would have it here, with another time.
        let ping = streams[second % 15].next().await;
        assert_eq!((ping.name.as_str(), ping.number("head")), ("ping", 0), "{ping:?}");
        assert_eq!(ping.data["server_time"], format!("2026-11-30T04:00:{:02}.000Z", second + 1));
    }
}
