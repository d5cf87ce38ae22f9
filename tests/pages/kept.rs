//! Staff, riders, regions, rules and tokens, kept on pages: who may, who was first, and what ends with a change.

use dispatch_desk::domain::{
    command::{Act, Verb},
    id::{RiderId, StaffId},
};
use reqwest::Method;

use crate::{
    browser::{Browser, Form},
    harness::{
        ADMIN, AUDITOR, D1, D2, FOREIGN_DISPATCHER, SUPERVISOR, Site, offer, rider, site::PASSWORD,
    },
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_saves_second_is_told_who_was_first_and_loses_nothing() {
    let site = Site::open().await;
    let mut ada = Browser::enter(&site, &ADMIN).await;
    let mut sue = Browser::enter(&site, &SUPERVISOR).await;
    let hers = ada.get("/admin/riders/R1").await.form("/admin/riders/R1");
    let theirs = sue.get("/admin/riders/R1").await.form("/admin/riders/R1");
    sue.send(&theirs.with("capacity", "5")).await.is(200).says("Saved");
    let page = ada.send(&hers.clone().with("capacity", "7").with("name", "Rui the Second")).await;
    page.is(409).says("Somebody was first").says("staff 3");
    let form = page.form("/admin/riders/R1");
    assert_eq!(
        (form.value("capacity"), form.value("name")),
        ("7", "Rui the Second"),
        "what was typed is kept"
    );
    page.says("now: 5");
    let now = site.desk.read().await.rider_record(RiderId(1)).await.unwrap().unwrap();
    assert_eq!(now.account.rider.capacity, 5, "nothing was done");
    // Having seen it, she may.
    ada.send(&form).await.is(200).says("Saved");
    let now = site.desk.read().await.rider_record(RiderId(1)).await.unwrap().unwrap();
    assert_eq!((now.account.rider.capacity, now.account.name.as_str()), (7, "Rui the Second"));
    // The page from before, by the back button: it is stale, too.
    ada.send(&hers.with("capacity", "1")).await.is(409);

    // The same for staff, regions and rules.
    let (one, two) = (ada.get("/admin/staff/D1").await, ada.get("/admin/staff/D1").await);
    ada.send(&one.form("/admin/staff/D1").with("name", "Dora B")).await.is(200);
    ada.send(&two.form("/admin/staff/D1").with("name", "Dora C")).await.is(409).says("now: Dora B");
    let (one, two) = (ada.get("/admin/regions/G1").await, sue.get("/admin/regions/G1").await);
    ada.send(&one.form("/admin/regions/G1").with("name", "North End")).await.is(200);
    ada.send(&one.form("/admin/regions/G1").with("name", "North Side")).await.is(409);
    ada.send(&one.form("/admin/regions/G1/policy").with("offer_seconds", "50")).await.is(200);
    let page = sue.send(&two.form("/admin/regions/G1/policy").with("offer_seconds", "55")).await;
    page.is(409).says("added a version of the rules");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rider_who_is_shut_out_loses_the_offer_and_the_session_at_the_same_moment() {
    let site = Site::open().await;
    let task = site.desk.create().await;
    site.desk.done(D1, task, 1, offer(1)).await;
    let mut rui = Browser::enter(&site, &rider(1)).await;
    rui.get("/rider").await.is(200);
    let mut sue = Browser::enter(&site, &SUPERVISOR).await;
    let form = sue.get("/admin/riders/R1").await.form("/admin/riders/R1");
    sue.send(&form.with("disabled", "on")).await.is(200);
    let events = site.desk.events(task).await;
    assert_eq!(events.last().unwrap().action, Verb::Withdraw.as_str());
    assert_eq!(rui.get("/rider").await.path, "/rider/closed");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_role_or_region_ends_all_sessions_and_the_last_admin_stays() {
    let site = Site::open().await;
    let mut dora = Browser::enter(&site, &D1).await;
    let mut ada = Browser::enter(&site, &ADMIN).await;
    let form = ada.get("/admin/staff/D1").await.form("/admin/staff/D1");
    ada.send(&form.clone().with("name", "Dora the Same")).await.is(200);
    dora.get("/board").await.is(200);
    let form = ada.get("/admin/staff/D1").await.form("/admin/staff/D1");
    ada.send(&form.with("role", "auditor")).await.is(200);
    assert_eq!(dora.get("/board").await.path, "/sign-in?next=/board");
    let form = ada.get("/admin/staff/D5").await.form("/admin/staff/D5");
    for (field, value) in [("disabled", "on"), ("role", "dispatcher")] {
        let page = ada.send(&form.clone().with(field, value)).await;
        page.is(422).says("the last admin");
    }
    ada.get("/admin/staff").await.is(200);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_may_not_gets_nothing_and_it_is_kept_that_they_tried() {
    let site = Site::open().await;
    let mut ada = Browser::enter(&site, &ADMIN).await;
    let staff = ada.get("/admin/staff/D2").await.form("/admin/staff/D2").with("role", "admin");
    let region = ada.get("/admin/regions/G1").await.form("/admin/regions/G1").with("name", "Mine");
    let mut dora = Browser::enter(&site, &D2).await;
    // In a session of their own: it is not the form that is wrong.
    let by = |who: &Browser, form: &Form| form.clone().forged("form", &who.word("desk"));
    for form in [&staff, &region] {
        let form = by(&dora, form);
        dora.send(&form).await.is(403).says("FORBIDDEN");
    }
    let mut aud = Browser::enter(&site, &AUDITOR).await;
    aud.get("/admin/staff").await.is(200);
    let form = by(&aud, &staff);
    aud.send(&form).await.is(403).says("FORBIDDEN");
    // Another region's people are not there at all.
    let mut south = Browser::enter(&site, &FOREIGN_DISPATCHER).await;
    let there = south.get("/admin/riders/R1").await;
    let missing = south.get("/admin/riders/R9999").await;
    let text = |page: &crate::browser::Page| {
        // The number of the request is its own.
        page.text().replace(page.headers["x-request-id"].to_str().unwrap(), "")
    };
    assert_eq!((there.is(404).status, text(&there)), (missing.is(404).status, text(&missing)));
    assert!(!south.get("/admin/riders").await.is(200).html.contains("/admin/riders/R1\""));
    let record = site.desk.read().await.staff_record(StaffId(2)).await.unwrap().unwrap();
    assert_eq!(record.account.staff.role.as_str(), "dispatcher");
    ada.get("/admin/staff/D2").await.says("was refused what their role may not");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_does_what_it_is_for_and_no_more() {
    let site = Site::open().await;
    site.password(5, "ada").await;
    let mut ada = Browser::enter(&site, &ADMIN).await;
    let form = ada.get("/admin/tokens").await.is(200).form("/admin/tokens");
    let make = |label: &str, of: &str, actions: &str| {
        form.clone()
            .with("label", label)
            .with("of", of)
            .with("actions", actions)
            .with("present", PASSWORD)
    };
    // Each form of the page has a key of its own: one page, one token.
    let made = ada.send(&make("reads", "D1", "read")).await;
    let reads = made.is(200).text_of("code.secret");
    ada.send(&make("reads", "D1", "read")).await.is(200).hides(&reads);
    let form = ada.get("/admin/tokens").await.form("/admin/tokens");
    let form = form.with("label", "offers").with("of", "D1").with("actions", "these");
    let form = form.with("present", PASSWORD);
    let made = ada.send(&form.with("verb-offer", "on").with("region-1", "on")).await;
    let offers = made.is(200).text_of("code.secret");
    let task = site.desk.create().await;
    let http = reqwest::Client::new();
    let ask = |token: &str, method: Method, path: String, body: &str| {
        let request = http.request(method, format!("http://{}{path}", site.address));
        let request =
            request.bearer_auth(token).header("idempotency-key", format!("{token}{path}"));
        let request = request.header("content-type", "application/json").body(body.to_owned());
        async move { request.send().await.unwrap().status().as_u16() }
    };
    let (read, offer) =
        (format!("/api/v1/tasks/{}", task.0), format!("/api/v1/tasks/{}/offer", task.0));
    let body = r#"{"revision":1,"rider_id":1}"#;
    assert_eq!(ask(&reads, Method::GET, read.clone(), "").await, 200);
    assert_eq!(ask(&reads, Method::POST, offer.clone(), body).await, 403);
    let cancel = format!("/api/v1/tasks/{}/cancel", task.0);
    assert_eq!(ask(&offers, Method::POST, cancel, r#"{"revision":1}"#).await, 403);
    assert_eq!(ask(&offers, Method::POST, offer.clone(), body).await, 200);
    // In the list it is known by the part that is no secret; ended there, it opens nothing.
    let page = ada.get("/admin/tokens").await;
    page.says("offers").hides(&offers);
    let id = offers.split('_').nth(1).unwrap();
    let end = page.form(&format!("/admin/tokens/{id}/end"));
    ada.send(&end).await.is(200);
    assert_eq!(ask(&offers, Method::GET, read.clone(), "").await, 401);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_can_not_be_is_said_by_the_name_of_its_field() {
    let site = Site::open().await;
    let mut ada = Browser::enter(&site, &ADMIN).await;
    let region = ada.get("/admin/regions").await.form("/admin/regions").with("name", "X");
    let circle = region.clone().with("centre", "31.2, 121.4").with("radius", "5");
    for (form, field) in [
        (region.clone(), "Area"),
        (circle.clone().with("radius", "0"), "Area"),
        (circle.clone().with("time_zone", "Mars/Olympus"), "Time zone"),
        (circle.clone().forged("retention_days", "0"), "Days that personal data is kept"),
        (circle.clone().forged("name", " "), "Name"),
    ] {
        let page = ada.send(&form).await;
        page.is(422).says("This can not be used").says(field);
    }
    let rules = ada.get("/admin/regions/G1").await.form("/admin/regions/G1/policy");
    for (field, value, said) in [
        ("offer_seconds", "9999", "Offer (s)"),
        ("offer_seconds_min", "0", "Shortest (s)"),
        ("grace_ms", "-1", "Grace (ms)"),
        ("starts_at", "2001-01-01T00:00", "In force from"),
    ] {
        ada.send(&rules.clone().forged(field, value)).await.is(422).says(said);
    }
    // A version that starts tomorrow changes nothing today.
    let later = rules.with("offer_seconds", "33").with("starts_at", "2026-12-01T09:00");
    ada.send(&later).await.is(200);
    let task = site.desk.create().await;
    site.desk.done(D1, task, 1, Act::Offer { rider: RiderId(1), seconds: None, round: None }).await;
    let offers = site.desk.read().await.offers_of(task).await.unwrap();
    assert_eq!(offers[0].until.ms_since(offers[0].at), 30_000);
    site.close().await;
}
