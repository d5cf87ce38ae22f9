//! Half a command never (F7): whatever goes wrong, and wherever, a command is there with everything that belongs to it
//! or not at all; whoever is told that nothing was done can rely on it; and asking again decides it.

use std::time::Duration;

use dispatch_desk::engine::executor::{Error, Executor, Settings};
use fail::FailGuard;

use super::scene::{POINTS, Scene, VERBS};
use crate::harness::{
    Database, Desk,
    planting::alone,
    record::{Came, now_ns},
    rounds, universal,
};

/// What goes wrong: once, or as often as it is tried.
const WRONGS: [&str; 8] = [
    "1*panic",
    "1*return(full)",
    "1*return(driver)",
    "return(driver)",
    "1*return(busy)",
    "return(busy)",
    "1*return(lost)",
    "return(lost)",
];

async fn all_or_nothing(database: Database) {
    let _alone = alone().await;
    let settings = Settings { patience: Duration::from_millis(20), ..Settings::default() };
    let desk = Desk::open(database).await;
    // One executor meets the fault and soon gives up; the desk's own asks again.
    let impatient = Executor::start(desk.db.clone(), settings);
    let stride = rounds(3, 1);
    let (mut cases, mut done, mut none) = (0, 0, 0);
    for (layer, point) in POINTS.into_iter().enumerate() {
        for (row, wrong) in WRONGS.into_iter().enumerate() {
            for (column, verb) in VERBS.into_iter().enumerate() {
                if !(layer + row + column).is_multiple_of(stride) {
                    continue;
                }
                let name = format!("{verb}, {wrong} at {point}");
                let scene = Scene::set(&desk, verb, cases / VERBS.len()).await;
                let going_wrong = FailGuard::new(point, wrong).expect("a fail-point");
                let invoked = now_ns();
                let result = impatient.execute(scene.command.clone()).await;
                let answered = now_ns();
                drop(going_wrong);

                let found = scene.found(&desk).await;
                let (whole, nothing) = (found == scene.whole(), found == Scene::NONE);
                assert!(whole || nothing, "{name}: half a command: {found:?}");
                match &result {
                    Ok(_) => assert!(whole, "{name}: acknowledged, and not there"),
                    Err(Error::Unavailable { unknown: true }) => {}
                    Err(Error::Unavailable { unknown: false } | Error::Busy | Error::Faulty) => {
                        assert!(nothing, "{name}: told {result:?}, but it was done");
                    }
                    Err(other) => panic!("{name}: {other:?}"),
                }
                (cases, done, none) =
                    (cases + 1, done + usize::from(whole), none + usize::from(nothing));
                let came = Came::from(result);
                desk.recorder.note(scene.command.clone(), invoked, answered, came.clone());

                let again = desk.send(scene.command.clone()).await.came;
                assert!(matches!(again, Came::Back(_)), "{name}: not decided but {again:?}");
                assert_eq!(scene.found(&desk).await, scene.whole(), "{name}: sent again");
                if let Came::Back(first) = came {
                    assert_eq!(again.answer(), first.answer(), "{name}: another answer");
                }
                scene.clear(&desk).await;
            }
        }
        desk.reconciled().await;
    }
    println!("F7 on {database:?}: {cases} cases, {done} done and {none} not at the first time");
    assert!(done > 0 && none > 0, "{done} done, {none} not");
    universal::check_except_errors(&desk).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_is_whole_or_not_there_on_sqlite() {
    all_or_nothing(Database::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_is_whole_or_not_there_on_postgres() {
    all_or_nothing(Database::Postgres).await;
}
