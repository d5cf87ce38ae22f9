//! Time and health.

use dispatch_desk::engine::health::Health;
use serde_json::json;

use crate::{harness::*, http::Face};

for_each_database!(the_time_is_the_stores, |desk| async move {
    let http = Face::of(desk).await;
    for _ in &http.origins {
        let got = http.anonymous("GET", "/api/v1/time").await.is(200);
        assert_eq!(got.json(), json!({ "server_time": "2026-11-30T04:00:00.000Z" }));
    }
    http.advance_ms(61_500).await;
    for _ in &http.origins {
        let got = http.anonymous("GET", "/api/v1/time").await.is(200);
        assert_eq!(got.at("/server_time"), "2026-11-30T04:01:01.500Z");
    }
    let task = http.create().await;
    for path in ["/api/v1/tasks".to_owned(), format!("/api/v1/tasks/{}", task.0)] {
        let got = http.get(&D1, &path).await.is(200);
        assert_eq!(got.at("/server_time"), "2026-11-30T04:01:01.500Z");
    }
});

for_each_database!(a_node_says_whether_it_can_take_commands, |desk| async move {
    let mut http = Face::of(desk).await;
    // Of the node of this process, whose pulse can be felt.
    http.origins.truncate(1);
    let ready = || http.anonymous("GET", "/readyz");
    let alive = || http.anonymous("GET", "/healthz");
    assert_eq!(alive().await.is(200).body, "ok\n");
    assert_eq!(ready().await.is(200).json(), json!({ "ready": true }));

    // The last commands could not be stored. Whoever asks has it try a write, and then it is ready again.
    let pulse = http.executor.pulse();
    pulse.unready();
    assert_eq!(ready().await.is(200).json(), json!({ "ready": true }));
    assert_eq!(pulse.health(), Health::Ready);

    // While nothing can be written, it stays unready, and still answers reads.
    let task = http.create().await;
    pulse.unready();
    http.sql(
        "CREATE TRIGGER shut BEFORE UPDATE ON task_counter BEGIN SELECT RAISE(ABORT, 'shut'); END",
        "CREATE FUNCTION shut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION \
         'shut'; END $$; CREATE TRIGGER shut BEFORE UPDATE ON task_counter FOR EACH STATEMENT \
         EXECUTE FUNCTION shut()",
    )
    .await;
    assert_eq!(ready().await.is(503).json(), json!({ "ready": false }));
    assert_eq!(pulse.health(), Health::Unready);
    alive().await.is(200);
    http.get(&D1, &format!("/api/v1/tasks/{}", task.0)).await.is(200);
    http.sql("DROP TRIGGER shut", "DROP TRIGGER shut ON task_counter").await;
    ready().await.is(200);
    http.post(&D1, &format!("/api/v1/tasks/{}/cancel", task.0), &json!({ "revision": 1 }))
        .await
        .done();

    // The disk failed: nothing is taken until a restart, and it says so.
    pulse.stop();
    assert_eq!(ready().await.is(503).json(), json!({ "ready": false }));
    assert_eq!(ready().await.is(503).json(), json!({ "ready": false }));
    let more =
        http.post(&D1, &format!("/api/v1/tasks/{}/cancel", task.0), &json!({ "revision": 1 }));
    let more = more.await.problem(503, "UNAVAILABLE");
    assert!(more.headers.contains_key("retry-after"));
    alive().await.is(200);
    http.get(&D1, "/api/v1/tasks").await.is(200);
});
