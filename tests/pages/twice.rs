//! C25: whatever people do with their browsers (press twice, go back, keep two tabs, reload), a form has one effect and
//! one answer.

use dispatch_desk::domain::id::TaskId;

use crate::{
    browser::{Browser, Form, Page},
    harness::{D1, Site, offer, order, rider},
};

/// Sends it twice at once, then goes back and sends it again, then reloads the answer.
async fn in_every_way(browser: &Browser, form: &Form) -> Vec<Page> {
    let (mut one, mut two) = (browser.clone(), browser.clone());
    let (first, second) = tokio::join!(one.send(form), two.send(form));
    let mut later = browser.clone();
    let back = later.send(form).await;
    let reloaded = later.get(&back.path).await;
    vec![first, second, back, reloaded]
}

fn answers(pages: &[Page]) -> Vec<String> {
    pages.iter().map(|page| format!("{} {}", page.path, page.text_of("#answer"))).collect()
}

#[track_caller]
fn all_the_same(pages: &[Page], kind: &str) {
    let answers = answers(pages);
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:#?}");
    assert_eq!(pages[0].answer(), kind, "{answers:#?}");
}

async fn events(site: &Site, task: TaskId) -> usize {
    site.desk.events(task).await.len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dispatchers_form_has_one_effect_and_one_answer() {
    let site = Site::open().await;
    let task = site.desk.create().await;
    let mut dora = Browser::enter(&site, &D1).await;
    let path = format!("/tasks/{task}");
    let page = dora.get(&path).await;
    let form = page.form(&format!("{path}/offer")).with("rider", "R1");
    all_the_same(&in_every_way(&dora, &form).await, "done");
    assert_eq!(events(&site, task).await, 2);

    // The same form with something else in it is another request: the key belongs to the first.
    let other = dora.send(&form.clone().with("rider", "R2")).await;
    other.is(422).says("This request key belongs to another request");
    // A second tab has a key of its own: the same again is told that it was done already.
    let mut tab = dora.clone();
    let tab_page = tab.get(&path).await.form(&format!("{path}/withdraw"));
    let withdraw = dora.get(&path).await.form(&format!("{path}/withdraw"));
    assert_ne!(tab_page.value("key"), withdraw.value("key"));
    all_the_same(&in_every_way(&dora, &withdraw).await, "done");
    let late = in_every_way(&tab, &tab_page).await;
    all_the_same(&late, "refused");
    late[0].says("staff 1 (D1): Withdraw (revision 2 → 3)");
    // A refusal is an answer like any other; it stays what it was when the task goes on.
    let stale = page.form(&format!("{path}/cancel"));
    all_the_same(&in_every_way(&dora, &stale).await, "refused");
    site.desk.done(D1, task, 3, offer(3)).await;
    all_the_same(&in_every_way(&dora, &stale).await, "refused");
    let edit = dora.get(&path).await.form(&format!("{path}/detail")).with("note", "twice?");
    all_the_same(&in_every_way(&dora, &edit).await, "done");
    assert_eq!(events(&site, task).await, 5);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_task_is_made_once() {
    let site = Site::open().await;
    let mut dora = Browser::enter(&site, &D1).await;
    let form = dora.get("/tasks/new").await.form("/tasks/new");
    let form = form
        .with("pickup_address", "here")
        .with("pickup_place", "31.2304, 121.4737")
        .with("dropoff_address", "there")
        .with("dropoff_place", "31.2397, 121.4998");
    all_the_same(&in_every_way(&dora, &form).await, "done");
    let mut open = site.desk.read().await;
    let regions = [crate::harness::NORTH];
    let listing = dispatch_desk::store::Listing {
        regions: &regions,
        state: dispatch_desk::domain::task::StateName::Open,
        stage: None,
        beyond: TaskId(0),
        latest_first: false,
        limit: 10,
    };
    assert_eq!(open.listed(&listing).await.unwrap().len(), 1);
    drop(open);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_riders_button_has_one_effect_and_one_answer() {
    let site = Site::open().await;
    let [offered, grabbed] = site.desk.create_many(2).await[..] else { panic!("two") };
    site.desk.done(D1, offered, 1, offer(1)).await;
    let mut ron = Browser::enter(&site, &rider(1)).await;
    let page = ron.get("/rider").await;
    let accept = page.form(&format!("/rider/tasks/{offered}/accept"));
    let grab = page.form(&format!("/rider/tasks/{grabbed}/grab"));
    all_the_same(&in_every_way(&ron, &accept).await, "done");
    all_the_same(&in_every_way(&ron, &grab).await, "done");
    let decline = page.form(&format!("/rider/tasks/{offered}/decline"));
    all_the_same(&in_every_way(&ron, &decline).await, "refused");
    assert_eq!((events(&site, offered).await, events(&site, grabbed).await), (3, 2));
    // An answer belongs to the one who asked: another rider with its address reads nothing of it.
    let other = Browser::enter(&site, &rider(2)).await;
    let path = format!("/rider?answer={}&verb=accept", accept.value("key"));
    let seen = other.clone().get(&path).await;
    assert_eq!(seen.answer(), "");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_customers_cancellation_has_one_effect_and_one_answer() {
    let site = Site::open().await;
    let task = site.order(order()).await;
    let path = site.tracking(task).await;
    let mut carl = Browser::new(&site);
    let cancel = carl.get(&path).await.form(&format!("{path}/cancel"));
    let mut tab = carl.clone();
    let second = tab.get(&path).await.form(&format!("{path}/cancel"));
    all_the_same(&in_every_way(&carl, &cancel).await, "done");
    all_the_same(&in_every_way(&tab, &second).await, "already");
    assert_eq!(events(&site, task).await, 2);
    site.close().await;
}
