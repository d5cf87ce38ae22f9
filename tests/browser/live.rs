//! Pages that follow what happens: nothing is reloaded, nothing that was typed is lost, and they say how old they are.

use std::time::{Duration, Instant};

use dispatch_desk::domain::command::Act;

use crate::{
    driver::{Driver, Window, with_browsers},
    harness::{D1, D2, GRAB, Site, offer, order, rider},
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
