//! What people see, told as conversations.

mod answers;
mod offers;
mod policies;
mod riders;
mod rights;
mod rounds;

use dispatch_desk::{
    domain::{
        answer::Answer,
        command::{Act, Actor},
        id::{RegionId, Revision, RiderId, TaskId, Timestamp},
        policy::Policy,
        refusal::{Code, Ineligible},
        task::StateName,
    },
    store::RiderChange,
};

use crate::harness::{
    record::{Came, Sent},
    *,
};

impl Desk {
    /// Asks for a change that gets no answer but an error, and returns its code.
    async fn turned_away(&self, actor: Actor, task: TaskId, revision: i64, act: Act) -> String {
        match self.try_change(actor, task, revision, act).await.came {
            Came::Error(code) => code,
            other => panic!("turned away with an error, not {other:?}"),
        }
    }

    /// Asks for a change and returns whatever came.
    async fn try_change(&self, actor: Actor, task: TaskId, revision: i64, act: Act) -> Sent {
        self.send(self.change(actor, task, revision, act)).await
    }

    /// Asks for a change that must be refused because the rider can not take the task.
    pub(crate) async fn not_eligible(
        &self,
        task: TaskId,
        revision: i64,
        act: Act,
        reason: Ineligible,
    ) {
        let refused = self.refused(SUPERVISOR, task, revision, act, Code::RiderNotEligible).await;
        assert_eq!(refused.reason, Some(reason));
    }

    /// Changes a rider, on behalf of the admin.
    async fn change_rider(&self, number: i64, change: RiderChange) -> usize {
        self.executor.change_rider(&ADMIN, RiderId(number), &change).await.expect("a change")
    }

    /// Moves a rider to another region, on behalf of the program: nobody here has a say in both.
    async fn moved(&self, number: i64, region: RegionId) -> usize {
        let change = RiderChange { region: Some(region), ..RiderChange::default() };
        let moved = self.executor.change_rider(&Actor::System, RiderId(number), &change).await;
        moved.expect("a change")
    }

    /// Adds a policy that is in force from `starts_at`.
    pub(crate) async fn policy(&self, region: RegionId, starts_at: Timestamp, policy: Policy) {
        let mut tx = self.db.begin().await.expect("a transaction");
        tx.add_policy(region, starts_at, &policy).await.expect("a new version");
        tx.commit().await.expect("a commit");
    }
}

/// State and revision that an answer shows.
fn shown(answer: &Answer) -> (StateName, Revision) {
    let task = answer.task.as_ref().expect("an answer shows the task");
    (task.state, task.revision)
}

/// The verbs that an answer offers, as they are written in URLs.
fn legal(answer: &Answer) -> Vec<&'static str> {
    answer.legal.iter().map(|verb| verb.as_str()).collect()
}
