//! Clickjacking: a page of somebody else shows nothing of ours in a frame of its own (`S17`).

use axum::{Router, response::Html, routing::get};
use serde_json::{Value, json};

use crate::{
    driver::with_browsers,
    harness::{D1, Site, rider},
};

/// Another site that frames what it is asked to, and a page of its own.
async fn other_site(frames: Vec<String>) -> (String, tokio::task::JoinHandle<()>) {
    let frames: Vec<_> =
        frames.iter().map(|url| format!("<iframe src='{url}'></iframe>")).collect();
    let page = frames.concat();
    let router = Router::new()
        .route("/", get(async move || Html(format!("<!doctype html><title>x</title>{page}"))))
        .route("/own", get(async || Html("<!doctype html><title>x</title>mine")));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    (base, task)
}

/// Where the frames of the page came to stand.
async fn stand(window: &crate::driver::Window) -> Vec<String> {
    let tree = window.cdp("Page.getFrameTree", json!({})).await;
    let frames = tree["frameTree"]["childFrames"].as_array().cloned().unwrap_or_default();
    let url = |frame: &Value| frame["frame"]["url"].as_str().unwrap_or_default().to_owned();
    frames.iter().map(url).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_page_of_ours_is_shown_in_a_frame_of_somebody_else() {
    with_browsers("framed", async |driver| {
        let site = Site::open().await;
        let task = site.desk.create().await;
        let window = driver.window("victim", (1280, 900)).await;
        for link in [site.link(&D1).await, site.link(&rider(1)).await] {
            window.go(&format!("{}{link}", site.origin)).await;
            window.find("form[action*='enter/'] button").await.click().await.unwrap();
            window.find("header form button, .bar form button").await;
        }
        let ours = [
            "/sign-in".to_owned(),
            "/board".to_owned(),
            format!("/tasks/{task}"),
            "/rider".to_owned(),
            site.tracking(task).await,
            "/static/none.css".to_owned(),
            "/nothing".to_owned(),
            "/api/v1/tasks".to_owned(),
        ];
        let mut frames: Vec<_> = ours.iter().map(|path| format!("{}{path}", site.origin)).collect();
        frames.push("/own".to_owned());
        let (base, other) = other_site(frames).await;
        window.go(&base).await;
        let stand = stand(&window).await;
        assert_eq!(stand.len(), ours.len() + 1, "{stand:?}");
        assert_eq!(stand.last().unwrap(), &format!("{base}/own"), "its own page is shown");
        for (path, url) in ours.iter().zip(&stand) {
            assert_eq!(url, "chrome-error://chromewebdata/", "{path} is shown in a frame");
        }
        other.abort();
        site.close().await;
    })
    .await;
}
