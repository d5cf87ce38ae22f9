//! Whoever hangs up in the middle gives up the answer, not the command.

use std::{collections::HashSet, pin::pin, task::Poll};

use dispatch_desk::{
    domain::{command::Command, fingerprint::key_hash},
    engine::executor::Executor,
};
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::short::{clear, is_done};
use crate::harness::{
    node::back,
    race::Overlap,
    record::{Came, now_ns},
    *,
};

/// Asks, looks for the answer so many times, and hangs up.
async fn ask_and_hang_up(executor: Executor, command: Command, patience: u32) -> Came {
    let mut asked = pin!(executor.execute(command));
    for _ in 0..patience {
        let looked = std::future::poll_fn(|context| Poll::Ready(asked.as_mut().poll(context)));
        match looked.await {
            Poll::Ready(result) => return result.into(),
            Poll::Pending => tokio::task::yield_now().await,
        }
    }
    Came::Nothing
}

for_each_database!(who_hangs_up_in_the_middle_finds_a_decided_answer_under_the_key, |desk| {
    async move {
        let nodes = desk.nodes().await;
        let mut overlap = Overlap::default();
        let mut rng = StdRng::seed_from_u64(26);
        let (mut gave_up, mut decided_meanwhile) = (0, 0);
        for _ in 0..rounds(5, 50) {
            let tasks = desk.create_many(40).await;
            let commands = (1..).zip(&tasks).flat_map(|(number, task)| {
                [
                    desk.change(rider(number), *task, 1, GRAB),
                    desk.change(rider(number + 10), *task, 1, GRAB),
                    desk.change(D1, *task, 1, offer(number + 20)),
                    desk.change(D2, *task, 2, CANCEL),
                ]
            });
            let commands: Vec<_> = commands.collect();
            let asked: Vec<_> = commands
                .iter()
                .map(|command| {
                    // From never having asked to having waited for long.
                    let patience = (1 << rng.random_range(0..14_u32)) - 1;
                    let asked = ask_and_hang_up(desk.executor.clone(), command.clone(), patience);
                    (now_ns(), tokio::spawn(asked))
                })
                .collect();
            let mut before = Vec::new();
            for (command, (invoked, asked)) in commands.iter().zip(asked) {
                let came = asked.await.expect("nobody panics");
                before.push(desk.recorder.note(command.clone(), invoked, now_ns(), came));
            }

            let sent = desk.race(&nodes, commands).await;
            overlap.count(&sent);
            for (before, again) in before.iter().zip(&sent) {
                let answer = back(&again.came);
                assert!([200, 409].contains(&answer.status), "{again:#?}");
                match &before.came {
                    Came::Nothing => {
                        gave_up += 1;
                        decided_meanwhile += usize::from(answer.replayed);
                    }
                    Came::Back(first) => {
                        assert!(answer.replayed);
                        assert_eq!((&answer.body, answer.status), (&first.body, first.status));
                    }
                    Came::Error(code) => panic!("nobody had cause to say {code}"),
                }
            }
            // One event for each success, and none for anything else.
            let done: HashSet<_> = sent
                .iter()
                .filter(|sent| is_done(sent))
                .filter_map(|sent| {
                    let key = sent.command.key.as_ref()?;
                    Some(key_hash(&sent.command.actor.principal(), key))
                })
                .collect();
            let mut logged = Vec::new();
            for task in &tasks {
                logged.extend(desk.events(*task).await.into_iter().skip(1));
            }
            let keys: HashSet<_> =
                logged.iter().filter_map(|event| event.key_hash.clone()).collect();
            assert_eq!((logged.len(), &keys), (done.len(), &done));
            clear(&desk, &tasks).await;
        }
        println!(
            "{gave_up} hung up, {decided_meanwhile} of their commands were decided all the same"
        );
        assert!(decided_meanwhile > 0, "nobody hung up in the middle");
        overlap.report("sent again after hanging up");
        desk.check().await;
    }
});
