//! The index in this process keeps the contract.

use dispatch_desk::locate::Locator;

use crate::suite::{changes, real, search};

#[tokio::test]
async fn positions_are_noted_moved_and_forgotten() {
    changes::order(&Locator::default()).await;
    changes::regions(&Locator::default()).await;
    changes::off_the_map(&Locator::default()).await;
}

#[tokio::test]
async fn drawn_positions_come_out_as_by_brute_force() {
    for (seed, scene) in search::SCENES.iter().enumerate() {
        search::as_by_brute_force(&Locator::default(), scene, seed).await;
    }
}

#[tokio::test]
async fn what_changes_is_found_where_it_is() {
    search::while_riders_move(&Locator::default()).await;
}

#[tokio::test]
async fn the_edges_of_a_search() {
    search::edges(&Locator::default()).await;
}

#[tokio::test]
async fn buses_of_liverpool() {
    real::liverpool(&Locator::default()).await;
}

#[tokio::test]
async fn pickups_of_chicago() {
    real::chicago(&Locator::default()).await;
}
