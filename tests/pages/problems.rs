//! What does not work: for people as a page, for scripts as JSON; and a request without an outcome can be made again.

use axum::{body::Body, http::Request};
use dispatch_desk::web::{self, Origin};
use reqwest::{Method, header};
use tower::ServiceExt;

use crate::{
    browser::{Browser, Form},
    harness::{D1, Database, Desk, Site, offer, order, rider},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn people_get_a_page_and_scripts_get_json() {
    let site = Site::open().await;
    let browser = Browser::enter(&site, &D1).await;
    let cases = [
        (Method::GET, "/nowhere", "", 404),
        (Method::GET, "/tasks/T999", "", 404),
        (Method::GET, "/tasks/banana", "", 404),
        (Method::GET, "/t/nothing", "", 404),
        (Method::GET, "/t/%FF", "", 404),
        (Method::GET, "/enter/%FF", "", 404),
        (Method::GET, "/board?beyond=x", "", 400),
        (Method::PUT, "/board", "form=WORD", 405),
        (Method::POST, "/sign-in", "login=x", 422),
        (Method::POST, "/sign-in", "login=%FF%FE&password=x", 401),
        (Method::POST, "/tasks/T999/cancel", "form=WORD&key=k&revision=1", 404),
        (Method::POST, "/t/nothing/cancel", "key=k&revision=1", 404),
        (Method::POST, "/tasks/T1/explode", "form=WORD&key=k&revision=1", 404),
    ];
    for (method, path, body, status) in cases {
        for accepts in ["text/html,*/*;q=0.8", "application/json"] {
            let word = browser.word("desk");
            let request = browser
                .request(method.clone(), path)
                .header("sec-fetch-site", "same-origin")
                .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
                .body(body.replace("WORD", &word));
            let mut request = request.build().unwrap();
            request.headers_mut().insert(header::ACCEPT, accepts.parse().unwrap());
            let page = browser.clone().run(request).await;
            let what = format!("{method} {path} as {accepts}: {}", page.status);
            assert_eq!(page.status.as_u16(), status, "{what}");
            let kind = page.headers[header::CONTENT_TYPE].to_str().unwrap().to_owned();
            if accepts.starts_with("text/html") {
                assert!(kind.starts_with("text/html"), "{what}: {kind}");
                if status != 401 {
                    page.says("That did not work").says("Request id");
                }
            } else if status != 401 {
                assert_eq!(kind, "application/problem+json", "{what}");
                let json: serde_json::Value = serde_json::from_str(&page.html).unwrap();
                assert_eq!(json["status"], status, "{what}");
            }
            assert!(page.headers.contains_key("content-security-policy"), "{what}");
            assert_eq!(page.headers[header::CACHE_CONTROL], "no-store", "{what}");
        }
    }
    site.close().await;
}

/// Asked without a connection: whoever still sends when the answer comes may find the line cut before reading it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_form_that_is_too_long_is_refused_with_a_page() {
    let site = Site::open().await;
    let browser = Browser::enter(&site, &D1).await;
    let origin = Origin::parse(&site.origin).unwrap();
    let router = web::router(&web::Desk::new(site.desk.executor.clone(), origin));
    for path in ["/sign-in", "/tasks/T1/cancel"] {
        let request = Request::post(path)
            .header(header::HOST, site.address.to_string())
            .header(header::ACCEPT, "text/html")
            .header("sec-fetch-site", "same-origin")
            .header(header::COOKIE, format!("desk={}", browser.cookies["desk"]))
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(Body::from("x".repeat(2 << 20)))
            .unwrap();
        let response = router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), 413, "{path}");
        let page = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
        let page = String::from_utf8(page.to_vec()).unwrap();
        assert!(page.contains("BODY_TOO_LARGE") && page.contains("<main"), "{path}: {page}");
    }
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_form_of_another_site_is_not_carried_out() {
    let site = Site::open().await;
    let task = site.desk.create().await;
    let mut dora = Browser::enter(&site, &D1).await;
    let path = format!("/tasks/{task}");
    let cancel = dora.get(&path).await.form(&format!("{path}/cancel"));
    for (name, value) in [
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
        ("origin", "https://evil.example"),
        ("origin", "null"),
    ] {
        let request = dora.request(Method::POST, &cancel.action).header(name, value);
        let page = dora.once(request.form(&cancel.sent())).await;
        page.is(403).says("The request came from another site and was not carried out.");
        page.says("CROSS_SITE");
    }
    assert_eq!(site.desk.task(task).await.revision.0, 1);
    assert_eq!(dora.send(&cancel).await.answer(), "done");
    site.close().await;
}

/// The form of a trouble page that asks for the same again.
fn again(page: &crate::browser::Page) -> Form {
    let document = page.document();
    let forms = document.select(&crate::browser::select("section[role=alert] form")).count();
    assert_eq!(forms, 1, "{}", page.text());
    let action = document.select(&crate::browser::select("section[role=alert] form")).next();
    let action = action.unwrap().attr("action").unwrap().to_owned();
    let mut forms = page.forms().into_iter().filter(|form| form.action == action);
    forms.next().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_an_outcome_the_same_is_asked_again_under_the_same_key() {
    let site = Site::open().await;
    let mut dora = Browser::enter(&site, &D1).await;
    let mut ron = Browser::enter(&site, &rider(1)).await;
    let mut carl = Browser::new(&site);
    let task = site.desk.create().await;
    let ordered = site.order(order()).await;
    let tracking = site.tracking(ordered).await;
    site.desk.done(D1, task, 1, offer(1)).await;
    let path = format!("/tasks/{task}");
    let page = dora.get(&path).await;
    let new = dora.get("/tasks/new").await.form("/tasks/new");
    let forms = [
        page.form(&format!("{path}/cancel")).with("reason", "duplicate"),
        page.form(&format!("{path}/detail")).with("note", "a <b>note</b>\n\"quoted\""),
        new.with("pickup_address", "here")
            .with("pickup_place", "31.2304, 121.4737")
            .with("dropoff_address", "there")
            .with("dropoff_place", "31.2397, 121.4998"),
    ];
    let rides = ron.get("/rider").await;
    let decline = rides.form(&format!("/rider/tasks/{task}/decline")).with("reason", "too_far");
    let cancel = carl.get(&tracking).await.form(&format!("{tracking}/cancel"));
    let cancel = cancel.with("reason", "wrong_address");
    // Nothing is decided any more; everything can still be read.
    site.desk.executor.stop().await;
    let mut sent: Vec<(&mut Browser, Form)> = Vec::new();
    let (mut dora2, mut dora3) = (dora.clone(), dora.clone());
    let [one, two, three] = forms;
    sent.push((&mut dora, one));
    sent.push((&mut dora2, two));
    sent.push((&mut dora3, three));
    sent.push((&mut ron, decline));
    sent.push((&mut carl, cancel));
    for (browser, form) in sent {
        let page = browser.send(&form).await;
        page.is(503).says("There is no outcome yet").says("Nothing can be stored at the moment");
        assert_eq!(page.headers[header::RETRY_AFTER], "1");
        let again = again(&page);
        assert_eq!(again.action, form.action);
        let (mut was, mut is) = (form.sent(), again.sent());
        was.sort();
        is.sort();
        assert_eq!(is, was, "the same request, under the same key");
        // The page's own forms are still filled in.
        let shown = page.forms().into_iter().filter(|shown| shown.action == form.action).nth(1);
        for name in ["reason", "note", "pickup_address"] {
            let typed = was.iter().find(|(field, _)| field == name);
            if let (Some((_, typed)), Some(shown)) = (typed, &shown) {
                assert_eq!(shown.value(name).replace('\n', "\r\n"), *typed);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_no_person_types_is_still_an_answer() {
    let desk = Desk::open(Database::Sqlite).await;
    let site = Site::on(desk).await;
    let task = site.desk.create().await;
    let mut dora = Browser::enter(&site, &D1).await;
    let path = format!("/tasks/{task}");
    let edit = dora.get(&path).await.form(&format!("{path}/detail"));
    let page = dora.send(&edit.forged("note", "a\0b")).await;
    page.is(400).says("U+0000");
    let cancel = dora.get(&path).await.form(&format!("{path}/cancel"));
    dora.send(&cancel.clone().forged("revision", "99999999999999999999")).await.is(422);
    let page = dora.send(&cancel.clone().forged("revision", "77")).await;
    assert_eq!(page.answer(), "refused");
    dora.send(&cancel.clone().forged("key", &"k".repeat(256))).await.is(422);
    dora.send(&cancel.forged("key", "schlüssel")).await.is(422);
    for path in ["/board?show=%00", "/tasks/T1?answer=%00", "/sign-in?next=%00", "/rider?answer=x"]
    {
        dora.get(path).await;
    }
    site.close().await;
}
