//! The same by kill -9 (F7): the process dies at the fail-point itself.

use super::scene::{POINTS, Scene, VERBS};
use crate::harness::{
    Database, Desk,
    node::{Other, Start},
    planting::alone,
    record::{Came, now_ns},
    rounds, universal,
};

async fn killed_at_every_point(database: Database) {
    let _alone = alone().await;
    let desk = Desk::open(database).await;
    // All verbs at all points in the full run; in the reduced one every verb somewhere, every point often.
    let stride = rounds(3, 1);
    let mut cases = 0;
    for (row, point) in POINTS.into_iter().enumerate() {
        for (column, verb) in VERBS.into_iter().enumerate() {
            if !(row + column).is_multiple_of(stride) {
                continue;
            }
            let name = format!("{verb}, killed at {point}");
            let scene = Scene::set(&desk, verb, cases).await;
            let env = vec![("DISPATCH_TEST_KILL_AT".to_owned(), point.to_owned())];
            let doomed = Other::start(&desk.home.url, &Start { env, ..Start::default() }).await;
            let invoked = now_ns();
            let came = doomed.execute(scene.command.clone()).await;
            assert_eq!(came, Came::Nothing, "{name}");
            desk.recorder.note(scene.command.clone(), invoked, now_ns(), came);
            doomed.kill().await;

            let expected = if point == "after-commit" { scene.whole() } else { Scene::NONE };
            assert_eq!(scene.found(&desk).await, expected, "{name}");
            let again = desk.send(scene.command.clone()).await.came;
            let Came::Back(returned) = &again else { panic!("{name}: not decided but {again:?}") };
            assert_eq!(returned.replayed, point == "after-commit", "{name}");
            assert_eq!(scene.found(&desk).await, scene.whole(), "{name}: sent again");
            scene.clear(&desk).await;
            cases += 1;
        }
    }
    println!("F7 on {database:?}: {cases} kills at fail-points");
    universal::check_except_errors(&desk).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_dies_leaves_no_half_on_sqlite() {
    killed_at_every_point(Database::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_dies_leaves_no_half_on_postgres() {
    killed_at_every_point(Database::Postgres).await;
}
