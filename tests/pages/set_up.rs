//! A new installation: from the link that the program prints to the first offer, with the pages alone.

use dispatch_desk::engine::executor::Settings;

use crate::{
    browser::Browser,
    harness::{Database, Desk, Site, desk::Home},
};

const SECRET: &str = "seven lanterns under the old bridge";

/// The link on a page that shows it once.
fn link(page: &crate::browser::Page) -> String {
    let shown = page.text_of("code.secret");
    let path = shown.split("/enter/").nth(1).unwrap_or_else(|| panic!("no link: {shown}"));
    format!("/enter/{path}")
}

async fn empty_site(database: Database) -> Site {
    let home = Home::new(database).await;
    Site::on(Desk::empty(database, home, Settings::default()).await).await
}

async fn from_the_first_link_to_the_first_offer(database: Database) {
    let site = empty_site(database).await;
    // Nobody comes in before there is anybody.
    let mut nobody = Browser::new(&site);
    let guess = nobody.get("/sign-in").await.only_form();
    let guess = guess.with("login", "admin").with("password", "admin");
    nobody.send(&guess).await.is(401);
    let secret = site.desk.executor.make_set_up_link().await.unwrap().expect("nobody is here");

    // The first admin.
    let mut ada = Browser::new(&site);
    let form = ada.get(&format!("/enter/{secret}")).await.is(200).only_form();
    let weak =
        form.clone().with("name", "Ada").with("login", "ada").with("password", "password1234");
    ada.send(&weak).await.is(422).says("too easy to guess");
    let good = form.clone().with("name", "Ada").with("login", "ada").with("password", SECRET);
    let page = ada.send(&good).await;
    assert_eq!(
        (page.is(200).path.as_str(), page.says("There is no region").status.as_u16()),
        ("/admin/regions", 200)
    );
    // The link is used up, and nobody is asked to set up a desk that has somebody.
    nobody.get(&format!("/enter/{secret}")).await.is(404);
    nobody.send(&good).await.is(404);
    assert_eq!(site.desk.executor.make_set_up_link().await.unwrap(), None);

    // A region, which is hers; sent twice, it is one.
    let form = page.form("/admin/regions").with("name", "Harbour");
    let form = form.with("centre", "31.23, 121.47").with("radius", "20");
    let page = ada.send(&form).await;
    assert!(page.is(200).path.starts_with("/admin/regions/G"), "{}", page.path);
    let again = ada.send(&form).await;
    assert_eq!(again.is(200).path.split('?').next(), page.path.split('?').next());
    // Its rules: a new version, dated now.
    let rules = page.form("/admin/regions/G1/policy").with("offer_seconds", "45");
    let page = ada.send(&rules).await;
    page.is(200).says("added a version of the rules");

    // A dispatcher, who chooses a password of her own.
    let form = ada.get("/admin/staff").await.is(200).form("/admin/staff");
    let form = form.with("name", "Dora").with("role", "dispatcher").with("region-1", "on");
    let page = ada.send(&form).await;
    let link_form = page.is(200).form("/admin/staff/D2/link");
    let made = ada.send(&link_form.with("present", SECRET)).await;
    let path = link(made.is(200));
    let mut dora = Browser::new(&site);
    let form = dora.get(&path).await.is(200).only_form();
    let form = form.with("login", "dora").with("password", "a heron counts seven slow boats");
    assert_eq!(dora.send(&form).await.is(200).path, "/sign-in");
    let form = dora.get("/sign-in").await.only_form();
    let form = form.with("login", "dora").with("password", "a heron counts seven slow boats");
    assert_eq!(dora.send(&form).await.is(200).path, "/board");

    // A rider, who comes in by a picture on the dispatcher's screen.
    let form = ada.get("/admin/riders").await.is(200).form("/admin/riders");
    let form = form.with("name", "Rui").with("phone", "138 0000 1234").with("capacity", "2");
    ada.send(&form).await.is(200).says("Saved");
    let made = dora.get("/admin/riders/R1").await.is(200).form("/admin/riders/R1/link");
    let made = dora.send(&made).await;
    assert!(made.is(200).html.contains("<svg"), "there is a picture");
    let mut rui = Browser::new(&site);
    let form = rui.get(&link(&made)).await.is(200).only_form();
    assert_eq!(rui.send(&form).await.is(200).path, "/rider");

    // The first task, and the first offer.
    let form = dora.get("/tasks/new").await.is(200).only_form();
    let form = form.with("pickup_address", "Quay 1").with("pickup_place", "31.23, 121.47");
    let form = form.with("dropoff_address", "Mole 2").with("dropoff_place", "31.24, 121.48");
    let page = dora.send(&form).await;
    assert!(page.is(200).path.starts_with("/tasks/T"), "{}", page.path);
    let task = page.path.split('?').next().unwrap();
    let offer = page.form(&format!("{task}/offer"));
    let page = dora.send(&offer.with("rider", "R1")).await;
    assert_eq!(page.is(200).answer(), "done");
    rui.get("/rider").await.is(200).says("Quay 1");
    // The offer waits as long as the new rules say, and records their version.
    let task = site.desk.read().await.tasks_after(crate::harness::first(), 1).await.unwrap()[0].0;
    let offers = site.desk.read().await.offers_of(task).await.unwrap();
    assert_eq!(offers[0].until.ms_since(offers[0].at), 45_000);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_the_first_link_to_the_first_offer_on_sqlite() {
    from_the_first_link_to_the_first_offer(Database::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_the_first_link_to_the_first_offer_on_postgres() {
    from_the_first_link_to_the_first_offer(Database::Postgres).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_link_lasts_a_quarter_of_an_hour_and_a_new_one_ends_it() {
    let site = empty_site(Database::Sqlite).await;
    let first = site.desk.executor.make_set_up_link().await.unwrap().unwrap();
    let second = site.desk.executor.make_set_up_link().await.unwrap().unwrap();
    let mut browser = Browser::new(&site);
    browser.get(&format!("/enter/{first}")).await.is(404);
    browser.get(&format!("/enter/{second}")).await.is(200);
    site.desk.advance_ms(15 * 60_000).await;
    browser.get(&format!("/enter/{second}")).await.is(404);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_admin_who_is_shut_out_comes_in_again_by_the_machine() {
    let site = Site::open().await;
    site.password(5, "ada").await;
    let mut ada = Browser::enter(&site, &crate::harness::ADMIN).await;
    site.disable(5, true).await;
    let five = dispatch_desk::domain::id::StaffId(5);
    let (who, secret) = site.desk.executor.recover(Some(five)).await.unwrap();
    assert_eq!(who, five);
    assert_eq!(ada.get("/board").await.path, "/sign-in?next=/board", "the old session is over");
    let form = ada.get(&format!("/enter/{secret}")).await.is(200).only_form();
    assert_eq!(form.value("login"), "ada", "the name is still hers");
    ada.send(&form.with("password", SECRET)).await.is(200);
    let form = ada.get("/sign-in").await.only_form().with("login", "ada");
    assert_eq!(ada.send(&form.with("password", SECRET)).await.is(200).path, "/board");
    ada.get("/admin/staff/D5").await.is(200).says("let an admin in again").says("the program");
    // Nobody else is made an admin by it.
    let one = dispatch_desk::domain::id::StaffId(1);
    assert!(site.desk.executor.recover(Some(one)).await.is_err());
    // And if there is none at all, there is one.
    let (new, _) = site.desk.executor.recover(None).await.unwrap();
    let record = site.desk.read().await.staff_record(new).await.unwrap().unwrap();
    assert_eq!(record.account.staff.role, dispatch_desk::domain::command::Role::Admin);
    site.close().await;
}
