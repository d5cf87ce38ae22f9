//! Whatever a stranger sends is answered, and never as a mistake of ours: the parsers at the edge, by chance.

use axum::{
    Router,
    body::Body,
    http::{HeaderName, HeaderValue, Method, Request, header},
};
use dispatch_desk::web::{self, Origin};
use proptest::{
    collection::vec,
    prelude::*,
    test_runner::{Config, TestRunner},
};
use serde_json::Value;
use tokio::runtime::Runtime;
use tower::ServiceExt;

use crate::{
    harness::*,
    http::{give_tokens, order_body, token_of},
};

/// The routes of a desk, without connections, with somebody signed in on each side of the house.
struct Routes {
    runtime: Runtime,
    router: Router,
    desk: Desk,
    cookies: [String; 2],
}

impl Routes {
    fn open() -> Self {
        let runtime = Runtime::new().expect("threads");
        let (router, desk, cookies) = runtime.block_on(async {
            let desk = Desk::open(Database::Sqlite).await;
            give_tokens(&desk.db).await;
            let task = desk.create().await;
            desk.done(D1, task, 1, offer(1)).await;
            let origin = Origin::parse("http://desk.example").expect("an origin");
            let router = web::router(&web::Desk::new(desk.executor.clone(), origin));
            let mut cookies = Vec::new();
            for (actor, door) in [(D1, "/desk"), (rider(1), "/rider")] {
                let link = dispatch_desk::admin::link(&desk.db, &actor, 3_600_000, 1).await;
                let path = format!("{door}{}", link.expect("a link"));
                let enter = Request::post(path).header(header::HOST, "desk.example");
                let enter = enter.body(Body::empty()).expect("a request");
                let entered = router.clone().oneshot(enter).await.expect("an answer");
                let cookie = entered.headers()[header::SET_COOKIE].to_str().expect("text");
                cookies.push(cookie.split(';').next().expect("a pair").to_owned());
            }
            (router, desk, cookies.try_into().expect("two"))
        });
        Self { runtime, router, desk, cookies }
    }

    /// Sends it, if it is a request at all; the status.
    fn ask(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, Vec<u8>)],
        body: Vec<u8>,
    ) -> Result<u16, TestCaseError> {
        let mut request = Request::new(Body::from(body));
        *request.method_mut() = method;
        let Ok(uri) = path.parse() else { return Ok(0) };
        *request.uri_mut() = uri;
        let host = HeaderValue::from_static("desk.example");
        request.headers_mut().insert(header::HOST, host);
        for (name, value) in headers {
            let name: HeaderName = name.parse().expect("a name");
            // What is no header does not come through the parser of HTTP.
            let Ok(value) = HeaderValue::from_bytes(value) else { return Ok(0) };
            request.headers_mut().append(name, value);
        }
        let said = format!("{request:?}");
        self.runtime.block_on(async {
            let response = self.router.clone().oneshot(request).await.expect("an answer");
            let status = response.status().as_u16();
            prop_assert!(status < 500, "{status} to {said}");
            prop_assert!(response.headers().contains_key("x-request-id"), "{said}");
            // The whole of it can be had.
            let body = axum::body::to_bytes(response.into_body(), 32 << 20).await;
            prop_assert!(body.is_ok(), "{said}");
            Ok(status)
        })
    }

    fn close(self) {
        let Self { runtime, desk, .. } = self;
        runtime.block_on(async {
            let head = desk.read().await.head().await;
            assert!(head.is_ok(), "the database has taken no harm");
        });
    }
}

/// Runs one property; each case is a request.
fn each<S: Strategy>(strategy: S, test: impl Fn(&Routes, S::Value) -> Result<(), TestCaseError>) {
    let routes = Routes::open();
    let cases = if std::env::var("DISPATCH_TEST_ROUNDS").is_ok_and(|rounds| rounds == "full") {
        5_000
    } else {
        300
    };
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let ran = TestRunner::new(config).run(&strategy, |value| test(&routes, value));
    if let Err(error) = ran {
        panic!("{error}");
    }
    routes.close();
}

/// Bytes: any, and such as parsers look for.
fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    let special = b",;=:/\\\"'%&+?#[]{}()<>@. \t-_*0123456789qQzZ\0\r\n\x7f\xff\xc3\xe4".to_vec();
    prop_oneof![
        vec(any::<u8>(), 0..most),
        vec(proptest::sample::select(special), 0..most),
        any::<String>().prop_map(String::into_bytes),
    ]
}

/// Words of a header with bits of others mixed in.
fn words(all: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    let one = prop_oneof![
        4 => proptest::sample::select(all).prop_map(|word| word.as_bytes().to_vec()),
        1 => bytes(12),
    ];
    vec(one, 0..12).prop_map(|parts| parts.concat())
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        Just(Value::from("2026-11-30T04:00:00Z")),
    ];
    let name = proptest::sample::select(
        &[
            "revision",
            "rider_id",
            "seconds",
            "reason",
            "handover_confirmed",
            "ticket",
            "round",
            "nonce",
            "items",
            "verb",
            "task_id",
            "note",
            "lat",
            "lng",
            "address",
            "pickup",
            "fixes",
            "seq",
            "at",
            "duty",
            "request_key",
            "region",
            "x",
        ][..],
    );
    leaf.prop_recursive(4, 32, 6, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            vec((name.clone(), inner), 0..6).prop_map(|members| {
                Value::Object(
                    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
                )
            }),
        ]
    })
}

#[test]
fn any_head_is_answered() {
    let languages =
        words(&["zh-CN", "en", "*", ",", ";q=", "0.5", "1.0", "-", " ", "NaN", "inf", "1e999"]);
    let cookies = words(&[
        "desk",
        "rider",
        "__Host-desk",
        "lang",
        "theme",
        "=",
        ";",
        " ",
        "\"",
        "AAAA",
        "zh-CN",
        "dark",
    ]);
    let tokens =
        words(&["Bearer", "bearer", " ", "desk_", "staff-1", "_", "secret", "Basic", "'", "%00"]);
    let hops = words(&[
        "10.0.0.1",
        "::1",
        "[::1]:80",
        ",",
        " ",
        "unknown",
        "1.2.3.4:5",
        "for=",
        "::ffff:1.2.3.4",
    ]);
    let sites =
        words(&["same-origin", "none", "cross-site", "null", "http://", "desk.example", ":", "/"]);
    let accepts = words(&["text/html", "*/*", ",", "application/json", ";q=0"]);
    let paths = proptest::sample::select(
        &[
            "/",
            "/board",
            "/sign-in",
            "/t/0123",
            "/enter/0123",
            "/rider",
            "/api/v1/tasks",
            "/api/v1/time",
            "/nowhere",
            "/taste?lang=en&back=/x",
        ][..],
    );
    let heads = (languages, cookies, tokens, hops, sites, accepts, paths, any::<bool>());
    each(heads, |routes, (language, cookie, token, hop, site, accept, path, posts)| {
        let headers = [
            ("accept-language", language),
            ("cookie", cookie),
            ("authorization", token),
            ("x-forwarded-for", hop),
            ("origin", site.clone()),
            ("sec-fetch-site", site.clone()),
            ("accept", accept),
            ("idempotency-key", site),
        ];
        let method = if posts { Method::POST } else { Method::GET };
        routes.ask(method.clone(), path, &headers, Vec::new())?;
        // One by one: what is wrong with the first one must not hide the others.
        for header in headers {
            routes.ask(method.clone(), path, &[header], Vec::new())?;
        }
        Ok(())
    });
}

#[test]
fn any_host_is_answered() {
    each((bytes(40), bytes(40)), |routes, (host, more)| {
        routes.ask(
            Method::GET,
            "/healthz",
            &[("host", host.clone()), ("host", more.clone())],
            Vec::new(),
        )?;
        routes.ask(
            Method::POST,
            "/sign-in",
            &[("origin", host), ("forwarded", more)],
            Vec::new(),
        )?;
        Ok(())
    });
}

#[test]
fn any_path_and_query_is_answered() {
    let escaped = bytes(24).prop_map(|bytes| {
        bytes.iter().fold(String::new(), |path, byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => {
                format!("{path}{}", char::from(*byte))
            }
            byte => format!("{path}%{byte:02X}"),
        })
    });
    let raw = bytes(24).prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let part = prop_oneof![3 => escaped, 1 => raw];
    let before = proptest::sample::select(
        &[
            "/api/v1/tasks/",
            "/api/v1/offers/",
            "/api/v1/track/",
            "/tasks/",
            "/t/",
            "/enter/",
            "/import/",
            "/static/",
            "/api/v1/tasks?cursor=",
            "/api/v1/tasks?state=",
            "/api/v1/events?after=",
            "/api/v1/rider/pool?cursor=",
            "/board?show=",
            "/board?beyond=",
            "/rider?answer=",
            "/rider?beyond=",
            "/sign-in?next=",
            "/taste?lang=",
            "/",
            "/tasks/T1?answer=",
            "/tasks/T1?verb=",
        ][..],
    );
    let after =
        proptest::sample::select(&["", "/events", "/attempts", "&limit=", "&x=1", "/cancel"][..]);
    each((before, part, after, any::<bool>()), |routes, (before, part, after, rider)| {
        let (token, cookie) =
            if rider { (token_of(&crate::harness::rider(1)), 1) } else { (token_of(&D1), 0) };
        let headers = [
            ("authorization", format!("Bearer {token}").into_bytes()),
            ("cookie", routes.cookies[cookie].clone().into_bytes()),
        ];
        routes.ask(Method::GET, &format!("{before}{part}{after}"), &headers, Vec::new())?;
        routes.ask(Method::GET, &format!("{before}{part}{after}"), &[], Vec::new())?;
        Ok(())
    });
}

const BODIES: [&str; 22] = [
    "/tasks",
    "/bulk",
    "/tasks/1/grab",
    "/tasks/1/offer",
    "/tasks/1/assign",
    "/tasks/1/accept",
    "/tasks/1/decline",
    "/tasks/1/withdraw",
    "/tasks/1/cancel",
    "/tasks/1/reassign",
    "/tasks/1/hand-back",
    "/tasks/1/arrive",
    "/tasks/1/pick-up",
    "/tasks/1/deliver",
    "/rider/duty",
    "/rider/location",
    "/offers/0123/accept",
    "/track/0123/cancel",
    "/tasks/999/cancel",
    "/tasks/x/cancel",
    "/tasks/1/detail",
    "/nowhere",
];

#[test]
fn any_json_body_is_answered() {
    let written = json().prop_map(|value| value.to_string().into_bytes());
    // An order, with one byte changed or cut off after so many.
    let order = order_body(&order(), Some("k-fuzz".to_owned())).to_string().into_bytes();
    let damaged = (any::<proptest::sample::Index>(), any::<u8>(), any::<bool>()).prop_map(
        move |(at, byte, cut)| {
            let mut order = order.clone();
            let at = at.index(order.len());
            order[at] = byte;
            if cut {
                order.truncate(at);
            }
            order
        },
    );
    let body = prop_oneof![3 => written, 2 => damaged, 1 => bytes(200)];
    let kind = prop_oneof![8 => Just(b"application/json".to_vec()), 1 => bytes(20)];
    let path = proptest::sample::select(&BODIES[..]);
    each((path, body, kind, 0_usize..4), |routes, (path, body, kind, who)| {
        let actor = [D1, SUPERVISOR, rider(1), shop()][who].clone();
        let headers = [
            ("authorization", format!("Bearer {}", token_of(&actor)).into_bytes()),
            ("content-type", kind),
            ("idempotency-key", b"k-fuzz".to_vec()),
        ];
        let method = if path.ends_with("/detail") { Method::PATCH } else { Method::POST };
        routes.ask(method, &format!("/api/v1{path}"), &headers, body)?;
        Ok(())
    });
}

/// The word of a session's forms, as its pages carry it.
fn word(cookie: &str) -> String {
    use sha2::{Digest, Sha256};
    let session = cookie.split_once('=').expect("a pair").1;
    let digest = Sha256::digest(format!("dispatch-desk form{session}"));
    digest[..16].iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

#[test]
fn any_form_is_answered() {
    let field = proptest::sample::select(
        &[
            "key",
            "revision",
            "rider",
            "rider_number",
            "seconds",
            "reason",
            "note",
            "due_at",
            "was_note",
            "priority",
            "region",
            "pickup_place",
            "pickup_address",
            "fee",
            "vehicle",
            "duty",
            "login",
            "password",
            "next",
            "form",
            "x",
        ][..],
    );
    let value = prop_oneof![
        bytes(20),
        proptest::sample::select(
            &[
                "1",
                "R1",
                "-1",
                "99999999999999999999",
                "%00",
                "%FF",
                "%",
                "%u0041",
                "2026-11-30T12:00"
            ][..]
        )
        .prop_map(|text| text.as_bytes().to_vec()),
    ];
    let fields = vec((field, value), 0..10).prop_map(|fields| {
        let pair = |(name, value): (&str, Vec<u8>)| [name.as_bytes(), b"=", &value].concat();
        fields.into_iter().map(pair).collect::<Vec<_>>().join(&b'&')
    });
    let body = prop_oneof![4 => fields, 1 => bytes(200)];
    let path = proptest::sample::select(
        &[
            "/sign-in",
            "/sign-out",
            "/tasks/new",
            "/tasks/1/cancel",
            "/tasks/1/offer",
            "/tasks/1/detail",
            "/tasks/x/y",
            "/import/0123",
            "/import",
            "/rider/duty",
            "/rider/tasks/1/accept",
            "/rider/tasks/1/grab",
            "/t/0123/cancel",
            "/desk/enter/0123",
            "/rider/enter/0123",
            "/nowhere",
        ][..],
    );
    each((path, body, any::<bool>()), |routes, (path, body, worded)| {
        let cookie = &routes.cookies[usize::from(path.starts_with("/rider"))];
        // Signing out would end the session for the cases that follow.
        let worded = worded && path != "/sign-out";
        let body =
            if worded { [b"form=", word(cookie).as_bytes(), b"&", &body].concat() } else { body };
        let headers = [
            ("cookie", cookie.clone().into_bytes()),
            ("sec-fetch-site", b"same-origin".to_vec()),
            ("content-type", b"application/x-www-form-urlencoded".to_vec()),
        ];
        routes.ask(Method::POST, path, &headers, body)?;
        Ok(())
    });
}

#[test]
fn any_upload_is_answered() {
    let file = prop_oneof![
        bytes(300),
        words(&[
            "pickup_latitude",
            "pickup_longitude",
            "trip_start_timestamp",
            ",",
            "\r\n",
            "\n",
            "\"",
            "31.2",
            "121.4",
            ";",
            "\t"
        ]),
        Just(b"\xef\xbb\xbfa,b\n1,2".to_vec()),
        Just(b"\xff\xfea\0,\0b\0".to_vec()),
        Just(b"PK\x03\x04".to_vec()),
        Just(b"a,\0b\n".to_vec()),
        Just([b"a,b\n\"".as_slice(), &vec![b'x'; 100_000]].concat()),
    ];
    let mapping =
        prop_oneof![Just("chicago".to_owned()), Just("eleme".to_owned()), any::<String>()];
    let broken = prop_oneof![6 => Just(None), 1 => bytes(60).prop_map(Some)];
    each((file, mapping, any::<String>(), broken), |routes, (file, mapping, date, broken)| {
        let part = |name: &str, value: &[u8]| {
            let head = format!("--edge\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n");
            [head.as_bytes(), value, b"\r\n"].concat()
        };
        let cookie = &routes.cookies[0];
        let mut body = [
            part("form", word(cookie).as_bytes()),
            part("mapping", mapping.as_bytes()),
            part("region", b"1"),
            part("source", b"fuzz"),
            part("base_date", date.as_bytes()),
            part("pickup", b""),
            b"--edge\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x\"\r\n\r\n"
                .to_vec(),
            file,
            b"\r\n--edge--\r\n".to_vec(),
        ]
        .concat();
        if let Some(broken) = broken {
            let middle = body.len() / 2;
            body.splice(middle..middle, broken);
        }
        let headers = [
            ("cookie", cookie.clone().into_bytes()),
            ("sec-fetch-site", b"same-origin".to_vec()),
            ("content-type", b"multipart/form-data; boundary=edge".to_vec()),
        ];
        routes.ask(Method::POST, "/import", &headers, body)?;
        Ok(())
    });
}
