//! Personal data over HTTP: who reads a whole number, what is left after erasing, and the operator's command.

use dispatch_desk::{
    domain::{
        command::{Act, Actor},
        erase::EraseReason,
        id::TaskId,
        reveal::{RevealReason, Which},
    },
    web::DOORS,
};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::{
    harness::*,
    http::{Face, Got, order_body},
};

const NUMBER: &str = "13800001234";

/// Every address that can be read, for each of `tasks` where it names one; the links of customers aside.
async fn addresses(http: &Face, tasks: &[TaskId]) -> Vec<String> {
    let mut all = Vec::new();
    let mut tx = http.read().await;
    for door in DOORS.iter().filter(|door| door.method == "GET" && door.path.starts_with("/api/")) {
        if door.path.contains("{id}") {
            all.extend(tasks.iter().map(|task| door.path.replace("{id}", &task.0.to_string())));
        } else if door.path.contains("offers/{token}") {
            for task in tasks {
                let offers = tx.offers_of(*task).await.expect("they can be read");
                for offer in offers {
                    let token = tx
                        .offer_token(*task, offer.revision)
                        .await
                        .expect("it can be read")
                        .expect("it has one");
                    all.push(door.path.replace("{token}", &token));
                }
            }
        } else if door.path.contains("track/{token}") {
            for task in tasks {
                all.push(door.path.replace("{token}", &http.tracking(*task).await));
            }
        } else if !door.path.ends_with("openapi.json") {
            all.push(door.path.to_owned());
        }
    }
    all
}

for_each_database!(a_whole_number_is_read_by_the_one_who_has_to_call, |desk| async move {
    let http = Face::of(desk).await;
    let mut tasks = http.create_many(6).await;
    tasks.sort_unstable();
    // Theirs, on the way to them, delivered by them, somebody else's, cancelled, open.
    for (who, task, steps) in [(1, tasks[2], 3), (2, tasks[3], 1)] {
        http.done(rider(who), task, 1, GRAB).await;
        let acts = [Act::Arrive, Act::PickUp, Act::Deliver];
        for (revision, act) in (2..).zip(&acts[..steps]) {
            http.done(rider(who), task, revision, act.clone()).await;
        }
    }
    http.done(rider(1), tasks[0], 1, GRAB).await;
    http.done(D1, tasks[1], 1, offer(1)).await;
    http.done(D1, tasks[4], 1, CANCEL).await;
    let all = addresses(&http, &tasks).await;
    assert!(all.len() > 20, "{all:#?}");
    let mut whole = Vec::new();
    let readers = [D1, SUPERVISOR, ADMIN, AUDITOR, shop(), rider(1), rider(2), rider(3)];
    for who in readers.iter().chain([&FOREIGN_DISPATCHER, &rider(FOREIGN_RIDER)]) {
        let mut answered = 0;
        for path in &all {
            let got = http.get(who, path).await;
            answered += usize::from(got.status == 200);
            assert!(!path.contains(NUMBER));
            let headers = format!("{:?}", got.headers);
            assert!(!headers.contains(NUMBER), "{got:#?}");
            if got.body.contains(NUMBER) {
                whole.push((who.clone(), path.clone()));
            }
        }
        assert!(answered >= 5, "{who} reads {answered}");
    }
    let path = |task: TaskId| format!("/api/v1/tasks/{}", task.0);
    let mut expected: Vec<(Actor, String)> = Vec::new();
    for (who, task) in [(rider(1), tasks[0]), (rider(2), tasks[3])] {
        expected.push((who.clone(), path(task)));
        expected.push((who, "/api/v1/rider/tasks".to_owned()));
    }
    let sort = |list: &mut Vec<(Actor, String)>| list.sort_by_key(|pair| format!("{pair:?}"));
    sort(&mut whole);
    sort(&mut expected);
    assert_eq!(whole, expected);
    // On the list of theirs it is whole for what they own, and missing for what they are only asked.
    let mine = http.get(&rider(1), "/api/v1/rider/tasks").await.is(200);
    let phones: Vec<Value> = mine
        .at("/items")
        .as_array()
        .expect("a list")
        .iter()
        .map(|item| item["detail"]["dropoff"]["phone"].clone())
        .collect();
    assert_eq!(phones, [json!(NUMBER), Value::Null]);
    // Delivered: they have called for the last time.
    let over = http.get(&rider(1), &path(tasks[2])).await.is(200);
    assert_eq!(over.at("/detail/pickup/name"), Value::Null);
});

for_each_database!(a_command_and_its_refusal_say_no_number, |desk| async move {
    let http = Face::of(desk).await;
    let body = order_body(&order(), Some("o-1".to_owned()));
    let made = http.request("POST", &shop(), "/api/v1/tasks").json(&body).await.is(201);
    let task = made.at("/task/id").as_i64().map(TaskId).expect("a task");
    let again = http.request("POST", &shop(), "/api/v1/tasks").json(&body).await.is(201);
    let path = |verb: &str| format!("/api/v1/tasks/{}/{verb}", task.0);
    let other = crate::http::with(&body, json!({ "priority": 7 }));
    let reused = http.request("POST", &shop(), "/api/v1/tasks").json(&other).await.is(422);
    let wrong = crate::http::with(&body, json!({ "surprise": 7, "request_key": "o-2" }));
    let wrong = http.request("POST", &shop(), "/api/v1/tasks").json(&wrong).await.is(422);
    let grabbed = http.post(&rider(1), &path("grab"), &json!({ "revision": 1 })).await.is(200);
    let late = http.post(&rider(2), &path("grab"), &json!({ "revision": 1 })).await.is(409);
    let edit = json!({ "detail_revision": 1, "note": "后门" });
    let edited = http.patch(&D1, &path("detail"), &edit).await.is(200);
    let all: [&Got; 7] = [&made, &again, &reused, &wrong, &grabbed, &late, &edited];
    for got in all {
        assert!(!got.body.contains(NUMBER), "{got:#?}");
    }
    // An edit takes no number, masked or whole, so none is written back.
    let phone = json!({ "detail_revision": 2, "pickup_phone": "138****1234" });
    http.patch(&D1, &path("detail"), &phone).await.problem(422, "BODY_INVALID");
    let card = http.read().await.card(task).await.expect("it can be read").expect("it is there");
    assert_eq!(card.detail.pickup.phone.as_deref(), Some(NUMBER));
});

for_each_database!(what_is_erased_reads_as_erased, |desk| async move {
    let http = Face::of(desk).await;
    let task = http.create().await;
    let (path, tracking) = (format!("/api/v1/tasks/{}", task.0), http.tracking(task).await);
    let cancel = json!({ "revision": 1 });
    let sent = http.request("POST", &D1, &format!("{path}/cancel")).json(&cancel).key("k");
    let done = sent.clone().await.done();
    let before = http.get(&D1, &path).await.is(200);
    assert_eq!(before.at("/detail/erased_at"), Value::Null);
    let events = http.get(&D1, &format!("{path}/events")).await.is(200);
    http.executor
        .reveal(&D1, task, Which::Contacts, RevealReason::Delay)
        .await
        .expect("it is shown");
    assert!(http.executor.erase_task(&ADMIN, task, EraseReason::Asked).await.expect("it is over"));

    let after = http.get(&D1, &path).await.is(200);
    assert_eq!(after.at("/task"), before.at("/task"));
    assert_eq!(after.at("/detail/erased_at"), "2026-11-30T04:00:00.000Z");
    let stop = json!({ "lat": 31.23, "lng": 121.47, "address": "" });
    assert_eq!(after.at("/detail/pickup"), stop);
    assert_eq!((after.at("/detail/note"), after.at("/tracking")), (Value::Null, Value::Null));
    assert_eq!(after.at("/detail/detail_revision"), before.at("/detail/detail_revision"));
    let told = http.get(&D1, &format!("{path}/events")).await.is(200);
    assert_eq!(told.at("/items"), events.at("/items"), "the task's own story is as it was");
    http.anonymous("GET", &format!("/api/v1/track/{tracking}")).await.problem(404, "NOT_FOUND");
    let late = http.anonymous("POST", &format!("/api/v1/track/{tracking}/cancel")).json(&cancel);
    late.key("late").await.problem(404, "NOT_FOUND");
    // The stored answer is repeated byte for byte: it never held any of it.
    let again = sent.await;
    assert_eq!((again.status, &again.body), (done.status, &done.body));
    let edit = json!({ "detail_revision": 1, "note": "x" });
    let refused = http.patch(&D1, &format!("{path}/detail"), &edit).await.refused("CANCELLED");
    assert!(refused.at("/message").as_str().is_some_and(|text| text.contains("cancelled")));
});

/// Runs `dispatch-desk admin` and returns its exit code, and what it printed and complained of.
async fn admin(url: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_dispatch-desk"))
        .args(["admin", "--database", url])
        .args(arguments)
        .output()
        .await
        .expect("the program runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text").trim().to_owned();
    (output.status.code(), format!("{}{}", text(output.stdout), text(output.stderr)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_operator_is_told_how_much_before_it_is_erased() {
    let desk = Desk::open(Database::Sqlite).await;
    let tasks = desk.create_many(3).await;
    desk.done(D1, tasks[0], 1, CANCEL).await;
    desk.done(D1, tasks[1], 1, CANCEL).await;
    let (url, open, over) = (desk.home.url.clone(), tasks[2].to_string(), tasks[0].to_string());
    let left = async || {
        let card =
            desk.read().await.card(tasks[0]).await.expect("it can be read").expect("it is there");
        card.detail.erased_at.is_none()
    };
    let run = async |arguments: &[&str]| admin(&url, &[&["erase"], arguments].concat()).await;
    let said = |code: i32, text: &str| (Some(code), text.to_owned());
    let would = "1 task would be erased; nothing was done. Say --yes to do it.";
    assert_eq!(run(&["--task", &over]).await, said(0, would));
    assert!(left().await);
    assert_eq!(run(&["--task", &over, "--yes"]).await, said(0, "1 task erased"));
    assert!(!left().await);
    assert_eq!(run(&["--task", &over, "--yes"]).await, said(0, "0 tasks erased"));
    let unfinished = format!("dispatch-desk: {open} is not over: its people are still needed");
    for more in [&[][..], &["--yes"]] {
        assert_eq!(run(&[&["--task", &open], more].concat()).await, said(2, &unfinished));
    }
    // The harness's clock stands before the machine's: what is left is a long time over.
    let region = ["--region", "G1", "--older-than-days", "0"];
    let (code, text) = run(&region).await;
    assert_eq!(
        (code, text.split_once(" would").map(|(count, _)| count)),
        (Some(0), Some("1 task"))
    );
    assert_eq!(run(&[&region[..], &["--yes"]].concat()).await, said(0, "1 task erased"));
    for wrong in [
        &["--yes"][..],
        &["--region", "G1"],
        &["--older-than-days", "3"],
        &["--task", &over, "--rider", "R1"],
        &["--task", "X1"],
        &["--task", "T99999"],
        &["--region", "G99", "--older-than-days", "1", "--yes"],
        &["--rider", "R1"],
        &["--rider", "R1", "--yes"],
        &["--rider", "R9999", "--yes"],
    ] {
        assert_eq!(run(wrong).await.0, Some(2), "{wrong:?}");
    }
    let shut = dispatch_desk::store::RiderChange { disabled: Some(true), ..Default::default() };
    let one = dispatch_desk::domain::id::RiderId(1);
    desk.executor.change_rider(&ADMIN, one, &shut).await.expect("it is changed");
    assert!(run(&["--rider", "R1"]).await.1.starts_with("1 rider would be erased"));
    assert_eq!(run(&["--rider", "R1", "--yes"]).await, said(0, "1 rider erased"));
    let account =
        desk.read().await.rider_account(one).await.expect("it can be read").expect("R1 is there");
    assert_eq!(account.name, "R1");
    desk.reconciled().await;
}
