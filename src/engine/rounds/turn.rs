//! One look at a task's search: what comes next is planned on what is read, and written only if that still stands.

use super::{
    Rounds,
    look::{Looked, Wanted},
    view::{Step, View},
    writing::{Alone, Writing},
};
use crate::{
    domain::{
        actor::Actor,
        command::{Act, Command, What},
        id::TaskId,
        rank::Candidate,
        refusal::Lang,
        round::{Next, Options, PoolReason, RoundStatus},
    },
    engine::executor,
    store::{self, Tx},
};

/// A turn is planned anew so often, if the task changes meanwhile.
const TRIES: usize = 4;

/// What a turn came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turned {
    /// What was to be done is done, or there was nothing to do.
    Done,
    /// The task is being changed at this moment: look again soon.
    Later,
}

/// How the next round differs from what the policy says; and that it comes now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Instead {
    pub(super) radius_m: Option<u32>,
    pub(super) batch: Option<u32>,
    pub(super) seconds: Option<u32>,
}

impl From<Options> for Instead {
    fn from(Options { radius_m, batch, seconds }: Options) -> Self {
        Self { radius_m, batch, seconds }
    }
}

/// What comes next, with the riders for it.
#[derive(Clone, Debug)]
pub(super) enum Plan {
    /// Ask many; nobody may have been found.
    Ask { rung: u32, looked: Looked, seconds: u32 },
    /// Offer it to one; nobody may be left.
    Offer { best: Option<Candidate>, looked: Looked },
    /// The manual pool.
    Pool(PoolReason),
}

impl Rounds {
    /// Does what is due for a task.
    ///
    /// # Errors
    /// Whatever the database says.
    pub(super) async fn turn(&self, task: TaskId) -> store::Result<Turned> {
        for _ in 0..TRIES {
            let mut tx = self.executor.db().read().await?;
            let Some(view) = View::read(&mut tx, task).await? else { return Ok(Turned::Done) };
            let step = view.step();
            let plan = match step {
                Step::Act(next) => Some(self.plan(&mut tx, &view, next, Instead::default()).await?),
                Step::End | Step::Wait(_) | Step::Expire => None,
            };
            tx.rollback().await?;
            if step == Step::Expire {
                self.expire(&view).await;
                continue;
            }
            let mut tx = self.executor.db().begin().await?;
            if !tx.lock_tasks(&[task]).await?.contains(&view.task) {
                tx.rollback().await?;
                // Either it has changed since, or somebody changes it now.
                if self.moved(&view).await? {
                    continue;
                }
                return Ok(Turned::Later);
            }
            if !view.stands(&mut tx).await? {
                tx.rollback().await?;
                continue;
            }
            let mut writing = Writing::new(self, tx, &view, Actor::System);
            let offer = match (step, &plan) {
                (Step::Act(_), Some(plan)) => writing.act(plan).await?,
                (Step::Wait(until), _) => {
                    writing.shown();
                    writing.wait(until).await?;
                    None
                }
                (Step::End | Step::Expire | Step::Act(_), _) => {
                    // A round without a search would run for ever.
                    writing.close(RoundStatus::Stopped).await?;
                    writing.tx.end_searches(&[task]).await?;
                    None
                }
            };
            writing.commit().await?;
            if let Some(offer) = offer {
                self.offer(&view, offer).await?;
            }
            return Ok(Turned::Done);
        }
        Ok(Turned::Later)
    }

    /// Whether a task is not any more what was read.
    async fn moved(&self, view: &View) -> store::Result<bool> {
        let mut tx = self.executor.db().read().await?;
        let now = tx.task(view.task.id).await?;
        tx.rollback().await?;
        Ok(now.as_ref() != Some(&view.task))
    }

    /// Has a lapsed offer released, as everybody does who touches one.
    async fn expire(&self, view: &View) {
        let (task, revision) = (view.task.id, view.task.revision);
        let what = What::Change { task, revision, act: Act::Expire };
        let command = Command { actor: Actor::System, key: None, lang: Lang::En, what };
        if let Err(error) = self.executor.execute(command).await {
            tracing::debug!(%task, %error, "a lapsed offer of the desk is not released yet");
        }
    }

    /// Makes the exclusive offer of a round that has just begun. If it can not be made, the search goes on. If the round
    /// has ended meanwhile, whoever ended it has the task in hand, and nothing is offered.
    pub(super) async fn offer(&self, view: &View, offer: Alone) -> store::Result<()> {
        let (task, revision) = (view.task.id, view.task.revision);
        let what = What::Change { task, revision, act: offer.act() };
        let command = Command { actor: Actor::System, key: None, lang: Lang::En, what };
        let made = match self.executor.execute(command).await {
            Ok(reply) => reply.status == 200,
            Err(executor::Error::Unavailable { unknown: true }) => return Ok(()),
            Err(_) => false,
        };
        if !made {
            let mut tx = self.executor.db().begin().await?;
            let now = tx.now().await?;
            tx.end_round(offer.round, RoundStatus::Passed, now).await?;
            tx.hurry(&[(task, now)]).await?;
            tx.commit().await?;
        }
        Ok(())
    }

    /// Finds the riders for what comes next.
    pub(super) async fn plan(
        &self,
        tx: &mut Tx,
        view: &View,
        next: Next,
        instead: Instead,
    ) -> store::Result<Plan> {
        let rules = &view.region.policy.rounds;
        match next {
            Next::Pool(reason) => Ok(Plan::Pool(reason)),
            Next::Ask { rung } => {
                let seconds = instead.seconds.unwrap_or(rules.seconds);
                let (rung, looked) = self.ladder(tx, view, rung, instead).await?;
                Ok(Plan::Ask { rung, looked, seconds })
            }
            Next::Offer => {
                let had = view.asked_alone();
                let radius_m = rules.ladder_m.last().copied().unwrap_or(20_000);
                let batch = u32::try_from(had.len()).unwrap_or(u32::MAX).saturating_add(1);
                let wanted = Wanted { from: view.pickup, radius_m, batch };
                let mut looked = self.look(tx, &view.task, &view.region, wanted).await?;
                let candidates = std::mem::take(&mut looked.ranking.candidates);
                let best = candidates.into_iter().find(|candidate| !had.contains(&candidate.rider));
                Ok(Plan::Offer { best: best.map(|best| Candidate { rank: 1, ..best }), looked })
            }
        }
    }
}
