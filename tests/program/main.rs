//! The program itself, as an operator runs it.

mod admin;
mod audit;

use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dispatch-desk"))
        .args(arguments)
        .output()
        .expect("the program runs")
}

#[test]
fn a_mistyped_file_is_not_reconciled_and_not_made() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("desk.db");
    let url = format!("sqlite://{}", file.display());
    let missing = run(&["reconcile", "--database", &url]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("there is no database"));
    assert!(!file.exists());

    assert_eq!(run(&["version", "--database", &url]).status.code(), Some(0));
    let empty = run(&["reconcile", "--database", &url]);
    assert_eq!(empty.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&empty.stdout).contains("all fit together"));
}
