//! In and out: by password, by link, and how sessions end.

use dispatch_desk::admin;
use reqwest::{Method, header};

use crate::{
    browser::{Browser, Form, Page},
    harness::{D1, D2, Database, Desk, Site, rider, shop, site::PASSWORD},
};

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;

async fn form(browser: &mut Browser, path: &str, login: &str, password: &str) -> Form {
    let form = browser.get(path).await.only_form();
    form.with("login", login).with("password", password)
}

async fn try_in(browser: &mut Browser, login: &str, password: &str) -> Page {
    let form = form(browser, "/sign-in", login, password).await;
    browser.send(&form).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_and_its_password_lead_to_the_board_and_nothing_else_does() {
    let site = Site::open().await;
    site.password(1, "dora").await;
    site.password(2, "dan").await;
    site.disable(2, true).await;
    let mut browser = Browser::new(&site);
    for (login, password) in
        [("dora", "wrong"), ("nobody", PASSWORD), ("dan", PASSWORD), ("DORA", PASSWORD)]
    {
        let page = try_in(&mut browser, login, password).await;
        page.is(401).says("The name or the password is wrong.");
        // Which of them it was is not said; the name need not be typed again, the password must.
        assert_eq!(page.only_form().value("login"), login);
        assert_eq!(page.only_form().value("password"), "");
        page.hides(PASSWORD);
        assert_eq!(browser.get("/board").await.path, "/sign-in?next=/board");
    }
    let page = try_in(&mut browser, " dora ", PASSWORD).await;
    assert_eq!((page.is(200).path.as_str(), page.answer().as_str()), ("/board", ""));
    assert!(page.text_of("header").contains("staff 1"), "{}", page.text_of("header"));
    // A disabled account is let in again once it is enabled.
    site.disable(2, false).await;
    try_in(&mut Browser::new(&site), "dan", PASSWORD).await.is(200);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_new_at_each_sign_in_and_dead_after_the_sign_out() {
    let site = Site::open().await;
    let mut browser = Browser::enter(&site, &D1).await;
    let first = browser.clone();
    browser.enter_as(&site, &D1).await;
    assert_ne!(browser.cookies, first.cookies, "who knew the old one does not know the new one");
    // What somebody else put into the browser before is not what it is signed in with.
    let mut planted = Browser::new(&site);
    planted.cookies.insert("desk".to_owned(), "AAAAAAAAAAAAAAAAAAAAAA".to_owned());
    planted.enter_as(&site, &D2).await;
    assert_ne!(planted.cookies["desk"], "AAAAAAAAAAAAAAAAAAAAAA");

    let mut stolen = browser.clone();
    let out = browser.get("/board").await.form("/sign-out");
    let page = browser.send(&out).await;
    assert_eq!(page.path, "/sign-in");
    assert!(browser.cookies.is_empty(), "{:?}", browser.cookies);
    assert_eq!(stolen.get("/board").await.path, "/sign-in?next=/board");
    // Out twice is out.
    stolen.send(&out).await.is(200);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_ends_after_an_idle_hour_and_after_half_a_day() {
    let site = Site::open().await;
    let mut browser = Browser::enter(&site, &D1).await;
    site.desk.advance_ms(59 * MINUTE_MS).await;
    assert_eq!(browser.get("/board").await.path, "/board");
    site.desk.advance_ms(HOUR_MS).await;
    assert_eq!(browser.get("/board").await.path, "/sign-in?next=/board", "idle for an hour");

    let mut busy = Browser::enter(&site, &D1).await;
    for _ in 0..23 {
        site.desk.advance_ms(30 * MINUTE_MS).await;
        assert_eq!(busy.get("/board").await.path, "/board");
    }
    site.desk.advance_ms(30 * MINUTE_MS).await;
    assert_eq!(busy.get("/board").await.path, "/sign-in?next=/board", "half a day in all");

    let mut rider = Browser::enter(&site, &rider(1)).await;
    site.desk.advance_ms(29 * 24 * HOUR_MS).await;
    assert_eq!(rider.get("/rider").await.path, "/rider", "a rider's phone is remembered");
    site.desk.advance_ms(24 * HOUR_MS).await;
    assert_eq!(rider.get("/rider").await.path, "/rider/closed");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shut_account_is_out_at_the_next_request() {
    let site = Site::open().await;
    let task = site.desk.create().await;
    let mut browser = Browser::enter(&site, &D1).await;
    let cancel =
        browser.get(&format!("/tasks/{task}")).await.form(&format!("/tasks/{task}/cancel"));
    site.disable(1, true).await;
    let page = browser.send(&cancel).await;
    assert_eq!(page.path, "/sign-in?next=/board", "a form that was sent is not sent again");
    assert_eq!(site.desk.task(task).await.revision.0, 1);
    site.disable(1, false).await;
    assert_eq!(browser.get("/board").await.path, "/sign-in?next=/board", "that session is over");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cookies_are_kept_from_scripts_and_other_sites() {
    let site = Site::open().await;
    let mut browser = Browser::new(&site);
    let link = site.link(&D1).await;
    let form = browser.get(&link).await.only_form();
    let page = browser.submit(&form).await;
    let cookie = page.headers[header::SET_COOKIE].to_str().unwrap().to_owned();
    assert!(cookie.starts_with("desk="), "{cookie}");
    for flag in ["HttpOnly", "SameSite=Lax", "Path=/"] {
        assert!(cookie.contains(flag), "{cookie}");
    }
    assert!(!cookie.contains("Secure") && !cookie.contains("Domain"), "{cookie}");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behind_tls_cookies_ask_for_it_and_belong_to_this_host() {
    let desk = Desk::open(Database::Sqlite).await;
    let site = Site::at(desk, Some("https://desk.example")).await;
    let mut browser = Browser::new(&site);
    for (actor, name) in [(D1, "__Host-desk="), (rider(1), "__Host-rider=")] {
        let link = site.link(&actor).await;
        let form = browser.get(&link).await.only_form();
        let page = browser.submit(&form).await;
        let cookie = page.headers[header::SET_COOKIE].to_str().unwrap().to_owned();
        assert!(cookie.starts_with(name), "{cookie}");
        assert!(cookie.contains("Secure") && cookie.contains("Path=/"), "{cookie}");
        assert!(!cookie.contains("Domain"), "{cookie}");
        assert!(page.headers.contains_key(header::STRICT_TRANSPORT_SECURITY));
    }
    assert_eq!(browser.get("/board").await.path, "/board");
    assert_eq!(browser.get("/rider").await.path, "/rider");
    let page = browser.once(browser.request(Method::GET, "/taste?lang=en&back=/board")).await;
    assert!(page.headers[header::SET_COOKIE].to_str().unwrap().contains("Secure"));
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_is_not_used_up_by_looking_and_signs_in_once() {
    let site = Site::open().await;
    let link = site.link(&D1).await;
    let mut browser = Browser::new(&site);
    for _ in 0..3 {
        browser.get(&link).await.is(200).says("staff 1");
    }
    let form = browser.get(&link).await.only_form();
    let mut second = Browser::new(&site);
    browser.send(&form).await.is(200);
    second.send(&form).await.is(404).says("no such thing");
    second.get(&link).await.is(404);
    assert_eq!(second.get("/board").await.path, "/sign-in?next=/board");

    let link = site.link(&rider(1)).await;
    site.desk.advance_ms(HOUR_MS).await;
    second.get(&link).await.is(404);
    second.get("/enter/0123456789abcdef").await.is(404);
    // Nobody else can be given one; and a link is of no use at the door of the others.
    assert!(admin::link(&site.desk.db, &shop(), HOUR_MS, 1).await.is_err());
    for (actor, door) in [(D2, "/rider"), (rider(2), "/desk")] {
        let link = admin::link(&site.desk.db, &actor, HOUR_MS, 1).await.unwrap();
        let form = Form::bare(&format!("{door}{link}"));
        second.send(&form).await.is(404);
        assert!(second.cookies.is_empty(), "{:?}", second.cookies);
    }
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sign_in_leads_back_to_our_own_pages_alone() {
    let site = Site::open().await;
    site.password(1, "dora").await;
    let task = site.desk.create().await;
    let mut browser = Browser::new(&site);
    let page = browser.get(&format!("/tasks/{task}?answer=x")).await;
    let form = page.only_form().with("login", "dora").with("password", PASSWORD);
    assert_eq!(browser.send(&form).await.path, format!("/tasks/{task}?answer=x"));
    for foreign in ["https://evil.example/", "//evil.example", "/\\evil.example", "/%09/x", ""] {
        let mut browser = Browser::new(&site);
        let form = form_with_next(&mut browser, foreign).await;
        let page = browser.submit(&form).await;
        let to = page.leads_to().unwrap();
        assert_eq!(to, "/board", "{foreign}");
    }
    for foreign in ["https://evil.example/", "//evil.example", "/\\evil.example"] {
        let path = format!("/taste?lang=en&back={foreign}");
        let page = browser.once(browser.request(Method::GET, &path)).await;
        assert_eq!(page.leads_to().as_deref(), Some("/"));
    }
    site.close().await;
}

async fn form_with_next(browser: &mut Browser, next: &str) -> Form {
    form(browser, &format!("/sign-in?next={next}"), "dora", PASSWORD).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_browser_can_be_staff_and_rider_and_they_stay_apart() {
    let site = Site::open().await;
    let mut browser = Browser::enter(&site, &rider(1)).await;
    assert_eq!(browser.get("/board").await.path, "/sign-in?next=/board");
    browser.enter_as(&site, &D1).await;
    assert_eq!(browser.get("/board").await.path, "/board");
    let out = browser.get("/rider").await.form("/rider/sign-out");
    assert_eq!(browser.send(&out).await.path, "/rider/closed");
    assert_eq!(browser.get("/board").await.path, "/board");
    assert_eq!(browser.get("/").await.path, "/board");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn language_and_colours_are_chosen_and_kept() {
    let site = Site::open().await;
    let mut browser = Browser::new(&site);
    let page = browser.get("/sign-in").await;
    assert!(page.html.contains("<html lang=\"en\">"));
    browser.get("/taste?lang=zh-CN&back=/sign-in").await.says("登录");
    let page = browser.get("/taste?theme=dark&back=/sign-in").await;
    assert!(page.html.contains("lang=\"zh-CN\" data-theme=\"dark\""));
    let page = browser.get("/taste?theme=auto&back=/sign-in").await;
    assert!(page.html.contains("<html lang=\"zh-CN\">"));
    let page = browser.get("/taste?theme=x&lang=fr&back=/sign-in").await;
    assert!(page.html.contains("<html lang=\"zh-CN\">"));
    site.close().await;
}
