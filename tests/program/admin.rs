//! `dispatch-desk admin`: whoever has the machine in hand may do much, and all of it stands in the log.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use crate::run;

/// Runs it on a database, which is named before what is to be done.
fn at(url: &str, arguments: &[&str]) -> std::process::Output {
    run(&[&arguments[..1], &["--database", url], &arguments[1..]].concat())
}

/// Runs it and returns what it printed.
fn printed(url: &str, arguments: &[&str]) -> String {
    let output = at(url, arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {error}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Sets a password, which is read from standard input.
fn set_password(url: &str, password: &str) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_dispatch-desk"))
        .args(["admin", "--database", url, "password", "D1", "--login", "zhao"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("the program runs");
    let mut input = child.stdin.take().expect("its input");
    input.write_all(password.as_bytes()).expect("it reads");
    drop(input);
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn what_is_done_on_the_command_line_stands_in_the_log() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("sqlite://{}/desk.db", folder.path().display());
    let place = ["--time-zone", "Asia/Shanghai", "--centre", "31.23,121.47", "--radius-m", "20000"];
    assert_eq!(printed(&url, &[&["admin", "region", "north"], &place[..]].concat()), "G1");
    let staff = ["admin", "staff", "Zhao", "--role", "dispatcher", "--regions", "G1"];
    assert_eq!(printed(&url, &staff), "D1");
    assert_eq!(printed(&url, &["admin", "rider", "Li", "--region", "G1"]), "R1");
    let token = printed(&url, &["admin", "token", "--staff", "D1"]);
    let link = printed(&url, &["admin", "link", "--rider", "R1"]);
    set_password(&url, "correct horse battery");
    assert_eq!(printed(&url, &["admin", "revoke", &token]), "ended");
    // Nobody of that number, and a token that is over: nothing was done, and nothing is said to be.
    for nothing in [["admin", "link", "--staff", "D9"], ["admin", "token", "--rider", "R9"]] {
        assert_ne!(at(&url, &nothing).status.code(), Some(0));
    }
    assert_ne!(at(&url, &["admin", "revoke", &token]).status.code(), Some(0));
    let log = printed(&url, &["audit", "export", "--format", "jsonl"]);
    let mut events: Vec<serde_json::Value> =
        log.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
    events.retain(|line| line["record"] == "event");
    events.reverse();
    let done: Vec<_> =
        events.iter().map(|event| event["action"].as_str().unwrap_or_default()).collect();
    let expected = [
        "region-added",
        "staff-added",
        "rider-added",
        "token-made",
        "sign-in-link-made",
        "password-set",
        "token-ended",
        "exported",
    ];
    assert_eq!(done, expected);
    for event in &events {
        let told = event.to_string();
        assert!(told.contains("command-line") && told.contains("system"), "{told}");
        for secret in [token.rsplit('_').next(), link.rsplit('/').next(), Some("correct horse")] {
            let secret = secret.expect("a secret");
            assert!(!told.contains(secret), "{told}");
        }
    }
}
