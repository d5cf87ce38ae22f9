//! C25 in a real browser: pressed twice, gone back and pressed again, reloaded – one event.

use thirtyfour::prelude::*;

use crate::{
    driver::{Window, with_browsers},
    harness::{D1, Site, offer, order, rider},
};

async fn enter(window: &Window, site: &Site, actor: &dispatch_desk::domain::command::Actor) {
    let link = site.link(actor).await;
    window.go(&format!("{}/taste?lang=en&back={link}", site.origin)).await;
    window.find("main form button").await.click().await.unwrap();
    window.find(".bar form button").await;
}

async fn press_twice(window: &Window, action: &str) {
    let button = window.find(&format!("form[action$='{action}'] button")).await;
    button.scroll_into_view().await.unwrap();
    let twice = window.driver.action_chain().double_click_element(&button);
    twice.perform().await.unwrap();
}

/// Goes back, sends the same form again if it is still there, and reloads the answer.
async fn back_and_again(window: &Window, action: &str) {
    window.driver.back().await.unwrap();
    window.find("#content").await;
    let button = window.driver.find(By::Css(format!("form[action$='{action}'] button"))).await;
    if let Ok(button) = button {
        button.scroll_into_view().await.unwrap();
        button.click().await.unwrap();
        window.find("#answer").await;
    }
    window.driver.refresh().await.unwrap();
    window.find("#content").await;
    window.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_form_that_is_sent_twice_has_one_effect() {
    with_browsers("twice", async |driver| {
        let site = Site::open().await;
        let window = driver.window("desk", (1440, 900)).await;
        enter(&window, &site, &D1).await;
        let task = site.desk.create().await;
        let path = format!("{}/tasks/{task}", site.origin);
        window.go(&path).await;
        window.choose("#offer-rider", "R1").await;
        press_twice(&window, "/offer").await;
        window.find("#answer.done").await;
        back_and_again(&window, "/offer").await;
        assert_eq!(site.desk.events(task).await.len(), 2);
        window.go(&path).await;
        press_twice(&window, "/withdraw").await;
        window.find("#answer.done").await;
        back_and_again(&window, "/withdraw").await;
        assert_eq!(site.desk.events(task).await.len(), 3);

        let phone = driver.window("phone", (360, 640)).await;
        enter(&phone, &site, &rider(1)).await;
        site.desk.done(D1, task, 3, offer(1)).await;
        phone.go(&format!("{}/rider", site.origin)).await;
        press_twice(&phone, "/accept").await;
        phone.find("#answer.done").await;
        back_and_again(&phone, "/accept").await;
        assert_eq!(site.desk.events(task).await.len(), 5);
        press_twice(&phone, "/arrive").await;
        phone.find("#answer.done").await;
        assert_eq!(site.desk.events(task).await.len(), 6);

        let ordered = site.order(order()).await;
        let customer = driver.window("customer", (360, 640)).await;
        customer.go(&format!("{}{}", site.origin, site.tracking(ordered).await)).await;
        customer.find("details summary").await.click().await.unwrap();
        press_twice(&customer, "/cancel").await;
        customer.find("#answer.done").await;
        back_and_again(&customer, "/cancel").await;
        assert_eq!(site.desk.events(ordered).await.len(), 2);
        site.close().await;
    })
    .await;
}
