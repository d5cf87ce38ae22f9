//! Accept against expire around the deadline: one of them, by the store's clock, and never both.

use dispatch_desk::{
    domain::{
        command::{Act, Verb},
        id::{TaskId, Timestamp},
        refusal::Code,
    },
    engine::{executor::Settings, expiry::Expiry},
};
use futures_util::future::join_all;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use tokio::sync::Notify;

use super::short::{clear, expire};
use crate::harness::{race::Overlap, record::Sent, *};

/// How many tasks wait on an offer at the same time.
const TASKS: usize = 20;

/// Twenty offers to twenty riders, and the deadline of all of them.
async fn offers(desk: &Desk) -> (Vec<TaskId>, Timestamp) {
    let tasks = desk.create_many(TASKS).await;
    let made = (1..).zip(&tasks).map(|(number, task)| desk.done(D1, *task, 1, offer(number)));
    join_all(made).await;
    let until = desk.task(tasks[0]).await.state.offer_until().expect("it is offered");
    (tasks, until)
}

/// An accept and an expire for each task; which of them goes through the first node changes by turns.
async fn both(desk: &Desk, nodes: &[node::Node], tasks: &[TaskId], round: usize) -> Vec<[Sent; 2]> {
    let commands = (1..).zip(tasks).flat_map(|(number, task)| {
        let mut two = [desk.change(rider(number), *task, 2, Act::Accept), expire(*task, 2)];
        two.rotate_left(round % 2);
        two
    });
    let sent = desk.race(nodes, commands.collect()).await;
    let two = |two: &[Sent]| {
        let mut two = [two[0].clone(), two[1].clone()];
        two.rotate_left(round % 2);
        two
    };
    sent.chunks(2).map(two).collect()
}

/// Says which of the two it was, after making sure that it was one, in time, and that both were told so.
async fn winner(desk: &Desk, task: TaskId, until: Timestamp, [accept, expire]: &[Sent; 2]) -> Verb {
    let events = desk.events(task).await;
    let [_, _, last] = events.as_slice() else {
        panic!("one of them and no more: {events:#?}");
    };
    let answer = accept.came.answer();
    match Verb::parse(&last.action).expect("a verb") {
        Verb::Accept => {
            assert!(last.occurred_at < until.0, "accepted at or after the deadline: {last:#?}");
            assert!(answer.event.is_some(), "{answer:?}");
            assert!(!expire.came.is_success(), "{expire:#?}");
            Verb::Accept
        }
        Verb::Expire => {
            assert!(last.occurred_at >= until.0, "expired before the deadline: {last:#?}");
            assert_eq!(answer.code.as_deref(), Some(Code::OfferExpired.as_str()), "{answer:?}");
            Verb::Expire
        }
        other => panic!("nobody asked for {other}"),
    }
}

for_each_database!(an_accept_counts_before_the_deadline_and_an_expire_from_it_on, |desk| {
    async move {
        let nodes = desk.nodes().await;
        let mut overlap = Overlap::default();
        let mut rng = StdRng::seed_from_u64(10);
        let edges = [-30, -2, -1, 0, 1, 2, 30];
        let any = (0..rounds(3, 18)).map(|_| rng.random_range(-30..=30));
        let distances: Vec<i64> = edges.into_iter().chain(any).collect();
        for (round, distance) in distances.into_iter().enumerate() {
            let (tasks, until) = offers(&desk).await;
            desk.set_time(until.plus_ms(distance)).await;
            let pairs = both(&desk, &nodes, &tasks, round).await;
            for (task, pair) in tasks.iter().zip(&pairs) {
                overlap.count(pair);
                let expected = if distance < 0 { Verb::Accept } else { Verb::Expire };
                let won = winner(&desk, *task, until, pair).await;
                assert_eq!(won, expected, "{distance} ms from the deadline");
            }
            clear(&desk, &tasks).await;
        }
        overlap.report("accept against expire, the clock standing");
        desk.check().await;
    }
});

for_each_database!(a_deadline_that_passes_during_a_race_leaves_one_winner, |desk| async move {
    // Small batches, so that the deadline passes between two of them.
    let desk = Desk::with(desk.database, Settings { batch: 6, ..Settings::default() }).await;
    let nodes = desk.nodes().await;
    let sweeper = Expiry::new(desk.executor.clone(), 256);
    let mut overlap = Overlap::default();
    let (mut accepted, mut expired) = (0, 0);
    for round in 0..rounds(10, 25) {
        let (tasks, until) = offers(&desk).await;
        desk.set_time(until.plus_ms(-1)).await;
        let mut head = desk.executor.head();
        head.mark_unchanged();
        let over = Notify::new();
        // The clock reaches the deadline after some commits, and the sweeper starts on what is left.
        let passes = async {
            for _ in 0..round % 5 {
                tokio::select! {
                    changed = head.changed() => changed.expect("the executor lives"),
                    () = over.notified() => break,
                }
            }
            desk.set_time(until).await;
            sweeper.run_once().await.expect("deadlines can be read")
        };
        let race = async {
            let pairs = both(&desk, &nodes, &tasks, round).await;
            over.notify_one();
            pairs
        };
        let (pairs, swept) = tokio::join!(race, passes);
        assert_eq!(swept.failed, 0, "who comes too late has not failed");
        for (task, pair) in tasks.iter().zip(&pairs) {
            overlap.count(pair);
            match winner(&desk, *task, until, pair).await {
                Verb::Accept => accepted += 1,
                _ => expired += 1,
            }
        }
        clear(&desk, &tasks).await;
    }
    println!("the deadline passes during the race: {accepted} accepted, {expired} expired");
    overlap.report("accept against expire, the clock moving");
    desk.check().await;
});
