//! Every door of the program, tried by everybody who may not come through it: another region's staff and riders, roles
//! that only read, sessions and tokens that were ended, and nobody. They get nothing, and nothing changes.

use std::collections::BTreeSet;

use dispatch_desk::{
    admin,
    domain::{
        command::{Actor, NewTask, Role, Stop},
        id::{RegionId, RiderId, StaffId, TaskId},
        signal::{Evidence, Signal, SignalKind},
    },
    web::{DOORS, Door, May},
};
use reqwest::Method;

use crate::{
    browser::{Browser, is_stream},
    harness::{
        AUDITOR, D1, Database, Desk, FOREIGN_DISPATCHER, FOREIGN_RIDER, NOON, SOUTH, Site, a_round,
        offer, order, rider,
    },
};

/// Stands on the task that nobody else may see.
const CANARY: &str = "CANARY-quay-7";

const ADMIN_OF_SOUTH: &str = "another region's admin";
const SUPERVISOR_OF_SOUTH: &str = "another region's supervisor";
const AUDITOR_OF_SOUTH: &str = "another region's auditor";

/// What the doors' names lead to.
struct Scene {
    site: Site,
    task: TaskId,
    offer: String,
    tracking: String,
    token: String,
}

impl Scene {
    async fn of(database: Database) -> Self {
        let site = Site::on(Desk::open(database).await).await;
        let pickup = Stop { address: CANARY.to_owned(), ..order().pickup };
        let task = site.order(NewTask { pickup, ..order() }).await;
        site.desk.done(D1, task, 1, offer(1)).await;
        let offers = site.desk.read().await.offers_of(task).await.unwrap();
        let tracking = site.tracking(task).await.trim_start_matches("/t/").to_owned();
        let asked = site.desk.create().await;
        let mut tx = site.desk.db.begin().await.unwrap();
        // A round and a signal of the north, by the numbers that the doors name.
        let until = NOON.plus_ms(60_000);
        a_round(&mut tx, 7, asked, (NOON, until), &[(1, "a")]).await;
        let grabs = Evidence::Grabs { count: 20, within_ms: 900 };
        let kind = SignalKind::GrabRate;
        let signal = Signal { rider: RiderId(1), kind, at: NOON, evidence: grabs };
        tx.raise_signals(&[signal]).await.unwrap();
        tx.commit().await.unwrap();
        let token = admin::token(&site.desk.db, &D1, "north").await.unwrap();
        let token = token.split('_').nth(1).unwrap().to_owned();
        Self { site, task, offer: offers[0].token.clone(), tracking, token }
    }

    /// Where a door leads, with the north's own things in the place of what varies. What is a key by itself is guessed.
    fn path(&self, door: &Door) -> String {
        let guessed = "0".repeat(32);
        let id = match door.path {
            path if path.contains("/admin/staff/") => "D1".to_owned(),
            path if path.contains("/admin/riders/") => "R1".to_owned(),
            path if path.contains("/admin/regions/") => "G1".to_owned(),
            path if path.contains("/admin/tokens/") => self.token.clone(),
            path if path.contains("/api/") => self.task.0.to_string(),
            _ => self.task.to_string(),
        };
        let token = if door.path.contains("/offers/") { &self.offer } else { &guessed };
        let verb = if door.path.starts_with("/rider/") { "accept" } else { "cancel" };
        let path = door.path.replace("{id}", &id).replace("{token}", token);
        let path = path.replace("{verb}", verb).replace("{wish}", "stop");
        path.replace("{round}", "7").replace("{signal}", "1")
    }

    /// Everything that could have been changed, as it stands.
    async fn rows(&self) -> String {
        let mut tx = self.site.desk.read().await;
        let tasks = tx.tasks_after(TaskId(0), 100).await.unwrap();
        let mut rows = vec![format!("{tasks:#?}")];
        for task in &tasks {
            rows.push(format!("{:#?}", tx.card(task.0).await.unwrap()));
            rows.push(format!("{:#?}", tx.offers_of(task.0).await.unwrap()));
        }
        for task in &tasks {
            rows.push(format!("{:#?}", tx.rounds_of(task.0).await.unwrap()));
            rows.push(format!("{:#?}", tx.ledger_of(task.0).await.unwrap()));
            rows.push(format!("{:?}", tx.search_of(task.0).await.unwrap()));
        }
        for number in [1, 2, 3, FOREIGN_RIDER] {
            rows.push(format!("{:#?}", tx.signals_of(RiderId(number), 9).await.unwrap()));
            rows.push(format!("{:#?}", tx.rider_record(RiderId(number)).await.unwrap()));
        }
        for region in [RegionId(1), RegionId(2)] {
            rows.push(format!("{:#?}", tx.region_record(region).await.unwrap()));
            rows.push(format!("{:#?}", tx.policies_of(region, 10).await.unwrap()));
        }
        for mut record in tx.staff_after(StaffId(0), 100).await.unwrap() {
            record.seen_at = None;
            rows.push(format!("{record:#?}"));
        }
        for mut token in tx.tokens(100).await.unwrap() {
            token.used_at = None;
            rows.push(format!("{token:#?}"));
        }
        rows.push(format!("{:?}", tx.desk_rule().await.unwrap()));
        rows.join("\n")
    }
}

/// A body that would do, if one may: the tests of each form say what is right.
fn body(door: &Door) -> String {
    let end = door.path.rsplit('/').next().unwrap_or_default();
    match end {
        "offer" | "assign" => r#"{"revision":2,"rider_id":1}"#.to_owned(),
        "reassign" => r#"{"revision":2,"rider_id":1,"handover_confirmed":true}"#.to_owned(),
        "detail" => r#"{"detail_revision":1,"note":"x"}"#.to_owned(),
        "accept" if door.path.contains("/offers/") => "{}".to_owned(),
        _ => r#"{"revision":2}"#.to_owned(),
    }
}

const FIELDS: &[(&str, &str)] = &[
    ("revision", "1"),
    ("version", "1"),
    ("key", "page-by-a-stranger"),
    ("name", "Mallory"),
    ("role", "admin"),
    ("region-1", "on"),
    ("region-2", "on"),
    ("capacity", "9"),
    ("region", "1"),
    ("mode", "immediate"),
    ("offer_seconds", "7"),
    ("offer_seconds_min", "5"),
    ("offer_seconds_max", "9"),
    ("grace_ms", "0"),
    ("hand_backs_per_day", "9"),
    ("time_zone", "UTC"),
    ("centre", "1, 1"),
    ("radius", "5"),
    ("of", "D1"),
    ("actions", "all"),
    ("label", "mine"),
    ("reason", "customer_asked"),
    ("which", "pickup"),
    ("factor_required", "on"),
    ("detail_revision", "1"),
    ("note", "x"),
];

/// What somebody at a browser gets at a door: the status, where they are led, and what they see.
async fn knock(browser: &mut Browser, door: &Door, path: &str) -> (u16, String, String) {
    let request = if door.changes() {
        let area = if path.starts_with("/rider") { "rider" } else { "desk" };
        let mut fields: Vec<(String, String)> =
            FIELDS.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        if browser.cookies.contains_key(area) {
            fields.push(("form".to_owned(), browser.word(area)));
        }
        browser.post(path).form(&fields)
    } else {
        browser.request(Method::GET, path)
    };
    let page = browser.once(request).await;
    let to = page.leads_to().unwrap_or_default();
    (page.status.as_u16(), to, page.html)
}

/// Nothing: not signed in, not allowed, not there, or led to where one signs in.
fn is_nothing(status: u16, to: &str) -> bool {
    let door = to.starts_with("/sign-in") || to.starts_with("/rider/closed");
    matches!(status, 401 | 403 | 404) || (status == 303 && door)
}

async fn strangers_at_pages(database: Database) {
    let scene = Scene::of(database).await;
    let site = &scene.site;
    let (head, _) = site.desk.read().await.head().await.unwrap();
    let mut ended = Browser::enter(site, &D1).await;
    let mut ended_rider = Browser::enter(site, &rider(1)).await;
    ended.cookies.extend(ended_rider.cookies.clone());
    let mut tx = site.desk.db.begin().await.unwrap();
    tx.end_sessions_of(&D1).await.unwrap();
    tx.end_sessions_of(&rider(1)).await.unwrap();
    tx.commit().await.unwrap();
    ended_rider.cookies.clear();
    let mut tx = site.desk.db.begin().await.unwrap();
    tx.add_staff(StaffId(80), "Ada of the south", Role::Admin, &[SOUTH]).await.unwrap();
    tx.add_staff(StaffId(81), "Sue of the south", Role::Supervisor, &[SOUTH]).await.unwrap();
    tx.add_staff(StaffId(82), "Aud of the south", Role::Auditor, &[SOUTH]).await.unwrap();
    tx.commit().await.unwrap();
    let before = scene.rows().await;
    let of_south = |id| Actor::Staff(StaffId(id));
    let mut strangers = vec![
        // Their role may all of it, and the north is not there for them.
        (ADMIN_OF_SOUTH, Browser::enter(site, &of_south(80)).await),
        (SUPERVISOR_OF_SOUTH, Browser::enter(site, &of_south(81)).await),
        (AUDITOR_OF_SOUTH, Browser::enter(site, &of_south(82)).await),
        ("nobody", Browser::new(site)),
        ("an ended session", ended),
        ("another region's dispatcher", Browser::enter(site, &FOREIGN_DISPATCHER).await),
        ("another region's rider", Browser::enter(site, &rider(FOREIGN_RIDER)).await),
        ("an auditor", Browser::enter(site, &AUDITOR).await),
    ];
    let (mut tried, mut looked) = (0, 0);
    for door in DOORS {
        let page = !door.path.starts_with("/api/") && !door.path.contains("health");
        let open = door.may == May::Anyone || door.path.contains("readyz");
        if !page || open || matches!(door.may, May::Script(_) | May::Command(_)) {
            continue;
        }
        let path = scene.path(door);
        for (who, browser) in &mut strangers {
            let mut browser = browser.clone();
            let named = door.path.contains('{');
            let of_south = [ADMIN_OF_SOUTH, SUPERVISOR_OF_SOUTH, AUDITOR_OF_SOUTH].contains(who);
            if of_south && (!named || door.path.contains("{token}")) {
                // What names nothing of the north is theirs.
                continue;
            }
            let (status, to, html) = knock(&mut browser, door, &path).await;
            let own = match *who {
                // What is their own, or their own region's, they may; foreign things are not there.
                "another region's dispatcher" => {
                    !named
                        && door.roles().is_some_and(|roles| {
                            roles.contains(&dispatch_desk::domain::command::Role::Dispatcher)
                        })
                }
                "another region's rider" => !named && door.may == May::Rider,
                "an auditor" => door.roles().is_some_and(|roles| {
                    roles.contains(&dispatch_desk::domain::command::Role::Auditor)
                }),
                _ => false,
            };
            if own {
                assert!(!html.contains(&scene.tracking), "{who} at {}", door.path);
                if door.method == "GET" && *who != "an auditor" {
                    assert!(!html.contains(CANARY), "{who} at {}", door.path);
                    assert!(!html.contains(&scene.task.to_string()), "{who} at {}", door.path);
                    looked += 1;
                }
                continue;
            }
            assert!(is_nothing(status, &to), "{who} at {} {}: {status} {to}", door.method, path);
            // An auditor reads, but does not get the link by which a customer cancels.
            assert!(*who == "an auditor" || !html.contains(CANARY), "{who} at {path}");
            assert!(!html.contains(&scene.tracking), "{who} at {path}");
            tried += 1;
        }
    }
    println!("{tried} tries that got nothing, {looked} pages of others without a trace");
    assert!(tried > 180 && looked > 5, "{tried} {looked}");
    assert_eq!(scene.rows().await, before, "nothing has changed");
    let events = site.desk.read().await.events_after(head, 1_000).await.unwrap();
    let done: BTreeSet<_> = events.iter().map(|event| event.action.as_str()).collect();
    // An auditor may export, and that is kept as well.
    let kept = BTreeSet::from(["denied", "exported"]);
    assert_eq!(done, kept, "that they tried is kept, and nothing else");
    scene.site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_get_nothing_at_any_page_on_sqlite() {
    strangers_at_pages(Database::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_get_nothing_at_any_page_on_postgres() {
    strangers_at_pages(Database::Postgres).await;
}

async fn strangers_with_scripts(database: Database) {
    let scene = Scene::of(database).await;
    let db = &scene.site.desk.db;
    let mut strangers = Vec::new();
    for (who, actor) in [
        ("another region's dispatcher", FOREIGN_DISPATCHER),
        ("another region's rider", rider(FOREIGN_RIDER)),
        ("another shop", Actor::Intake("other_shop".to_owned())),
        ("an auditor", AUDITOR),
        ("an ended token", D1),
    ] {
        let token = admin::token(db, &actor, who).await.unwrap();
        if who == "an ended token" {
            admin::revoke(db, &token).await.unwrap();
        }
        strangers.push((who, token));
    }
    strangers.push(("nobody", String::new()));
    let before = scene.rows().await;
    let (head, _) = scene.site.desk.read().await.head().await.unwrap();
    let http = reqwest::Client::new();
    let (mut tried, mut number) = (0, 0);
    for door in DOORS.iter().filter(|door| door.path.starts_with("/api/v1/")) {
        if matches!(door.may, May::Anyone) {
            continue;
        }
        let path = scene.path(door);
        for (who, token) in &strangers {
            number += 1;
            let method = Method::from_bytes(door.method.as_bytes()).unwrap();
            let address = format!("http://{}{path}", scene.site.address);
            let mut request = http.request(method, address);
            if !token.is_empty() {
                request = request.bearer_auth(token);
            }
            if door.changes() {
                request = request.header("idempotency-key", format!("stranger-{number}"));
                request = request.header("content-type", "application/json").body(body(door));
            }
            let mut answer = request.send().await.unwrap();
            let status = answer.status().as_u16();
            let text = if is_stream(answer.headers()) {
                let first = answer.chunk().await.unwrap().unwrap_or_default();
                String::from_utf8(first.to_vec()).unwrap()
            } else {
                answer.text().await.unwrap()
            };
            let reads = *who == "an auditor" && !door.changes();
            assert!(reads || !text.contains(CANARY), "{who} at {path}: {text}");
            assert!(!text.contains(&scene.tracking), "{who} at {path}");
            if door.path.contains('{') && !reads {
                assert!(is_nothing(status, ""), "{who} at {} {path}: {status} {text}", door.method);
                tried += 1;
            } else if !reads {
                // Lists and the log of their own region: nothing of the north is in them.
                let id = format!("\"id\":{}", scene.task.0);
                assert!(!text.contains(&id), "{who} at {path}: {text}");
                let task = format!("\"task_id\":{}", scene.task.0);
                assert!(!text.contains(&task), "{who} at {path}: {text}");
            }
        }
    }
    println!("{tried} tries that got nothing");
    assert!(tried > 80, "{tried}");
    assert_eq!(scene.rows().await, before, "nothing has changed");
    let events = scene.site.desk.read().await.events_after(head, 1_000).await.unwrap();
    assert!(events.is_empty(), "{events:?}");
    scene.site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_get_nothing_by_any_script_on_sqlite() {
    strangers_with_scripts(Database::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_get_nothing_by_any_script_on_postgres() {
    strangers_with_scripts(Database::Postgres).await;
}

/// The routes that stand in the source of the router, with their methods.
fn routes() -> BTreeSet<(String, String)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/web");
    let mut files = vec![folder];
    let mut found = BTreeSet::new();
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        // The meters have an address of their own, which is no part of the desk's.
        if path.ends_with("web/metrics/mod.rs") {
            continue;
        }
        let source = std::fs::read_to_string(&path).unwrap();
        let source = source.split("#[cfg(test)]").next().unwrap();
        for (at, _) in source.match_indices(".route(\"") {
            let rest = &source[at + 8..];
            let (path, rest) = rest.split_once('"').unwrap();
            // Up to the parenthesis that closes the call.
            let mut open = 1;
            let end = rest.find(|c: char| {
                open += i32::from(c == '(') - i32::from(c == ')');
                open == 0
            });
            let handlers = &rest[..end.unwrap()];
            for method in ["get", "post", "put", "patch", "delete"] {
                if handlers.contains(&format!("{method}(")) {
                    found.insert((method.to_uppercase(), path.to_owned()));
                }
            }
        }
    }
    let (_, description) = dispatch_desk::web::api::router().split_for_parts();
    for (path, item) in &description.paths.paths {
        let methods = [
            ("GET", item.get.is_some()),
            ("POST", item.post.is_some()),
            ("PATCH", item.patch.is_some()),
        ];
        for (method, _) in methods.into_iter().filter(|(_, there)| *there) {
            found.insert((method.to_owned(), path.clone()));
        }
    }
    found
}

#[test]
fn every_route_has_a_door_and_every_door_a_route() {
    let doors: BTreeSet<_> =
        DOORS.iter().map(|door| (door.method.to_owned(), door.path.to_owned())).collect();
    let mut routes = routes();
    // Its name changes with what is in it.
    routes.insert(("GET".to_owned(), "/style-{version}".to_owned()));
    routes.insert(("GET".to_owned(), "/scripts-{version}/{file}".to_owned()));
    let missing: Vec<_> = routes.difference(&doors).collect();
    assert!(missing.is_empty(), "routes without a door answer nobody: {missing:?}");
    let idle: Vec<_> = doors.difference(&routes).collect();
    assert!(idle.is_empty(), "doors without a route: {idle:?}");
}
