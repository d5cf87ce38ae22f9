//! S22: what stands in the log, and what never does.

use std::{fmt::Write as _, fs};

use dispatch_desk::{
    admin,
    domain::{
        command::Actor,
        id::{RiderId, StaffId},
    },
    store::{Db, Time},
};
use serde_json::{Value, json};

use crate::{
    harness::*,
    http::{order_body, token_of, with},
    process::{Program, prepared},
};

const PASSWORD: &str = "CANARY-PW-correct horse";
const WRONG: &str = "CANARY-PW-mistyped";
const PHONE: &str = "13800001234";

fn encoded(fields: &[(&str, &str)]) -> String {
    let mut body = String::new();
    for (name, value) in fields {
        let _ = write!(body, "&{name}=");
        for byte in value.bytes() {
            let _ = write!(body, "%{byte:02X}");
        }
    }
    body.split_off(1)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_secret_stands_in_the_log_and_each_line_is_one() {
    let home = prepared().await;
    let db = Db::open(&home.url, Time::System).await.expect("it opens");
    admin::password(&db, StaffId(1), "canary", PASSWORD).await.expect("a password");
    let links = [Actor::Staff(StaffId(2)), Actor::Rider(RiderId(1))];
    let mut paths = Vec::new();
    for actor in &links {
        paths.push(admin::link(&db, actor, 3_600_000, 1).await.expect("a link"));
    }
    let log = std::env::temp_dir().join(format!("dispatch-desk-log-{}", std::process::id()));
    let program =
        Program::logging(&home.url, &["--log", "json", "--trusted-proxy", "127.0.0.1/32"], &log)
            .await;
    let http =
        reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build();
    let http = http.expect("a client");
    let url = |path: &str| format!("{}{path}", program.origin);
    let get = async |path: &str| http.get(url(path)).send().await.expect("an answer");
    let mut secrets = vec![PASSWORD.to_owned(), WRONG.to_owned(), PHONE.to_owned()];

    // In by name: wrong, right, and with a name that wants to be a line of its own.
    let form = "application/x-www-form-urlencoded";
    let evil = "a\n{\"level\":\"ERROR\",\"forged\":true}";
    for (login, password, status) in
        [("canary", WRONG, 401), (evil, WRONG, 401), ("canary", PASSWORD, 303)]
    {
        let sent = http
            .post(url("/sign-in"))
            .header("origin", &program.origin)
            .header("content-type", form);
        let body = encoded(&[("next", "/board"), ("login", login), ("password", password)]);
        let got = sent.body(body).send().await.expect("an answer");
        assert_eq!(got.status().as_u16(), status, "{login}");
        if let Some(cookie) = got.headers().get("set-cookie") {
            let cookie = cookie.to_str().expect("text").split(';').next().expect("a pair");
            let value = cookie.split_once('=').expect("a pair").1.to_owned();
            let board = http.get(url("/board")).header("cookie", cookie).send().await;
            assert_eq!(board.expect("an answer").status().as_u16(), 200);
            // A form of nobody's page: refused, and its fields are not written down.
            let cancel = http.post(url("/tasks/T1/cancel")).header("cookie", cookie);
            let cancel = cancel.header("origin", &program.origin).header("content-type", form);
            let cancel = cancel.body(format!("form={value}"));
            assert_eq!(cancel.send().await.expect("an answer").status().as_u16(), 403);
            secrets.push(value);
        }
    }
    // In by link.
    for (path, door) in paths.iter().zip(["/desk", "/rider"]) {
        assert_eq!(get(path).await.status().as_u16(), 200);
        let enter = http.post(url(&format!("{door}{path}"))).header("origin", &program.origin);
        assert_eq!(enter.send().await.expect("an answer").status().as_u16(), 303);
        get(&format!("{path}/more?x={path}")).await;
        secrets.push(path.rsplit('/').next().expect("a token").to_owned());
    }
    // A task with a phone, its customer's link, an offer and its token.
    let body = order_body(&order(), Some("o-1".to_owned()));
    let stop = with(&body["pickup"], json!({ "phone": PHONE }));
    let body = with(&body, json!({ "pickup": stop }));
    let made =
        http.post(url("/api/v1/tasks")).bearer_auth(token_of(&shop())).json(&body).send().await;
    let made: Value = made.expect("an answer").json().await.expect("JSON");
    let id = made["task"]["id"].as_i64().expect("a number");
    let offer = json!({ "revision": 1, "rider_id": 1 });
    let offered = http.post(url(&format!("/api/v1/tasks/{id}/offer"))).bearer_auth(token_of(&D1));
    let offered = offered.header("idempotency-key", "k1").json(&offer).send().await;
    assert_eq!(offered.expect("an answer").status().as_u16(), 200);
    let task = dispatch_desk::domain::id::TaskId(id);
    let mut tx = db.read().await.expect("it can be read");
    let card = tx.card(task).await.expect("it can be read").expect("a task");
    let tracking = card.detail.tracking_token.expect("a token");
    let token = tx.offers_of(task).await.expect("it can be read")[0].token.clone();
    drop(tx);
    for path in
        [format!("/t/{tracking}"), format!("/api/v1/track/{tracking}"), format!("/t/{tracking}/x")]
    {
        get(&path).await;
    }
    let read = http.get(url(&format!("/api/v1/offers/{token}"))).bearer_auth(token_of(&rider(1)));
    assert_eq!(read.send().await.expect("an answer").status().as_u16(), 200);
    secrets.extend([
        tracking,
        token,
        "secret-of-rider-1".to_owned(),
        "secret-of-staff-1".to_owned(),
    ]);
    // Who it was is known by the proxy's word.
    let forwarded = http.get(url("/healthz")).header("x-forwarded-for", "1.2.3.4, 198.51.100.77");
    assert_eq!(forwarded.send().await.expect("an answer").status().as_u16(), 200);
    program.stop().await;
    db.close().await;

    let text = fs::read_to_string(&log).expect("a log");
    let _ = fs::remove_file(&log);
    for secret in &secrets {
        assert!(secret.len() >= 8, "{secret}");
        let line = text.lines().find(|line| line.contains(secret.as_str()));
        assert_eq!(line, None, "{secret} is in the log");
    }
    let mut routes = std::collections::BTreeSet::new();
    let mut peers = std::collections::BTreeSet::new();
    for line in text.lines() {
        let line: Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(line["timestamp"].is_string() && line["level"].is_string(), "{line}");
        assert!(line["forged"].is_null(), "{line}");
        if line["message"] == "answered" {
            routes.insert(line["route"].as_str().expect("a route").to_owned());
            assert_eq!(line["span"]["id"].as_str().map(str::len), Some(32), "{line}");
            peers.insert(line["span"]["peer"].as_str().expect("a peer").to_owned());
        }
    }
    for route in
        ["/enter/{token}", "/t/{token}", "/desk/enter/{token}", "/api/v1/offers/{token}", "none"]
    {
        assert!(routes.contains(route), "{route} in {routes:?}");
    }
    assert_eq!(peers.into_iter().collect::<Vec<_>>(), ["127.0.0.1", "198.51.100.77"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_is_no_trusted_proxy_is_who_they_are_whatever_they_say() {
    let home = prepared().await;
    let log = std::env::temp_dir().join(format!("dispatch-desk-peer-{}", std::process::id()));
    let program = Program::logging(
        &home.url,
        &["--log", "json", "--trusted-proxy", "10.0.0.0/8,fd00::/8"],
        &log,
    )
    .await;
    let http = reqwest::Client::builder().no_proxy().build().expect("a client");
    for number in 0..40 {
        let get = http.get(format!("{}/healthz", program.origin));
        let forged = format!("198.51.100.{number}");
        let get = get.header("x-forwarded-for", &forged).header("x-real-ip", &forged);
        let get = get.header("forwarded", format!("for={forged}"));
        assert_eq!(get.send().await.expect("an answer").status().as_u16(), 200);
    }
    program.stop().await;
    let text = fs::read_to_string(&log).expect("a log");
    let _ = fs::remove_file(&log);
    let answered: Vec<_> = text.lines().filter(|line| line.contains("\"answered\"")).collect();
    assert!(answered.len() >= 40, "{text}");
    assert!(answered.iter().all(|line| line.contains("\"peer\":\"127.0.0.1\"")), "{answered:#?}");
    assert!(!text.contains("198.51.100."), "{text}");
}
