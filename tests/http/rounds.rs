//! Rounds over HTTP: who would be asked, who was, tickets, "no, thanks", fair windows, the manual pool.
//!
//! On one node: what rounds do on each database, and on two nodes, stands in `tests/all/rounds`.

use dispatch_desk::{
    domain::{
        actor::Actor,
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
    harness::*,
    http::{Ask, Face},
};

/// A face whose riders stand on a line north of the pickup, 100 m apart; with these rules of rounds.
async fn town(desk: Desk, rules: RoundRules) -> Face {
    let policy = Policy { version: 2, rounds: rules, ..Policy::default() };
    let mut tx = desk.db.begin().await.unwrap();
    tx.add_policy(NORTH, NOON, &policy).await.unwrap();
    tx.commit().await.unwrap();
    let http = Face::of(desk).await;
    for number in 1..=RIDERS {
        let north = 0.000_899_32 * f64::from(i32::try_from(number).unwrap());
        let place = Place { lat: 31.2304 + north, lng: 121.4737 };
        let locator = http.executor.positions().locator();
        locator.note(NORTH, RiderId(number), Fix::new(1, NOON, place)).await.unwrap();
    }
    http
}

fn rules() -> RoundRules {
    RoundRules { ladder_m: vec![2_000, 5_000], batch: 3, rounds: 2, ..RoundRules::default() }
}

/// Sends `body` under `key`.
fn send<'a>(http: &'a Face, who: &Actor, path: &str, key: Option<&str>, body: &Value) -> Ask<'a> {
    let ask = http.request("POST", who, path);
    let ask = if body.is_null() { ask } else { ask.json(body) };
    key.into_iter().fold(ask, Ask::key)
}

/// Lets the desk do what is due; the server does the same by itself, and finds nothing left to do.
async fn look(http: &Face) {
    let locator = http.executor.positions().locator().clone();
    Rounds::new(http.executor.clone(), locator).run_once().await.unwrap();
}

async fn start(http: &Face, task: TaskId, body: Value) -> Value {
    let path = format!("/api/v1/tasks/{}/rounds", task.0);
    send(http, &D1, &path, Some("round-1"), &body).await.is(200).json()
}

/// The first item of a rider's pool, with its ticket.
async fn asked(http: &Face, number: i64) -> Value {
    let pool = http.get(&rider(number), "/api/v1/rider/pool").await.is(200).json();
    pool["items"][0].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_round_goes_out_and_is_answered() {
    let desk = Desk::open(Database::Sqlite).await;
    let http = town(desk, rules()).await;
    let task = http.create().await;
    let path = format!("/api/v1/tasks/{}", task.0);
    let would = http.get(&D1, &format!("{path}/candidates")).await.is(200).json();
    assert_eq!(would["candidates"][0]["rider_id"], 1);
    assert_eq!(would["candidates"][0]["factors"]["distance_m"], 100);
    assert_eq!(would["left_out"][0]["reason"], "not_among_the_first");
    let sent = start(&http, task, json!({ "revision": 1, "seconds": 30 })).await;
    assert_eq!((&sent["outcome"], &sent["round"]["asked"]), (&json!("done"), &json!(3)));
    // The same request has one effect and one answer.
    let again = start(&http, task, json!({ "revision": 1, "seconds": 30 })).await;
    assert_eq!(again, sent);

    let item = asked(&http, 1).await;
    let ticket = item["ticket"].clone();
    assert_eq!((&item["task"]["id"], &ticket["step"]), (&json!(task.0), &json!(1)));
    assert_eq!(asked(&http, 4).await, Value::Null, "who is not asked does not see it");
    // Nor is it told where it goes, knowing its number.
    let other = http.get(&rider(4), &path).await.is(200).json();
    assert_eq!((&other["detail"], &other["legal"]), (&Value::Null, &json!([])));
    let mine = http.get(&rider(1), &path).await.is(200).json();
    assert_eq!(mine["detail"]["pickup"]["lat"], 31.2304);
    assert_eq!(mine["legal"], json!(["grab"]));
    let stranger =
        json!({ "revision": 1, "ticket": { "round": ticket["round"], "nonce": ticket["nonce"] } });
    let refused = send(&http, &rider(2), &format!("{path}/grab"), Some("g2"), &stranger).await;
    assert_eq!(refused.is(409).json()["code"], "INVALID_TICKET", "a ticket is nobody else's");

    let no = format!("/api/v1/rider/rounds/{}/decline", ticket["round"]);
    let declined = send(&http, &rider(3), &no, Some("n3"), &Value::Null).await.is(200).json();
    assert_eq!(declined["outcome"], "done");
    send(&http, &rider(9), &no, Some("n9"), &Value::Null).await.problem(404, "NOT_FOUND");
    let won = send(&http, &rider(1), &format!("{path}/grab"), Some("g1"), &stranger).await;
    assert_eq!(won.is(200).json()["task"]["state"], "assigned");

    let rounds = http.get(&AUDITOR, &format!("{path}/rounds")).await.is(200).json();
    let round = &rounds["rounds"][0];
    assert_eq!((&round["status"], &round["declined"]), (&json!("placed"), &json!(1)));
    assert_eq!(round["ledger"][0]["answer"], "grabbed");
    assert!(round["ledger"][0]["shown_at"].is_string(), "{round}");
    assert_eq!(round["ledger"][2]["answer"], "declined");
    // Nothing of it is for others.
    for part in ["candidates", "rounds"] {
        http.get(&FOREIGN_DISPATCHER, &format!("{path}/{part}")).await.problem(404, "NOT_FOUND");
        http.get(&rider(1), &format!("{path}/{part}")).await.problem(403, "FORBIDDEN");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_nobody_took_is_in_the_manual_pool() {
    let desk = Desk::open(Database::Sqlite).await;
    let http = town(desk, RoundRules { rounds: 1, ..rules() }).await;
    let task = http.create().await;
    let path = format!("/api/v1/tasks/{}", task.0);
    start(&http, task, json!({ "revision": 1 })).await;
    http.advance_ms(20_000).await;
    look(&http).await;
    let pool = http.get(&D1, "/api/v1/pool").await.is(200).json();
    let pooled = &pool["items"][0];
    assert_eq!(
        (&pooled["task_id"], &pooled["reason"]),
        (&json!(task.0), &json!("nobody_answered"))
    );
    let cell = pooled["cell"].as_str().unwrap();
    let there = http.get(&D1, &format!("/api/v1/pool?cell={cell}")).await.is(200).json();
    assert_eq!(there["items"].as_array().map(Vec::len), Some(1));
    let elsewhere = http.get(&D1, "/api/v1/pool?cell=1").await.is(200).json();
    assert_eq!(elsewhere["items"], json!([]));
    let south = http.get(&FOREIGN_DISPATCHER, "/api/v1/pool").await.is(200).json();
    assert_eq!(south["items"], json!([]));
    http.get(&D1, "/api/v1/pool?cell=xyz").await.problem(400, "QUERY_INVALID");
    http.get(&D1, "/api/v1/pool?cursor=1").await.problem(400, "QUERY_INVALID");
    let out = send(&http, &D1, &format!("{path}/pool/leave"), Some("p"), &json!({ "revision": 1 }));
    assert_eq!(out.await.is(200).json()["outcome"], "done");
    let pool = http.get(&D1, "/api/v1/pool").await.is(200).json();
    assert_eq!(pool["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wishes_name_a_revision_and_a_key() {
    let desk = Desk::open(Database::Sqlite).await;
    let http = town(desk, rules()).await;
    let task = http.create().await;
    let path = format!("/api/v1/tasks/{}/rounds", task.0);
    let post =
        async |path: &str, key: Option<&str>, body: Value| send(&http, &D1, path, key, &body).await;
    post(&path, None, json!({ "revision": 1 })).await.problem(400, "KEY_MISSING");
    post(&path, Some("a"), json!({})).await.problem(428, "REVISION_MISSING");
    post(&path, Some("b"), json!({ "revision": 1, "batch": 0 })).await.problem(422, "BODY_INVALID");
    post(&path, Some("c"), json!({ "revision": 1, "rider_id": 3 }))
        .await
        .problem(422, "BODY_INVALID");
    let stale = post(&path, Some("d"), json!({ "revision": 7 })).await.is(409).json();
    assert_eq!(stale["code"], "STALE_REVISION");
    let nothing = post(&format!("{path}/stop"), Some("e"), json!({ "revision": 1 })).await;
    assert_eq!(nothing.is(200).json()["outcome"], "already_done");
    start(&http, task, json!({ "revision": 1 })).await;
    let wider = post(&format!("{path}/widen"), Some("f"), json!({ "revision": 1 })).await;
    assert_eq!(wider.is(200).json()["round"]["radius_m"], 5_000);
    let stopped = post(&format!("{path}/stop"), Some("g"), json!({ "revision": 1 })).await;
    assert_eq!(stopped.is(200).json()["round"]["status"], "stopped");
    let reset = format!("/api/v1/tasks/{}/declines/reset", task.0);
    assert_eq!(
        post(&reset, Some("h"), json!({ "revision": 1 })).await.is(200).json()["outcome"],
        "done"
    );
    let key = post(&reset, Some("g"), json!({ "revision": 1 })).await;
    key.problem(422, "REQUEST_KEY_REUSED");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_grab_in_a_fair_window_is_processing_and_then_its_outcome() {
    let desk = Desk::open(Database::Sqlite).await;
    let http = town(desk, RoundRules { fair_window_ms: 2_000, ..rules() }).await;
    let task = http.create().await;
    start(&http, task, json!({ "revision": 1 })).await;
    let grab = async |number: i64, ticket: &Value| {
        let body = json!({
            "revision": 1,
            "ticket": { "round": ticket["round"], "nonce": ticket["nonce"] }
        });
        let path = format!("/api/v1/tasks/{}/grab", task.0);
        send(&http, &rider(number), &path, Some("fair"), &body).await
    };
    let (second, first) =
        (asked(&http, 2).await["ticket"].clone(), asked(&http, 1).await["ticket"].clone());
    let waits = grab(2, &second).await.is(202).json();
    assert_eq!((&waits["outcome"], &waits["code"]), (&json!("processing"), &json!("PROCESSING")));
    grab(1, &first).await.is(202);
    http.advance_ms(2_000).await;
    look(&http).await;
    assert_eq!(grab(1, &first).await.is(200).json()["outcome"], "done");
    assert_eq!(grab(2, &second).await.is(409).json()["code"], "TAKEN_BY_OTHER");
}
