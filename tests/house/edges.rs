//! Who may know whom.

use std::collections::BTreeSet;

use crate::source::{self, Source};

/// The rooms of the house and whom each may name: DESIGN §3, "Who may know whom". A room that is not listed may
/// name nobody, and whoever builds a new one says here what it may know.
const EDGES: &[(&str, &[&str])] = &[
    // The shim knows whom it starts.
    (
        "main",
        &[
            "acceptance",
            "admin",
            // The randomness of a new audit key.
            "clock",
            "config",
            "demo",
            "domain",
            "engine",
            "import",
            "locate",
            "replay",
            "stand",
            "store",
            "web",
        ],
    ),
    // The architecture page only lists the rooms.
    ("lib", &[]),
    ("web", &["clock", "config", "domain", "engine", "import", "intake", "locate", "store"]),
    ("engine", &["clock", "domain", "fault", "locate", "store"]),
    // It talks to the product over HTTP and shares the words and the judge of histories, and no more; a private
    // product is started for it by the stand.
    ("acceptance", &["clock", "domain", "stand"]),
    ("stand", &["admin", "clock", "domain", "engine", "store", "web"]),
    // The desk's own accounts and tokens, from the command line.
    ("admin", &["clock", "domain", "store", "web"]),
    // It speaks HTTP to the product like any stranger.
    ("client", &["domain"]),
    // People who act by themselves, through the client: the demo's and the replay's.
    ("simulate", &["client", "clock", "domain"]),
    (
        "demo",
        &["admin", "client", "clock", "config", "domain", "engine", "simulate", "store", "web"],
    ),
    (
        "replay",
        &[
            "admin", "client", "clock", "config", "domain", "engine", "intake", "simulate",
            "store", "web",
        ],
    ),
    // Files of other systems, row by row: pure, but for reading.
    ("intake", &["domain"]),
    ("import", &["domain", "engine", "intake", "store"]),
    ("locate", &["clock", "domain"]),
    ("store", &["clock", "domain", "fault"]),
    // Pure. The switches of planted faults are constants outside of the fault tests.
    ("domain", &["fault"]),
    ("clock", &["domain"]),
    // Fail-points return the store's errors, in a macro that is expanded where it is used.
    ("fault", &["store"]),
    ("config", &[]),
];

/// Crates, and the rooms that may name them.
const CRATES: &[(&str, &[&str])] = &[
    ("sqlx", &["store"]),
    ("axum", &["web", "acceptance"]),
    ("askama", &["web", "acceptance"]),
    ("redis", &["locate", "engine"]),
    ("clap", &["main", "config"]),
    ("anyhow", &["main"]),
    ("reqwest", &["acceptance", "client"]),
    ("fastrand", &["acceptance", "client", "simulate", "demo", "replay"]),
    ("csv", &["intake", "import", "acceptance"]),
    ("indicatif", &["acceptance", "import", "replay", "demo"]),
    ("argon2", &["web"]),
    ("tower_sessions", &["web"]),
    ("hyper", &["web", "acceptance"]),
    (
        "tokio",
        &[
            "main",
            "clock",
            "engine",
            "import",
            "locate",
            "store",
            "web",
            "acceptance",
            "client",
            "simulate",
            "stand",
            "demo",
            "replay",
        ],
    ),
];

/// The rooms that a file names, by `crate::…` or, from the program itself, by `dispatch_desk::…`.
fn named(code: &str) -> BTreeSet<String> {
    let mut rooms = BTreeSet::new();
    for root in ["crate::", "dispatch_desk::"] {
        for (at, _) in code.match_indices(root) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
                continue;
            }
            let path = code[at + root.len()..].trim_start();
            match path.strip_prefix('{') {
                Some(list) => rooms.extend(heads(list)),
                None => rooms.extend([word(path)]),
            }
        }
    }
    rooms.remove("");
    rooms
}

fn word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// The first words of the entries of a list in braces: `a::{b, c}, d as e}` has `a` and `d`.
fn heads(list: &str) -> Vec<String> {
    let (mut heads, mut depth, mut starts) = (Vec::new(), 0_u32, true);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => starts = true,
            c if c.is_whitespace() => {}
            _ if starts => {
                heads.push(word(&list[at..]));
                starts = false;
            }
            _ => {}
        }
    }
    heads
}

/// The rooms that a file names and may not.
fn trespasses(file: &Source) -> Vec<String> {
    let room = file.room();
    let allowed = EDGES.iter().find(|(known, _)| *known == room).map_or(&[][..], |(_, may)| may);
    let named = named(&file.code());
    // Items of the crate's root: macros such as `crate::fail_point!`.
    let rooms = named.into_iter().filter(|named| EDGES.iter().any(|(known, _)| known == named));
    let strangers = rooms.filter(|named| named != room && !allowed.contains(&named.as_str()));
    strangers.map(|named| format!("{}: {room} may not know {named}", file.path)).collect()
}

/// The crates that a file names outside of their rooms.
fn strays(file: &Source) -> Vec<String> {
    let code = file.code();
    let names = |krate: &str| {
        code.match_indices(krate).any(|(at, _)| {
            let before = code[..at].chars().next_back();
            let inside = before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':');
            let after = code[at + krate.len()..].trim_start();
            !inside && (after.starts_with("::") || code[..at].trim_end().ends_with("use"))
        })
    };
    CRATES
        .iter()
        .filter(|(krate, rooms)| !rooms.contains(&file.room()) && names(krate))
        .map(|(krate, rooms)| format!("{}: {krate} belongs to {rooms:?}", file.path))
        .collect()
}

#[test]
fn nobody_knows_more_than_they_may() {
    let found: Vec<_> = source::all().iter().flat_map(trespasses).collect();
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn crates_stay_in_their_rooms() {
    let found: Vec<_> = source::all().iter().flat_map(strays).collect();
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn every_room_is_on_the_list() {
    for file in source::all() {
        assert!(EDGES.iter().any(|(room, _)| *room == file.room()), "{} is in no room", file.path);
    }
}

/// Whatever is allowed leads downwards: nobody is known by somebody whom they know, but for the fault switches.
#[test]
fn the_rooms_know_each_other_one_way_only() {
    for (room, may) in EDGES {
        for other in *may {
            let back =
                EDGES.iter().find(|(known, _)| known == other).map_or(&[][..], |(_, may)| may);
            let excused = [*room, *other].contains(&"fault");
            assert!(excused || !back.contains(room), "{room} and {other} know each other");
        }
    }
}

#[test]
fn a_trespass_would_be_found() {
    let bad = [
        ("domain/decide/mod.rs", "use crate::store::Tx;"),
        ("domain/task.rs", "fn f() -> crate::clock::SystemClock { todo!() }"),
        (
            "store/db.rs",
            "use crate::{\n    clock::Clock,\n    domain::{id::TaskId, task::Task},\n    engine::executor,\n};",
        ),
        ("engine/expiry.rs", "pub use crate::web;"),
        ("main.rs", "use dispatch_desk::{\n    config::Config,\n    simulate::Cast,\n};"),
        ("locate/memory.rs", "use crate :: x; use crate::  store::Db;"),
        ("new_room.rs", "use crate::domain::id::TaskId;"),
    ];
    for (path, text) in bad {
        assert_eq!(trespasses(&Source::sample(path, text)).len(), 1, "{path}: {text}");
    }
    let good = [
        ("domain/task.rs", "use crate::domain::id::TaskId; use super::id;"),
        (
            "store/db.rs",
            "/// See [`x`](crate::engine::executor).\nuse crate::{domain::{web, engine}, clock};",
        ),
        ("store/db.rs", "let text = \"use crate::web;\";"),
        ("store/db.rs", "#[cfg(test)]\nmod tests {\n    use crate::engine::expiry;\n}"),
        ("store/sql.rs", "$crate::store::sql::Sql {"),
    ];
    for (path, text) in good {
        assert_eq!(trespasses(&Source::sample(path, text)), Vec::<String>::new(), "{path}: {text}");
    }
}

#[test]
fn a_stray_crate_would_be_found() {
    for (path, text) in [
        ("engine/lane.rs", "use sqlx::Row;"),
        ("engine/lane.rs", "fn f(x: sqlx::Error) {}"),
        ("engine/lane.rs", "use sqlx;"),
        ("domain/id.rs", "use {serde::Serialize, tokio::sync::mpsc};"),
        ("store/db.rs", "use axum::Router;"),
        ("web/mod.rs", "redis::Client::open"),
        ("acceptance/run.rs", "anyhow::Result<()>"),
    ] {
        assert_eq!(strays(&Source::sample(path, text)).len(), 1, "{path}: {text}");
    }
    for (path, text) in [
        ("store/db.rs", "use sqlx::Row;"),
        ("engine/lane.rs", "use my_sqlx::Row; let sqlx = 1; use crate::store::sqlx::X;"),
        ("engine/lane.rs", "// sqlx::Row\n"),
    ] {
        assert_eq!(strays(&Source::sample(path, text)), Vec::<String>::new(), "{path}: {text}");
    }
}
