//! A file of another system: uploaded, looked at, imported.

use reqwest::{Method, header};

use crate::{
    browser::{Browser, Page},
    harness::{AUDITOR, D1, D2, Site},
};

const HEAD: &str = "pickup_community_area,fare,trip_start_month,trip_start_hour,trip_start_day,trip_start_timestamp,\
    pickup_latitude,pickup_longitude,dropoff_latitude,dropoff_longitude,trip_miles,pickup_census_tract,\
    dropoff_census_tract,payment_type,company,trip_seconds,dropoff_community_area,tips";

/// Two trips of the north, one whose start is unknown, one from far away.
pub fn trips() -> String {
    [
        HEAD,
        ",8.50,11,12,2,1448971200,31.2304,121.4737,31.2397,121.4998,1.2,,,Cash,,600,,0.0",
        ",9.25,11,12,2,1448972100,31.2204,121.4637,31.2397,121.4998,1.9,,,Cash,,700,,0.0",
        ",7.00,11,12,2,1448972100,,,31.2397,121.4998,1.9,,,Cash,,700,,0.0",
        ",7.00,11,12,2,1448972100,41.88,-87.63,41.9,-87.6,1.9,,,Cash,,700,,0.0",
        "",
    ]
    .join("\n")
}

/// Sends the form of the import with a file, as browsers do.
pub async fn upload(browser: &mut Browser, mapping: &str, region: &str, file: &str) -> Page {
    let mut body = String::new();
    for (name, text) in [
        ("mapping", mapping),
        ("region", region),
        ("source", "taxi"),
        ("base_date", ""),
        ("pickup", ""),
    ] {
        body +=
            &format!("--edge\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n");
    }
    body += &format!(
        "--edge\r\nContent-Disposition: form-data; name=\"file\"; filename=\"trips.csv\"\r\n\
         Content-Type: text/csv\r\n\r\n{file}\r\n--edge--\r\n"
    );
    let request = browser
        .request(Method::POST, "/import")
        .header(header::CONTENT_TYPE, "multipart/form-data; boundary=edge")
        .body(body);
    let page = browser.once(request).await;
    browser.follow(page).await
}

/// Asks for the import, and looks until it has ended.
pub async fn import(browser: &mut Browser, page: &Page) -> Page {
    let mut page = browser.send(&page.form(&page.path)).await;
    let mut looks = 0;
    while page.headers.contains_key(header::REFRESH) {
        looks += 1;
        assert!(looks < 10_000, "it never ends: {}", page.text());
        tokio::task::yield_now().await;
        page = browser.get(&page.path).await;
    }
    page
}

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
