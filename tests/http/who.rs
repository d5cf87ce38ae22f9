//! Who may not: no token, a bad one, the wrong role, the wrong region.

use dispatch_desk::{admin, domain::command::Actor};
use serde_json::{Value, json};

use crate::{
    harness::*,
    http::{Face, Got, token_of},
};

/// Every documented operation with a path that leads somewhere, and a body that would do.
async fn operations(http: &Face) -> Vec<(String, String, Option<Value>, bool)> {
    let task = http.create().await;
    http.done(D1, task, 1, offer(1)).await;
    let offers = http.read().await.offers_of(task).await.expect("offers can be read");
    let tracking = http.tracking(task).await;
    let mut all = Vec::new();
    for (name, operation) in http.book.operations() {
        let (method, template) = name.split_once(' ').expect("a method and a path");
        let token = if template.contains("/offers/") { &offers[0].token } else { &tracking };
        let path = template.replace("{id}", &task.0.to_string()).replace("{token}", token);
        let body = match template.rsplit('/').next().unwrap_or_default() {
            _ if method == "GET" => None,
            "tasks" => Some(crate::http::order_body(&order(), Some("k-who".to_owned()))),
            "offer" | "assign" => Some(json!({ "revision": 2, "rider_id": 1 })),
            "reassign" => Some(json!({ "revision": 2, "rider_id": 1, "handover_confirmed": true })),
            "detail" => Some(json!({ "detail_revision": 1, "note": "x" })),
            "bulk" => {
                let items = json!([{ "task_id": task.0, "revision": 2 }]);
                Some(json!({ "verb": "withdraw", "items": items }))
            }
            "accept" if template.contains("offers") => Some(json!({})),
            "duty" => Some(json!({ "duty": "on" })),
            "location" => Some(json!({ "fixes": [
                { "seq": 1, "at": "2026-11-30T04:00:00Z", "lat": 31.2, "lng": 121.4 }
            ] })),
            _ => Some(json!({ "revision": 2 })),
        };
        let secured = operation["security"].is_array();
        all.push((method.to_owned(), path, body, secured));
    }
    all
}

for_each_database!(whoever_has_no_good_token_gets_no_further, |desk| async move {
    let http = Face::of(desk).await;
    let revoked = admin::token(&http.db, &D1, "to be revoked").await.expect("a token");
    let works = http.anonymous("GET", "/api/v1/tasks").token(&revoked);
    works.await.is(200);
    admin::revoke(&http.db, &revoked).await.expect("it is ended");
    let good = token_of(&D1);
    let bad = [
        String::new(),
        revoked,
        format!("{good}x"),
        good[..good.len() - 1].to_owned(),
        good.replace("desk_", ""),
        good.replace("desk_", "DESK_"),
        "desk_staff-1_".to_owned(),
        "desk__".to_owned(),
        "desk_nobody_secret".to_owned(),
        "desk_staff-1' OR '1'='1_x".to_owned(),
    ];
    let before = http.read().await.head().await.expect("it can be read");
    for (method, path, body, secured) in operations(&http).await {
        if !secured {
            continue;
        }
        let ask = || {
            let ask = http.anonymous(&method, &path).key("k-nobody");
            match &body {
                Some(body) => ask.json(body),
                None => ask,
            }
        };
        let none = ask().await.problem(401, "NOT_SIGNED_IN");
        assert!(none.headers["www-authenticate"].starts_with("Bearer"));
        ask().token(&bad[1]).await.problem(401, "NOT_SIGNED_IN");
        // A token is no part of an address, and no other scheme will do.
        let basic = ask().header("authorization", &format!("Basic {good}"));
        basic.await.problem(401, "NOT_SIGNED_IN");
    }
    for bad in &bad {
        let got = http.anonymous("GET", "/api/v1/tasks").token(bad).await;
        got.problem(401, "NOT_SIGNED_IN");
    }
    let after = http.read().await.head().await.expect("it can be read");
    assert_eq!(before.0 + 2, after.0, "nothing but the scene itself");
});

for_each_database!(the_wrong_role_may_not_and_nothing_changes, |desk| async move {
    let http = Face::of(desk).await;
    let operations = operations(&http).await;
    let may = |who: &Actor, path: &str, method: &str| -> bool {
        let end = path.rsplit('/').next().unwrap_or_default();
        let rider = ["grab", "accept", "decline", "hand-back", "arrive", "pick-up", "deliver"];
        let of_rider = path.contains("/rider/") || rider.contains(&end);
        let command = method != "GET";
        match who {
            Actor::Rider(_) => {
                of_rider
                    || (!command && !["tasks", "events", "attempts"].contains(&end))
                    || path.ends_with("/api/v1/events")
            }
            Actor::Intake(_) => {
                !of_rider && ["tasks", "cancel", "detail"].contains(&end) && command
            }
            who if [ADMIN, AUDITOR].contains(who) => !command && !of_rider,
            _ => true,
        }
    };
    let before = http.read().await.head().await.expect("it can be read");
    let mut refused = 0;
    for (method, path, body, secured) in operations {
        for who in [ADMIN, AUDITOR, rider(2), shop()] {
            if !secured || may(&who, &path, &method) || path.ends_with("/bulk") {
                continue;
            }
            let one = method == "GET" && matches!(who, Actor::Intake(_));
            if one && (path.contains("/tasks/") || path.contains("/offers/")) {
                // A shop reads what it has ordered; the offers on it are the desk's.
                continue;
            }
            let ask = http.request(&method, &who, &path).key(http.recorder.fresh_key().as_str());
            let ask = match &body {
                Some(body) => ask.json(body),
                None => ask,
            };
            ask.await.problem(403, "FORBIDDEN");
            refused += 1;
        }
    }
    assert!(refused > 40, "{refused}");
    assert_eq!(http.read().await.head().await.expect("it can be read").0, before.0);
});

for_each_database!(what_another_region_has_is_not_there, |desk| async move {
    let http = Face::of(desk).await;
    let missing = |got: Got| {
        let got = got.problem(404, "NOT_FOUND");
        got.body
    };
    let strangers =
        [FOREIGN_DISPATCHER, rider(FOREIGN_RIDER), Actor::Intake("other_shop".to_owned())];
    let operations = operations(&http).await;
    let task = http.read().await.tasks_after(dispatch_desk::domain::id::TaskId(0), 1).await;
    let task = task.expect("tasks can be read")[0].0;
    let id = task.0;
    for (method, path, body, secured) in operations {
        let of_task = path.contains("/tasks/") || path.contains("/offers/");
        if !secured || !of_task {
            continue;
        }
        let offers = http.read().await.offers_of(task).await.expect("offers can be read");
        let elsewhere = path.replace(&format!("/tasks/{id}"), "/tasks/999999");
        let elsewhere = elsewhere.replace(&offers[0].token, "0123456789abcdef");
        assert_ne!(elsewhere, path);
        for who in &strangers {
            let ask = |path: &str| {
                let ask = http.request(&method, who, path).key(http.recorder.fresh_key().as_str());
                match &body {
                    Some(body) => ask.json(body),
                    None => ask,
                }
            };
            // The same for what there is and for what there is not, whatever the role.
            let (there, nowhere) = (ask(&path).await, ask(&elsewhere).await);
            // Each request has its own number; there is no other difference.
            let said = |got: &Got| {
                let mut said = got.json();
                said.as_object_mut().map(|said| said.remove("request_id"));
                (got.status, said)
            };
            assert_eq!(said(&there), said(&nowhere), "{who} {path}");
            if there.status != 403 {
                missing(there);
            }
        }
    }
    let items = json!([{ "task_id": id, "revision": 2 }, { "task_id": 999_999, "revision": 2 }]);
    let bulk = json!({ "verb": "cancel", "items": items });
    let got = http.post(&FOREIGN_DISPATCHER, "/api/v1/bulk", &bulk).await.is(200);
    for item in [0, 1] {
        assert_eq!(got.at(&format!("/items/{item}/status")), 404);
        assert_eq!(got.at(&format!("/items/{item}/problem/code")), "NOT_FOUND");
    }
    // An order for a region that is not one's own.
    let order = crate::http::order_body(&order(), Some("k-foreign".to_owned()));
    let got = http.request("POST", &FOREIGN_DISPATCHER, "/api/v1/tasks").json(&order).await;
    got.problem(404, "NOT_FOUND");
    assert_eq!(http.read().await.head().await.expect("it can be read").0, 2);
});

for_each_database!(an_account_that_is_shut_is_nobodys, |desk| async move {
    let http = Face::of(desk).await;
    http.get(&rider(1), "/api/v1/rider/tasks").await.is(200);
    let shut = dispatch_desk::store::RiderChange { disabled: Some(true), ..Default::default() };
    let one = dispatch_desk::domain::id::RiderId(1);
    http.executor.change_rider(&Actor::System, one, &shut).await.expect("it can be shut");
    for _ in &http.origins {
        http.get(&rider(1), "/api/v1/rider/tasks").await.problem(401, "NOT_SIGNED_IN");
        let (_, before) = http.read().await.head().await.unwrap();
        let unkeyed = http.request("POST", &rider(1), "/api/v1/tasks/1/grab").key("shut");
        unkeyed.json(&json!({ "revision": 1 })).await.problem(401, "NOT_SIGNED_IN");
        let (_, after) = http.read().await.head().await.unwrap();
        assert_eq!(after, before, "nothing of it stands in the log");
        let task = http.create().await;
        let grab = http.post(
            &rider(1),
            &format!("/api/v1/tasks/{}/grab", task.0),
            &json!({ "revision": 1 }),
        );
        grab.await.problem(401, "NOT_SIGNED_IN");
    }
});
