//! The desk behind its face: real servers on the loopback address, tokens for the cast, and a client that records
//! every command, holds every answer against the `OpenAPI` document, and looks for what every answer must carry.
//!
//! On SQLite there is one server. On PostgreSQL there are two, the second one in another process.

use std::{
    collections::HashMap,
    future::{Future, IntoFuture},
    ops::Deref,
    pin::Pin,
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use dispatch_desk::{
    clock::ManualClock,
    domain::{
        command::{Act, Actor, Command, DetailChanges, NewTask, Stop, What},
        id::{TaskId, Timestamp},
        refusal::Lang,
    },
    engine::{
        executor::{Executor, Settings},
        hub,
    },
    store::{ApiToken, Db, Time},
    web::{Desk as WebDesk, Limits, Origin, Server},
};
use serde_json::{Map, Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::TcpListener,
    process::Child,
    sync::Barrier,
};

use crate::{
    book::{Book, Said},
    harness::{
        cast::{self, FOREIGN_RIDER, NOON, RIDERS, rider, shop},
        desk::{Database, Desk},
        record::{Came, Returned, Sent, now_ns},
    },
};

/// A desk with its servers.
#[derive(Debug)]
pub struct Face {
    desk: Desk,
    /// Where it can be reached; with two nodes, both.
    pub origins: Vec<String>,
    pub book: Arc<Book>,
    client: reqwest::Client,
    turn: AtomicUsize,
    /// That of this process.
    pub servers: Vec<Server>,
    _other: Option<Child>,
}

impl Deref for Face {
    type Target = Desk;

    fn deref(&self) -> &Desk {
        &self.desk
    }
}

/// The token of one of the cast.
pub fn token_of(actor: &Actor) -> String {
    let (kind, id) = (actor.kind(), actor.id().unwrap_or_default());
    format!("desk_{kind}-{id}_secret-of-{kind}-{id}")
}

/// Keeps the tokens of the cast.
pub async fn give_tokens(db: &Db) {
    let staff = [
        cast::D1,
        cast::D2,
        cast::SUPERVISOR,
        cast::FOREIGN_DISPATCHER,
        cast::ADMIN,
        cast::AUDITOR,
    ];
    let riders = (1..=RIDERS).chain([FOREIGN_RIDER]).map(rider);
    let shops = [shop(), Actor::Intake("other_shop".to_owned())];
    let mut tx = db.begin().await.expect("the database can be written");
    for actor in staff.into_iter().chain(riders).chain(shops) {
        let token = token_of(&actor);
        let (id, secret) = token["desk_".len()..].split_once('_').expect("an id and a secret");
        let token = ApiToken::new(id, secret, "a test", &actor, NOON);
        tx.add_token(&token).await.expect("it is kept");
    }
    tx.commit().await.expect("it lasts");
}

/// Serves on a free port of the loopback address.
pub async fn serve(executor: Executor, limits: Limits) -> Server {
    serve_live(executor, limits, hub::Settings::default()).await
}

/// The same with live streams that work as `live` says.
pub async fn serve_live(executor: Executor, limits: Limits, live: hub::Settings) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let origin = Origin::parse(&format!("http://{address}")).expect("an origin");
    Server::start(WebDesk::live(executor, origin, live), listener, limits).expect("it serves")
}

impl Face {
    /// Starts the servers on the desk's database.
    pub async fn of(desk: Desk) -> Self {
        Self::with(desk, Limits::default()).await
    }

    /// The same with limits of its own for the server of this process.
    pub async fn with(desk: Desk, limits: Limits) -> Self {
        Self::live(desk, limits, hub::Settings::default()).await
    }

    /// The same with live streams that work as `live` says.
    pub async fn live(desk: Desk, limits: Limits, live: hub::Settings) -> Self {
        // What the servers have to say stands beside a failure.
        let log = tracing_subscriber::fmt().with_test_writer();
        let _ = log.with_max_level(tracing::Level::WARN).try_init();
        give_tokens(&desk.db).await;
        let here = serve_live(desk.executor.clone(), limits, live).await;
        let mut origins = vec![format!("http://{}", here.address())];
        let other = match desk.database {
            Database::Sqlite => None,
            Database::Postgres => {
                let (child, origin) = other_process(&desk.home.url).await;
                origins.push(origin);
                Some(child)
            }
        };
        let client = reqwest::Client::builder().no_proxy().build().expect("a client");
        let document = client.get(format!("{}/api/v1/openapi.json", origins[0])).send().await;
        let document = document.expect("it answers").text().await.expect("all of it");
        let book = Arc::new(Book::new(serde_json::from_str(&document).expect("JSON")));
        let turn = AtomicUsize::new(0);
        Self { desk, origins, book, client, turn, servers: vec![here], _other: other }
    }

    /// The address of the first server, without a scheme.
    pub fn address(&self) -> &str {
        self.origins[0].trim_start_matches("http://")
    }

    /// Ends the server of this process in good order.
    pub async fn stop(&mut self) {
        for server in self.servers.drain(..) {
            server.stop().await;
        }
    }

    /// A request by `who`, to one node after the other.
    pub fn request(&self, method: &str, who: &Actor, path: &str) -> Ask<'_> {
        Ask { token: Some(token_of(who)), ..self.anonymous(method, path) }
    }

    /// A request without a token.
    pub fn anonymous(&self, method: &str, path: &str) -> Ask<'_> {
        Ask {
            face: self,
            method: method.to_owned(),
            path: path.to_owned(),
            token: None,
            headers: Vec::new(),
            body: None,
            node: self.turn.fetch_add(1, Ordering::Relaxed) % self.origins.len(),
        }
    }

    pub fn get(&self, who: &Actor, path: &str) -> Ask<'_> {
        self.request("GET", who, path)
    }

    /// A command by `who` under a fresh key.
    pub fn post(&self, who: &Actor, path: &str, body: &Value) -> Ask<'_> {
        self.request("POST", who, path).json(body).key(self.recorder.fresh_key().as_str())
    }

    /// The same for `PATCH`.
    pub fn patch(&self, who: &Actor, path: &str, body: &Value) -> Ask<'_> {
        Ask { method: "PATCH".to_owned(), ..self.post(who, path, body) }
    }

    /// The command as a request.
    pub async fn as_request(&self, command: &Command) -> Ask<'_> {
        let lang = command.lang.as_str();
        let (method, path, body) = match &command.actor {
            Actor::Customer(task) => self.as_customer(*task, &command.what).await,
            _ => wire(&command.what, command.key.as_ref().map(|key| key.as_str().to_owned())),
        };
        let mut ask = self.anonymous(method, &path).json(&body).header("accept-language", lang);
        if !matches!(command.actor, Actor::Customer(_)) {
            ask.token = Some(token_of(&command.actor));
        }
        match (&command.key, &command.what) {
            (_, What::Create(_)) | (None, _) => ask,
            (Some(key), _) => ask.key(key.as_str()),
        }
    }

    async fn as_customer(&self, task: TaskId, what: &What) -> (&'static str, String, Value) {
        let (_, _, body) = wire(what, None);
        ("POST", format!("/api/v1/track/{}/cancel", self.tracking(task).await), body)
    }

    /// The end of the customer's link.
    pub async fn tracking(&self, task: TaskId) -> String {
        let card = self.read().await.card(task).await.expect("it can be read").expect("it exists");
        card.detail.tracking_token.expect("every task has a link")
    }

    /// Sends a command over HTTP and records it.
    pub async fn tell(&self, command: Command) -> Sent {
        let ask = self.as_request(&command).await;
        let invoked = now_ns();
        let got = ask.await;
        self.recorder.note(command, invoked, now_ns(), got.came())
    }

    /// Sends all commands at once, by turns to the nodes, and returns what came, in the same order.
    pub async fn contest(&self, commands: Vec<Command>) -> Vec<Sent> {
        let barrier = Barrier::new(commands.len());
        let mut asks = Vec::new();
        for (index, command) in commands.iter().enumerate() {
            let ask = self.as_request(command).await;
            asks.push(Ask { node: index % self.origins.len(), ..ask });
        }
        let racers = asks.into_iter().map(|ask| async {
            barrier.wait().await;
            let invoked = now_ns();
            let got = ask.await;
            (invoked, now_ns(), got.came())
        });
        let came = futures_util::future::join_all(racers).await;
        (commands.into_iter().zip(came))
            .map(|(command, (from, to, came))| self.recorder.note(command, from, to, came))
            .collect()
    }
}

/// What is sent for a command: method, path and body.
pub fn wire(what: &What, key: Option<String>) -> (&'static str, String, Value) {
    match what {
        What::Create(new) => ("POST", "/api/v1/tasks".to_owned(), order_body(new, key)),
        What::Change { task, revision, act } => {
            let path = format!("/api/v1/tasks/{}/{}", task.0, act.verb());
            let mut body = json!({ "revision": revision.0 });
            match act {
                Act::Grab { ticket: Some(ticket) } => {
                    body["ticket"] = json!({ "round": ticket.round, "nonce": ticket.nonce });
                }
                Act::Offer { seconds, .. } => put(&mut body, "seconds", *seconds),
                Act::Reassign { seconds, handover_confirmed, .. } => {
                    put(&mut body, "seconds", *seconds);
                    body["handover_confirmed"] = json!(handover_confirmed);
                }
                _ => {}
            }
            put(&mut body, "rider_id", act.named_rider());
            put(&mut body, "reason", act.reason().map(|reason| reason.as_str().to_owned()));
            ("POST", path, body)
        }
        What::Edit { task, detail_revision, changes } => {
            let DetailChanges {
                note,
                pickup_address,
                dropoff_address,
                due_at,
                release_at,
                priority,
            } = changes.as_ref().clone();
            let mut body = json!({ "detail_revision": detail_revision.0 });
            put(&mut body, "note", note);
            put(&mut body, "pickup_address", pickup_address);
            put(&mut body, "dropoff_address", dropoff_address);
            put(&mut body, "due_at", due_at.as_ref().map(Timestamp::to_string));
            put(&mut body, "release_at", release_at.as_ref().map(Timestamp::to_string));
            put(&mut body, "priority", priority);
            ("PATCH", format!("/api/v1/tasks/{}/detail", task.0), body)
        }
    }
}

/// A new task as scripts send it.
pub fn order_body(new: &NewTask, key: Option<String>) -> Value {
    let stop = |stop: &Stop| {
        let mut body = json!({ "lat": stop.lat, "lng": stop.lng, "address": stop.address });
        put(&mut body, "name", stop.name.clone());
        put(&mut body, "phone", stop.phone.clone());
        body
    };
    let mut body = json!({
        "region": new.region.0, "pickup": stop(&new.pickup), "dropoff": stop(&new.dropoff),
        "priority": new.priority,
    });
    put(&mut body, "request_key", key);
    put(&mut body, "release_at", new.release_at.as_ref().map(Timestamp::to_string));
    put(&mut body, "ready_at", new.ready_at.as_ref().map(Timestamp::to_string));
    put(&mut body, "due_at", new.due_at.as_ref().map(Timestamp::to_string));
    put(&mut body, "vehicle", new.vehicle);
    put(&mut body, "fee", new.fee);
    put(&mut body, "note", new.note.clone());
    body
}

fn put(body: &mut Value, name: &str, value: Option<impl serde::Serialize>) {
    if let Some(value) = value {
        body[name] = json!(value);
    }
}

/// A request that is being put together. Await it to send it.
#[derive(Clone, Debug)]
pub struct Ask<'a> {
    pub face: &'a Face,
    pub method: String,
    pub path: String,
    pub token: Option<String>,
    pub headers: Vec<(String, String)>,
    pub body: Option<Vec<u8>>,
    /// Which server is asked.
    pub node: usize,
}

impl Ask<'_> {
    #[must_use]
    pub fn json(self, body: &Value) -> Self {
        self.bytes("application/json", body.to_string().into_bytes())
    }

    #[must_use]
    pub fn bytes(self, media: &str, body: impl Into<Vec<u8>>) -> Self {
        Self { body: Some(body.into()), ..self }.header("content-type", media)
    }

    #[must_use]
    pub fn key(self, key: &str) -> Self {
        self.header("idempotency-key", key)
    }

    /// Sets a header, in place of one that is there.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Leaves a header out.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self
    }

    /// Adds a header beside one that is there.
    #[must_use]
    pub fn also(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    #[must_use]
    pub fn token(self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self }
    }

    #[must_use]
    pub fn in_chinese(self) -> Self {
        self.header("accept-language", "zh-CN")
    }

    /// The bytes of the request, for a connection of the test's own.
    pub fn raw(&self) -> Vec<u8> {
        use std::fmt::Write as _;
        let host = self.face.origins[self.node].trim_start_matches("http://");
        let mut head = format!("{} {} HTTP/1.1\r\nhost: {host}\r\n", self.method, self.path);
        if let Some(token) = &self.token {
            let _ = write!(head, "authorization: Bearer {token}\r\n");
        }
        for (name, value) in &self.headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        let body = self.body.clone().unwrap_or_default();
        let _ = write!(head, "content-length: {}\r\n\r\n", body.len());
        [head.into_bytes(), body].concat()
    }

    async fn send(self) -> Got {
        let url = format!("{}{}", self.face.origins[self.node], self.path);
        let method = self.method.parse().expect("a method");
        let mut request = self.face.client.request(method, url);
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        if let Some(body) = self.body.clone() {
            request = request.body(body);
        }
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) => panic!("{} {}: no answer: {error:?}", self.method, self.path),
        };
        let status = response.status().as_u16();
        let headers: HashMap<_, _> = response
            .headers()
            .iter()
            .map(|(name, value)| {
                (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
            })
            .collect();
        let mut response = response;
        let body = if headers.get("content-type").is_some_and(|kind| kind.contains("event-stream"))
        {
            // It has no end: its first words are enough here.
            let first = response.chunk().await.expect("a frame").unwrap_or_default();
            String::from_utf8_lossy(&first).into_owned()
        } else {
            response.text().await.expect("all of the answer")
        };
        let got = Got { asked: format!("{} {}", self.method, self.path), status, headers, body };
        got.carries_what_every_answer_must();
        let path = self.path.split('?').next().unwrap_or_default();
        let names: Vec<_> = got.headers.keys().cloned().collect();
        let media = got.headers.get("content-type").map(String::as_str);
        let findings = self.face.book.findings(&Said {
            method: &self.method,
            path,
            status,
            media,
            body: &got.body,
            headers: &names,
        });
        assert!(findings.is_empty(), "not as documented: {findings:#?}\n{got:#?}");
        got
    }
}

impl<'a> IntoFuture for Ask<'a> {
    type Output = Got;
    type IntoFuture = Pin<Box<dyn Future<Output = Got> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Got {
    /// Shown when something is wrong with the answer.
    pub asked: String,
    pub status: u16,
    pub headers: HashMap<String, String>,
    pub body: String,
}

impl Got {
    /// The answer, if it has that status.
    #[track_caller]
    pub fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:#?}");
        self
    }

    /// The body.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body)
            .unwrap_or_else(|error| panic!("{}: {error}: {self:#?}", self.asked))
    }

    /// Something in the body, by its JSON pointer.
    #[track_caller]
    pub fn at(&self, pointer: &str) -> Value {
        self.json().pointer(pointer).cloned().unwrap_or_default()
    }

    /// A command that was done.
    #[track_caller]
    pub fn done(self) -> Self {
        assert_eq!(self.at("/outcome"), "done", "{self:#?}");
        self
    }

    /// A refusal, with its code and what must go with it.
    #[track_caller]
    pub fn refused(self, code: &str) -> Self {
        assert_eq!(self.status, 409, "{self:#?}");
        assert_eq!(self.headers["content-type"], "application/json", "{self:#?}");
        assert_eq!((self.at("/outcome"), self.at("/code")), (json!("refused"), json!(code)));
        assert!(self.at("/message").is_string() && self.at("/legal").is_array(), "{self:#?}");
        assert!(self.at("/server_time").is_string(), "{self:#?}");
        self
    }

    /// A problem, with its status, its code and a sentence.
    #[track_caller]
    pub fn problem(self, status: u16, code: &str) -> Self {
        assert_eq!((self.status, self.at("/code")), (status, json!(code)), "{self:#?}");
        assert_eq!(self.headers["content-type"], "application/problem+json", "{self:#?}");
        assert_eq!(self.at("/status"), status, "{self:#?}");
        assert_eq!(self.at("/type"), format!("/rules#{code}"), "{self:#?}");
        assert!(self.at("/title").as_str().is_some_and(|title| title.len() > 8), "{self:#?}");
        self
    }

    /// What the command came to, for the record.
    pub fn came(&self) -> Came {
        let media = self.headers.get("content-type").map(String::as_str);
        if [200, 201, 409].contains(&self.status) && media == Some("application/json") {
            let header = |name: &str| self.headers.get(name).cloned();
            return Came::Back(Returned {
                status: self.status,
                body: self.body.clone(),
                location: header("location"),
                etag: header("etag"),
                replayed: header("idempotency-replayed").as_deref() == Some("true"),
            });
        }
        let code = self.at("/code").as_str().unwrap_or("no code").to_owned();
        // Unknown is the executor's UNAVAILABLE that may have counted.
        Came::Error(if code == "UNKNOWN" { "UNAVAILABLE".to_owned() } else { code })
    }

    #[track_caller]
    fn carries_what_every_answer_must(&self) {
        let header = |name: &str| self.headers.get(name).map_or("", String::as_str);
        let time = chrono::DateTime::parse_from_rfc3339(header("server-time"));
        assert!(time.is_ok(), "no Server-Time: {self:#?}");
        let id = header("x-request-id");
        assert!(id.len() == 32 && id.bytes().all(|b| b.is_ascii_hexdigit()), "{self:#?}");
        let csp = header("content-security-policy");
        assert!(csp.contains("default-src 'none'") && !csp.contains("unsafe"), "{self:#?}");
        assert_eq!(header("x-content-type-options"), "nosniff", "{self:#?}");
        let cached = if header("content-type").starts_with("text/event-stream") {
            // Nothing on the way may hold a stream back to make it smaller.
            "no-store, no-transform"
        } else {
            "no-store"
        };
        assert_eq!(header("cache-control"), cached, "{self:#?}");
        assert_ne!(self.status, 500, "{self:#?}");
    }
}

/// What a JSON object says, field by field, for bodies that are changed in a test.
pub fn with(body: &Value, changes: Value) -> Value {
    let mut all: Map<String, Value> = body.as_object().expect("an object").clone();
    let Value::Object(changes) = changes else { panic!("an object") };
    all.extend(changes);
    Value::Object(all)
}

/// The same without one field.
pub fn without(body: &Value, field: &str) -> Value {
    let mut all = body.as_object().expect("an object").clone();
    all.remove(field);
    Value::Object(all)
}

/// Starts a server in another process on the database at `url`; it ends with this one.
async fn other_process(url: &str) -> (Child, String) {
    let mut child = tokio::process::Command::new(std::env::current_exe().expect("this binary"))
        .args(["--exact", "http::serve_until_killed", "--ignored", "--nocapture"])
        .env("DISPATCH_TEST_SERVER", url)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("another process starts");
    let mut output = BufReader::new(child.stdout.take().expect("its output is ours")).lines();
    loop {
        let line = output.next_line().await.expect("it can be read").expect("it gets ready");
        if let Some((_, origin)) = line.split_once("SERVER ") {
            tokio::spawn(async move { while let Ok(Some(_)) = output.next_line().await {} });
            return (child, origin.to_owned());
        }
    }
}

/// The other process: not a test. Serves until its input ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "the other process of tests with two; started by them"]
async fn serve_until_killed() {
    let Ok(url) = std::env::var("DISPATCH_TEST_SERVER") else { return };
    let time = Time::Manual(Arc::new(ManualClock::at(NOON)));
    let db = Db::open(&url, time).await.expect("the database opens");
    let server = serve(Executor::start(db, Settings::default()), Limits::default()).await;
    let log = tracing_subscriber::fmt().with_writer(std::io::stderr);
    let _ = log.with_max_level(tracing::Level::WARN).try_init();
    println!("\nSERVER http://{}", server.address());
    let mut input = BufReader::new(tokio::io::stdin()).lines();
    while let Ok(Some(_)) = input.next_line().await {}
    server.stop().await;
}

/// The languages of an answer.
pub const LANGS: [(Lang, &str); 2] = [(Lang::Zh, "zh-CN,zh;q=0.9"), (Lang::En, "en-GB, fr;q=0.1")];
