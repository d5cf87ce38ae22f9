//! `dispatch-desk audit`, as an operator runs it on a log that a server has written and sealed.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Output,
};

use dispatch_desk::{
    domain::{
        command::{Actor, Command, NewTask, RequestKey, Role, Stop, What},
        geo::{Area, Place},
        id::{RegionId, StaffId, Timestamp},
        policy::Policy,
        refusal::Lang,
        seal::Head,
    },
    engine::{
        executor::{Executor, Settings},
        seal_keys,
        sealer::Sealer,
    },
    store::{Db, Time},
};

use crate::run;

/// A folder with a database of three tasks, all of it sealed.
struct Sealed {
    _folder: tempfile::TempDir,
    url: String,
    key: PathBuf,
    heads: Vec<Head>,
}

fn order() -> NewTask {
    let stop = |address: &str| Stop {
        lat: 31.23,
        lng: 121.47,
        address: address.to_owned(),
        name: None,
        phone: None,
    };
    NewTask {
        region: RegionId(1),
        pickup: stop("a"),
        dropoff: stop("b"),
        release_at: None,
        ready_at: None,
        due_at: None,
        vehicle: None,
        priority: 0,
        fee: None,
        note: None,
    }
}

async fn sealed() -> Sealed {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("sqlite://{}/desk.db", folder.path().display());
    let key = folder.path().join("desk.audit-key");
    let db = Db::open(&url, Time::System).await.expect("a database");
    let mut tx = db.begin().await.expect("a transaction");
    let area = Area::Circle { centre: Place { lat: 31.23, lng: 121.47 }, radius_m: 50_000.0 };
    tx.add_region(RegionId(1), "north", chrono_tz::Asia::Shanghai, &area).await.expect("a region");
    tx.add_policy(RegionId(1), Timestamp(0), &Policy::default()).await.expect("a policy");
    tx.add_staff(StaffId(1), "Dora", Role::Dispatcher, &[RegionId(1)]).await.expect("staff");
    tx.commit().await.expect("a commit");
    let executor = Executor::start(db.clone(), Settings::default());
    let keys = seal_keys::read_or_make(&key, &dispatch_desk::clock::SystemEntropy).expect("a key");
    let sealer = Sealer::new(db.clone(), keys, 100);
    let mut heads = Vec::new();
    for number in 0..3 {
        let command = Command {
            actor: Actor::Staff(StaffId(1)),
            key: RequestKey::parse(&format!("k{number}")),
            lang: Lang::En,
            what: What::Create(Box::new(order())),
        };
        executor.execute(command).await.expect("a task");
        sealer.seal_all().await.expect("a seal");
        let last = db.read().await.expect("a read").last_seal().await.expect("a read");
        heads.push(last.expect("a seal").head());
    }
    executor.stop().await;
    db.close().await;
    Sealed { _folder: folder, url, key, heads }
}

impl Sealed {
    fn audit(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let key = self.key.display().to_string();
        let (what, rest) = arguments.split_first().expect("what to do");
        // Which database comes before what is to be done.
        let mut all = vec!["audit", "--database", &self.url, what];
        if *what == "verify" && !rest.contains(&"--audit-key") {
            all.extend(["--audit-key", &key]);
        }
        all.extend(rest);
        let Output { status, stdout, stderr } = run(&all);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (status.code(), text(&stdout), text(&stderr))
    }

    /// Changes the database past its rules.
    async fn spoil(&self, sql: &str) {
        use sqlx::{AssertSqlSafe, Connection, Executor as _};
        let mut connection = sqlx::SqliteConnection::connect(&self.url).await.expect("the file");
        let sql = format!(
            "DROP TRIGGER dispatch_event_no_update; DROP TRIGGER dispatch_event_no_delete; \
             DROP TRIGGER attempt_no_delete; DROP TRIGGER audit_seal_no_delete; {sql}"
        );
        connection.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await.expect("it is spoilt");
        connection.close().await.expect("closed");
    }

    fn note(&self, text: &str) -> String {
        let file = self.key.with_extension("noted");
        fs::write(&file, text).expect("noted");
        file.display().to_string()
    }
}

#[tokio::test]
async fn an_intact_log_leaves_with_0_and_says_what_was_checked() {
    let place = sealed().await;
    let (code, out, _) = place.audit(&["verify"]);
    assert_eq!(code, Some(0), "{out}");
    assert!(out.starts_with("3 events, 3 attempts, 3 seals: all fit together\n"), "{out}");
    assert!(out.contains(&format!("head {}", place.heads[2])), "{out}");
    assert!(out.contains("no noted head was given"), "{out}");
    // By default the key lies beside the file.
    let beside = run(&["audit", "--database", &place.url, "verify"]);
    assert_eq!(beside.status.code(), Some(0));
    let (code, head, _) = place.audit(&["head"]);
    assert_eq!((code, head.trim()), (Some(0), &*place.heads[2].to_string()));
    let (code, out, _) = place.audit(&["verify", "--head", head.trim()]);
    assert!(code == Some(0) && !out.contains("no noted head"), "{out}");
    let (code, file, _) = place.audit(&["export"]);
    // The export itself is an event, and stands in it.
    assert_eq!((code, file.lines().count()), (Some(0), 8));
    assert_eq!(Head::all_in(&file), [place.heads[2].clone()]);
    let (code, out, _) = place.audit(&["verify", "--head-file", &place.note(&file)]);
    assert_eq!(code, Some(0), "{out}");
    let (code, table, _) = place.audit(&["export", "--format", "csv"]);
    assert_eq!((code, table.split("\r\n").count()), (Some(0), 11));
}

#[tokio::test]
async fn a_changed_log_leaves_with_1_and_names_the_number() {
    let place = sealed().await;
    place.spoil("UPDATE dispatch_event SET actor_id = '7' WHERE number = 2").await;
    let (code, out, _) = place.audit(&["verify"]);
    assert_eq!(code, Some(1), "{out}");
    assert!(out.starts_with("event 2: it was changed after it was sealed (seal 2)\n"), "{out}");
}

#[tokio::test]
async fn a_cut_tail_leaves_with_1_where_a_head_was_noted() {
    let place = sealed().await;
    place
        .spoil(
            "DELETE FROM dispatch_event WHERE number = 3; DELETE FROM attempt WHERE number = 3; \
             DELETE FROM audit_seal WHERE number = 3; UPDATE event_counter SET number = 2, attempt = 2",
        )
        .await;
    assert_eq!(place.audit(&["verify"]).0, Some(0), "nothing in the database tells");
    let head = place.heads[2].to_string();
    let log = place.note(&format!("INFO head={} mac=0\nINFO head={head} mac=1\n", place.heads[0]));
    for noted in [["--head", &*head], ["--head-file", &log]] {
        let (code, out, _) = place.audit(&[&["verify"][..], &noted].concat());
        assert_eq!(code, Some(1), "{out}");
        assert!(out.starts_with("seal 3: missing"), "{out}");
        assert!(out.contains("ends at event 2 and attempt 2"), "{out}");
    }
}

#[tokio::test]
async fn what_can_not_be_checked_leaves_with_2() {
    let place = sealed().await;
    let missing = place.key.with_extension("missing").display().to_string();
    let empty = place.note("nothing\n");
    for arguments in [
        &["verify", "--audit-key", &missing][..],
        &["verify", "--audit-key", &empty],
        &["verify", "--head", "12"],
        &["verify", "--head-file", &missing],
        &["verify", "--head-file", &empty],
    ] {
        let (code, out, error) = place.audit(arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {out}");
        assert!(error.contains("dispatch-desk: "), "{error}");
    }
    assert!(!Path::new(&missing).exists(), "a check makes no key");
    let nowhere = run(&["audit", "--database", "sqlite:///nowhere/desk.db", "verify"]);
    assert_eq!(nowhere.status.code(), Some(2));
}
