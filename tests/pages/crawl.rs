//! S17, S31: every route, right and wrong, with every method, by nobody, by staff and by a rider: what each answer
//! carries, and that nothing else is there.

use std::{collections::BTreeSet, fs, path::Path};

use dispatch_desk::domain::refusal::Lang;
use reqwest::{Method, header};

use crate::{
    browser::{Browser, Page, is_stream, select},
    gallery,
    harness::{D1, Database, Desk, Site, offer, rider},
};

/// The rules for browsers, word by word. No scripts, no styles and no frames but ours.
const FIXED: [(&str, &str); 7] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
         connect-src 'self'; worker-src 'self'; manifest-src 'self'; media-src 'self'; base-uri 'none'; \
         form-action 'self'; frame-ancestors 'none'; object-src 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("x-frame-options", "DENY"),
    ("permissions-policy", "camera=(), microphone=(), payment=(), usb=()"),
];

/// What a body may say that it is.
const KINDS: [&str; 6] = [
    "text/event-stream; charset=utf-8",
    "text/plain; charset=utf-8",
    "text/html; charset=utf-8",
    "text/css; charset=utf-8",
    "application/json",
    "application/problem+json",
];

/// The routes of pages, from the sources.
fn pages() -> BTreeSet<String> {
    fn below(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                below(&path, found);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let text = text.split("#[cfg(test)]").next().unwrap().to_owned();
            for (at, _) in text.match_indices(".route(") {
                let rest = text[at + ".route(".len()..].trim_start();
                if let Some(rest) = rest.strip_prefix('"') {
                    found.extend(rest.split('"').next().map(str::to_owned));
                }
            }
        }
    }
    let mut found = BTreeSet::new();
    below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/web"), &mut found);
    found
}

/// What is wrong with an answer.
fn faults(page: &Page, secure: bool) -> Vec<String> {
    let mut found = Vec::new();
    let header = |name: &str| {
        page.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    };
    for (name, value) in FIXED {
        if header(name) != value || page.headers.get_all(name).iter().count() != 1 {
            found.push(format!("{name}: {:?}", header(name)));
        }
    }
    let id = header("x-request-id");
    if id.len() != 32 || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        found.push(format!("x-request-id: {id}"));
    }
    let hsts = if secure { "max-age=31536000" } else { "" };
    if header("strict-transport-security") != hsts {
        found.push(format!("strict-transport-security: {}", header("strict-transport-security")));
    }
    let (kind, cache) = (header("content-type"), header("cache-control"));
    let is_file = kind == "text/css; charset=utf-8";
    // Nothing on the way may hold a stream back to make it smaller.
    let wanted = if is_stream(&page.headers) { "no-store, no-transform" } else { "no-store" };
    if !is_file && cache != wanted {
        found.push(format!("cache-control: {cache}"));
    }
    if !page.html.is_empty() && !KINDS.contains(&kind) {
        found.push(format!("content-type: {kind}: {}", page.html));
    }
    // Whatever went wrong says which request it was.
    if page.status.as_u16() >= 400 && !page.html.is_empty() {
        let named = match kind {
            "application/problem+json" => {
                serde_json::from_str::<serde_json::Value>(&page.html).unwrap()["request_id"] == *id
            }
            // A page of its own, such as the sign-in with a wrong password, is no error page.
            _ => {
                page.html.contains(id) || [401, 409, 422, 429, 503].contains(&page.status.as_u16())
            }
        };
        if !named {
            found.push(format!("the request is not named: {}", page.html));
        }
    }
    if page.status == 405 && header("allow").is_empty() {
        found.push("no Allow".to_owned());
    }
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_answer_carries_the_rules_for_browsers() {
    for origin in [None, Some("https://desk.example")] {
        let site = Site::at(Desk::open(Database::Sqlite).await, origin).await;
        let task = site.desk.create().await;
        site.desk.done(D1, task, 1, offer(1)).await;
        let nobody = Browser::new(&site);
        let document = nobody.clone().get("/api/v1/openapi.json").await;
        let document: serde_json::Value = serde_json::from_str(&document.html).unwrap();
        let mut paths: BTreeSet<_> =
            document["paths"].as_object().unwrap().keys().cloned().collect();
        paths.extend(pages());
        assert!(paths.contains("/import") && paths.contains("/api/v1/bulk"), "{paths:#?}");
        let style = nobody.clone().get("/sign-in").await;
        let document = style.document();
        let style = document.select(&select("link[rel=stylesheet]")).next().unwrap();
        let _ = style.attr("href").map(|style| paths.insert(style.to_owned()));
        paths.extend(
            ["/nowhere", "/board/", "//board", "/static/", "/.git/config"].map(str::to_owned),
        );
        let mut people = vec![nobody];
        people.push(Browser::enter(&site, &D1).await);
        people.push(Browser::enter(&site, &rider(1)).await);
        let (mut found, mut statuses) = (Vec::new(), BTreeSet::new());
        for path in &paths {
            let at = path
                .replace("{id}", &task.to_string())
                .replace("{token}", "0123")
                .replace("{verb}", "cancel");
            for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"] {
                for browser in &people {
                    // Nobody is to be signed out on the way.
                    if path.ends_with("/sign-out") && !browser.cookies.is_empty() {
                        continue;
                    }
                    for accept in ["text/html", "application/json"] {
                        let method: Method = method.parse().unwrap();
                        let request =
                            browser.request(method.clone(), &at).header("origin", &site.origin);
                        let mut request = request.body("").build().unwrap();
                        request.headers_mut().insert(header::ACCEPT, accept.parse().unwrap());
                        let page = browser.clone().run(request).await;
                        statuses.insert(page.status.as_u16());
                        let what = format!("{method} {at} as {accept}: {}", page.status);
                        found.extend(
                            faults(&page, origin.is_some())
                                .into_iter()
                                .map(|f| format!("{what}: {f}")),
                        );
                        if !method.is_safe() {
                            let vary: Vec<_> = page.headers.get_all("vary").iter().collect();
                            let varies = vary.iter().any(|vary| *vary == "sec-fetch-site, origin");
                            assert!(varies, "{what}: {vary:?}");
                        }
                        // Who is served is nobody's business but theirs.
                        assert!(
                            !page.headers.contains_key("access-control-allow-origin"),
                            "{what}"
                        );
                        assert!(!page.headers.contains_key("server"), "{what}");
                        if method == Method::TRACE {
                            assert!([404, 405].contains(&page.status.as_u16()), "{what}");
                        }
                    }
                }
            }
        }
        let token = dispatch_desk::admin::token(&site.desk.db, &D1, "crawl").await.unwrap();
        for (path, kind, length, target, status) in [
            ("/api/v1/bulk", "text/plain", 1, 0, 415),
            ("/api/v1/bulk", "application/json", 1, 0, 400),
            ("/api/v1/bulk", "application/json", 2 << 20, 0, 413),
            ("/sign-in", "application/x-www-form-urlencoded", 1, 0, 422),
            ("/sign-in", "application/x-www-form-urlencoded", 70 << 10, 0, 413),
            ("/import", "multipart/form-data; boundary=x", 6 << 20, 0, 413),
            ("/sign-in", "application/x-www-form-urlencoded", 0, 9_000, 414),
        ] {
            for accept in ["text/html", "application/json"] {
                let request = people[0]
                    .request(Method::POST, &format!("{path}?{}", "x".repeat(target)))
                    .header("origin", &site.origin)
                    .bearer_auth(&token)
                    .header("idempotency-key", "k-crawl")
                    .header(header::CONTENT_TYPE, kind);
                let mut request = request.body("x".repeat(length)).build().unwrap();
                request.headers_mut().insert(header::ACCEPT, accept.parse().unwrap());
                let page = people[0].clone().run(request).await;
                assert_eq!(page.status, status, "{path} as {accept}");
                statuses.insert(status);
                let what = format!("{path} as {accept}: {status}");
                let wrong = faults(&page, origin.is_some()).into_iter();
                found.extend(wrong.map(|fault| format!("{what}: {fault}")));
            }
        }
        assert_eq!(found, Vec::<String>::new());
        for status in [200, 303, 400, 401, 403, 404, 405, 413, 414, 415, 422] {
            assert!(statuses.contains(&status), "{status} in {statuses:?}");
        }
        site.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn there_is_nothing_beside_the_routes() {
    let site = Site::open().await;
    let mut browser = Browser::enter(&site, &D1).await;
    for path in [
        "/.git/config",
        "/.env",
        "/.git/",
        "/.well-known/x",
        "/metrics",
        "/debug",
        "/debug/pprof",
        "/server-status",
        "/static",
        "/static/",
        "/static/../Cargo.toml",
        "/static/%2e%2e/Cargo.toml",
        "/static/x/desk.css",
        "/desk.css",
        "/templates/layout.html",
        "/data/dispatch.db",
        "/api/v1/",
        "/swagger-ui/",
        "/actuator/env",
        "/index.php",
        "/robots.txt%00",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/board/..%2f..%2fetc/passwd",
    ] {
        let request = browser.request(Method::GET, path);
        let page = browser.once(request).await;
        assert_eq!(page.status, 404, "{path}");
        page.hides("[package]").hides("root:");
    }
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_page_holds_anything_that_the_rules_forbid() {
    for (name, page) in gallery::all(Lang::En).await {
        assert_eq!(faults(&page, false), Vec::<String>::new(), "{name}");
        let document = page.document();
        for css in [
            "script:not([src])",
            "style",
            "[style]",
            "base",
            "iframe",
            "object",
            "embed",
            "[srcdoc]",
            "meta[http-equiv]",
        ] {
            assert_eq!(document.select(&select(css)).count(), 0, "{css} in {name}");
        }
        // The icon that browsers would ask for otherwise: there is none.
        for element in document.select(&select("*:not(link[rel=icon])")) {
            for (attribute, value) in element.value().attrs() {
                assert!(!attribute.starts_with("on"), "{attribute} in {name}");
                let value = value.trim_start().to_ascii_lowercase();
                let bad = ["javascript:", "data:", "vbscript:"]
                    .iter()
                    .any(|scheme| value.starts_with(scheme));
                assert!(!bad, "{attribute}={value} in {name}");
                let leads = ["href", "src", "action", "formaction"].contains(&attribute);
                let ours = value.starts_with('/') && !value.starts_with("//");
                assert!(
                    !leads || ours || value.starts_with(['#', '?']) || value.starts_with("tel:"),
                    "{attribute}={value} in {name}"
                );
            }
        }
    }
}
