//! One's own account: the second factor, the password, where one is signed in; and what slows guessing down.

use reqwest::Method;
use totp_rs::{Builder, Secret};

use crate::{
    browser::{Browser, Page},
    harness::{ADMIN, D1, Site, rider, site::PASSWORD},
};

const NEW: &str = "a heron counts seven slow boats";

/// The code of a secret at the desk's present instant, and `steps` of half a minute later.
pub fn code(site: &Site, secret: &str, steps: i64) -> String {
    let now = dispatch_desk::clock::Clock::now(&*site.desk.clock).0 / 1_000 + steps * 30;
    let secret = Secret::try_from_base32(secret).expect("a secret");
    let codes = Builder::new().with_secret(secret).with_skew(0).build_noncompliant();
    codes.generate(u64::try_from(now).expect("after 1970")).to_string()
}

/// Sets a second factor up on the page of somebody who is signed in. Returns the secret and the recovery codes.
async fn set_up(site: &Site, browser: &mut Browser) -> (String, Vec<String>) {
    let form = browser.get("/me").await.is(200).form("/me/factor").with("present", PASSWORD);
    let page = browser.send(&form).await;
    let secret = page.is(200).text_of("section[aria-labelledby=factor-title] p code");
    assert!(page.html.contains("<svg"), "there is a picture for the app");
    let wrong = page.form("/me/factor/confirm").with("code", "000000");
    browser.send(&wrong).await.is(422);
    let form = page.form("/me/factor/confirm").with("code", &code(site, &secret, 0));
    let page = browser.send(&form).await;
    let document = page.is(200).document();
    let shown = crate::browser::select("section[aria-labelledby=codes-title] code");
    let codes = document.select(&shown);
    let codes: Vec<_> = codes.map(crate::browser::words_of).collect();
    assert_eq!(codes.len(), 10);
    (secret, codes)
}

/// Gives the password; returns the page that asks for the code.
async fn password(browser: &mut Browser, login: &str) -> Page {
    let form = browser.get("/sign-in").await.form("/sign-in").with("login", login);
    browser.send(&form.with("password", PASSWORD)).await
}

async fn give(browser: &mut Browser, page: &Page, code: &str) -> Page {
    browser.send(&page.form("/sign-in/code").with("code", code)).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_factor_is_asked_for_and_each_code_is_good_once() {
    let site = Site::open().await;
    site.password(1, "dora").await;
    let mut dora = Browser::enter(&site, &D1).await;
    let (secret, codes) = set_up(&site, &mut dora).await;

    let mut other = Browser::new(&site);
    let page = password(&mut other, "dora").await;
    assert_eq!(page.is(200).path, "/sign-in");
    assert_eq!(
        other.get("/board").await.path,
        "/sign-in?next=/board",
        "the password is not enough"
    );
    let page = other.get("/sign-in").await;
    // The code that confirmed the factor is used up.
    give(&mut other, &page, &code(&site, &secret, 0)).await.is(401);
    site.desk.advance_ms(30_000).await;
    let fresh = code(&site, &secret, 0);
    assert_eq!(give(&mut other, &page, &fresh).await.is(200).path, "/board");
    // The same code again, and one from two steps ago.
    let mut third = Browser::new(&site);
    let page = password(&mut third, "dora").await;
    give(&mut third, &page, &fresh).await.is(401);
    site.desk.advance_ms(90_000).await;
    give(&mut third, &page, &code(&site, &secret, -2)).await.is(401);
    // The step before the present one is good, for clocks that are a little late.
    assert_eq!(give(&mut third, &page, &code(&site, &secret, -1)).await.is(200).path, "/board");

    // A recovery code stands in, once.
    let mut lost = Browser::new(&site);
    let page = password(&mut lost, "dora").await;
    assert_eq!(give(&mut lost, &page, &codes[3]).await.is(200).path, "/board");
    let page = lost.get("/me").await;
    page.says("recovery codes left: 9");
    let mut again = Browser::new(&site);
    let page = password(&mut again, "dora").await;
    give(&mut again, &page, &codes[3]).await.is(401);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_twenty_who_send_the_same_code_at_once_one_gets_in() {
    let site = Site::open().await;
    let dora = dispatch_desk::domain::id::StaffId(1);
    let executor = &site.desk.executor;
    let secret = executor.new_factor(dora).await.unwrap();
    executor.confirm_factor(dora, &code(&site, &secret, 0)).await.unwrap();
    site.desk.advance_ms(30_000).await;
    let fresh = code(&site, &secret, 0);
    let barrier = tokio::sync::Barrier::new(20);
    let race = (0..20).map(|_| async {
        barrier.wait().await;
        executor.use_factor(dora, &fresh).await.unwrap()
    });
    let came = futures_util::future::join_all(race).await;
    assert_eq!(came.iter().filter(|came| **came).count(), 1, "{came:?}");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_wrong_codes_are_enough_for_a_quarter_of_an_hour() {
    let site = Site::open().await;
    site.password(1, "dora").await;
    let mut dora = Browser::enter(&site, &D1).await;
    let (secret, _) = set_up(&site, &mut dora).await;
    site.desk.advance_ms(30_000).await;
    let mut guess = Browser::new(&site);
    let page = password(&mut guess, "dora").await;
    for _ in 0..5 {
        give(&mut guess, &page, "000000").await.is(401);
    }
    let late = give(&mut guess, &page, &code(&site, &secret, 0)).await;
    assert_eq!(late.is(429).headers["retry-after"], "900");
    site.desk.advance_ms(15 * 60_000 + 1).await;
    let page = password(&mut guess, "dora").await;
    assert_eq!(give(&mut guess, &page, &code(&site, &secret, 0)).await.is(200).path, "/board");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_changes_how_they_come_in_gives_their_password_first() {
    let site = Site::open().await;
    site.password(1, "dora").await;
    let mut dora = Browser::enter(&site, &D1).await;
    let page = dora.get("/me").await;
    let factor = page.form("/me/factor").with("present", "not it at all");
    dora.send(&factor).await.is(403).says("Give your present password first");
    let change = page.form("/me/password").with("present", "not it at all").with("password", NEW);
    dora.send(&change).await.is(403);
    // Nothing was done: the old password is still the one.
    let mut other = Browser::new(&site);
    assert_eq!(password(&mut other, "dora").await.is(200).path, "/board");
    // With it, the password changes, and the other browser is out at once.
    let change = page.form("/me/password").with("present", PASSWORD).with("password", NEW);
    dora.send(&change).await.is(200).says("The password is saved");
    assert_eq!(other.get("/board").await.path, "/sign-in?next=/board");
    dora.get("/board").await.is(200);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_admin_can_ask_everybody_for_a_second_factor() {
    let site = Site::open().await;
    site.gives_all(5).await;
    site.password(1, "dora").await;
    site.password(5, "ada").await;
    let mut ada = Browser::enter(&site, &ADMIN).await;
    let form = ada.get("/admin/staff").await.form("/admin/rules").with("factor_required", "on");
    ada.send(&form).await.is(200).says("Saved");
    // Sent again from the stale page, it says that somebody was first.
    ada.send(&form).await.is(409);
    let mut dora = Browser::new(&site);
    assert_eq!(password(&mut dora, "dora").await.is(200).path, "/me");
    assert_eq!(dora.get("/board").await.path, "/me", "that first, before anything else");
    set_up(&site, &mut dora).await;
    dora.get("/board").await.is(200);
    // What is asked of everybody, nobody takes away from themselves.
    assert!(!dora.get("/me").await.html.contains("/me/factor/remove"));
    // An admin takes it away for one who lost their phone; then all sessions of theirs are over.
    let form = ada.get("/admin/staff/D1").await.form("/admin/staff/D1/factor");
    ada.send(&form.with("present", PASSWORD)).await.is(200).says("removed a second factor");
    assert_eq!(dora.get("/board").await.path, "/sign-in?next=/board");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i_see_where_i_am_signed_in_and_end_it() {
    let site = Site::open().await;
    let (mut here, mut there) =
        (Browser::enter(&site, &D1).await, Browser::enter(&site, &D1).await);
    let mut third = Browser::enter(&site, &D1).await;
    let page = here.get("/me").await;
    let ends: Vec<_> =
        page.forms().into_iter().filter(|form| form.action == "/me/sessions/end").collect();
    assert_eq!(ends.len(), 4, "three sessions, and all others at once");
    // Somebody else's session is none of mine, whatever a script sends.
    let stranger = Browser::enter(&site, &crate::harness::D2).await;
    let mut of_stranger = stranger.clone();
    let theirs = of_stranger.get("/me").await;
    let hash = theirs.forms().into_iter().find(|form| form.action == "/me/sessions/end").unwrap();
    here.send(&ends[0].clone().forged("session", hash.value("session"))).await.is(200);
    of_stranger.get("/board").await.is(200);
    here.send(ends.last().unwrap()).await.is(200);
    for gone in [&mut there, &mut third] {
        assert_eq!(gone.get("/board").await.path, "/sign-in?next=/board");
    }
    here.get("/board").await.is(200);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn guessing_a_password_gets_slower_and_never_locks_the_owner_out() {
    let site = Site::open().await;
    site.password(1, "dora").await;
    let mut browser = Browser::new(&site);
    let form = browser.get("/sign-in").await.form("/sign-in").with("login", "dora");
    let wrong = form.clone().with("password", "not it at all");
    for _ in 0..10 {
        browser.send(&wrong).await.is(401);
    }
    let slowed = browser.send(&wrong).await;
    assert_eq!(slowed.is(429).headers["retry-after"], "1");
    // Even the right one waits; another account does not.
    let right = form.clone().with("password", PASSWORD);
    browser.send(&right).await.is(429);
    site.password(2, "dan").await;
    let dan = form.clone().with("login", "dan").with("password", PASSWORD);
    assert_eq!(Browser::new(&site).send(&dan).await.is(200).path, "/board");
    site.desk.advance_ms(1_000).await;
    assert_eq!(browser.send(&right).await.is(200).path, "/board", "the delay is over");
    // It came in: the failures are forgotten.
    let mut fresh = Browser::new(&site);
    fresh.send(&wrong).await.is(401);
    fresh.send(&right).await.is(200);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_peer_gets_thirty_tries_a_minute_whatever_it_says_of_itself() {
    let site = Site::open().await;
    site.password(1, "dora").await;
    let mut browser = Browser::new(&site);
    let form = browser.get("/sign-in").await.form("/sign-in").with("password", "not it at all");
    let mut came = Vec::new();
    for number in 0..32_u8 {
        let form = form.clone().with("login", &format!("somebody-{number}"));
        let fields = form.sent();
        let request = browser
            .request(Method::POST, "/sign-in")
            .header("origin", &site.origin)
            .header("sec-fetch-site", "same-origin")
            .header("x-forwarded-for", format!("203.0.113.{number}"))
            .header("x-real-ip", format!("203.0.113.{number}"))
            .header("forwarded", format!("for=203.0.113.{number}"))
            .form(&fields);
        came.push(browser.once(request).await.status.as_u16());
    }
    assert_eq!(came.iter().filter(|status| **status == 401).count(), 30, "{came:?}");
    assert_eq!(&came[30..], [429, 429]);
    site.desk.advance_ms(60_000).await;
    let right = form.with("login", "dora").with("password", PASSWORD);
    assert_eq!(browser.send(&right).await.is(200).path, "/board");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rider_comes_in_with_a_phone_number() {
    let site = Site::open().await;
    let mut ada = Browser::enter(&site, &ADMIN).await;
    let form = ada.get("/admin/riders/R1").await.form("/admin/riders/R1");
    ada.send(&form.with("phone", "138 0000 1234")).await.is(200);
    let mut rui = Browser::enter(&site, &rider(1)).await;
    let form = rui.get("/rider/me").await.is(200).form("/rider/me/password");
    rui.send(&form.clone().with("password", "13800001234")).await.is(422);
    rui.send(&form.with("password", NEW)).await.is(200).says("The password is saved");
    let mut phone = Browser::new(&site);
    let form = phone.get("/rider/closed").await.is(401).form("/rider/sign-in");
    let wrong = form.clone().with("phone", "138-0000-1234").with("password", "not it at all");
    phone.send(&wrong).await.is(401).says("wrong");
    let right = form.with("phone", "138-0000-1234").with("password", NEW);
    assert_eq!(phone.send(&right).await.is(200).path, "/rider");
    // Shut out, both devices are out at the same moment, and the password opens nothing.
    let form = ada.get("/admin/riders/R1").await.form("/admin/riders/R1");
    ada.send(&form.with("disabled", "on")).await.is(200);
    for out in [&mut rui, &mut phone] {
        assert_eq!(out.get("/rider").await.path, "/rider/closed");
    }
    phone.send(&right).await.is(401);
    site.close().await;
}
