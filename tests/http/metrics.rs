//! The meters, on an address of their own.

use dispatch_desk::web::Limits;

use crate::{harness::*, http::serve};

for_each_database!(monitors_read_the_meters_on_their_own_address, |desk| async move {
    let task = desk.create().await;
    desk.advance_ms(2_000).await;
    desk.done(rider(1), task, 1, GRAB).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = serve(desk.executor.clone(), Limits::default()).await.metered(listener);
    let answer = reqwest::get(format!("http://{address}/metrics")).await.unwrap();
    assert_eq!(answer.headers()["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    let text = answer.text().await.unwrap();
    for line in [
        "desk_commands_total{verb=\"grab\",outcome=\"done\"} 1",
        "desk_ready 1",
        "desk_log_head 2",
        "desk_hour_grabs{region=\"G1\",what=\"won\"} 1",
        "desk_hour_created{region=\"G1\",what=\"owned\"} 1",
        "desk_hour_owner_seconds{region=\"G1\",quantile=\"0.95\"} 2",
        "desk_hour_created{region=\"G2\",what=\"all\"} 0",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} in {text}");
    }
    // Every line is a comment or a sample, and every sample has its type told before.
    let mut told = std::collections::BTreeSet::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            told.insert(rest.split(' ').next().unwrap());
        } else if !line.starts_with("# HELP ") {
            let name = line.split(['{', ' ']).next().unwrap();
            let base = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
            assert!(told.contains(name) || base.is_some_and(|base| told.contains(base)), "{line}");
            let (_, value) = line.rsplit_once(' ').unwrap();
            value.parse::<f64>().unwrap();
        }
    }
    // The desk's own address has no such thing.
    let desk = reqwest::get(format!("http://{}/metrics", server.address())).await.unwrap();
    assert_eq!(desk.status().as_u16(), 404);
    server.stop().await;
});
