//! How far somebody's right goes: what belongs to others, or to nobody yet, and what was begun while there was a right.

use dispatch_desk::{
    admin,
    domain::{
        actor::Actor,
        command::Role,
        geo::{Area, Place},
        id::{RiderId, StaffId, Timestamp},
        scope::{Actions, Scope},
        signal::{Evidence, Signal, SignalKind},
    },
    engine::office::NewToken,
    store::{RegionChange, StaffChange},
    web::{Lifetime, Sessions},
};
use reqwest::header;
use serde_json::json;
use tower_sessions::{
    SessionStore,
    session::{Id, Record},
};

use crate::{
    browser::{Browser, Form},
    files::{trips, upload},
    harness::{
        ADMIN, AUDITOR, D1, D2, FOREIGN_DISPATCHER, FOREIGN_RIDER, NOON, NORTH, SOUTH, SUPERVISOR,
        Site, rider, shop,
    },
};

/// An account that exists from now on.
async fn staff(
    site: &Site,
    id: i64,
    role: Role,
    regions: &[dispatch_desk::domain::id::RegionId],
) -> Actor {
    let mut tx = site.desk.db.begin().await.unwrap();
    tx.add_staff(StaffId(id), &format!("new {id}"), role, regions).await.unwrap();
    tx.commit().await.unwrap();
    Actor::Staff(StaffId(id))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_done_about_people_is_read_where_they_work() {
    let site = Site::open().await;
    let executor = &site.desk.executor;
    let both = staff(&site, 50, Role::Admin, &[NORTH, SOUTH]).await;
    executor.end_sessions(&both, &FOREIGN_DISPATCHER).await.unwrap();
    executor.end_sessions(&both, &D1).await.unwrap();
    executor.end_sessions(&both, &rider(1)).await.unwrap();
    executor.end_sessions(&both, &both).await.unwrap();
    executor.require_factor(&both, 1, false).await.unwrap();
    let southern = staff(&site, 51, Role::Auditor, &[SOUTH]).await;
    let everywhere = staff(&site, 52, Role::Auditor, &[NORTH, SOUTH]).await;
    for (who, found) in [(&AUDITOR, 2), (&southern, 1), (&everywhere, 5 + 2)] {
        let mut reader = Browser::enter(&site, who).await;
        let page = reader.get("/audit?show=events").await;
        page.is(200).says(&format!("{found} found"));
        let file = reader.get("/audit/export.jsonl?show=events").await.is(200).html.clone();
        assert_eq!(file.matches("sessions-ended").count(), found.min(4), "{who:?}");
        // Whoever has both reads of the two exports, too.
        let whole = found == 7;
        assert_eq!(page.html.contains("None (the whole desk)"), whole, "{who:?}");
        assert_eq!(page.html.contains("What concerns the whole desk, and"), !whole, "{who:?}");
        reader.get("/audit?region=none").await.is(if whole { 200 } else { 422 });
    }
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rider_of_another_region_is_not_named_in_a_signal() {
    let site = Site::open().await;
    let shared = |of, other| Signal {
        rider: RiderId(of),
        kind: SignalKind::SharedDevice,
        at: NOON,
        evidence: Evidence::Shared { other: RiderId(other), seen_at: Timestamp(NOON.0 - 60_000) },
    };
    let mut tx = site.desk.db.begin().await.unwrap();
    tx.raise_signals(&[shared(1, FOREIGN_RIDER), shared(2, 3)]).await.unwrap();
    tx.commit().await.unwrap();
    let mut ada = Browser::enter(&site, &ADMIN).await;
    let page = ada.get("/admin/riders/R1").await;
    page.is(200)
        .says("the same device as a rider of another region")
        .hides(&format!("R{FOREIGN_RIDER}"));
    ada.get("/admin/riders/R2").await.is(200).says("the same device as R3");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_has_no_region_yet_is_kept_by_those_who_have_every_one() {
    let site = Site::open().await;
    let fresh = staff(&site, 60, Role::Dispatcher, &[]).await;
    let both = staff(&site, 50, Role::Admin, &[NORTH, SOUTH]).await;
    for staff in [5, 50] {
        site.password(staff, &format!("s{staff}")).await;
    }
    let mut ada = Browser::enter(&site, &ADMIN).await;
    ada.get("/admin/staff").await.is(200).hides("new 60");
    ada.get("/admin/staff/D60").await.is(404);
    let executor = &site.desk.executor;
    assert!(executor.end_sessions(&ADMIN, &fresh).await.is_err());
    assert!(executor.end_sessions(&both, &fresh).await.is_ok());
    // And nobody is put where whoever did it does not see them any more.
    let bare = Form::bare("/admin/staff").forged("form", &ada.word("desk"));
    let nowhere = bare.forged("name", "Nobody").forged("role", "dispatcher");
    ada.send(&nowhere).await.is(422);
    let mut bo = Browser::enter(&site, &both).await;
    bo.get("/admin/staff").await.is(200).says("new 60");
    bo.get("/admin/staff/D60").await.is(200);
    site.close().await;
}

/// More rows than can be imported within the test.
fn many() -> String {
    let trips = trips();
    let head = trips.lines().next().unwrap();
    let row = |number| {
        format!(
            ",8.50,11,12,2,{},31.2304,121.4737,31.2397,121.4998,1.2,,,Cash,,600,,0.0",
            1_448_971_200 + number * 900
        )
    };
    let mut file = head.to_owned();
    for number in 0..15_000 {
        file.push('\n');
        file.push_str(&row(number));
    }
    file.push('\n');
    file
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_import_ends_when_its_owner_may_not_go_on_with_it() {
    let site = Site::open().await;
    let mut dora = Browser::enter(&site, &D1).await;
    let looked = upload(&mut dora, "chicago", "1", &many()).await;
    let running = dora.send(&looked.form(&looked.path)).await;
    assert!(running.headers.contains_key(header::REFRESH), "it runs");
    let moved =
        StaffChange { name: "Dora", role: Role::Dispatcher, regions: &[SOUTH], disabled: false };
    let mut tx = site.desk.db.begin().await.unwrap();
    let revision = tx.staff_record(StaffId(1)).await.unwrap().unwrap().revision;
    assert_eq!(tx.change_staff(StaffId(1), revision, &moved).await.unwrap(), 1);
    tx.commit().await.unwrap();
    let page = loop {
        dora.enter_as(&site, &D1).await;
        let page = dora.get(&looked.path).await;
        if !page.headers.contains_key(header::REFRESH) {
            break page;
        }
    };
    page.is(200).says("Your account may not import into this region any more.");
    let (created, _) = site.desk.read().await.head().await.unwrap();
    println!("{created} of 15000 were imported");
    assert!(created < 10_000, "{created}");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_imports_in_the_name_of_a_shop_that_speaks_for_itself() {
    let site = Site::open().await;
    let mut dora = Browser::enter(&site, &D1).await;
    let taxi = Actor::Intake("taxi".to_owned());
    let before = upload(&mut dora, "chicago", "1", &trips()).await;
    let token = admin::token(&site.desk.db, &taxi, "a shop").await.unwrap();
    upload(&mut dora, "chicago", "1", &trips())
        .await
        .says("taxi is a shop with a token of its own");
    // It was uploaded before the shop had one.
    let refused = dora.send(&before.form(&before.path)).await;
    refused.is(422).says("taxi is a shop with a token of its own");
    let id = token.split('_').nth(1).unwrap();
    admin::revoke(&site.desk.db, id).await.unwrap();
    crate::files::import(&mut dora, &before).await.is(200);
    assert_ne!(taxi, shop());
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_has_no_password_is_told_that_it_takes_one() {
    let site = Site::open().await;
    let mut ada = Browser::enter(&site, &ADMIN).await;
    let page = ada.get("/admin/staff/D1").await;
    let link = page.form("/admin/staff/D1/link").with("present", "anything at all");
    ada.send(&link).await.is(403).says("have no password yet");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_typed_does_not_come_back_with_a_request_that_had_read_it() {
    let site = Site::open().await;
    let db = site.desk.db.clone();
    let sessions = Sessions::new(db.clone(), Lifetime::STAFF);
    let data = json!({ "owner": D1, "drafts": [["k", { "note": "138 0000 1234" }]], "seen": 7 });
    let data = serde_json::from_value(data).unwrap();
    let expiry_date = time::OffsetDateTime::UNIX_EPOCH;
    let mut record = Record { id: Id::default(), data, expiry_date };
    sessions.create(&mut record).await.unwrap();
    // Two requests have it in hand when the personal data goes; one of them types something anew.
    let read = sessions.load(&record.id).await.unwrap().unwrap();
    assert!(read.data.contains_key("drafts"));
    let mut tx = db.begin().await.unwrap();
    tx.forget_drafts().await.unwrap();
    tx.commit().await.unwrap();
    sessions.save(&read).await.unwrap();
    let left = sessions.load(&record.id).await.unwrap().unwrap();
    assert!(!left.data.contains_key("drafts") && left.data["seen"] == 7, "{left:?}");
    // Whoever reads it after that keeps what is typed.
    let mut next = left;
    next.data.insert("drafts".to_owned(), json!([["k", {}]]));
    sessions.save(&next).await.unwrap();
    assert!(sessions.load(&record.id).await.unwrap().unwrap().data.contains_key("drafts"));
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_keeps_the_desk_is_told_of_it_and_those_who_dispatch_are_not() {
    let site = Site::open().await;
    let executor = &site.desk.executor;
    executor.end_sessions(&ADMIN, &D1).await.unwrap();
    let order = site.desk.create().await;
    for (who, kinds) in
        [(&D2, vec!["task"]), (&SUPERVISOR, vec!["task"]), (&AUDITOR, vec!["admin", "task"])]
    {
        let token = admin::token(&site.desk.db, who, "reads").await.unwrap();
        let get = reqwest::Client::new().get(format!("{}/api/v1/events", site.origin));
        let got: serde_json::Value =
            get.bearer_auth(&token).send().await.unwrap().json().await.unwrap();
        let items = got["items"].as_array().unwrap();
        let mine = items.iter().filter(|item| item["action"] != "token-made");
        let found: Vec<_> = mine.map(|item| item["kind"].as_str().unwrap()).collect();
        assert_eq!(found, kinds, "{who:?}");
    }
    assert_eq!(order.0, 10_001);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_binds_every_region_is_for_those_who_have_every_one() {
    let site = Site::open().await;
    let executor = &site.desk.executor;
    let both = staff(&site, 50, Role::Admin, &[NORTH, SOUTH]).await;
    assert!(executor.require_factor(&ADMIN, 1, true).await.is_err());
    executor.require_factor(&both, 1, true).await.unwrap();
    // Whoever has all of them has the next one, too, whoever adds it; so there is always somebody.
    let centre = Place { lat: 31.5, lng: 121.5 };
    let area = Area::Circle { centre, radius_m: 500.0 };
    let east =
        RegionChange { name: "east", time_zone: chrono_tz::UTC, area: &area, retention_days: None };
    let third = executor.add_region(&ADMIN, &east, None).await.unwrap();
    let west = RegionChange { name: "west", ..east };
    executor.add_region(&both, &west, None).await.unwrap();
    let has = site.desk.read().await.staff_account(StaffId(50)).await.unwrap().unwrap();
    assert!(has.staff.regions.len() == 4 && has.staff.regions.contains(&third), "{has:?}");
    // A shop of the south: nobody of the north speaks for it, and uses up its keys.
    let south = Scope { actions: Actions::All, regions: Some(vec![SOUTH]) };
    let north = Scope { regions: Some(vec![NORTH]), ..south.clone() };
    let taxi = Actor::Intake("taxi".to_owned());
    let new =
        |scope: &Scope| NewToken { label: "t", of: &taxi, scope: scope.clone(), expires_at: None };
    executor.make_token(&both, &new(&south), None).await.unwrap();
    assert!(executor.make_token(&ADMIN, &new(&north), None).await.is_err());
    executor.make_token(&both, &new(&north), None).await.unwrap();
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_is_let_in_again_can_keep_the_desk() {
    let site = Site::open().await;
    let executor = &site.desk.executor;
    let (id, _) = executor.recover(None).await.unwrap();
    let mut ada = Browser::enter(&site, &Actor::Staff(id)).await;
    ada.get("/admin/staff").await.is(200).says("staff 1").says("staff 4");
    ada.get("/admin/regions/G2").await.is(200);
    ada.get(&format!("/admin/staff/{id}")).await.is(200);
    site.close().await;
}
