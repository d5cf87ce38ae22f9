//! A driver of its own for each test, and windows that share nothing: each has a fresh profile.

use std::{
    panic::AssertUnwindSafe,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Mutex,
    time::Duration,
};

use futures_util::FutureExt;
use serde_json::json;
use thirtyfour::{ChromiumLikeCapabilities, prelude::*};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

/// How long a page may take to say what is expected, and how often it is looked at.
const PATIENCE: Duration = Duration::from_secs(20);
const EVERY: Duration = Duration::from_millis(50);

/// Notes what the content policy has stopped, from the first moment of each page.
const WATCH: &str = "window.stopped = []; document.addEventListener('securitypolicyviolation', e => \
                     window.stopped.push(e.violatedDirective + ' ' + e.blockedURI))";

/// One chromedriver with its windows.
#[derive(Debug)]
pub struct Driver {
    port: u16,
    _process: Child,
    profiles: tempfile::TempDir,
    windows: Mutex<Vec<Window>>,
}

/// One window of a browser with a profile of its own.
#[derive(Clone, Debug)]
pub struct Window {
    pub name: String,
    pub driver: WebDriver,
}

fn found(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// The folder below `target/` for what a test leaves behind.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target").join(name);
    std::fs::create_dir_all(&folder).expect("a folder below target");
    folder
}

/// Runs a test with browsers; whatever happens, they are gone afterwards, and if it fails their windows are kept as
/// pictures and HTML in `target/browser/`.
pub async fn with_browsers(test: &str, body: impl AsyncFnOnce(&Driver)) {
    let (Some(chromium), Some(chromedriver)) = (found("chromium"), found("chromedriver")) else {
        let required = std::env::var("CI_REQUIRE_BROWSER").is_ok_and(|value| value == "1");
        assert!(!required, "{test} needs a browser: apt-get install chromium chromium-driver");
        eprintln!("{test} SKIPPED: chromium or chromedriver is not installed");
        return;
    };
    let driver = Driver::start(&chromedriver, &chromium).await;
    let outcome = AssertUnwindSafe(body(&driver)).catch_unwind().await;
    if outcome.is_err() {
        driver.keep(test).await;
    }
    let windows = std::mem::take(&mut *driver.windows.lock().unwrap());
    for window in windows {
        // One that has crashed can not be closed; its process goes with the driver.
        let _ = window.driver.quit().await;
    }
    if let Err(panic) = outcome {
        std::panic::resume_unwind(panic);
    }
}

impl Driver {
    async fn start(chromedriver: &Path, chromium: &Path) -> Self {
        let mut process = Command::new(chromedriver)
            .arg("--port=0")
            .env("CHROMIUM", chromium)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("chromedriver starts");
        let mut lines = BufReader::new(process.stdout.take().expect("its output")).lines();
        let port = loop {
            let line = lines.next_line().await.expect("it can be read").expect("it says its port");
            if let Some((_, port)) = line.rsplit_once("started successfully on port ") {
                break port.trim_end_matches('.').parse().expect("a port");
            }
        };
        // What it says later is of no use, but it must be able to say it.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        let profiles = tempfile::tempdir().expect("a folder for profiles");
        Self { port, _process: process, profiles, windows: Mutex::default() }
    }

    /// Opens a window with a fresh profile, as wide and high as a screen.
    pub async fn window(&self, name: &str, (width, height): (u32, u32)) -> Window {
        let mut wishes = DesiredCapabilities::chrome();
        wishes.set_binary(&found("chromium").unwrap().to_string_lossy()).unwrap();
        let profile = self.profiles.path().join(name);
        for flag in [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
            &format!("--user-data-dir={}", profile.display()),
        ] {
            wishes.add_arg(flag).unwrap();
        }
        let address = format!("http://127.0.0.1:{}", self.port);
        let driver = WebDriver::new(address, wishes).await.expect("a window");
        driver.set_script_timeout(Duration::from_mins(1)).await.unwrap();
        let window = Window { name: name.to_owned(), driver };
        self.windows.lock().unwrap().push(window.clone());
        window.cdp("Page.addScriptToEvaluateOnNewDocument", json!({ "source": WATCH })).await;
        window.size(width, height).await;
        window
    }

    /// Keeps what the windows show.
    async fn keep(&self, test: &str) {
        let windows = self.windows.lock().unwrap().clone();
        for window in windows {
            let path = folder("browser").join(format!("{test}-{}", window.name));
            let _ = window.driver.screenshot(&path.with_extension("png")).await;
            if let Ok(html) = window.driver.source().await {
                let _ = std::fs::write(path.with_extension("html"), html);
            }
        }
        eprintln!("{test}: the windows are kept in target/browser/");
    }
}

impl Window {
    pub async fn cdp(&self, method: &str, what: serde_json::Value) -> serde_json::Value {
        self.driver.cdp().send_raw(method, what).await.unwrap()
    }

    pub async fn size(&self, width: u32, height: u32) {
        let size = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500,
        });
        self.cdp("Emulation.setDeviceMetricsOverride", size).await;
    }

    /// Light or dark, as the system would want it.
    pub async fn colours(&self, theme: &str) {
        let wants = json!({ "features": [{ "name": "prefers-color-scheme", "value": theme }] });
        self.cdp("Emulation.setEmulatedMedia", wants).await;
    }

    pub async fn go(&self, url: &str) {
        self.driver.goto(url).await.unwrap();
    }

    /// What it shows first for a selector, waited for.
    pub async fn find(&self, css: &str) -> WebElement {
        let query = self.driver.query(By::Css(css)).wait(PATIENCE, EVERY);
        let found = query.desc(css).first().await;
        match found {
            Ok(found) => found,
            Err(error) => panic!("{}: no {css}: {error} in: {}", self.name, self.text().await),
        }
    }

    /// Waits until a text stands below a selector. Also over pages that come anew.
    pub async fn sees(&self, css: &str, text: &str) {
        let query = self.driver.query(By::Css(css)).wait(PATIENCE, EVERY).ignore_errors(true);
        let wanted = text.to_owned();
        let query = query.with_text(move |shown: &str| shown.contains(&wanted));
        if let Err(error) = query.first().await {
            panic!("{}: no {text:?} in {css}: {error} in: {}", self.name, self.text().await);
        }
    }

    /// Presses the button of the form that is sent to an address that ends so.
    pub async fn press(&self, action: &str) {
        let button = self.find(&format!("form[action$='{action}'] button")).await;
        button.scroll_into_view().await.unwrap();
        button.click().await.unwrap();
    }

    pub async fn choose(&self, css: &str, value: &str) {
        self.find(&format!("{css} option[value='{value}']")).await.click().await.unwrap();
    }

    pub async fn text(&self) -> String {
        match self.driver.find(By::Css("body")).await {
            Ok(body) => body.text().await.unwrap_or_default(),
            Err(error) => error.to_string(),
        }
    }

    pub async fn run(&self, script: &str) -> serde_json::Value {
        self.driver.execute(script, vec![]).await.unwrap().json().clone()
    }

    /// The network swallows whatever the page asks for by itself: it stays as it is, while others go on.
    pub async fn falls_behind(&self) {
        self.run("window.fetch = () => new Promise(() => {})").await;
    }

    /// Fails if the content policy has stopped anything on this page.
    pub async fn is_clean(&self) {
        let stopped = self.run("return window.stopped").await;
        assert_eq!(
            stopped,
            json!([]),
            "{}: {}",
            self.name,
            self.driver.current_url().await.unwrap()
        );
    }
}
