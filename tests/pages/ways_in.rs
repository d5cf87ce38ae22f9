//! Ways in, and who may make them: none for oneself, none without the password of whoever makes it, none wider than its
//! maker, and none that is left behind.

use dispatch_desk::{
    admin,
    domain::{
        command::{NewTask, Role},
        id::{RiderId, StaffId, Timestamp},
    },
    engine::housekeeping,
    store::{RiderChange, StaffChange},
    web::{self, DOORS, May},
};
use reqwest::Method;

use crate::{
    browser::{Browser, Form, Page},
    files::{trips, upload},
    harness::{ADMIN, D1, SOUTH, Site, order, rider, shop, site::PASSWORD},
};

const NEW: &str = "a heron counts seven slow boats";
const HOUR_MS: i64 = 3_600_000;

/// An admin of the north who has a password.
async fn ada(site: &Site) -> Browser {
    site.password(5, "ada").await;
    Browser::enter(site, &ADMIN).await
}

/// A form that no page offers.
fn bare(browser: &Browser, action: &str) -> Form {
    Form::bare(action).forged("form", &browser.word("desk"))
}

async fn status(site: &Site, token: &str, path: &str) -> u16 {
    let http = reqwest::Client::new();
    let got = http.get(format!("http://{}{path}", site.address)).bearer_auth(token).send().await;
    got.unwrap().status().as_u16()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_of_a_source_is_no_wider_than_whoever_makes_it() {
    let site = Site::open().await;
    let south = site.desk.create_with(NewTask { region: SOUTH, ..order() }).await;
    let north = site.desk.create().await;
    let mut ada = ada(&site).await;
    let form = ada.get("/admin/tokens").await.is(200).form("/admin/tokens");
    let form = form.with("label", "orders").with("of", "shop").with("actions", "all");
    let form = form.with("present", PASSWORD);
    ada.send(&form).await.is(422).says("Regions");
    let made = ada.send(&form.clone().with("region-1", "on")).await;
    let token = made.is(200).text_of("code.secret");
    assert_eq!(status(&site, &token, &format!("/api/v1/tasks/{}", north.0)).await, 200);
    for path in [format!("/api/v1/tasks/{}", south.0), format!("/api/v1/tasks/{}/events", south.0)]
    {
        assert_eq!(status(&site, &token, &path).await, 404, "{path}");
    }
    // One that was made with the machine in hand is good everywhere: whoever has one region alone does not see it, and
    // does not end it.
    let wide = admin::token(&site.desk.db, &shop(), "everywhere").await.unwrap();
    let id = wide.split('_').nth(1).unwrap();
    ada.get("/admin/tokens").await.says("orders").hides("everywhere");
    let end = bare(&ada, &format!("/admin/tokens/{id}/end"));
    ada.send(&end).await.is(404);
    assert_eq!(status(&site, &wide, &format!("/api/v1/tasks/{}", south.0)).await, 200);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_makes_themselves_a_way_in() {
    let site = Site::open().await;
    let mut ada = ada(&site).await;
    let page = ada.get("/admin/staff/D5").await;
    page.is(200).says("Your own way in is kept on your own page");
    for end in ["link", "factor"] {
        let action = format!("/admin/staff/D5/{end}");
        assert!(page.forms().iter().all(|form| form.action != action), "{action} is not offered");
        let form = bare(&ada, &action).forged("present", PASSWORD);
        ada.send(&form).await.is(422).says("Your own way in").hides("/enter/");
    }
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_makes_a_way_in_gives_their_password_first() {
    let site = Site::open().await;
    let mut ada = ada(&site).await;
    let head = site.desk.read().await.head().await.unwrap();
    let page = ada.get("/admin/staff/D1").await;
    let tokens = ada.get("/admin/tokens").await;
    let token = tokens.form("/admin/tokens").with("label", "x").with("of", "D1");
    let factor = bare(&ada, "/admin/staff/D1/factor").forged("present", "");
    for form in [page.form("/admin/staff/D1/link"), token.with("actions", "read"), factor] {
        for wrong in ["", "not it at all"] {
            let page = ada.send(&form.clone().forged("present", wrong)).await;
            page.is(403).says("Give your present password first").hides("not it at all");
        }
    }
    assert_eq!(site.desk.read().await.head().await.unwrap(), head, "nothing was made");
    let made = ada.send(&page.form("/admin/staff/D1/link").with("present", PASSWORD)).await;
    assert!(made.is(200).html.contains("/enter/"));
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_password_ends_the_links_that_were_made_before_it() {
    let site = Site::open().await;
    site.password(1, "dora").await;
    let mut dora = Browser::enter(&site, &D1).await;
    let link = site.desk.executor.make_password_link(&ADMIN, StaffId(1)).await.unwrap();
    let mut thief = Browser::new(&site);
    thief.get(&format!("/enter/{link}")).await.is(200);
    let change = dora.get("/me").await.form("/me/password").with("present", PASSWORD);
    dora.send(&change.with("password", NEW)).await.is(200);
    thief.get(&format!("/enter/{link}")).await.is(404);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_password_that_was_changed_leads_to_no_second_factor() {
    let site = Site::open().await;
    site.password(1, "dora").await;
    let executor = &site.desk.executor;
    let secret = executor.new_factor(StaffId(1)).await.unwrap();
    let code = crate::accounts::code(&site, &secret, 0);
    assert!(executor.confirm_factor(StaffId(1), &code).await.is_ok());
    site.desk.advance_ms(30_000).await;
    let mut thief = Browser::new(&site);
    let form = thief.get("/sign-in").await.form("/sign-in").with("login", "dora");
    let asked = thief.send(&form.with("password", PASSWORD)).await;
    let give = asked.is(200).form("/sign-in/code");
    let phc = web::hash_password(NEW, &[9; 16]).unwrap();
    executor.set_own_password(StaffId(1), &phc, "none").await.unwrap();
    let code = crate::accounts::code(&site, &secret, 0);
    assert_eq!(thief.send(&give.with("code", &code)).await.path, "/sign-in");
    assert_eq!(thief.get("/board").await.path, "/sign-in?next=/board");
    site.close().await;
}

async fn rider_in(site: &Site, phone: &str, password: &str) -> Page {
    let mut other = Browser::new(site);
    let form = other.get("/rider").await.form("/rider/sign-in").with("phone", phone);
    other.send(&form.with("password", password)).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_riders_password_is_changed_with_the_present_one_and_can_be_taken_away() {
    let site = Site::open().await;
    let phone =
        |number: &str| RiderChange { phone: Some(number.to_owned()), ..RiderChange::default() };
    let executor = &site.desk.executor;
    executor.change_rider(&ADMIN, RiderId(1), &phone("13800001111")).await.unwrap();
    let mut rui = Browser::enter(&site, &rider(1)).await;
    let set = async |rui: &mut Browser, present: Option<&str>, new: &str| {
        let form = rui.get("/rider/me").await.is(200).form("/rider/me/password");
        let form = form.with("password", new);
        rui.send(&present.map_or(form.clone(), |present| form.with("present", present))).await
    };
    // The first one needs none: whoever came by a link sets it.
    set(&mut rui, None, PASSWORD).await.is(200).says("The password is saved");
    rider_in(&site, "13800001111", PASSWORD).await.is(200);
    set(&mut rui, Some("not it at all"), NEW).await.is(403);
    set(&mut rui, Some(PASSWORD), NEW).await.is(200);
    rider_in(&site, "13800001111", NEW).await.is(200);
    // It goes with the devices that are forgotten,
    executor.end_sessions(&ADMIN, &rider(1)).await.unwrap();
    rider_in(&site, "13800001111", NEW).await.is(401);
    // with the number that it was set for,
    let again = async |phone: &str| {
        let mut rui = Browser::enter(&site, &rider(1)).await;
        set(&mut rui, None, NEW).await.is(200);
        rider_in(&site, phone, NEW).await.is(200);
    };
    again("13800001111").await;
    executor.change_rider(&ADMIN, RiderId(1), &phone("13800002222")).await.unwrap();
    for number in ["13800001111", "13800002222"] {
        rider_in(&site, number, NEW).await.is(401);
    }
    // and when they are shut out.
    again("13800002222").await;
    for disabled in [true, false] {
        let change = RiderChange { disabled: Some(disabled), ..RiderChange::default() };
        executor.change_rider(&ADMIN, RiderId(1), &change).await.unwrap();
    }
    rider_in(&site, "13800002222", NEW).await.is(401);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_factor_that_is_asked_for_every_door_leads_to_ones_own_page() {
    let site = Site::open().await;
    site.gives_all(5).await;
    site.password(1, "dora").await;
    let task = site.desk.create().await;
    site.desk.executor.require_factor(&ADMIN, 1, true).await.unwrap();
    let mut dora = Browser::new(&site);
    let form = dora.get("/sign-in").await.form("/sign-in").with("login", "dora");
    assert_eq!(dora.send(&form.with("password", PASSWORD)).await.is(200).path, "/me");
    let word = dora.word("desk");
    let before = site.desk.task(task).await;
    let mut tried = 0;
    for door in DOORS {
        let of_staff = matches!(door.may, May::Desk(_) | May::DeskCommand);
        if !of_staff || door.path.starts_with("/me") {
            continue;
        }
        let path = door.path.replace("{id}", &task.to_string()).replace("{verb}", "cancel");
        let path = path.replace("{wish}", "start").replace("{token}", &"0".repeat(32));
        let method: Method = door.method.parse().unwrap();
        let request = dora.request(method.clone(), &path);
        let request = if method == Method::GET {
            request
        } else {
            let form =
                [("form", word.as_str()), ("key", "k"), ("revision", "1"), ("reason", "requested")];
            request.header("sec-fetch-site", "same-origin").form(&form)
        };
        let page = dora.once(request).await;
        let multipart = door.path == "/import" && method == Method::POST;
        assert!(
            page.leads_to().as_deref() == Some("/me") || (multipart && page.status == 415),
            "{} {path}: {}",
            door.method,
            page.status
        );
        tried += 1;
    }
    println!("{tried} doors");
    assert!(tried > 30, "{tried} doors");
    assert_eq!(site.desk.task(task).await, before);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failures_of_strangers_are_forgotten_with_their_rows() {
    let site = Site::open().await;
    let mut stranger = Browser::new(&site);
    let form = stranger.get("/sign-in").await.form("/sign-in");
    for number in 0..5 {
        let form = form.clone().with("login", &format!("name {number}")).with("password", "x");
        stranger.send(&form).await.is(401);
    }
    let kept = async || {
        housekeeping::run_once(&site.desk.db).await.unwrap();
        let mut tx = site.desk.db.begin().await.unwrap();
        let kept = tx.prune_failures(Timestamp(i64::MAX), 100).await.unwrap();
        tx.rollback().await.unwrap();
        kept
    };
    assert_eq!(kept().await, 6, "five names and one peer still count");
    site.desk.advance_ms(HOUR_MS + 1).await;
    assert_eq!(kept().await, 0);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_has_lost_a_region_imports_nothing_into_it() {
    let site = Site::open().await;
    let mut dora = Browser::enter(&site, &D1).await;
    let looked = upload(&mut dora, "chicago", "1", &trips()).await;
    let moved =
        StaffChange { name: "Dora", role: Role::Dispatcher, regions: &[SOUTH], disabled: false };
    let mut tx = site.desk.db.begin().await.unwrap();
    let revision = tx.staff_record(StaffId(1)).await.unwrap().unwrap().revision;
    assert_eq!(tx.change_staff(StaffId(1), revision, &moved).await.unwrap(), 1);
    tx.commit().await.unwrap();
    dora.enter_as(&site, &D1).await;
    let run = bare(&dora, &looked.path);
    dora.send(&run).await.is(404);
    assert!(
        site.desk.read().await.tasks_after(crate::harness::first(), 9).await.unwrap().is_empty()
    );
    // Whoever has it does, and it stands in the log who that was.
    let mut other = Browser::enter(&site, &crate::harness::D2).await;
    let looked = upload(&mut other, "chicago", "1", &trips()).await;
    crate::files::import(&mut other, &looked).await;
    let mut auditor = Browser::enter(&site, &crate::harness::AUDITOR).await;
    auditor.get("/audit?what=imported").await.is(200).says("Imported a file").says("D2");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_gone_after_an_hour() {
    let site = Site::open().await;
    let mut dora = Browser::enter(&site, &D1).await;
    let looked = upload(&mut dora, "chicago", "1", &trips()).await;
    site.desk.advance_ms(HOUR_MS - 60_000).await;
    dora.enter_as(&site, &D1).await;
    dora.get(&looked.path).await.is(200);
    site.desk.advance_ms(60_001).await;
    dora.get(&looked.path).await.is(404).says("upload it again");
    site.close().await;
}
