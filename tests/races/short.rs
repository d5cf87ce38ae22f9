//! Short ways to ask in a race, and to say what came of it.

use dispatch_desk::domain::{
    command::{Act, Actor, Command, What},
    id::{Revision, TaskId},
    refusal::Lang,
    task::{Stage, State},
};
use futures_util::future::join_all;

use crate::harness::{
    node::Node,
    record::{Came, Sent},
    *,
};

/// The expiry's own command: it has no key.
pub fn expire(task: TaskId, revision: i64) -> Command {
    let what = What::Change { task, revision: Revision(revision), act: Act::Expire };
    Command { actor: Actor::System, key: None, lang: Lang::En, what }
}

/// Whether the command was done, now or when it was first sent under its key.
pub fn is_done(sent: &Sent) -> bool {
    matches!(&sent.came, Came::Back(returned) if returned.answer().event.is_some())
}

/// How many of them were done.
pub fn count_done(sent: &[Sent]) -> usize {
    sent.iter().filter(|sent| is_done(sent)).count()
}

/// Who asked, as a number.
#[track_caller]
pub fn rider_of(sent: &Sent) -> i64 {
    sent.command.actor.rider().expect("a rider asked").0
}

/// The actions of a task's events, in order.
pub async fn actions(desk: &Desk, task: TaskId) -> Vec<String> {
    desk.events(task).await.into_iter().map(|event| event.action).collect()
}

/// Puts the tasks out of the way, whatever became of them, so that their riders have room again.
pub async fn clear(desk: &Desk, tasks: &[TaskId]) {
    let ends = tasks.iter().map(|id| async move {
        let task = desk.task(*id).await;
        let revision = task.revision.0;
        match &task.state {
            State::Cancelled | State::Assigned { stage: Stage::Delivered, .. } => {}
            State::Assigned { rider, stage: Stage::PickedUp, .. } => {
                desk.done(Actor::Rider(*rider), *id, revision, Act::Deliver).await;
            }
            State::Open | State::Offered { .. } | State::Assigned { .. } => {
                desk.done(D1, *id, revision, CANCEL).await;
            }
        }
    });
    join_all(ends).await;
}

impl Desk {
    /// Has one command decided by a node of one's choice.
    pub async fn send_to(&self, node: &Node, command: Command) -> Sent {
        let mut sent = self.race(std::slice::from_ref(node), vec![command]).await;
        sent.pop().expect("one was sent")
    }

    /// How many tasks and offers a rider holds.
    pub async fn held(&self, number: i64) -> usize {
        let rider = dispatch_desk::domain::id::RiderId(number);
        self.read().await.held_by(rider).await.expect("tasks can be read").len()
    }
}
