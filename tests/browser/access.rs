//! Whether everybody can use the pages: axe-core on each of them, in both languages, light and dark; and what a thumb
//! can hit on a phone.

use dispatch_desk::domain::refusal::Lang;
use serde_json::{Value, json};

use crate::{
    driver::{Window, with_browsers},
    gallery,
    shown::Shown,
};

const DESK: (u32, u32) = (1440, 900);
const PHONE: (u32, u32) = (360, 640);

/// What a page says of itself: `axe.min.js` is installed by `npm ci` in `tests/web`.
fn axe() -> Option<String> {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/web/node_modules/axe-core/axe.min.js");
    let text = std::fs::read_to_string(file).ok();
    let required = std::env::var("CI_REQUIRE_BROWSER").is_ok_and(|value| value == "1");
    assert!(text.is_some() || !required, "run npm ci --ignore-scripts in tests/web first");
    if text.is_none() {
        eprintln!("axe-core SKIPPED: run npm ci --ignore-scripts in tests/web first");
    }
    text
}

/// The rules that a page breaks, one a line with the element.
async fn violations(window: &Window, rules: &[&str]) -> Vec<String> {
    let only = if rules.is_empty() {
        json!({})
    } else {
        json!({ "runOnly": { "type": "rule", "values": rules } })
    };
    let script = "const done = arguments[arguments.length - 1]; \
                  axe.run(document, arguments[0]).then(r => done(r.violations), e => done([{id: String(e), nodes: []}]))";
    let found = window.driver.execute_async(script, vec![only]).await.unwrap();
    let mut lines = Vec::new();
    for rule in found.json().as_array().cloned().unwrap_or_default() {
        for node in rule["nodes"].as_array().cloned().unwrap_or_else(|| vec![Value::Null]) {
            let why = node["failureSummary"].as_str().unwrap_or_default().replace('\n', " ");
            lines.push(format!("{}: {} – {why}", rule["id"], node["html"]));
        }
        if rule["nodes"].as_array().is_some_and(Vec::is_empty) {
            lines.push(rule["id"].to_string());
        }
    }
    lines
}

async fn every_page_is_accessible(lang: Lang) {
    let Some(axe) = axe() else { return };
    with_browsers(&format!("access-{lang}"), async |driver| {
        let shown = Shown::start(gallery::all(lang).await).await;
        let window = driver.window("reader", DESK).await;
        let mut found = Vec::new();
        for name in &shown.names {
            window.colours("light").await;
            window.go(&format!("{}{name}", shown.base)).await;
            window.run(&axe).await;
            // The same page, dark: nothing but its colours is different.
            for (theme, rules) in [("light", &[][..]), ("dark", &["color-contrast"][..])] {
                window.colours(theme).await;
                let broken = violations(&window, rules).await;
                found.extend(broken.iter().map(|line| format!("{name} {theme}: {line}")));
            }
            window.is_clean().await;
        }
        assert!(found.is_empty(), "{} violations:\n{}", found.len(), found.join("\n"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_is_accessible_in_chinese() {
    every_page_is_accessible(Lang::Zh).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_is_accessible_in_english() {
    every_page_is_accessible(Lang::En).await;
}

/// What is too small, too near or too wide on a phone.
const MEASURE: &str = "
    const phone = document.body.classList.contains('phone'), found = [];
    const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    if (wide > 0) found.push('scrolls sideways by ' + wide);
    const seen = e => e.getClientRects().length > 0 && !e.classList.contains('skip');
    const least = phone ? 48 : 24;
    for (const e of document.querySelectorAll('button, select, summary, input:not([type=hidden]):not([type=checkbox]), textarea, main a, header a')) {
      if (!seen(e)) continue;
      const r = e.getBoundingClientRect();
      if (r.height < least - 0.5) found.push(e.tagName + ' ' + e.textContent.trim().slice(0, 30) + ': ' + Math.round(r.height) + ' px high');
    }
    for (const card of document.querySelectorAll('.card')) {
      const accept = card.querySelector('form[action$=\"/accept\"] button');
      const decline = card.querySelector('form[action$=\"/decline\"]');
      if (accept && decline) {
        const gap = decline.getBoundingClientRect().top - accept.getBoundingClientRect().bottom;
        if (gap < 12) found.push('accept and decline are ' + gap + ' px apart');
      }
    }
    return found";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thumb_can_hit_what_it_wants() {
    with_browsers("thumb", async |driver| {
        let window = driver.window("phone", PHONE).await;
        let mut found = Vec::new();
        for lang in [Lang::Zh, Lang::En] {
            let shown = Shown::start(gallery::all(lang).await).await;
            // English is the longer: what fits in it on the desk's pages fits in Chinese.
            let of_phones = |name: &&String| name.starts_with("rider") || name.starts_with("track");
            let names = shown.names.iter().filter(|name| lang == Lang::En || of_phones(name));
            for name in names {
                window.go(&format!("{}{name}", shown.base)).await;
                let bad = window.run(MEASURE).await;
                let bad = bad.as_array().cloned().unwrap_or_default();
                found.extend(bad.iter().map(|line| format!("{name} {lang}: {line}")));
            }
        }
        assert!(found.is_empty(), "{} faults:\n{}", found.len(), found.join("\n"));
    })
    .await;
}
