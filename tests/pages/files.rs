//! Files that are uploaded, as browsers send them.

use reqwest::header;

use crate::browser::{Browser, Page};

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
    let word = browser.word("desk");
    for (name, text) in [
        ("form", word.as_str()),
        ("mapping", mapping),
        ("region", region),
        ("source", "taxi"),
        ("base_date", ""),
        ("pickup", ""),
    ] {
        let head = format!("Content-Disposition: form-data; name=\"{name}\"");
        body.extend(["--edge\r\n", &head, "\r\n\r\n", text, "\r\n"]);
    }
    let head = "Content-Disposition: form-data; name=\"file\"; filename=\"trips.csv\"";
    body.extend([
        "--edge\r\n",
        head,
        "\r\nContent-Type: text/csv\r\n\r\n",
        file,
        "\r\n--edge--\r\n",
    ]);
    let request = browser
        .post("/import")
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
