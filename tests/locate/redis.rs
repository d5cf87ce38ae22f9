//! The index in Redis keeps the same contract, and is away rather than wrong.

use std::time::{Duration, Instant};

use dispatch_desk::{
    domain::id::RiderId,
    locate::{
        Locator,
        redis::{Index, PATIENCE},
    },
};

use crate::{
    server::Server,
    suite::{CITY, changes, fix, real, search},
};

#[tokio::test]
async fn positions_are_noted_moved_and_forgotten() {
    let server = Server::start().await;
    changes::order(&server.index("order").await).await;
    changes::regions(&server.index("regions").await).await;
    changes::off_the_map(&server.index("off").await).await;
}

#[tokio::test]
async fn drawn_positions_come_out_as_by_brute_force() {
    let server = Server::start().await;
    for (seed, scene) in search::SCENES.iter().enumerate() {
        let index = server.index(&format!("scene {seed}")).await;
        search::as_by_brute_force(&index, scene, seed).await;
    }
}

#[tokio::test]
async fn what_changes_is_found_where_it_is() {
    let server = Server::start().await;
    search::while_riders_move(&server.index("move").await).await;
}

#[tokio::test]
async fn the_edges_of_a_search() {
    let server = Server::start().await;
    search::edges(&server.index("edges").await).await;
}

#[tokio::test]
async fn buses_of_liverpool() {
    let server = Server::start().await;
    real::liverpool(&server.index("buses").await).await;
}

#[tokio::test]
async fn pickups_of_chicago() {
    let server = Server::start().await;
    real::chicago(&server.index("pickups").await).await;
}

/// Asks everything; all of it must fail, and soon.
async fn is_away(index: &Locator) {
    let place = fix(1, 31.0, 121.0).place;
    let began = Instant::now();
    assert!(index.nearest(CITY, place, 1_000.0, 10, &|_| true).await.is_err());
    assert!(index.note(CITY, RiderId(1), fix(99, 31.0, 121.0)).await.is_err());
    assert!(index.of(RiderId(1)).await.is_err());
    assert!(index.relocate(CITY, RiderId(1)).await.is_err());
    assert!(index.forget(RiderId(1)).await.is_err());
    assert!(index.count().await.is_err());
    assert!(index.is_whole().await.is_err());
    // Seven questions, and as much again for a machine that is busy.
    assert!(began.elapsed() < PATIENCE * 14, "{:?}", began.elapsed());
}

/// Asks until it is answered.
async fn back(index: &Locator) -> Vec<i64> {
    let place = fix(1, 31.0, 121.0).place;
    for _ in 0..500 {
        if let Ok(found) = index.nearest(CITY, place, 1_000.0, 10, &|_| true).await {
            return found.iter().map(|near| near.rider.0).collect();
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it is still away");
}

#[tokio::test]
async fn it_is_away_while_it_is_paused_and_knows_everybody_after_it() {
    let server = Server::start().await;
    let index = server.index("pause").await;
    assert!(index.note(CITY, RiderId(7), fix(1, 31.0, 121.0)).await.unwrap());
    server.pause();
    is_away(&index).await;
    server.go_on();
    assert!(back(&index).await.contains(&7));
}

#[tokio::test]
async fn it_is_away_when_it_is_killed_and_until_it_is_filled_again() {
    let server = Server::start().await;
    let index = server.index("kill").await;
    assert!(index.note(CITY, RiderId(7), fix(1, 31.0, 121.0)).await.unwrap());
    let mut server = server.replace().await;
    let place = fix(1, 31.0, 121.0).place;
    // It answers again, and has forgotten everybody: that is not taken for an empty city.
    for _ in 0..500 {
        if index.count().await == Ok(0) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(index.is_whole().await, Ok(false));
    assert!(index.nearest(CITY, place, 1_000.0, 10, &|_| true).await.is_err());
    assert!(index.note(CITY, RiderId(8), fix(1, 31.0, 121.0)).await.unwrap());
    assert!(index.nearest(CITY, place, 1_000.0, 10, &|_| true).await.is_err());

    index.begin("one").await.unwrap();
    index.begin("another").await.unwrap();
    assert!(!index.filled("one").await.unwrap(), "another one has begun since");
    assert!(index.note(CITY, RiderId(7), fix(1, 31.0, 121.0)).await.unwrap());
    assert!(index.filled("another").await.unwrap());
    assert_eq!(back(&index).await, [7, 8]);

    server.kill();
    is_away(&index).await;
}

#[tokio::test]
async fn nobody_listens_there() {
    let server = Server::start().await;
    let port = server.url.clone();
    drop(server);
    is_away(&Locator::Redis(Index::open(&port, "nobody").unwrap())).await;
    assert!(Index::open("http://127.0.0.1", "x").is_err());
}
