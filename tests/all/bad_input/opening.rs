//! Databases that can not be opened, or should not be: each is refused by name.

use std::path::Path;

use dispatch_desk::{
    domain::id::TaskId,
    engine::executor::{Executor, Settings},
    store::{Db, Error, Time},
};

use crate::{
    contract::raw::Raw,
    harness::{desk::Home, record::Came, *},
};

async fn refusal(url: &str) -> Error {
    match Db::open(url, Time::System).await {
        Err(error) => error,
        Ok(db) => panic!("{url} was opened: {db:?}"),
    }
}

fn at(path: &Path) -> String {
    format!("sqlite://{}", path.display())
}

#[tokio::test]
async fn an_address_of_no_database_is_told_how_to_write_one() {
    for url in
        ["", "desk.db", "mysql://db/x", "SQLITE://x", "http://db", "postgres", "://", " sqlite://x"]
    {
        let error = refusal(url).await;
        assert!(matches!(error, Error::Address(_)), "{url}: {error:?}");
        assert!(error.to_string().ends_with("write sqlite://FILE or postgres://USER@HOST/NAME"));
    }
}

#[tokio::test]
async fn a_place_where_no_file_can_be_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    // A folder stands where the file should be.
    let error = refusal(&at(folder.path())).await;
    assert!(matches!(error, Error::Unreachable(_)), "{error:?}");
    // A file stands where the folder should be.
    let file = folder.path().join("file");
    std::fs::write(&file, "a file").unwrap();
    let error = refusal(&at(&file.join("desk.db"))).await;
    assert!(matches!(error, Error::Unreachable(_)), "{error:?}");
    // A folder that is not there yet is made.
    let deep = folder.path().join("a/b/desk.db");
    Db::open(&at(&deep), Time::System).await.unwrap().close().await;
    assert!(deep.exists());
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("letter.txt");
    let letter = "Dear database, ".repeat(1_000);
    std::fs::write(&file, &letter).unwrap();
    let error = refusal(&at(&file)).await;
    assert!(matches!(error, Error::Broken(_)), "{error:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), letter);
}

for_each_database!(a_database_that_is_newer_than_the_program_is_refused, |desk| async move {
    let raw = Raw::of(&desk).await;
    raw.run(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
         SELECT 9999, 'from the future', success, checksum, 0 FROM _sqlx_migrations WHERE version = 1",
    )
    .await
    .unwrap();
    let error = refusal(&desk.home.url).await;
    assert!(matches!(error, Error::Schema(_)), "{error:?}");
    assert!(error.to_string().contains("9999"), "{error}");
    raw.run("DELETE FROM _sqlx_migrations WHERE version = 9999").await.unwrap();
    Db::open(&desk.home.url, Time::System).await.unwrap();
});

for_each_database!(a_database_whose_tables_were_made_otherwise_is_refused, |desk| async move {
    let raw = Raw::of(&desk).await;
    let other = "UPDATE _sqlx_migrations SET checksum = (SELECT checksum FROM _sqlx_migrations WHERE version = 1) \
                 WHERE version = 2";
    raw.run(other).await.unwrap();
    let error = refusal(&desk.home.url).await;
    assert!(matches!(error, Error::Schema(_)), "{error:?}");
});

#[tokio::test]
async fn a_file_that_may_only_be_read_takes_no_commands() {
    let desk = Desk::open(Database::Sqlite).await;
    let task = desk.create().await;
    let raw = Raw::of(&desk).await;
    let before = raw.dump_all().await;
    let url = format!("{}?mode=ro", desk.home.url);
    let db = Db::open(&url, Time::System).await.unwrap();
    let executor = Executor::start(db.clone(), Settings::default());
    let grab = desk.change(rider(1), task, 1, GRAB);
    let refused: Came = executor.execute(grab.clone()).await.into();
    assert_eq!(refused, Came::Error("UNAVAILABLE".to_owned()));
    assert!(db.read().await.unwrap().task(task).await.unwrap().is_some(), "reads go on");
    assert_eq!(raw.dump_all().await, before);
    // The other program, which may write, does it under the same key.
    assert!(desk.send(grab).await.came.is_success());
    // A file that is not there can not be read.
    let missing = format!("{}-missing?mode=ro", desk.home.url);
    let error = refusal(&missing).await;
    assert!(matches!(error, Error::Unreachable(_)), "{error:?}");
    desk.check().await;
}

#[tokio::test]
async fn a_postgres_that_may_lose_commits_is_refused() {
    let home = Home::new(Database::Postgres).await;
    let off = "%20-c%20synchronous_commit%3Doff";
    for url in
        [format!("{}{off}", home.url), format!("{}&options[synchronous_commit]=off", home.url)]
    {
        let error = refusal(&url).await;
        let Error::Unsafe { setting, found } = &error else { panic!("{url}: {error:?}") };
        assert_eq!((*setting, found.as_str()), ("synchronous_commit", "off"));
        assert!(error.to_string().contains("acknowledged commands could be lost"), "{error}");
    }
    // Nothing was made in it.
    let raw = Raw::open(Database::Postgres, &home.url).await;
    assert_eq!(raw.tables().await, Vec::<String>::new());
    let db = Db::open(&home.url, Time::System).await.unwrap();
    assert_eq!(db.read().await.unwrap().task(TaskId(1)).await.unwrap(), None);
}
