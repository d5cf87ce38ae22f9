//! Pictures of the pages for people to look at: `target/screenshots/`.

use std::fs;

use dispatch_desk::domain::{command::NewTask, refusal::Lang};
use serde_json::json;

use crate::{
    browser::Browser,
    driver::{Window, folder, with_browsers},
    gallery::{self, Gallery},
    harness::{D1, GRAB, NOON, Site, offer, order, rider},
    shown::Shown,
};

const WANTED: [&str; 18] = [
    "sign_in",
    "sign_in_failed",
    "rules",
    "new_task",
    "new_task_wrong",
    "task_open",
    "task_offered",
    "task_assigned",
    "answer_refused",
    "answer_done",
    "task_trouble",
    "rider_grab_lost",
    "rider_gone",
    "track_picked_up",
    "track_refused",
    "audit",
    "kept_signals",
    "kept_staff",
];

const STREETS: [&str; 6] =
    ["人民大道", "南京东路", "淮海中路", "世纪大道", "陆家嘴环路", "漕溪北路"];

fn street(number: usize) -> String {
    format!("{} {} 号", STREETS[number % STREETS.len()], 7 * number % 913 + 1)
}

fn varied(number: usize) -> NewTask {
    let mut new = order();
    let step = f64::from(u32::try_from(number % 17).unwrap()) / 1_000.0;
    new.pickup.lat += step;
    new.dropoff.lng -= step;
    new.pickup.address = street(number);
    new.dropoff.address = street(number * 5 + 2);
    let minutes = i64::try_from(number).unwrap() * 3 - 12;
    new.due_at = Some(NOON.plus_ms(minutes * 60_000));
    new.fee = Some(600 + 50 * i64::try_from(number % 19).unwrap());
    new
}

/// A desk at noon: forty tasks and more in all states.
async fn busy(lang: Lang) -> Gallery {
    let site = Site::open().await;
    for number in 0..28 {
        site.order(varied(number)).await;
    }
    gallery::mixed(&site).await;
    for number in 40..48 {
        let task = site.order(varied(usize::try_from(number).unwrap())).await;
        site.desk.done(D1, task, 1, offer(number)).await;
    }
    site.fix(1, 31.2310, 121.4750).await;
    let mine = site.order(varied(3)).await;
    site.desk.done(rider(1), mine, 1, GRAB).await;
    let offered = site.order(varied(4)).await;
    site.desk.done(D1, offered, 1, offer(1)).await;
    site.desk.advance_ms(7_000).await;
    let mut pages = Gallery::new();
    for (actor, name, path) in [
        (D1, "board_busy", "/board"),
        (D1, "board_busy_offered", "/board?show=offered"),
        (rider(1), "rider_busy", "/rider"),
    ] {
        let browser = Browser::new(&site);
        let mut browser = if lang == Lang::Zh { browser.chinese() } else { browser };
        browser.enter_as(&site, &actor).await;
        pages.push((name.to_owned(), browser.get(path).await));
    }
    pages
}

async fn picture(window: &Window, name: &str) {
    let whole = json!({ "format": "png", "captureBeyondViewport": true });
    let taken = window.cdp("Page.captureScreenshot", whole).await;
    let png = decoded(taken["data"].as_str().unwrap());
    fs::write(folder("screenshots").join(format!("{name}.png")), png).unwrap();
}

/// Base64, as the browser sends pictures.
fn decoded(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => Some(c - b'A'),
        b'a'..=b'z' => Some(c - b'a' + 26),
        b'0'..=b'9' => Some(c - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let (mut out, mut bits, mut kept) = (Vec::new(), 0, 0_u32);
    for six in text.bytes().filter_map(value) {
        kept = (kept << 6 | u32::from(six)) & 0xffff;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push(u8::try_from(kept >> bits & 0xff).unwrap());
        }
    }
    out
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "for people to look at: cargo nextest run --test browser --run-ignored only"]
async fn pictures_are_taken() {
    with_browsers("pictures", async |driver| {
        let window = driver.window("camera", (1920, 1080)).await;
        for lang in [Lang::Zh, Lang::En] {
            let mut pages = busy(lang).await;
            pages.extend(gallery::all(lang).await);
            pages.retain(|(name, _)| name.contains("busy") || WANTED.contains(&name.as_str()));
            let shown = Shown::start(pages).await;
            for name in &shown.names {
                for theme in ["light", "dark"] {
                    for (width, height) in [(1920, 1080), (360, 640)] {
                        window.size(width, height).await;
                        window.colours(theme).await;
                        window.go(&format!("{}{name}", shown.base)).await;
                        if width < 500 {
                            let high =
                                window.run("return document.documentElement.scrollHeight").await;
                            let high = u32::try_from(high.as_u64().unwrap().min(2_600)).unwrap();
                            window.size(width, high.max(height)).await;
                        }
                        picture(&window, &format!("{name}.{lang}.{theme}.{width}")).await;
                    }
                }
            }
        }
    })
    .await;
    assert_eq!(decoded("aGkhIQ=="), b"hi!!");
}
