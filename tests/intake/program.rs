//! `dispatch-desk import`, as an operator runs it.

use std::process::{Command, Output};

use dispatch_desk::store::{Db, Time};

use crate::{harness::cast, scene::shape};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dispatch-desk"))
        .args(arguments)
        .output()
        .expect("the program runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[tokio::test]
async fn a_file_is_tried_imported_and_imported_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let url = format!("sqlite://{}", path("desk.db"));
    let db = Db::open(&url, Time::System).await.unwrap();
    cast::enter(&db).await.unwrap();
    db.close().await;
    std::fs::write(path("orders.json"), shape("02_woocommerce_order.json")).unwrap();
    let file = path("orders.json");
    let errors = path("errors.csv");
    let base = [
        "import",
        &file,
        "--mapping",
        "woocommerce",
        "--region",
        "G1",
        "--database",
        &url,
        "--errors",
        &errors,
    ];
    let with = |more: &[&str]| run(&[&base[..], more].concat());
    let pickup = ["--pickup", "31.2304,121.4737,人民大道 100 号, 2 楼"];

    let tried = with(&["--dry-run"]);
    assert_eq!(tried.status.code(), Some(1), "{}", text(&tried.stderr));
    assert!(std::fs::read_to_string(&errors).unwrap().contains("1,pickup,PICKUP_NOT_GIVEN,"));
    let none = with(&["--lang", "zh-CN"]);
    assert_eq!(none.status.code(), Some(1), "{}", text(&none.stderr));
    assert!(text(&none.stdout).contains("共 1 行：无法读取 1。"), "{}", text(&none.stdout));
    let listed = std::fs::read_to_string(&errors).unwrap();
    assert!(listed.starts_with("line,field,code,reason\n1,pickup,PICKUP_NOT_GIVEN,"), "{listed}");

    let dry = with(&[&pickup[..], &["--dry-run"]].concat());
    assert_eq!(dry.status.code(), Some(0), "{}", text(&dry.stderr));
    assert!(text(&dry.stdout).contains("1 rows: 1 tasks that could be imported."));

    let first = with(&pickup);
    assert_eq!(first.status.code(), Some(0), "{}", text(&first.stderr));
    assert!(text(&first.stdout).contains("1 rows: 1 created."), "{}", text(&first.stdout));
    let again = with(&pickup);
    assert_eq!(again.status.code(), Some(0));
    assert!(text(&again.stdout).contains("1 rows: 1 were there already."));
    assert_eq!(std::fs::read_to_string(&errors).unwrap(), "line,field,code,reason\n");
}

#[tokio::test]
async fn what_can_not_run_says_why_and_ends_with_2() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let url = format!("sqlite://{}", path("desk.db"));
    let db = Db::open(&url, Time::System).await.unwrap();
    cast::enter(&db).await.unwrap();
    db.close().await;
    std::fs::write(path("book.csv"), b"PK\x03\x04").unwrap();
    let file = path("book.csv");
    for (mapping, region, more, told) in [
        ("chicago", "G1", &[][..], "FILE_IS_WORKBOOK"),
        ("chicago", "G1", &["--dry-run"][..], "FILE_IS_WORKBOOK"),
        ("nobody", "G1", &[][..], "no mapping named nobody"),
        ("chicago", "G77", &[][..], "there is no region G77"),
        ("chicago", "G1", &["--source", "A:B"][..], "is no source"),
        ("chicago", "G1", &["--base-date", "today"][..], "is no date"),
        ("chicago", "G1", &["--lang", "fr"][..], "no language fr"),
        ("chicago", "G1", &["--pickup", "1,2"][..], "is no pickup"),
    ] {
        let base = ["import", &file, "--mapping", mapping, "--region", region, "--database", &url];
        let ended = run(&[&base[..], more].concat());
        assert_eq!(ended.status.code(), Some(2), "{told}");
        assert!(text(&ended.stderr).contains(told), "{told}: {}", text(&ended.stderr));
    }
    let missing = run(&[
        "import",
        "none.csv",
        "--mapping",
        "chicago",
        "--region",
        "G1",
        "--database",
        &format!("sqlite://{}", path("other.db")),
    ]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(!folder.path().join("other.db").exists(), "a mistyped database is not made");
}

#[test]
fn the_mappings_can_be_listed() {
    let listed = run(&["import", "--list"]);
    assert_eq!(listed.status.code(), Some(0));
    let out = text(&listed.stdout);
    assert_eq!(out.lines().count(), 18);
    assert!(out.contains("meituan") && out.contains("美团"), "{out}");
}
