//! The chain of numbers: what is told, from where on, and when it starts anew.

use dispatch_desk::domain::command::Act;

use crate::{
    client::{Stream, request},
    harness::*,
    http::{Face, token_of},
};

for_each_database!(a_stream_tells_each_event_as_the_log_has_it, |desk| async move {
    let face = Face::of(desk).await;
    let task = face.create().await;
    let mut stream = Stream::open(&face.origins[0], &D1, "?after=0").await;
    let hello = stream.next().await;
    assert_eq!((hello.name.as_str(), hello.id), ("hello", Some(0)), "{hello:?}");
    assert_eq!(hello.data["after"], 0);
    assert!(hello.data["server_time"].is_string() && hello.data["epoch"].is_string(), "{hello:?}");
    assert!(hello.retry.is_some_and(|retry| (1_000..=5_000).contains(&retry)), "{hello:?}");
    for (name, value) in [
        ("cache-control", "no-store, no-transform"),
        ("x-accel-buffering", "no"),
        ("connection", "close"),
    ] {
        assert_eq!(stream.headers()[name], value, "{name}");
    }
    // What was before comes first, then what happens, each as the log has it.
    face.done(D1, task, 1, offer(1)).await;
    face.done(rider(1), task, 2, Act::Accept).await;
    let pulled =
        async |after: i64| face.get(&D1, &format!("/api/v1/events?after={after}")).await.is(200);
    let mut told = Vec::new();
    told.extend(stream.until(3).await);
    face.done(rider(1), task, 3, Act::Arrive).await;
    told.extend(stream.until(4).await);
    let log = pulled(0).await.at("/items");
    let log = log.as_array().expect("a list");
    assert_eq!(
        told.iter().map(|frame| &frame.data).collect::<Vec<_>>(),
        log.iter().collect::<Vec<_>>()
    );
    // From now on: nothing of what was.
    let mut late = Stream::begun(&face, &D1, "").await;
    assert_eq!(late.at, Some(4));
    face.done(rider(1), task, 4, Act::PickUp).await;
    assert_eq!(late.word().await.number("number"), 5);
});

for_each_database!(the_number_of_the_header_wins, |desk| async move {
    let face = Face::of(desk).await;
    face.create_many(5).await;
    let ask = |query: &str, header: &str| {
        let request = request(&face.origins[0], &format!("/api/v1/stream{query}"));
        request.bearer_auth(token_of(&D1)).header("last-event-id", header).send()
    };
    for (query, header, after) in [("?after=0", "3", 3), ("?after=4", "1", 1), ("", "5", 5)] {
        let mut stream = Stream::of(ask(query, header).await.expect("an answer"));
        assert_eq!(stream.next().await.number("after"), after, "{query} {header}");
        stream.until(5).await;
    }
});

/// The first words of a stream: from where it goes on, and what it was told to read anew for.
async fn begins(face: &Face, query: &str, header: Option<&str>) -> (Stream, i64, Option<String>) {
    let request = request(&face.origins[0], &format!("/api/v1/stream{query}"));
    let mut request = request.bearer_auth(token_of(&D1));
    if let Some(header) = header {
        request = request.header("last-event-id", header);
    }
    let mut stream = Stream::of(request.send().await.expect("an answer"));
    let hello = stream.next().await;
    let (after, head) = (hello.number("after"), hello.number("head"));
    let reset = if after < head { None } else { Some(stream.word().await) };
    let why = reset.filter(|frame| frame.name == "reset").map(|reset| {
        assert_eq!(
            (reset.id, reset.number("after")),
            (Some(head), head),
            "it goes on from the end"
        );
        reset.data["reason"].as_str().expect("a reason").to_owned()
    });
    (stream, after, why)
}

for_each_database!(
    a_number_that_is_not_known_here_means_to_read_everything_anew,
    |desk| async move {
        let face = Face::of(desk).await;
        // A log that does not reach back to the beginning.
        let cut = "UPDATE event_counter SET number = 100";
        face.sql(cut, cut).await;
        face.create_many(3).await;
        for (query, header, why) in [
            ("?after=104", None, "ahead"),
            ("?after=-1", None, "unknown"),
            ("?after=101", Some("seven"), "unknown"),
            ("", Some("9223372036854775808"), "unknown"),
            ("?after=101", Some("999"), "ahead"),
            ("?after=101&epoch=another", None, "other_log"),
            ("?after=99", None, "too_old"),
            ("?after=101", Some("0"), "too_old"),
        ] {
            let (_, after, told) = begins(&face, query, header).await;
            assert_eq!((after, told.as_deref()), (103, Some(why)), "{query} {header:?}");
        }
        let mut stream = Stream::begun(&face, &D1, "?after=100").await;
        stream.until(103).await;
        assert_eq!(stream.numbers, [101, 102, 103]);
        // After that it goes on, and is not told so again.
        let (mut stream, ..) = begins(&face, "?after=104", None).await;
        face.create().await;
        assert_eq!(stream.word().await.number("number"), 104);
        let mut again = Stream::open(&face.origins[0], &D1, "").await;
        let epoch = again.next().await.data["epoch"].as_str().expect("a name").to_owned();
        let (_, after, told) = begins(&face, &format!("?after=101&epoch={epoch}"), None).await;
        assert_eq!((after, told), (101, None));
        face.get(&D1, "/api/v1/stream?after=many").await.problem(400, "QUERY_INVALID");
    }
);
