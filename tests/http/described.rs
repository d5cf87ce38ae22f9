//! The served description and the routes are one thing.

use std::{collections::BTreeSet, fmt::Write as _};

use dispatch_desk::{domain::refusal::Code, web::ProblemCode};
use serde_json::json;

use crate::{
    harness::*,
    http::{Face, with},
};

/// Every route that `web::api::router()` registers, from its source: the functions named in `routes!(…)`.
fn registered() -> BTreeSet<String> {
    let source = include_str!("../../src/web/api/mod.rs");
    let mut found = BTreeSet::new();
    for (at, _) in source.match_indices("routes!(") {
        let list = &source[at + "routes!(".len()..];
        let list = list.split(')').next().unwrap_or_default();
        found.extend(list.split(',').map(|name| name.trim().to_owned()));
    }
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_operation_of_the_document_is_there_and_is_snapshotted() {
    let http = Face::of(Desk::open(Database::Sqlite).await).await;
    let mut list = String::new();
    for (name, operation) in http.book.operations() {
        let (method, template) = name.split_once(' ').expect("a method and a path");
        let path = template.replace("{id}", "999999").replace("{token}", "nobody");
        let got = http.request(method, &D1, &path).key("k").json(&json!({})).await;
        // Something answers: neither the fallback for other methods, nor, without a variable, that for other paths.
        assert_ne!(got.status, 405, "{got:#?}");
        if !template.contains('{') {
            assert_ne!(got.status, 404, "{got:#?}");
        }
        // What it documents is what the checker holds answers against, so here only what there is.
        let statuses: Vec<_> = operation["responses"].as_object().expect("some").keys().collect();
        let statuses: Vec<_> = statuses.into_iter().map(String::as_str).collect();
        let id = operation["operationId"].as_str().expect("every operation has a name");
        let _ = writeln!(list, "{name} {id}: {}", statuses.join(" "));
    }
    insta::assert_snapshot!("operations", list);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_document_names_as_many_operations_as_there_are_handlers() {
    let http = Face::of(Desk::open(Database::Sqlite).await).await;
    let (documented, registered) = (http.book.operations().len(), registered());
    assert!(registered.contains("tasks::create"), "{registered:?}");
    assert_eq!(documented, registered.len(), "{registered:#?}");
    // Whatever is not documented is not there: every other method on every path, and paths beside them.
    let documented: BTreeSet<_> = http.book.operations().into_keys().collect();
    for template in http.book.paths() {
        let path = template.replace("{id}", "1").replace("{token}", "nobody");
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
            if documented.contains(&format!("{method} {template}")) {
                continue;
            }
            http.request(method, &D1, &path).await.problem(405, "METHOD_NOT_ALLOWED");
        }
        http.get(&D1, &format!("{path}/more")).await;
    }
    for verb in dispatch_desk::domain::command::Verb::ALL {
        let path = format!("/api/v1/tasks/{{id}}/{verb}");
        let known = documented.contains(&format!("POST {path}"));
        let got = http.post(&D1, &format!("/api/v1/tasks/1/{verb}"), &json!({})).await;
        assert_eq!(known, got.status != 404, "{got:#?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_document_says_what_scripts_need_to_know() {
    let http = Face::of(Desk::open(Database::Sqlite).await).await;
    let document = http.book.document();
    let text = document.to_string();
    for code in Code::ALL.iter().map(|code| code.as_str()) {
        assert!(text.contains(code), "the refusal {code} is nowhere");
    }
    for code in ProblemCode::ALL.iter().map(|code| code.as_str()) {
        // Forms of pages alone come from other sites.
        assert!(code == "CROSS_SITE" || text.contains(code), "the problem {code} is nowhere");
    }
    for (name, operation) in http.book.operations() {
        assert!(operation["summary"].is_string(), "{name} has no summary");
        let responses = operation["responses"].as_object().expect("some");
        let secured = operation["security"].is_array();
        assert_eq!(responses.contains_key("401"), secured, "{name}");
        let command = name.starts_with("POST") && responses.contains_key("409");
        // An order has a number of its own, which is its key.
        let keyed = operation["parameters"].to_string().contains("Idempotency-Key")
            || name == "POST /api/v1/tasks";
        assert!(!command || keyed, "{name} is a command without a key");
    }
    // Every name in the document leads somewhere.
    for (at, _) in text.match_indices("\"$ref\":\"#") {
        let pointer = text[at + "\"$ref\":\"#".len()..].split('"').next().unwrap_or_default();
        assert!(document.pointer(pointer).is_some(), "{pointer} leads nowhere");
    }
    let good = with(&json!({ "openapi": "" }), json!({ "openapi": document["openapi"] }));
    assert!(good["openapi"].as_str().is_some_and(|version| version.starts_with("3.1")));
}
