//! A planted fault must be found by the scenario that looks for it, and the clean build must pass the same scenario.

use dispatch_desk::fault::{Fault, plant};

use crate::harness::{Database, Desk, planting::alone, synced::order_of_calls};

/// Runs `scenario` without and with `fault`; with it, it has to find a violation that says `reason`.
pub async fn caught(
    database: Database,
    fault: Fault,
    reason: &str,
    scenario: impl AsyncFn(&Desk) -> Result<(), String>,
) {
    let _alone = alone().await;
    let desk = Desk::open(database).await;
    let clean = scenario(&desk).await;
    assert_eq!(clean, Ok(()), "without {fault:?} on {database:?}");
    desk.reconciled().await;
    let desk = Desk::open(database).await;
    let _planted = plant(fault);
    let found = scenario(&desk).await.expect_err("the planted fault is found");
    println!("{fault:?} on {database:?}: {found}");
    assert!(found.contains(reason), "{fault:?} was found for another reason: {found}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_sync_is_found_in_the_order_of_calls() {
    let faulty = [("DISPATCH_TEST_FAULTS", "normal-sync")];
    let order = order_of_calls(20, &faulty).await;
    println!("normal-sync: {} of {} answers too early", order.violations.len(), order.answers);
    assert!(order.violations.len() >= 18, "{order:#?}");
    assert!(order.violations.iter().all(|why| why.contains("not synced")), "{order:#?}");
    assert_eq!(order_of_calls(20, &[]).await.violations, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_early_answer_is_found_in_the_order_of_calls() {
    let faulty = [("DISPATCH_TEST_FAULTS", "answer-before-commit")];
    let order = order_of_calls(20, &faulty).await;
    println!("answer-before-commit: {} of {} too early", order.violations.len(), order.answers);
    // The first of them at least: later ones may be preceded by the sync of the command before.
    assert!(!order.violations.is_empty(), "{order:#?}");
}
