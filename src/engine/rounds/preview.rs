//! Who would be asked: the same look as before sending, and nothing is sent.

use super::{
    Rounds,
    look::{Looked, Wanted},
    turn::Instead,
    view::View,
};
use crate::{
    domain::{
        id::{TaskId, Timestamp},
        round::{Next, Options, next},
        task::Task,
    },
    store,
};

/// Who would be asked now.
#[derive(Clone, Debug)]
pub struct Preview {
    /// The task as it stands.
    pub task: Task,
    /// Who, in which order, and who not and why.
    pub looked: Looked,
    /// How long the round would wait, in seconds.
    pub seconds: u32,
    /// Place in the ladder.
    pub rung: u32,
    /// How many would be asked at most.
    pub batch: u32,
    /// The store's instant.
    pub now: Timestamp,
}

impl Rounds {
    /// Looks for riders for a task as its next round would; none if there is no such task.
    ///
    /// # Errors
    /// Whatever the database says.
    pub async fn preview(&self, task: TaskId, options: Options) -> store::Result<Option<Preview>> {
        let mut tx = self.executor.db().read().await?;
        let Some(view) = View::read(&mut tx, task).await? else { return Ok(None) };
        let rules = &view.region.policy.rounds;
        let instead = Instead::from(options);
        let mut done = view.progress();
        done.searches = 1;
        let rung = match next(rules, &done) {
            Next::Ask { rung } => rung,
            Next::Offer | Next::Pool(_) => done.last_rung.unwrap_or_default(),
        };
        let (rung, looked) = self.ladder(&mut tx, &view, rung, instead).await?;
        Ok(Some(Preview {
            seconds: options.seconds.unwrap_or(rules.seconds),
            batch: options.batch.unwrap_or(rules.batch),
            rung,
            looked,
            now: view.now,
            task: view.task,
        }))
    }

    /// The first circle from `rung` on that has anybody; or the last one.
    pub(super) async fn ladder(
        &self,
        tx: &mut store::Tx,
        view: &View,
        rung: u32,
        instead: Instead,
    ) -> store::Result<(u32, Looked)> {
        let rules = &view.region.policy.rounds;
        let batch = instead.batch.unwrap_or(rules.batch);
        let rungs: Vec<_> = if let Some(radius) = instead.radius_m {
            vec![(rung_of(&rules.ladder_m, radius), radius)]
        } else {
            let ladder = (0..).zip(rules.ladder_m.iter().copied());
            ladder.skip_while(|(at, _)| *at < rung).collect()
        };
        let mut last = (rung, Looked::default());
        for (rung, radius_m) in rungs {
            let wanted = Wanted { from: view.pickup, radius_m, batch };
            let looked = self.look(tx, &view.task, &view.region, wanted).await?;
            let found = !looked.ranking.candidates.is_empty();
            // Where distance does not count, a wider circle finds nobody else.
            let no_wider = looked.radius_m.is_none();
            last = (rung, looked);
            if found || no_wider {
                break;
            }
        }
        Ok(last)
    }
}

/// The rung that a circle belongs to: the first that is as wide, or the last.
fn rung_of(ladder_m: &[u32], radius_m: u32) -> u32 {
    let last = ladder_m.len().saturating_sub(1);
    let rung = ladder_m.iter().position(|rung| *rung >= radius_m).unwrap_or(last);
    u32::try_from(rung).unwrap_or_default()
}
