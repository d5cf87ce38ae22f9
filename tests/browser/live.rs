//! Pages that follow what happens: nothing is reloaded, nothing that was typed is lost, and they say how old they are.

use std::time::{Duration, Instant};

use dispatch_desk::domain::{
    command::Act,
    id::TaskId,
    policy::Policy,
    round::{RoundRules, RoundStart},
};

use crate::{
    driver::{Driver, Window, with_browsers},
    harness::{D1, D2, DECLINE, GRAB, NOON, NORTH, Site, offer, order, rider},
};

async fn enter(site: &Site, window: &Window, actor: &dispatch_desk::domain::command::Actor) {
    let link = site.link(actor).await;
    window.go(&format!("{}/taste?lang=en&back={link}", site.origin)).await;
    window.find("form[action*='enter/'] button").await.click().await.unwrap();
    window.find(".bar form button").await;
}

/// Leaves a mark on the page that a reload would wipe away.
async fn mark(window: &Window) {
    window.run("window.kept = true").await;
}

async fn was_not_reloaded(window: &Window) {
    assert_eq!(
        window.run("return window.kept === true").await,
        true,
        "{} was loaded anew",
        window.name
    );
    window.is_clean().await;
}

async fn dispatchers(driver: &Driver) {
    let site = Site::open().await;
    let task = site.order(order()).await;
    let (board, desk) =
        (driver.window("board", (1440, 900)).await, driver.window("desk", (1440, 900)).await);
    enter(&site, &board, &D1).await;
    enter(&site, &desk, &D2).await;
    board.go(&format!("{}/board?show=open", site.origin)).await;
    desk.go(&format!("{}/tasks/{task}", site.origin)).await;
    for window in [&board, &desk] {
        window.sees("#live .state", "Live").await;
        mark(window).await;
    }
    // Somebody is in the middle of a word.
    desk.find("#do-edit summary").await.click().await.unwrap();
    let note = desk.find("#edit-note").await;
    note.click().await.unwrap();
    note.send_keys("ring tw").await.unwrap();
    desk.run(
        "window.scrollTo(0, 40); document.querySelector('#edit-note').setSelectionRange(5, 7)",
    )
    .await;
    let place = desk.run("return window.scrollY").await;

    let since = Instant::now();
    let new = site.order(order()).await;
    board.sees("td a.id", &new.to_string()).await;
    let took = since.elapsed();
    println!("a new task is on the board after {took:?}");
    assert!(took < Duration::from_secs(3), "{took:?}");
    let row = board.run(&format!("return document.getElementById('row-{new}').className")).await;
    assert!(row.as_str().is_some_and(|class| class.contains("changed")), "it is marked: {row}");

    site.desk.done(D1, task, 1, offer(1)).await;
    desk.sees("main .row .chip", "Offered").await;
    desk.sees("[aria-labelledby=who-title]", "rider 1").await;
    let still = desk
        .run(
            "const note = document.querySelector('#edit-note'); return [note.value, \
             document.activeElement === note, note.selectionStart, note.selectionEnd, \
             document.querySelector('#do-edit').open, window.scrollY]",
        )
        .await;
    assert_eq!(still, serde_json::json!(["放前台ring tw", true, 5, 7, true, place]));
    for window in [&board, &desk] {
        was_not_reloaded(window).await;
    }
    site.close().await;
}

/// More pages than browsers have connections to one server: with a stream for each, the seventh would hang.
const PAGES: usize = 9;

async fn one_stream(driver: &Driver) {
    let site = Site::open().await;
    let task = site.order(order()).await;
    let window = driver.window("pages", (1440, 900)).await;
    enter(&site, &window, &D1).await;
    let mut pages = vec![window.driver.window().await.unwrap()];
    for number in 0..PAGES {
        if number > 0 {
            pages.push(window.driver.new_tab().await.unwrap());
            window.driver.switch_to_window(pages[number].clone()).await.unwrap();
        }
        let path =
            if number % 2 == 0 { "board?show=open".to_owned() } else { format!("tasks/{task}") };
        window.go(&format!("{}/{path}", site.origin)).await;
        window.sees("#live .state", "Live").await;
        mark(&window).await;
        // Notes what is heard while nobody looks at it.
        window
            .run(
                "window.news = []; new MutationObserver(() => \
                    window.news.push(document.hidden)).observe(document.querySelector('main'), \
                    { subtree: true, childList: true, characterData: true, attributes: true })",
            )
            .await;
        assert_eq!(site.streams(), 1, "page {number} has brought no stream of its own");
    }
    // The page that was there first goes; the others go on.
    window.driver.switch_to_window(pages[0].clone()).await.unwrap();
    window.driver.close_window().await.unwrap();
    window.driver.switch_to_window(pages[PAGES - 1].clone()).await.unwrap();
    let new = site.order(order()).await;
    site.desk.done(D2, task, 1, offer(1)).await;
    for (number, page) in pages.iter().enumerate().skip(1) {
        window.driver.switch_to_window(page.clone()).await.unwrap();
        if number % 2 == 0 {
            window.sees("td a.id", &new.to_string()).await;
        } else {
            window.sees("main .row .chip", "Offered").await;
        }
        window.sees("#live .state", "Live").await;
        let kept = window.run("return window.kept && window.news.length > 0").await;
        assert_eq!(kept, true, "page {number} was not loaded anew");
    }
    assert_eq!(site.streams(), 1);
    site.close().await;
    window.sees("#live .state", "Disconnected").await;
}

/// Notes what would be heard, and lets time go by without waiting for it.
const LISTEN: &str = "window.tones = []; window.jump = 0; const now = performance.now.bind(performance); \
    performance.now = () => now() + window.jump; \
    window.AudioContext = class { state = 'suspended'; currentTime = 0; destination = {}; \
    async resume() { this.state = 'running'; } async suspend() { this.state = 'suspended'; } \
    createGain() { return { gain: { setValueAtTime() {}, exponentialRampToValueAtTime() {} }, connect: (to) => to }; } \
    createOscillator() { const tone = { frequency: {}, connect: (to) => to, stop() {}, \
    start: () => window.tones.push(tone.frequency.value) }; return tone; } }";

async fn sounds(driver: &Driver) {
    let site = Site::open().await;
    let rounds = RoundRules { start: RoundStart::AtOnce, rounds: 1, ..RoundRules::default() };
    let window = driver.window("sounds", (1440, 900)).await;
    enter(&site, &window, &D1).await;
    let source = serde_json::json!({ "source": LISTEN });
    window.cdp("Page.addScriptToEvaluateOnNewDocument", source).await;
    window.go(&format!("{}/board", site.origin)).await;
    window.sees("#live .state", "Live").await;
    let heard = async |first: u32| {
        let script = format!("return window.tones.includes({first})");
        let since = Instant::now();
        while window.run(&script).await != true {
            assert!(
                since.elapsed() < Duration::from_secs(20),
                "{first}: {}",
                window.run("return window.tones").await
            );
        }
        // The next one may come: they keep five seconds apart.
        window.run("window.tones = []; window.jump += 6000").await;
    };
    let task = site.order(order()).await;
    window.sees("td a.id", &task.to_string()).await;
    assert_eq!(window.run("return window.tones.length").await, 0, "nobody has asked for sounds");
    window.find("#live button").await.click().await.unwrap();
    heard(880).await;
    site.desk.done(D1, task, 1, offer(1)).await;
    site.desk.done(rider(1), task, 2, DECLINE).await;
    heard(523).await;
    // Nobody is near the next one, so it comes to the manual pool.
    let mut tx = site.desk.db.begin().await.unwrap();
    let policy = Policy { version: 2, rounds, ..Policy::default() };
    tx.add_policy(NORTH, NOON, &policy).await.unwrap();
    tx.commit().await.unwrap();
    site.order(order()).await;
    let since = Instant::now();
    while site.desk.read().await.rounds_of(TaskId(task.0 + 1)).await.unwrap().is_empty() {
        assert!(since.elapsed() < Duration::from_secs(20), "somebody is looked for");
    }
    site.desk.advance_ms(120_000).await;
    heard(659).await;
    site.close().await;
    window.sees("#live .state", "Disconnected").await;
    window.run("window.jump += 31000").await;
    heard(330).await;
}

/// Where browsers have no shared workers, and where the file of theirs can not be had, each page follows by itself.
async fn by_itself(driver: &Driver) {
    let site = Site::open().await;
    let window = driver.window("alone", (1440, 900)).await;
    enter(&site, &window, &D1).await;
    for without in [
        "delete self.SharedWorker",
        "self.SharedWorker = class { constructor() { this.port = { postMessage() {} }; \
          setTimeout(() => this.onerror(new Event('error'))); } }",
    ] {
        let source = serde_json::json!({ "source": without });
        window.cdp("Page.addScriptToEvaluateOnNewDocument", source).await;
        window.go(&format!("{}/board?show=open", site.origin)).await;
        window.sees("#live .state", "Live").await;
        let new = site.order(order()).await;
        window.sees("td a.id", &new.to_string()).await;
        assert_eq!(site.streams(), 1);
    }
    site.close().await;
    window.sees("#live .state", "Disconnected").await;
}

async fn rider_and_customer(driver: &Driver) {
    let site = Site::open().await;
    let task = site.order(order()).await;
    let (phone, customer) =
        (driver.window("phone", (360, 640)).await, driver.window("customer", (390, 844)).await);
    enter(&site, &phone, &rider(1)).await;
    let tracking = site.tracking(task).await;
    customer.go(&format!("{}/taste?lang=en&back={tracking}", site.origin)).await;
    for window in [&phone, &customer] {
        window.sees("#live .state", "Live").await;
        mark(window).await;
    }
    // The loser's card goes, with the reason.
    phone.find(&format!("#c{task}")).await;
    site.desk.done(rider(2), task, 1, GRAB).await;
    phone.sees("[aria-labelledby=pool] .gone", "taken by another rider").await;
    let left = phone.run(&format!("return document.getElementById('c{task}') === null")).await;
    assert_eq!(left, true);
    assert!(!phone.text().await.contains("R2"), "who was faster is not said");
    customer.sees("#line", "A rider has taken it").await;
    site.desk.done(rider(2), task, 2, Act::Arrive).await;
    customer.sees("#line", "at the pickup").await;
    // An offer is there at once.
    let other = site.order(order()).await;
    site.desk.done(D1, other, 1, offer(1)).await;
    phone.find(&format!("article.offer#c{other}")).await;
    for window in [&phone, &customer] {
        was_not_reloaded(window).await;
    }
    // The server goes: it is said, and nothing is claimed any more.
    site.close().await;
    phone.sees("#live .state", "Disconnected").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_dispatcher_does_another_sees_without_losing_a_word() {
    with_browsers("live-desk", async |driver| dispatchers(driver).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn riders_and_customers_see_it_at_once_with_the_reason() {
    with_browsers("live-phones", async |driver| rider_and_customer(driver).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_pages_of_a_browser_follow_one_stream() {
    with_browsers("live-pages", async |driver| one_stream(driver).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_can_not_share_follows_by_itself() {
    with_browsers("live-alone", async |driver| by_itself(driver).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_board_can_be_heard() {
    with_browsers("live-sounds", async |driver| sounds(driver).await).await;
}
