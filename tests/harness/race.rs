//! Barrier races: everybody is ready, then everybody goes; and what share of the rounds truly overlapped.

use std::sync::Arc;

use dispatch_desk::domain::command::Command;
use tokio::sync::Barrier;

use super::{
    desk::Desk,
    node::Node,
    record::{Sent, now_ns},
};

/// Counts rounds and those that were races.
#[derive(Debug, Default)]
pub struct Overlap {
    rounds: usize,
    overlapped: usize,
}

impl Overlap {
    /// Counts a round: a race only if at least two of its commands were under way at once.
    pub fn count(&mut self, sent: &[Sent]) {
        self.rounds += 1;
        let any = sent
            .iter()
            .enumerate()
            .any(|(index, one)| sent[index + 1..].iter().any(|other| one.overlaps(other)));
        self.overlapped += usize::from(any);
    }

    /// Prints the share and fails under one half: a race test that does not race proves nothing.
    #[track_caller]
    pub fn report(&self, name: &str) {
        let share = self.overlapped * 100 / self.rounds.max(1);
        println!("{name}: {} rounds, {share} % truly overlapped", self.rounds);
        assert!(share >= 50, "{name}: only {share} % of {} rounds overlapped", self.rounds);
    }
}

impl Desk {
    /// Sends all commands at once, by turns through `nodes`, and returns what came, in the same order.
    pub async fn race(&self, nodes: &[Node], commands: Vec<Command>) -> Vec<Sent> {
        let barrier = Arc::new(Barrier::new(commands.len()));
        let racers = commands.into_iter().enumerate().map(|(index, command)| {
            let node = nodes[index % nodes.len()].clone();
            let barrier = Arc::clone(&barrier);
            tokio::spawn(async move {
                barrier.wait().await;
                let invoked = now_ns();
                let came = node.execute(command.clone()).await;
                (command, invoked, now_ns(), came)
            })
        });
        let racers: Vec<_> = racers.collect();
        let mut sent = Vec::new();
        for racer in racers {
            let (command, invoked, returned, came) = racer.await.expect("a racer returns");
            sent.push(self.recorder.note(command, invoked, returned, came));
        }
        sent
    }
}
