//! What a wish does, and its answer, written in one transaction.

use super::{
    reply::{RoundReply, RoundView},
    turn::Plan,
    wish::Asker,
    writing::{Alone, Writing},
};
use crate::{
    domain::{
        answer::{Outcome, TaskView},
        refusal::Lang,
        round::{Granted, RoundAction, RoundDetail, RoundStatus, Wish},
    },
    engine::executor::Reply,
    store::{self, AttemptRow, OutcomeRow},
};

impl Writing<'_> {
    /// Does what was asked for.
    pub(super) async fn grant(
        &mut self,
        wish: Wish,
        plan: Option<&Plan>,
    ) -> store::Result<Option<Alone>> {
        let (task, now) = (self.view.task.id, self.view.now);
        let round = self.view.rounds.last().map_or(0, |round| round.id);
        match wish {
            Wish::Start(_) | Wish::Widen => {
                self.leave_pool().await?;
                match plan {
                    Some(plan) => return self.act(plan).await,
                    None => return Ok(None),
                }
            }
            Wish::Stop => {
                self.close(RoundStatus::Stopped).await?;
                self.tx.end_searches(&[task]).await?;
                self.note(RoundAction::TakenOver, round, RoundDetail::default());
            }
            Wish::ResetDeclines => {
                self.tx.reset_declines(task, now).await?;
                self.note(RoundAction::DeclinesReset, round, RoundDetail::default());
            }
            Wish::LeavePool => self.leave_pool().await?,
        }
        Ok(None)
    }

    async fn leave_pool(&mut self) -> store::Result<()> {
        if self.tx.leave_pool(&[self.view.task.id]).await? > 0 {
            let round = self.view.rounds.last().map_or(0, |round| round.id);
            self.note(RoundAction::Unpooled, round, RoundDetail::default());
        }
        Ok(())
    }

    /// Stores the answer with everything else, and returns it.
    pub(super) async fn answer(
        mut self,
        asker: &Asker<'_>,
        wish: Wish,
        granted: Granted,
    ) -> store::Result<Reply> {
        let view = self.view;
        let (outcome, code, message) = match granted {
            Granted::Done => (Outcome::Done, None, None),
            Granted::Already => {
                let sentence = match asker.lang {
                    Lang::Zh => "已经是这样，没有重复执行。",
                    Lang::En => "It was so already; nothing changed.",
                };
                (Outcome::AlreadyDone, Some("ALREADY_DONE".to_owned()), Some(sentence.to_owned()))
            }
            Granted::Refused(code) => {
                let sentence = code.sentence(asker.lang).to_owned();
                (Outcome::Refused, Some(code.as_str().to_owned()), Some(sentence))
            }
        };
        let last = self.tx.rounds_of(view.task.id).await?.pop();
        let ledger = self.tx.ledger_of(view.task.id).await?;
        let reply = RoundReply {
            outcome,
            code: code.clone(),
            message,
            task: TaskView::of(&view.task, asker.actor, view.now),
            round: last.as_ref().map(|round| RoundView::of(round, &ledger)),
            server_time: view.now,
        };
        let status = if outcome == Outcome::Refused { 409 } else { 200 };
        let body = serde_json::to_string(&reply).expect("an answer has only text keys");
        let etag = store::etag(view.task.revision);
        let attempt = AttemptRow {
            number: 0,
            actor_kind: asker.actor.kind(),
            actor_id: asker.actor.id(),
            key_hash: self.key_hash.clone(),
            task: Some(view.task.id.0),
            verb: wish.name().as_str(),
            code: code.unwrap_or_else(|| outcome.as_str().to_owned()),
            revision_seen: Some(view.task.revision.0),
            at: view.now.0,
        };
        let stored = OutcomeRow {
            principal: &asker.principal,
            request_key: asker.key.as_str(),
            fingerprint: asker.fingerprint.as_str(),
            status,
            location: None,
            etag: Some(&etag),
            body: &body,
            at: view.now.0,
        };
        self.commit_with(&[attempt], &[stored]).await?;
        Ok(Reply {
            status,
            body: body.as_str().into(),
            location: None,
            etag: Some(etag.clone()),
            replayed: false,
        })
    }
}
