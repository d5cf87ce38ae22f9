//! Pages that were rendered before, shown again as they came: with their own policy and our style sheet.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    Router,
    extract::{Path, State},
    http::{StatusCode, header},
    response::{Html, IntoResponse, Response},
    routing::get,
};

use crate::gallery::Gallery;

/// Where the pages are shown.
#[derive(Debug)]
pub struct Shown {
    pub base: String,
    pub names: Vec<String>,
    task: tokio::task::JoinHandle<()>,
}

type Pages = Arc<BTreeMap<String, (String, String)>>;

async fn page(State(pages): State<Pages>, Path(name): Path<String>) -> Response {
    match pages.get(&name) {
        Some((policy, html)) => {
            let policy = [(header::CONTENT_SECURITY_POLICY, policy.clone())];
            (policy, Html(html.clone())).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn style() -> Response {
    let kind = [(header::CONTENT_TYPE, "text/css; charset=utf-8")];
    (kind, include_str!("../../static/desk.css")).into_response()
}

impl Shown {
    /// Shows `gallery` on a free port.
    pub async fn start(gallery: Gallery) -> Self {
        let names = gallery.iter().map(|(name, _)| name.clone()).collect();
        let pages = gallery.into_iter().map(|(name, page)| {
            let policy = page.headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned();
            (name, (policy, page.html))
        });
        let pages: Pages = Arc::new(pages.collect());
        let router = Router::new()
            .route("/static/{version}/desk.css", get(style))
            .route("/page/{name}", get(page))
            .with_state(pages);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/page/", listener.local_addr().unwrap());
        let task = tokio::spawn(async move {
            let mut builder =
                hyper_util::server::conn::auto::Builder::new(hyper_util::rt::TokioExecutor::new());
            builder = builder.http1_only();
            while let Ok((stream, _)) = listener.accept().await {
                let service = hyper_util::service::TowerToHyperService::new(router.clone());
                let builder = builder.clone();
                tokio::spawn(async move {
                    let stream = hyper_util::rt::TokioIo::new(stream);
                    // A browser that hangs up is no fault.
                    let _ = builder.serve_connection(stream, service).await;
                });
            }
        });
        Self { base, names, task }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.task.abort();
    }
}
