//! The password of an address is never shown, whatever goes wrong with it.

use std::error::Error as _;

use clap::Parser;
use dispatch_desk::{
    config::{Config, Database as Address},
    engine::executor::{Executor, Settings},
    store::{Db, Time},
};

use crate::harness::{desk::postgres_url, *};

const PASSWORD: &str = "s3cr3t";

/// All that an error says, its causes included.
fn said(error: &dispatch_desk::store::Error) -> String {
    let mut said = vec![format!("{error} {error:?} {error:#?}")];
    let mut cause = error.source();
    while let Some(error) = cause {
        said.push(format!("{error} {error:?}"));
        cause = error.source();
    }
    said.join(" ")
}

#[tokio::test]
async fn an_address_that_can_not_be_read_is_shown_without_its_password() {
    for url in [
        "mysql://desk:s3cr3t@db/x",
        "mysql://desk:s3cr3t@db:99999/x?y=1",
        "desk:s3cr3t@db/x",
        "//desk:s3cr3t@db/x",
        "http:desk:s3cr3t@db",
        "mysql:/desk:s3cr3t@db/x",
        "mysql://db/x?user=desk&password=s3cr3t",
        "mysql://db/x?password=p@s3cr3t",
        "mysql://desk:p@s3cr3t@db/x",
        "mysql://desk:p?s3cr3t@db/x",
        "mysql://desk:p/s3cr3t@db/x",
        "postgres://desk:s3cr3t@db:port/x",
        "postgres://desk:s3cr3t@db:port/x?sslmode=never",
        "postgres://db:port/x?password=s3cr3t",
        "postgres://desk:s3cr3t@[::1/x",
        "postgresql://desk:s3cr3t@db:-1/x",
        "sqlite://desk.db?password=s3cr3t",
    ] {
        let error = Db::open(url, Time::System).await.expect_err(url);
        let said = said(&error);
        assert!(matches!(error, dispatch_desk::store::Error::Address(_)), "{url}: {error:?}");
        assert!(!said.contains(PASSWORD), "{url}: {said}");
        assert!(said.contains("sqlite://FILE"), "says how to write one: {said}");
    }
    // Enough is left to see which address was meant.
    let error =
        Db::open("mysql://desk:s3cr3t@db/x", Time::System).await.expect_err("no scheme of ours");
    assert!(error.to_string().contains("@db/x"), "{error}");
}

#[tokio::test]
async fn a_server_that_can_not_be_reached_is_reported_without_the_password() {
    // Nobody listens at a port that was just given back.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("postgres://desk:{PASSWORD}@127.0.0.1:{port}/x");
    let error = Db::open(&url, Time::System).await.expect_err("nobody is there");
    assert!(matches!(error, dispatch_desk::store::Error::Unreachable(_)), "{error:?}");
    assert!(!said(&error).contains(PASSWORD), "{}", said(&error));
}

#[tokio::test]
async fn an_open_database_and_its_executor_do_not_show_the_password() {
    let home = crate::harness::desk::Home::new(Database::Postgres).await;
    let base = postgres_url();
    assert!(base.contains('@') && home.url.contains('@'), "{base}");
    // The test's server asks for no password, so any will do.
    let (user, rest) = home.url.split_once('@').unwrap();
    let user = user.trim_end_matches(':');
    let plain = user.rsplit_once("//").is_some_and(|(_, user)| !user.contains(':'));
    let url = if plain { format!("{user}:{PASSWORD}@{rest}") } else { home.url.clone() };
    let secret = url.split_once("//").and_then(|(_, rest)| rest.split_once('@')).unwrap().0;
    let secret = secret.split_once(':').expect("a password").1.to_owned();
    let db = Db::open(&url, Time::System).await.unwrap();
    let executor = Executor::start(db.clone(), Settings::default());
    let tx = db.begin().await.unwrap();
    let shown = format!("{db:?} {db:#?} {executor:?} {tx:?}");
    assert!(!shown.contains(&secret), "{shown}");
    drop(tx);
    executor.stop().await;
}

#[test]
fn the_configuration_does_not_show_the_password() {
    let url = "postgres://desk:s3cr3t@db/x?password=s3cr3t";
    let parsed = Config::try_parse_from(["dispatch-desk", "reconcile", "--database", url]).unwrap();
    let shown = format!("{parsed:?} {parsed:#?}");
    assert!(!shown.contains(PASSWORD) && shown.contains("postgres://"), "{shown}");
    for odd in ["desk:s3cr3t@db/x", "s3cr3t", "postgres//desk:s3cr3t@db"] {
        let shown = format!("{:?}", Address { url: odd.to_owned() });
        assert!(!shown.contains(PASSWORD), "{odd}: {shown}");
    }
    // What is wrong beside it is told without it.
    let wrong = ["dispatch-desk", "reconcile", "--database", url, "--no-such-flag"];
    let error = Config::try_parse_from(wrong).expect_err("no such flag").to_string();
    assert!(!error.contains(PASSWORD), "{error}");
    let help = Config::try_parse_from(["dispatch-desk", "reconcile", "--help"]).expect_err("help");
    assert!(help.to_string().contains("DISPATCH_DATABASE"), "{help}");
}
