//! A file of another system: uploaded, looked at, imported.

use crate::{
    browser::Browser,
    files::{import, trips, upload},
    harness::{AUDITOR, D1, D2, Site},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_looked_at_before_anything_is_created() {
    let site = Site::open().await;
    let mut dora = Browser::enter(&site, &D1).await;
    let looked = upload(&mut dora, "chicago", "1", &trips()).await;
    looked.is(200).says("To be imported when you say so").says("4 rows: 3 tasks that could be");
    looked.says("31.2304, 121.4737").says("pickup_latitude");
    let tasks = || async { site.desk.read().await.tasks_after(crate::harness::first(), 9).await };
    assert!(tasks().await.unwrap().is_empty(), "nobody has asked for it yet");

    let done = import(&mut dora, &looked).await;
    done.says("Imported").says("2 created").says("OUTSIDE_REGION");
    assert_eq!(tasks().await.unwrap().len(), 2);
    // Asked for once more, or uploaded once more, it creates nothing.
    let again = upload(&mut dora, "chicago", "1", &trips()).await;
    import(&mut dora, &again).await.says("2 were there already").hides("created");
    assert_eq!(tasks().await.unwrap().len(), 2);

    // A file is its uploader's own.
    let mut dan = Browser::enter(&site, &D2).await;
    dan.get(&looked.path).await.is(404).says("upload it again");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_can_not_be_imported_is_said() {
    let site = Site::open().await;
    let mut dora = Browser::enter(&site, &D1).await;
    upload(&mut dora, "chicago", "2", &trips()).await.is(422).says("Choose a region");
    upload(&mut dora, "no such kind", "1", &trips()).await.is(422).says("what kind of file");
    upload(&mut dora, "chicago", "1", "").await.is(422).says("Choose a file");
    let sheet = upload(&mut dora, "chicago", "1", "PK\u{3}\u{4}").await;
    sheet.is(200).says("The file can not be read");
    assert!(sheet.forms().iter().all(|form| !form.action.starts_with("/import/")));
    let mut ada = Browser::enter(&site, &AUDITOR).await;
    ada.get("/import").await.is(403);
    upload(&mut ada, "chicago", "1", &trips()).await.is(403);
    site.close().await;
}
