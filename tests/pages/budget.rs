//! What a phone on a slow line has to load (UX §5.1).

use std::io::Write;

use flate2::{Compression, write::GzEncoder};

use crate::{
    browser::{Browser, Page, select},
    harness::{D1, Site, offer, rider},
};

fn zipped(text: &str) -> usize {
    let mut zip = GzEncoder::new(Vec::new(), Compression::best());
    zip.write_all(text.as_bytes()).unwrap();
    zip.finish().unwrap().len()
}

/// The addresses that a browser loads for a page, the page aside.
fn loads(page: &Page) -> Vec<String> {
    let document = page.document();
    let css = "link[rel=stylesheet], link[rel=icon], script[src], img[src], iframe[src]";
    document
        .select(&select(css))
        .filter_map(|element| element.attr("href").or_else(|| element.attr("src")))
        .filter(|address| !address.starts_with("data:"))
        .map(str::to_owned)
        .collect()
}

/// The bytes of the modules that a script names beside it.
async fn modules(browser: &mut Browser, script: &str, text: &str) -> usize {
    let folder = script.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut all = 0;
    for line in text.lines().filter(|line| line.starts_with("import ")) {
        let name = line.split("'./").nth(1).and_then(|rest| rest.split('\'').next()).unwrap();
        let module = browser.get(&format!("{folder}/{name}")).await;
        assert_eq!(module.headers["content-type"], "text/javascript; charset=utf-8", "{name}");
        all += zipped(&module.html);
        let inner: &[_] = match name {
            "swap.js" => &["idiomorph.js"],
            // The second one by the browser, once for all its pages.
            "follow.js" => &["feed.js", "shared.js"],
            _ => &[],
        };
        for name in inner {
            let inner = browser.get(&format!("{folder}/{name}")).await;
            assert_eq!(inner.headers["content-type"], "text/javascript; charset=utf-8", "{name}");
            all += zipped(&inner.html);
        }
    }
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_of_phones_are_small() {
    let site = Site::open().await;
    site.fix(1, 31.2310, 121.4750).await;
    let tasks = site.desk.create_many(23).await;
    site.desk.done(D1, tasks[0], 1, offer(1)).await;
    site.desk.done(rider(1), tasks[1], 1, crate::harness::GRAB).await;
    let ordered = site.order(crate::harness::order()).await;
    let tracking = site.tracking(ordered).await;
    let mut ron = Browser::enter(&site, &rider(1)).await;
    for path in ["/rider", &tracking] {
        let page = ron.get(path).await;
        let size = zipped(&page.html);
        assert!(size <= 14 * 1024, "{path}: {size} bytes");
        let mut all = size;
        let loads = loads(&page);
        assert!(loads.len() < 3, "{path}: {loads:?}");
        for file in loads {
            assert!(file.starts_with("/static/"), "{path} loads {file}");
            let style = ron.get(&file).await;
            assert!(zipped(&style.html) <= 8 * 1024, "{} bytes of style", zipped(&style.html));
            assert_eq!(style.headers["cache-control"], "public, max-age=31536000, immutable");
            all += zipped(&style.html) + modules(&mut ron, &file, &style.html).await;
        }
        assert!(all <= 40 * 1024, "{path}: {all} bytes in all");
    }
    site.close().await;
}
