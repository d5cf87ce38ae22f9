//! The order of system calls (F6). The tests of planted faults show that this check finds a missing sync.

use crate::harness::{rounds, synced::order_of_calls};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_answer_comes_after_the_sync_of_what_it_says() {
    let commands = rounds(40, 200);
    let order = order_of_calls(commands, &[]).await;
    println!("F6: {} answers, {} violations", order.answers, order.violations.len());
    assert!(order.violations.is_empty(), "{:#?}", order.violations);
}
