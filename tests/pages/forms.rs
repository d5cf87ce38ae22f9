//! S14, S16: a form is carried out if it comes from a page of this desk, opened in this session, and says each thing
//! once.

use dispatch_desk::domain::refusal::Lang;
use reqwest::{Method, header};
use sha2::{Digest, Sha256};

use crate::{
    browser::{Browser, Form, Page, select},
    files::trips,
    gallery,
    harness::{D1, D2, Database, Desk, GRAB, Site, rider, site::PASSWORD},
};

/// Forms for whoever has not signed in.
fn is_open(action: &str) -> bool {
    let links = ["/t/", "/desk/enter/", "/rider/enter/", "/password/", "/set-up/"];
    ["/sign-in", "/rider/sign-in"].contains(&action)
        || links.iter().any(|link| action.starts_with(link))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_form_of_somebody_who_is_signed_in_carries_its_word() {
    let mut carried = std::collections::BTreeSet::new();
    for (name, page) in gallery::all(Lang::Zh).await {
        for form in page.document().select(&select("form[method=post]")) {
            let action = form.attr("action").unwrap().to_owned();
            let words: Vec<_> = form.select(&select("input[name=form]")).collect();
            if is_open(&action) {
                assert!(words.is_empty(), "{action} on {name} is for nobody in particular");
                continue;
            }
            assert_eq!(words.len(), 1, "{action} on {name}");
            assert_eq!(words[0].attr("type"), Some("hidden"), "{action} on {name}");
            let value = words[0].attr("value").unwrap();
            let hex = value.len() == 32 && value.bytes().all(|byte| byte.is_ascii_hexdigit());
            assert!(hex, "{action} on {name}: {value}");
            // It stands first: a file that comes behind it is not read without it.
            let first = form.select(&select("input")).next().unwrap();
            assert_eq!(first.attr("name"), Some("form"), "{action} on {name}");
            let plain = action.split('/').map(|part| {
                if part.bytes().any(|byte| byte.is_ascii_digit()) { "_" } else { part }
            });
            carried.insert(plain.collect::<Vec<_>>().join("/"));
        }
    }
    for action in [
        "/sign-out",
        "/rider/sign-out",
        "/tasks/new",
        "/tasks/_/cancel",
        "/rider/duty",
        "/import",
        "/rider/tasks/_/grab",
    ] {
        assert!(carried.contains(action), "{action} in {carried:?}");
    }
}

/// A form with other words than its own: none, a wrong one, that of another session, two.
fn worded(form: &Form, other: &str) -> Vec<Vec<(String, String)>> {
    let rest: Vec<_> = form.sent().into_iter().filter(|(name, _)| name != "form").collect();
    let own = form.value("form").to_owned();
    let with = |words: &[&str]| {
        let mut sent: Vec<_> =
            words.iter().map(|word| ("form".to_owned(), (*word).to_owned())).collect();
        sent.extend(rest.clone());
        sent
    };
    vec![
        with(&[]),
        with(&[""]),
        with(&["0123456789abcdef0123456789abcdef"]),
        with(&[other]),
        with(&[&own[..31]]),
        with(&[&own, &own]),
        with(&[&own, other]),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_word_of_the_session_nothing_is_done() {
    let site = Site::open().await;
    let task = site.desk.create().await;
    let other = site.desk.create().await;
    let mut dora = Browser::enter(&site, &D1).await;
    let dan = Browser::enter(&site, &D2).await;
    let mut ron = Browser::enter(&site, &rider(1)).await;
    let path = format!("/tasks/{task}");
    let page = dora.get(&path).await;
    let new = dora.get("/tasks/new").await.form("/tasks/new");
    let new = new
        .with("pickup_address", "here")
        .with("pickup_place", "31.2304, 121.4737")
        .with("dropoff_address", "there")
        .with("dropoff_place", "31.2397, 121.4998");
    let rides = ron.get("/rider").await;
    let duty = rides.forms().into_iter().find(|form| form.action == "/rider/duty").unwrap();
    let head = site.desk.read().await.head().await.unwrap();
    let (dans, rons) = (dan.word("desk"), ron.word("rider"));
    let forms = [
        (dora.clone(), page.form(&format!("{path}/cancel")), &dans),
        (dora.clone(), page.form(&format!("{path}/detail")).with("note", "changed"), &dans),
        (dora.clone(), new, &dans),
        (dora.clone(), page.form("/sign-out"), &dans),
        (ron.clone(), rides.form(&format!("/rider/tasks/{other}/grab")), &dans),
        (ron.clone(), duty, &dans),
        (ron.clone(), rides.form("/rider/sign-out"), &dans),
        // The word of the other side of the house is of no use either.
        (dora.clone(), page.form(&format!("{path}/cancel")), &rons),
    ];
    for (browser, form, stranger) in &forms {
        for sent in worded(form, stranger) {
            let mut browser = browser.clone();
            let request = browser.post(&form.action).form(&sent);
            let refused = browser.once(request).await;
            assert_eq!(refused.status, 403, "{} {sent:?}", form.action);
            refused.says("CROSS_SITE").says("open the page again");
        }
    }
    // Neither in the address, nor as another kind of body.
    let cancel = page.form(&format!("{path}/cancel"));
    let word = cancel.value("form").to_owned();
    let request =
        dora.post(&format!("{path}/cancel?form={word}")).form(&[("key", "k"), ("revision", "1")]);
    dora.once(request).await.is(403);
    let multipart =
        format!("--x\r\nContent-Disposition: form-data; name=\"form\"\r\n\r\n{word}\r\n--x--\r\n");
    for kind in ["multipart/form-data; boundary=x", "text/plain", "application/json"] {
        let request =
            dora.post(&cancel.action).header(header::CONTENT_TYPE, kind).body(multipart.clone());
        dora.once(request).await.is(415);
    }
    assert_eq!(site.desk.read().await.head().await.unwrap(), head, "nothing was done");
    assert_eq!(dora.get(&path).await.path, path, "nobody was signed out");
    assert_eq!(ron.get("/rider").await.path, "/rider");
    // With it, all of them are carried out.
    for (browser, form, _) in &forms[..6] {
        if form.action.ends_with("sign-out") {
            continue;
        }
        let page = browser.clone().send(form).await;
        assert!([200, 303].contains(&page.status.as_u16()), "{}: {}", form.action, page.text());
    }
    assert!(site.desk.read().await.head().await.unwrap() > head);
    assert_eq!(dora.send(&page.form("/sign-out")).await.path, "/sign-in");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_word_is_worked_out_from_the_session_and_is_nothing_that_could_sign_in() {
    let site = Site::open().await;
    let mut dora = Browser::enter(&site, &D1).await;
    let page = dora.get("/board").await;
    let session = dora.cookies["desk"].clone();
    let digest = Sha256::digest(format!("dispatch-desk form{session}"));
    let word = page.form("/sign-out").value("form").to_owned();
    assert_eq!(
        word,
        digest[..16].iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
    );
    page.hides(&session);
    // It stays while the session stays, and goes with it.
    assert_eq!(dora.get("/tasks/new").await.form("/sign-out").value("form"), word);
    dora.enter_as(&site, &D1).await;
    assert_ne!(dora.get("/board").await.form("/sign-out").value("form"), word);
    site.close().await;
}

fn upload(parts: &[(&str, &str)]) -> String {
    let mut body = String::new();
    for (name, text) in parts {
        let file = if *name == "file" { "; filename=\"x.csv\"" } else { "" };
        let head =
            format!("--edge\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n");
        body.extend([head.as_str(), text, "\r\n"]);
    }
    body + "--edge--\r\n"
}

async fn send_upload(browser: &mut Browser, parts: &[(&str, &str)]) -> Page {
    let request =
        browser.post("/import").header(header::CONTENT_TYPE, "multipart/form-data; boundary=edge");
    let request = request.body(upload(parts));
    browser.once(request).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_is_no_form_by_its_own_word_is_none() {
    let site = Site::open().await;
    let task = site.desk.create().await;
    let mut dora = Browser::enter(&site, &D1).await;
    let (path, head) =
        (format!("/tasks/{task}/cancel"), site.desk.read().await.head().await.unwrap());
    let word = dora.word("desk");
    let body = format!("form={word}&key=k&revision=1&reason=requested");
    // What a page of another site can send without asking first, JSON hidden in it, and what has no word for it.
    for kind in
        ["text/plain", "text/plain;charset=UTF-8", "application/json", "multipart/form-data"]
    {
        let post = dora.post(&path).header(header::CONTENT_TYPE, kind).body(body.clone());
        dora.once(post).await.is(415).says("MEDIA_TYPE");
    }
    let nobody = Browser::new(&site);
    let post = nobody.post("/sign-in").header(header::CONTENT_TYPE, "text/plain");
    let mut sent = nobody.clone();
    sent.once(post.body("login=ada&password=x")).await.is(415);
    assert_eq!(site.desk.read().await.head().await.unwrap(), head);
    let kind = "application/x-www-form-urlencoded; charset=UTF-8";
    let post = dora.post(&path).header(header::CONTENT_TYPE, kind).body(body);
    let page = dora.once(post).await;
    assert_eq!(dora.follow(page).await.answer(), "done");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upload_is_taken_with_the_word_alone_and_only_so_long() {
    let site = Site::open().await;
    let mut dora = Browser::enter(&site, &D1).await;
    let word = dora.word("desk");
    let trips = trips();
    let rest =
        [("mapping", "chicago"), ("region", "1"), ("source", "taxi"), ("file", trips.as_str())];
    let with = |word: &str| -> Vec<(&'static str, String)> {
        let all = [("form", word.to_owned())].into_iter();
        all.chain([
            ("mapping", "chicago".to_owned()),
            ("region", "1".to_owned()),
            ("source", "taxi".to_owned()),
            ("file", trips.clone()),
        ])
        .collect()
    };
    for wrong in ["", "0123456789abcdef0123456789abcdef"] {
        let parts = with(wrong);
        let parts: Vec<_> = parts.iter().map(|(name, text)| (*name, text.as_str())).collect();
        send_upload(&mut dora, &parts).await.is(403).says("CROSS_SITE");
    }
    send_upload(&mut dora, &rest).await.is(403);
    send_upload(&mut dora, &[]).await.is(403);
    // Behind the file it comes too late.
    let late: Vec<_> = rest.into_iter().chain([("form", word.as_str())]).collect();
    send_upload(&mut dora, &late).await.is(403);
    let good: Vec<_> = [("form", word.as_str())].into_iter().chain(rest).collect();
    assert!(send_upload(&mut dora, &good).await.leads_to().unwrap().starts_with("/import/"));
    // S20: up to 20,000 rows,
    let rows = format!("{}\n{}", trips.lines().next().unwrap(), "x\n".repeat(20_001));
    let many: Vec<_> = good[..4].iter().copied().chain([("file", rows.as_str())]).collect();
    send_upload(&mut dora, &many).await.is(422).says("20001 rows").says("nothing was taken");
    // up to 5 MiB, and whatever is in it is explained.
    let line = "x".repeat(1 << 20);
    let column = "x".repeat(4 << 20);
    let over = "x".repeat((5 << 20) + (128 << 10));
    let wide = "x,".repeat(1 << 20);
    for (file, status) in [
        ("a\0b,c\n1,2\n", 200),
        ("\u{feff}a\0,\0b\0\n", 200),
        (line.as_str(), 200),
        (column.as_str(), 200),
        (wide.as_str(), 200),
        (over.as_str(), 413),
    ] {
        let parts: Vec<_> = good[..4].iter().copied().chain([("file", file)]).collect();
        let page = send_upload(&mut dora, &parts).await;
        let page = dora.follow(page).await;
        let start: String = file.chars().take(10).collect();
        assert_eq!(page.status, status, "{start:?} of {}: {}", file.len(), page.text());
        assert!(page.html.len() < 200_000, "{} bytes of page for {start:?}", page.html.len());
        if status == 200 {
            page.says("can not be read");
        }
    }
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_name_of_a_file_is_a_text_like_any_other() {
    let site = Site::open().await;
    let mut dora = Browser::enter(&site, &D1).await;
    let name = "'><img src=x onerror=alert(1)></script>\u{202e}gpj.\u{2028}csv";
    let word = dora.word("desk");
    let good = [
        ("form", word.as_str()),
        ("mapping", "chicago"),
        ("region", "1"),
        ("source", "taxi"),
        ("file", "a,b"),
    ];
    let body = upload(&good).replace("x.csv", name);
    let request =
        dora.post("/import").header(header::CONTENT_TYPE, "multipart/form-data; boundary=edge");
    let page = dora.once(request.body(body)).await;
    let page = dora.follow(page).await;
    page.is(200);
    let document = page.document();
    assert_eq!(document.select(&select("img, script, [onerror]")).count(), 0, "{}", page.html);
    let shown: String = document.root_element().text().collect();
    assert!(shown.contains("<img src=x onerror=alert(1)></script>"), "{shown}");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_form_is_carried_out_only_if_it_comes_from_here() {
    for public in [None, Some("https://desk.example")] {
        let site = Site::at(Desk::open(Database::Sqlite).await, public).await;
        site.password(1, "dora").await;
        let task = site.desk.create().await;
        let mut dora = Browser::enter(&site, &D1).await;
        let path = format!("/tasks/{task}");
        let cancel = dora.get(&path).await.form(&format!("{path}/cancel"));
        let sign_in = [("login", "dora"), ("password", PASSWORD), ("next", "/board")];
        let port = site.address.port();
        let own = site.origin.clone();
        let local = format!("http://localhost:{port}");
        let from_here = public.is_none();
        let listed: &[(&[(&str, &str)], bool)] = &[
            (&[("sec-fetch-site", "same-origin")], true),
            (&[("sec-fetch-site", "none")], true),
            (&[("origin", own.as_str())], true),
            (&[("origin", local.as_str())], from_here),
            (&[], false),
            (&[("sec-fetch-site", "cross-site")], false),
            (&[("sec-fetch-site", "same-site")], false),
            (&[("sec-fetch-site", "cross-site"), ("origin", own.as_str())], false),
            (&[("sec-fetch-site", "")], false),
            (&[("origin", "https://evil.example")], false),
            (&[("origin", "null")], false),
            // Whatever host is named: it is compared to what is configured.
            (&[("origin", "http://evil.example"), ("host", "evil.example")], false),
        ];
        // The refused ones first: what is done can not be done again.
        for (headers, good) in listed.iter().filter(|(_, good)| !good) {
            let mut request = dora.request(Method::POST, &cancel.action).form(&cancel.sent());
            let mut enter = Browser::new(&site).request(Method::POST, "/sign-in").form(&sign_in);
            for (name, value) in *headers {
                request = request.header(*name, *value);
                enter = enter.header(*name, *value);
            }
            assert!(!good);
            dora.once(request).await.is(403).says("CROSS_SITE");
            // The sign-in too; without any word of where it comes from there is no session that could be abused.
            let expected = if headers.is_empty() { 303 } else { 403 };
            assert_eq!(Browser::new(&site).once(enter).await.status, expected, "{headers:?}");
        }
        let text = dora
            .post(&cancel.action)
            .header(header::CONTENT_TYPE, "text/plain")
            .body("{\"revision\":1}");
        assert!([403, 415].contains(&dora.once(text).await.status.as_u16()));
        let get = dora.request(Method::GET, &format!("{path}/cancel"));
        assert_eq!(dora.once(get).await.status, 405);
        assert_eq!(site.desk.task(task).await.revision.0, 1, "nothing was done");
        for (headers, _) in listed.iter().filter(|(_, good)| *good) {
            let task = site.desk.create().await;
            let path = format!("/tasks/{task}");
            let cancel = dora.get(&path).await.form(&format!("{path}/cancel"));
            let mut request = dora.request(Method::POST, &cancel.action).form(&cancel.sent());
            for (name, value) in *headers {
                request = request.header(*name, *value);
            }
            assert_eq!(dora.once(request).await.status, 303, "{headers:?}");
            assert_eq!(site.desk.task(task).await.revision.0, 2, "{headers:?}");
        }
        site.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_field_that_stands_twice_is_refused_and_nothing_is_done() {
    let site = Site::open().await;
    site.password(1, "dora").await;
    let task = site.desk.create().await;
    let mut dora = Browser::enter(&site, &D1).await;
    let mut ron = Browser::enter(&site, &rider(1)).await;
    let mut carl = Browser::new(&site);
    let ordered = site.order(crate::harness::order()).await;
    let tracking = site.tracking(ordered).await;
    let path = format!("/tasks/{task}");
    let forms = [
        (dora.clone(), dora.get(&path).await.form(&format!("{path}/cancel")), "revision"),
        (dora.clone(), dora.get(&path).await.form(&format!("{path}/offer")), "rider"),
        (
            ron.clone(),
            ron.get("/rider").await.form(&format!("/rider/tasks/{task}/grab")),
            "revision",
        ),
        (carl.clone(), carl.get(&tracking).await.form(&format!("{tracking}/cancel")), "revision"),
        (carl.clone(), carl.get("/sign-in").await.only_form(), "login"),
    ];
    for (mut browser, form, twice) in forms {
        let mut sent = form.sent();
        sent.push((twice.to_owned(), "2".to_owned()));
        let request = browser.post(&form.action).form(&sent);
        browser.once(request).await.is(400).says("FIELD_TWICE").says(twice);
    }
    assert_eq!(site.desk.task(task).await.revision.0, 1);
    for query in
        ["/board?beyond=1&beyond=2", "/board?show=open&sho%77=offered", "/sign-in?next=/a&next=/b"]
    {
        dora.get(query).await.is(400);
    }
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rider_who_tries_without_end_is_told_to_wait() {
    let site = Site::open().await;
    let task = site.desk.create().await;
    let mut ron = Browser::enter(&site, &rider(1)).await;
    let grab = ron.get("/rider").await.form(&format!("/rider/tasks/{task}/grab"));
    site.desk.done(rider(2), task, 1, GRAB).await;
    for number in 0..30 {
        let page = ron.send(&grab.clone().forged("key", &format!("k-{number}"))).await;
        assert_eq!(page.answer(), "refused", "{number}: {}", page.text());
    }
    let page = ron.send(&grab.clone().forged("key", "k-more")).await;
    page.is(429).says("TOO_MANY").says("Wait a moment");
    assert_eq!(page.headers[header::RETRY_AFTER], "1");
    site.desk.advance_ms(500).await;
    assert_eq!(ron.send(&grab.forged("key", "k-later")).await.answer(), "refused");
    site.close().await;
}
