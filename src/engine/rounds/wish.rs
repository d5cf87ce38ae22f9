//! What dispatchers ask of the automatic, under a request key: the same request has one effect and one answer.

use super::{
    Rounds,
    turn::Instead,
    view::View,
    writing::{Alone, Writing},
};
pub use crate::domain::round::{Options, Wish};
use crate::{
    domain::{
        actor::{Actor, RequestKey},
        decide::Denial,
        facts::Staff,
        fingerprint::{Fingerprint, key_hash},
        id::{RegionId, Revision, TaskId},
        refusal::Lang,
        round::{self, Granted, Next, Standing},
        table,
        task::State,
    },
    engine::executor::{Error, Reply},
    store::{self, Remedy, Tx},
};

/// A task that is being changed is tried so often, with as many milliseconds between.
const TRIES: u32 = 60;
const BETWEEN_MS: u64 = 20;

/// Who asks, and under which key.
#[derive(Clone, Debug)]
pub(super) struct Asker<'a> {
    pub(super) actor: &'a Actor,
    pub(super) principal: String,
    pub(super) key: &'a RequestKey,
    pub(super) fingerprint: Fingerprint,
    pub(super) lang: Lang,
}

/// What one try came to.
enum Tried {
    Reply(Reply, Option<Alone>),
    Error(Error),
    /// The task is being changed.
    Later,
}

impl Rounds {
    /// Does what a dispatcher asks, or says why not.
    ///
    /// # Errors
    /// As for commands: no right, a key of another request, nothing can be stored.
    pub async fn ask(
        &self,
        actor: &Actor,
        key: &RequestKey,
        lang: Lang,
        task: TaskId,
        revision: Revision,
        wish: Wish,
    ) -> Result<Reply, Error> {
        let asked = serde_json::json!({ "task": task, "revision": revision, "wish": wish });
        let asker = Asker {
            actor,
            principal: actor.principal(),
            key,
            fingerprint: Fingerprint::of_text(&asked.to_string()),
            lang,
        };
        for _ in 0..TRIES {
            match self.try_wish(&asker, task, revision, wish).await {
                Ok((Tried::Reply(reply, alone), view)) => {
                    if let (Some(alone), Some(view)) = (alone, view) {
                        // What was asked for is done; that its offer could not be made is for the search to mend.
                        let made = self.offer(&view, alone).await;
                        made.unwrap_or_else(
                            |error| tracing::warn!(%task, %error, "an offer of the desk"),
                        );
                    }
                    return Ok(reply);
                }
                Ok((Tried::Error(error), _)) => return Err(error),
                Ok((Tried::Later, _)) => {}
                Err(error) if error.remedy() == Remedy::Again => {}
                Err(error) => {
                    tracing::error!(%task, %error, "a round can not be changed");
                    return Err(Error::Unavailable { unknown: true });
                }
            }
            tokio::time::sleep(std::time::Duration::from_millis(BETWEEN_MS)).await;
        }
        Err(Error::Busy)
    }

    async fn try_wish(
        &self,
        asker: &Asker<'_>,
        task: TaskId,
        revision: Revision,
        wish: Wish,
    ) -> store::Result<(Tried, Option<View>)> {
        let mut tx = self.executor.db().read().await?;
        let view = View::read(&mut tx, task).await?;
        let planned = match &view {
            Some(view) if wish.asks() && view.task.state == State::Open => {
                let (view, next, instead) = wished(view, wish);
                Some((self.plan(&mut tx, &view, next, instead).await?, view))
            }
            Some(_) | None => None,
        };
        tx.rollback().await?;
        let mut tx = self.executor.db().begin().await?;
        let staff = match asker.actor {
            Actor::Staff(id) => tx.lock_staff(&[*id]).await?.pop(),
            Actor::System | Actor::Intake(_) | Actor::Customer(_) | Actor::Rider(_) => None,
        };
        let region = view.as_ref().map(|view| view.task.region);
        if let Err(denial) = right(asker.actor, staff.as_ref(), region) {
            tx.rollback().await?;
            return Ok((Tried::Error(Error::Denied(denial)), None));
        }
        let Some(mut view) = view else {
            return Ok((Tried::Error(Error::Denied(Denial::NotFound)), None));
        };
        if let Some(known) = known(&mut tx, asker).await? {
            tx.rollback().await?;
            return Ok((known, None));
        }
        let locked = tx.lock_tasks(&[task]).await?.pop();
        if locked.as_ref() != Some(&view.task) || !view.stands(&mut tx).await? {
            tx.rollback().await?;
            return Ok((Tried::Later, None));
        }
        let standing = Standing {
            running: view.running().is_some(),
            searching: view.search.is_some(),
            pooled: view.pooled,
        };
        let granted = round::judge(wish, &view.task, revision, standing, view.now);
        let plan = match (granted, planned) {
            (Granted::Done, Some((plan, wished))) => {
                view = wished;
                Some(plan)
            }
            (Granted::Done, None) if wish.asks() => {
                tx.rollback().await?;
                return Ok((Tried::Later, None));
            }
            _ => None,
        };
        let mut writing = Writing::new(self, tx, &view, asker.actor.clone());
        writing.key_hash = Some(key_hash(&asker.principal, asker.key));
        let alone = match granted {
            Granted::Done => writing.grant(wish, plan.as_ref()).await?,
            Granted::Already | Granted::Refused(_) => None,
        };
        let reply = writing.answer(asker, wish, granted).await?;
        Ok((Tried::Reply(reply, alone), Some(view)))
    }
}

/// The task as the wish makes it: a search that begins anew, and what it does first.
fn wished(view: &View, wish: Wish) -> (View, Next, Instead) {
    let mut view = view.clone();
    let fresh = view.search.is_none();
    if fresh {
        let number = view.rounds.last().map_or(1, |round| round.search + 1);
        view.search = Some((view.now, number));
    }
    // Who asks by hand knows that it was asked before: the limits of the automatic are not theirs.
    let mut done = view.progress();
    done.searches = 1;
    let instead = match wish {
        Wish::Start(options) => options.into(),
        Wish::Widen | Wish::Stop | Wish::ResetDeclines | Wish::LeavePool => Instead::default(),
    };
    let rung = match round::next(&view.region.policy.rounds, &done) {
        Next::Ask { rung } => rung,
        Next::Offer | Next::Pool(_) => done.last_rung.unwrap_or_default(),
    };
    (view, Next::Ask { rung }, instead)
}

/// Whether `actor` may have wishes for tasks of a region.
fn right(actor: &Actor, staff: Option<&Staff>, region: Option<RegionId>) -> Result<(), Denial> {
    let Actor::Staff(_) = actor else { return Err(Denial::Forbidden) };
    let staff = staff.filter(|staff| !staff.disabled).ok_or(Denial::NotSignedIn)?;
    let region = region.filter(|region| staff.regions.contains(region));
    region.ok_or(Denial::NotFound)?;
    if table::who(round::AS).contains(&staff.role) { Ok(()) } else { Err(Denial::Forbidden) }
}

/// What is stored under the key, if it was used before.
async fn known(tx: &mut Tx, asker: &Asker<'_>) -> store::Result<Option<Tried>> {
    let key = (asker.principal.as_str(), asker.key.as_str());
    let Some(stored) = tx.outcomes(&[key]).await?.pop() else { return Ok(None) };
    Ok(Some(if stored.fingerprint == asker.fingerprint.as_str() {
        Tried::Reply(Reply::stored(&stored, true), None)
    } else {
        Tried::Error(Error::KeyReused)
    }))
}
