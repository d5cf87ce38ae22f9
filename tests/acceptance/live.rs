//! A desk that runs already, with a clock that can not be set.

use dispatch_desk::{
    acceptance::{Asked, judge::Outcome, record::NotPlayed},
    engine::executor::{Executor, Settings},
    stand::{Kind, People, Wanted},
    store::{Db, Time},
    web::{Desk, Limits, Origin, Server},
};

use crate::scene::{self, findings_of};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_desk_is_asked_with_the_credentials_of_a_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let url = format!("sqlite://{}/desk.db", folder.path().display());
    let db = Db::open(&url, Time::System).await.expect("a database");
    let wanted = Wanted { riders: 14, ..Wanted::default() };
    let people = People::enter(&db, &wanted).await.expect("people");
    let credentials = folder.path().join("credentials.toml");
    std::fs::write(&credentials, toml::to_string(&people).expect("TOML")).expect("written");
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let origin = format!("http://{}", listener.local_addr().expect("an address"));
    let parsed = Origin::parse(&origin).expect("an origin");
    let desk = Desk::new(Executor::start(db.clone(), Settings::default()), parsed);
    let server = Server::start(desk, listener, Limits::default()).expect("a server");

    let chosen =
        ["normal-flow", "race-12-riders", "race-50-riders", "boundary-before", "keys-are-personal"];
    let mut request = scene::request(&folder.path().join("out"), Kind::Sqlite, &chosen, 2);
    request.asked = Asked::At { origin, credentials };
    let verdict = scene::play(&request).await;
    assert_eq!(findings_of(&verdict), Vec::<String>::new());
    let of = |id: &str| {
        let found = verdict.scenarios.iter().find(|scenario| scenario.id == id);
        found.map(|scenario| (scenario.outcome, scenario.not_played)).expect("it was asked for")
    };
    assert_eq!(of("race-12-riders"), (Outcome::Passed, None));
    // What can not be shown is said, and counts neither way.
    assert_eq!(of("boundary-before"), (Outcome::NotPlayed, Some(NotPlayed::NeedsClock)));
    assert_eq!(of("race-50-riders"), (Outcome::NotPlayed, Some(NotPlayed::NoRiders)));

    // No token and no tracking link stands in the evidence.
    for file in ["history.jsonl", "report.json"] {
        let text = std::fs::read_to_string(folder.path().join("out").join(file)).expect(file);
        assert!(!text.contains("desk_"), "a token in {file}");
        assert!(!text.contains("/t/") || text.contains("/t/{tracking}"), "a link in {file}");
    }
    // Nobody is left with a task.
    let mut tx = db.read().await.expect("a read");
    for rider in &people.riders {
        assert!(
            tx.held_by(rider.id).await.expect("a read").is_empty(),
            "{} holds a task",
            rider.id
        );
    }
    tx.rollback().await.expect("the end of a read");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_there_is_no_verdict() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let credentials = folder.path().join("credentials.toml");
    let people = "format = \"dispatch-credentials/1\"\nregion = 1\nlat = 0.0\nlng = 0.0\nintake = \"\"\n\
                  supervisor = \"\"\nauditor = \"\"\nforeigner = \"\"\nriders = []\n\
                  [dispatchers]\nfirst = \"\"\nsecond = \"\"\n";
    std::fs::write(&credentials, people).expect("written");
    let mut request = scene::request(&folder.path().join("out"), Kind::Sqlite, &["normal-flow"], 1);
    request.asked = Asked::At { origin: "http://127.0.0.1:1".to_owned(), credentials };
    let ran = dispatch_desk::acceptance::run(&request, &|_| (), std::future::pending()).await;
    assert!(ran.is_err_and(|error| error.to_string().contains("can not be asked")));
}
