//! What customers see and do: one line of truth, and a cancellation while it is possible.

use dispatch_desk::domain::{command::Act, task::StateName};

use crate::{
    browser::Browser,
    harness::{CANCEL, D1, DECLINE, Site, offer, order, reassign, rider},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_customer_follows_an_order_and_never_reads_who_was_asked() {
    let site = Site::open().await;
    let desk = &site.desk;
    let task = site.order(order()).await;
    let path = site.tracking(task).await;
    let mut carl = Browser::new(&site);
    let mut steps = Vec::new();
    for (actor, revision, act, says) in [
        (D1, 1, offer(11), "A rider was asked and has not accepted yet"),
        (rider(11), 2, DECLINE, "we are looking for a rider"),
        (D1, 3, offer(12), "A rider was asked and has not accepted yet"),
    ] {
        desk.done(actor, task, revision, act).await;
        let page = carl.get(&path).await;
        page.is(200).says(says).says("世纪大道").hides("rider 1").hides("R11").hides("R12");
        assert_eq!(page.headers["x-robots-tag"], "noindex, nofollow");
        assert_eq!(page.headers["referrer-policy"], "no-referrer");
        steps.push(page.text_of(".timeline"));
    }
    desk.done(rider(12), task, 4, Act::Accept).await;
    carl.get(&path).await.says("A rider has taken it").says("rider 12").hides("rider 11");
    // Who is asked next is nobody's business, and who had it has it no more.
    desk.done(D1, task, 5, reassign(13)).await;
    carl.get(&path).await.hides("rider 1").hides("R13").hides("R12");
    desk.done(rider(13), task, 6, Act::Accept).await;
    for (revision, act, says) in [
        (7, Act::Arrive, "The rider is at the pickup"),
        (8, Act::PickUp, "The rider is on the way to you"),
        (9, Act::Deliver, "Delivered"),
    ] {
        desk.done(rider(13), task, revision, act).await;
        carl.get(&path).await.says(says).says("rider 13").hides("rider 11").hides("rider 12");
    }
    carl.get(&path).await.says("It can not be cancelled any more.");
    carl.get("/t/0123456789abcdef0123456789abcdef").await.is(404);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_customer_cancels_in_time_or_reads_why_not() {
    let site = Site::open().await;
    let desk = &site.desk;
    let task = site.order(order()).await;
    let path = site.tracking(task).await;
    let mut carl = Browser::new(&site);
    // Somebody was asked meanwhile: what the page said is not what is.
    let before = carl.get(&path).await.form(&format!("{path}/cancel"));
    desk.done(D1, task, 1, offer(11)).await;
    let refused = carl.send(&before.with("reason", "wrong_address")).await;
    assert_eq!(refused.answer(), "refused", "{}", refused.text());
    refused.says("STALE_REVISION").says("the dispatch desk: Offer (revision 1 → 2)");
    refused.hides("D1").hides("staff 1").hides("R11");
    let again = refused.form(&format!("{path}/cancel"));
    assert_eq!(again.value("reason"), "wrong_address", "it need not be chosen again");
    let done = carl.send(&again).await;
    assert_eq!(done.answer(), "done");
    done.says("The order was cancelled");
    assert_eq!(desk.task(task).await.state.name(), StateName::Cancelled);

    let task = site.order(order()).await;
    let path = site.tracking(task).await;
    let late = carl.get(&path).await.form(&format!("{path}/cancel"));
    desk.done(D1, task, 1, offer(11)).await;
    for (revision, act) in [(2, Act::Accept), (3, Act::Arrive), (4, Act::PickUp)] {
        desk.done(rider(11), task, revision, act).await;
    }
    let refused = carl.send(&late).await;
    refused.says("PICKED_UP").says("rider 11").hides("R11");
    desk.ask(D1, task, 5, CANCEL).await;
    carl.send(&late.clone().forged("revision", "")).await.is(422);
    carl.send(&late.forged("reason", "a b(")).await.is(422);
    site.close().await;
}
