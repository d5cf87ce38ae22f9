//! Every verb with a task that is ready for it, and what a command has left behind.

use dispatch_desk::{
    domain::{
        command::{Act, Command, What},
        id::{Revision, TaskId},
    },
    store::LoggedEvent,
};

use crate::harness::{
    CANCEL, D1, DECLINE, Desk, GRAB, HAND_BACK, RIDERS, SUPERVISOR, WITHDRAW, assign, offer, order,
    reassign, rider, shop,
};

/// Where the fail-points are.
pub const POINTS: [&str; 6] =
    ["after-load", "after-tasks", "after-numbers", "after-events", "before-commit", "after-commit"];

/// Every command that people send, and a grab that first has to release a lapsed offer: two events.
pub const VERBS: [&str; 14] = [
    "create",
    "grab",
    "grab-lapsed",
    "offer",
    "assign",
    "accept",
    "decline",
    "withdraw",
    "cancel",
    "reassign",
    "hand-back",
    "arrive",
    "edit",
    "refused",
];

/// A command that is ready to be sent, on a task that waits for it.
#[derive(Debug)]
pub struct Scene {
    pub command: Command,
    /// None for a creation.
    pub task: Option<TaskId>,
    /// How many events the command makes.
    pub events: usize,
    before: (Revision, Revision),
    attempts: i64,
}

/// How much of a command is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    pub row: bool,
    pub events: usize,
    pub attempts: usize,
    pub answer: bool,
}

impl Scene {
    /// Sets the scene for `verb`. `number` chooses the riders.
    pub async fn set(desk: &Desk, verb: &str, number: usize) -> Self {
        let first = i64::try_from(number).expect("a small number") * 2 % RIDERS + 1;
        let second = first % RIDERS + 1;
        if verb == "create" {
            let command = desk.command(shop(), What::Create(Box::new(order())));
            let before = (Revision::NONE, Revision::NONE);
            return Self { command, task: None, events: 1, before, attempts: tried(desk).await };
        }
        let task = desk.create().await;
        match verb {
            "accept" | "decline" | "withdraw" | "cancel" => {
                desk.done(D1, task, 1, offer(first)).await;
            }
            "grab-lapsed" => {
                desk.done(D1, task, 1, offer(first)).await;
                desk.advance_ms(30_000).await;
            }
            "reassign" | "hand-back" | "arrive" => {
                desk.done(rider(first), task, 1, GRAB).await;
            }
            _ => {}
        }
        let command = match verb {
            "grab" => desk.change(rider(first), task, 1, GRAB),
            "grab-lapsed" => desk.change(rider(second), task, 2, GRAB),
            "offer" => desk.change(D1, task, 1, offer(first)),
            "assign" => desk.change(SUPERVISOR, task, 1, assign(first)),
            "accept" => desk.change(rider(first), task, 2, Act::Accept),
            "decline" => desk.change(rider(first), task, 2, DECLINE),
            "withdraw" => desk.change(D1, task, 2, WITHDRAW),
            "cancel" => desk.change(D1, task, 2, CANCEL),
            "reassign" => desk.change(D1, task, 2, reassign(second)),
            "hand-back" => desk.change(rider(first), task, 2, HAND_BACK),
            "arrive" => desk.change(rider(first), task, 2, Act::Arrive),
            "edit" => desk.note(D1, task, 1, "ring twice"),
            // A refusal is an outcome, too: it is kept with its attempt.
            "refused" => desk.change(rider(first), task, 1, Act::Accept),
            other => panic!("no scene for {other}"),
        };
        let events = match verb {
            "refused" => 0,
            "grab-lapsed" => 2,
            _ => 1,
        };
        let before = revisions(desk, task).await;
        Self { command, task: Some(task), events, before, attempts: 0 }
    }

    /// How much of the command is in the database.
    pub async fn found(&self, desk: &Desk) -> Found {
        let mut tx = desk.read().await;
        let principal = self.command.actor.principal();
        let key = self.command.key.as_ref().expect("a key").as_str();
        let answer = !tx.outcomes(&[(&principal, key)]).await.expect("read").is_empty();
        let hash = Some(dispatch_desk::domain::fingerprint::key_hash(
            &principal,
            self.command.key.as_ref().expect("a key"),
        ));
        let source = dispatch_desk::domain::decide::source(&self.command.actor);
        let created = tx.created(&[(source, key)]).await.expect("read").pop().map(|found| found.id);
        let Some(task) = self.task.or(created.map(TaskId)) else {
            drop(tx);
            let attempts = usize::try_from(tried(desk).await - self.attempts).expect("never fewer");
            return Found { row: false, events: 0, attempts, answer };
        };
        let mine = |event: &&LoggedEvent| event.key_hash == hash;
        let events = tx.events_of(task).await.expect("read");
        let new = events.iter().filter(|event| {
            event.to_revision.is_some_and(|to| to > self.before.0.0) || mine(event)
        });
        let new = new.count();
        let attempts = tx.attempts_of(task).await.expect("read");
        let attempts = attempts.iter().filter(|attempt| attempt.key_hash == hash).count();
        drop(tx);
        let row = revisions(desk, task).await != self.before;
        // What a creation was to make has no number yet.
        let attempts = match self.task {
            Some(_) => attempts,
            None => usize::try_from(tried(desk).await - self.attempts).expect("never fewer"),
        };
        Found { row, events: new, attempts, answer }
    }

    /// All of it.
    pub fn whole(&self) -> Found {
        Found { row: self.events > 0, events: self.events, attempts: 1, answer: true }
    }

    /// None of it.
    pub const NONE: Found = Found { row: false, events: 0, attempts: 0, answer: false };

    /// Makes the riders free again.
    pub async fn clear(&self, desk: &Desk) {
        if let Some(task) = self.task {
            let revision = desk.task(task).await.revision.0;
            desk.ask(D1, task, revision, CANCEL).await;
        }
    }
}

async fn revisions(desk: &Desk, task: TaskId) -> (Revision, Revision) {
    let mut tx = desk.read().await;
    let row = tx.task(task).await.expect("read").map(|task| task.revision);
    let details = tx.detail_revision(task).await.expect("read");
    (row.unwrap_or(Revision::NONE), details.unwrap_or(Revision::NONE))
}

async fn tried(desk: &Desk) -> i64 {
    desk.read().await.log_counts().await.expect("read").attempts
}
