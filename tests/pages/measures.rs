//! The page of measures, and the meters for monitors.

use dispatch_desk::domain::{command::Actor, refusal::Code};

use crate::{
    browser::Browser,
    harness::{AUDITOR, D1, FOREIGN_DISPATCHER, GRAB, SUPERVISOR, Site, rider},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn staff_read_how_dispatching_goes_in_their_own_regions() {
    let site = Site::open().await;
    let mut dora = Browser::enter(&site, &D1).await;
    // Before anything has happened there is nothing to divide by.
    dora.get("/measures").await.is(200).says("—").says("Nothing happened in this time.");
    let task = site.desk.create().await;
    site.desk.advance_ms(7_000).await;
    site.desk.done(rider(1), task, 1, GRAB).await;
    site.desk.refused(rider(2), task, 1, GRAB, Code::TakenByOther).await;
    site.desk.advance_ms(1_000).await;
    let page = dora.get("/measures?region=G1&hours=1").await;
    page.is(200).says("Grabs that succeed 50.0 % 1 / 2").says("Tasks nobody took 0.0 % 0 / 1");
    page.says("Order to owner, half of them (s) 7.0").says("TAKEN_BY_OTHER 1 100.0 %");
    page.says("Riders per grabbed task 2.0 2 / 1 · ≤ 2");
    // An hour later it is over; a day holds it.
    site.desk.advance_ms(3_600_000).await;
    let mut dora = Browser::enter(&site, &D1).await;
    dora.get("/measures?hours=1").await.says("Grabs that succeed — 0 / 0");
    dora.get("/measures?hours=24").await.says("Grabs that succeed 50.0 %");
    for actor in [SUPERVISOR, AUDITOR] {
        Browser::enter(&site, &actor).await.get("/measures?hours=24").await.is(200).says("50.0 %");
    }
    let foreign: Actor = FOREIGN_DISPATCHER;
    let mut fred = Browser::enter(&site, &foreign).await;
    fred.get("/measures?hours=24").await.is(200).hides("50.0 %");
    fred.get("/measures?region=G1").await.is(404);
    dora.get("/measures?region=G2").await.is(404);
    dora.get("/measures?hours=24&x=1").await.is(400);
    site.close().await;
}
