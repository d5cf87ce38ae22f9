//! The whole suite, against this desk.

use dispatch_desk::{
    acceptance::{
        judge::{Coverage, Outcome, Where},
        scenario,
    },
    domain::command::Verb,
    stand::Kind,
};

use crate::scene::{self, findings_of};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn this_desk_passes_every_scenario_on_sqlite() {
    let ran = scene::run(Kind::Sqlite, &[], 3).await;
    assert_eq!(findings_of(&ran.verdict), Vec::<String>::new());
    passed_all(&ran.verdict);
    // Together the scenarios give every command in every state.
    assert_eq!(ran.verdict.coverage.gaps(), Vec::new());
    let some = ran.verdict.coverage.cell(Verb::Accept, Where::Cancelled);
    assert!(some.given > 0 && some.wrong == 0, "{some:?}");
    assert!(!Coverage::exists(Verb::Create, Where::Open), "what is there is not created");
    for scenario in &ran.verdict.scenarios {
        if let Some(share) = scenario.overlapped {
            println!("{}: {} of {} rounds were a race", scenario.id, share.counted, share.of);
            // A clock is set in no time, so it may well miss the one request that it races with.
            let with_clock = scenario.id == "accept-against-expire";
            let enough = if with_clock { share.counted > 0 } else { share.counted * 2 > share.of };
            assert!(enough, "{}: {share:?}", scenario.id);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn this_desk_passes_every_scenario_on_postgresql() {
    let Ok(server) = std::env::var("TEST_POSTGRES_URL") else {
        assert!(std::env::var("CI_REQUIRE_POSTGRES").is_err(), "TEST_POSTGRES_URL is not set");
        println!("skipped: TEST_POSTGRES_URL is not set");
        return;
    };
    let ran = scene::run(Kind::Postgres(server), &[], 2).await;
    assert_eq!(findings_of(&ran.verdict), Vec::<String>::new());
    passed_all(&ran.verdict);
    assert!(ran.verdict.run.database.as_ref().is_some_and(|it| it.starts_with("PostgreSQL")));
}

fn passed_all(verdict: &dispatch_desk::acceptance::judge::RunVerdict) {
    assert_eq!(verdict.outcome, Outcome::Passed);
    let all = scenario::built_in().expect("they can be read").len();
    assert_eq!((verdict.count(Outcome::Passed), verdict.count(Outcome::NotPlayed)), (all, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_region_that_assigns_at_once_is_held_to_its_own_table() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut request = scene::request(folder.path(), Kind::Sqlite, &[], 2);
    request.table = "immediate".to_owned();
    let verdict = scene::play(&request).await;
    assert_eq!(findings_of(&verdict), Vec::<String>::new());
    assert!(verdict.count(Outcome::Passed) >= 20, "{}", verdict.count(Outcome::Passed));
    // What the table does not have is reported apart.
    let late = verdict.scenarios.iter().find(|scenario| scenario.id == "late-accept");
    assert_eq!(late.map(|scenario| scenario.outcome), Some(Outcome::NotPlayed));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn held_to_another_products_table_this_desk_fails() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut request =
        scene::request(folder.path(), Kind::Sqlite, &["race-two-riders", "normal-flow"], 1);
    let (_, text) = dispatch_desk::acceptance::table::TABLES[0];
    let other = text.replace("code = \"TAKEN_BY_OTHER\"", "code = \"LOST\"");
    let file = folder.path().join("vendor.toml");
    std::fs::write(&file, other.replace("reserve_then_confirm", "vendor")).expect("written");
    request.table = file.display().to_string();
    request.out = folder.path().join("out");
    let verdict = scene::play(&request).await;
    let failed: Vec<_> = verdict
        .scenarios
        .iter()
        .filter(|scenario| scenario.outcome == Outcome::Failed)
        .map(|scenario| scenario.id.as_str())
        .collect();
    assert_eq!(failed, ["race-two-riders"], "{:#?}", findings_of(&verdict));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_was_broken_off_leaves_no_verdict_and_can_be_made_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let request = scene::request(folder.path(), Kind::Sqlite, &["normal-flow", "decline"], 1);
    // Somebody presses Ctrl-C while the second scenario is played.
    let (press, pressed) = tokio::sync::oneshot::channel();
    let press = std::sync::Mutex::new(Some(press));
    let progress = |progress: dispatch_desk::acceptance::runner::Progress<'_>| {
        let press = press.lock().expect("nobody panics").take_if(|_| progress.done == 1);
        let _ = press.map(|press| press.send(()));
    };
    let stopped = async {
        let _ = pressed.await;
    };
    let ran = dispatch_desk::acceptance::run(&request, &progress, stopped).await;
    assert!(matches!(ran, Err(dispatch_desk::acceptance::Error::Stopped)), "{ran:?}");
    let there = |name: &str| folder.path().join(name).exists();
    assert!(!there("history.jsonl") && !there("report.html"), "there is nothing to be signed");
    assert_eq!(scene::play(&request).await.outcome, Outcome::Passed);
    assert!(there("history.jsonl") && there("report.html") && !there("history.partial"));

    // A folder of somebody else's is left alone.
    let other = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(other.path().join("thesis.txt"), "mine").expect("written");
    let request = scene::request(other.path(), Kind::Sqlite, &["decline"], 1);
    let ran = dispatch_desk::acceptance::run(&request, &|_| (), std::future::pending()).await;
    assert!(ran.is_err_and(|error| error.to_string().contains("is not empty")));
}
