//! What is being written about one task's search: rows now, the log last.

use std::collections::BTreeMap;

use super::{Rounds, ledger, look::Looked, turn::Plan, view::View};
use crate::{
    domain::{
        actor::Actor,
        command::Act,
        id::{RiderId, Timestamp},
        rank::{Candidate, LeftOut, Ranking},
        round::{PoolReason, RoundAction, RoundDetail, RoundKind, RoundNote, RoundStatus, reason},
        task::OfferAnswer,
    },
    store::{self, EventRow, Pooled, Round, Tx},
};

/// An exclusive round whose offer is to be made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alone {
    pub(super) round: i64,
    pub(super) rider: RiderId,
}

impl Alone {
    /// The offer. It is void without the round, so whoever has ended that one has the task in hand.
    pub(super) const fn act(self) -> Act {
        Act::Offer { rider: self.rider, seconds: None, round: Some(self.round) }
    }
}

/// What is being written about one task's search: rows now, the log last.
#[derive(Debug)]
pub(super) struct Writing<'a> {
    rounds: &'a Rounds,
    pub(super) tx: Tx,
    pub(super) view: &'a View,
    actor: Actor,
    pub(super) key_hash: Option<String>,
    notes: Vec<RoundNote>,
}

impl<'a> Writing<'a> {
    pub(super) const fn new(rounds: &'a Rounds, tx: Tx, view: &'a View, actor: Actor) -> Self {
        Self { rounds, tx, view, actor, key_hash: None, notes: Vec::new() }
    }

    /// Puts an entry into the log, once this is committed.
    pub(super) fn note(&mut self, action: RoundAction, round: i64, detail: RoundDetail) {
        self.note_about(action, round, None, None, detail);
    }

    pub(super) fn note_about(
        &mut self,
        action: RoundAction,
        round: i64,
        rider: Option<RiderId>,
        reason: Option<String>,
        detail: RoundDetail,
    ) {
        self.notes.push(RoundNote {
            action,
            round,
            task: self.view.task.id,
            region: self.view.task.region,
            actor: self.actor.clone(),
            rider,
            reason,
            key_hash: self.key_hash.clone(),
            detail,
        });
    }

    /// Looks again at `until`.
    pub(super) async fn wait(&mut self, until: Timestamp) -> store::Result<()> {
        self.tx.set_search(self.view.task.id, until, self.view.search_number()).await
    }

    /// Ends the running round and does what is planned. Returns the exclusive offer that is to be made after the commit.
    pub(super) async fn act(&mut self, plan: &Plan) -> store::Result<Option<Alone>> {
        let status = match plan {
            Plan::Pool(_) => RoundStatus::Exhausted,
            Plan::Ask { .. } | Plan::Offer { .. } => RoundStatus::Passed,
        };
        self.close(status).await?;
        match plan {
            Plan::Ask { rung, looked, seconds } => {
                self.ask(*rung, looked, *seconds).await?;
                Ok(None)
            }
            Plan::Offer { best: Some(best), looked } => self.alone(best, looked).await.map(Some),
            Plan::Offer { best: None, .. } => {
                self.pool(reason(&self.view.progress())).await?;
                Ok(None)
            }
            Plan::Pool(reason) => {
                self.pool(*reason).await?;
                Ok(None)
            }
        }
    }

    /// Ends the round that runs, if any.
    pub(super) async fn close(&mut self, status: RoundStatus) -> store::Result<()> {
        let now = self.view.now;
        let Some(round) = self.view.running() else {
            if let (RoundStatus::Exhausted, Some(last)) = (status, self.view.rounds.last()) {
                self.tx.exhaust_round(last.id).await?;
            }
            return Ok(());
        };
        // Who has declined the desk's own offer has declined the round.
        let offer = self.view.last_offer.as_ref().filter(|offer| offer.at >= round.started_at);
        if let (RoundKind::Exclusive, Some(offer)) = (round.kind, offer)
            && matches!(offer.answered, Some((OfferAnswer::Declined, _)))
        {
            let at = offer.answered.map_or(now, |(_, at)| at);
            self.tx.decline_round(round.id, offer.rider, at).await?;
        }
        if self.tx.end_round(round.id, status, now).await? {
            let detail = RoundDetail {
                step: Some(round.step),
                status: Some(status.as_str()),
                ..RoundDetail::default()
            };
            self.note(RoundAction::Ended, round.id, detail);
        }
        Ok(())
    }

    /// Says in the log who else sees the running round now: the log is what wakes their pages.
    pub(super) fn shown(&mut self) {
        let Some((round, riders)) = self.view.just_shown() else { return };
        let detail = RoundDetail {
            step: Some(round.step),
            asked: riders.iter().map(|rider| rider.0).collect(),
            ..RoundDetail::default()
        };
        self.note(RoundAction::Shown, round.id, detail);
    }

    /// Asks the candidates. A round that found nobody is over at once, so that the task stays open to everybody.
    async fn ask(&mut self, rung: u32, looked: &Looked, seconds: u32) -> store::Result<()> {
        let (now, rules) = (self.view.now, &self.view.region.policy.rounds);
        let until = now.plus_ms(i64::from(seconds) * 1_000);
        let nobody = looked.ranking.candidates.is_empty();
        let status = if nobody { RoundStatus::Passed } else { RoundStatus::Running };
        let round = self.round(RoundKind::Broadcast, status, rung, looked, until).await?;
        let stagger = i64::from(rules.stagger_ms);
        let third = looked.ranking.candidates.len().div_ceil(3).max(1);
        let visible =
            |place: usize| now.plus_ms(stagger * i64::try_from(place / third).unwrap_or_default());
        let ledger = ledger::of(self.rounds, round.id, &looked.ranking, until, &visible)?;
        self.tx.insert_round(&round, &ledger).await?;
        self.started(&round, looked);
        let later =
            ledger.iter().filter_map(|line| line.asked.as_ref().ok()).map(|asked| asked.sent_at);
        self.wait(later.filter(|sent_at| *sent_at > now).min().unwrap_or(until)).await
    }

    /// Begins an exclusive round for the best candidate.
    async fn alone(&mut self, best: &Candidate, looked: &Looked) -> store::Result<Alone> {
        let (now, policy) = (self.view.now, &self.view.region.policy);
        let until = now.plus_ms(i64::from(policy.offer_seconds) * 1_000 + policy.grace_ms);
        let rung = self.view.progress().last_rung.unwrap_or_default();
        let one = Looked {
            ranking: Ranking {
                candidates: vec![best.clone()],
                left_out: looked.ranking.left_out.clone(),
            },
            ..looked.clone()
        };
        let round =
            self.round(RoundKind::Exclusive, RoundStatus::Running, rung, &one, until).await?;
        let ledger = ledger::of(self.rounds, round.id, &one.ranking, until, &|_| now)?;
        self.tx.insert_round(&round, &ledger).await?;
        self.started(&round, &one);
        self.wait(until).await?;
        Ok(Alone { round: round.id, rider: best.rider })
    }

    /// Nothing more happens by itself.
    async fn pool(&mut self, reason: PoolReason) -> store::Result<()> {
        let task = &self.view.task;
        let pooled = Pooled {
            task: task.id,
            region: task.region,
            cell: crate::locate::pool_cell(self.view.pickup),
            since: self.view.now,
            reason,
        };
        self.tx.enter_pool(&pooled).await?;
        self.tx.end_searches(&[task.id]).await?;
        let round = self.view.rounds.last().map_or(0, |round| round.id);
        let reason = Some(reason.as_str().to_owned());
        self.note_about(RoundAction::Pooled, round, None, reason, RoundDetail::default());
        Ok(())
    }

    async fn round(
        &mut self,
        kind: RoundKind,
        status: RoundStatus,
        rung: u32,
        looked: &Looked,
        until: Timestamp,
    ) -> store::Result<Round> {
        let view = self.view;
        let over = status != RoundStatus::Running;
        Ok(Round {
            id: self.tx.take_round_number().await?,
            task: view.task.id,
            region: view.task.region,
            step: view.rounds.last().map_or(1, |round| round.step + 1),
            search: view.search_number(),
            kind,
            status,
            started_at: view.now,
            until,
            ended_at: over.then_some(view.now),
            rung,
            radius_m: looked.radius_m,
            farther: looked.farther,
            fair_window_ms: match kind {
                RoundKind::Broadcast => view.region.policy.rounds.fair_window_ms,
                RoundKind::Exclusive => 0,
            },
            policy_version: view.region.policy.version,
        })
    }

    fn started(&mut self, round: &Round, looked: &Looked) {
        let mut left_out: BTreeMap<LeftOut, u32> = BTreeMap::new();
        for (_, reason, _) in &looked.ranking.left_out {
            *left_out.entry(*reason).or_default() += 1;
        }
        let detail = RoundDetail {
            step: Some(round.step),
            kind: Some(round.kind.as_str()),
            radius_m: round.radius_m,
            until: Some(round.until.0),
            asked: looked.ranking.candidates.iter().map(|one| one.rider.0).collect(),
            left_out: left_out.into_iter().map(|(reason, n)| (reason.as_str(), n)).collect(),
            policy_version: Some(round.policy_version),
            status: None,
        };
        self.note(RoundAction::Started, round.id, detail);
    }

    /// Writes the log, commits, and wakes its readers.
    pub(super) async fn commit(self) -> store::Result<()> {
        self.commit_with(&[], &[]).await
    }

    /// The same with attempts, and with answers that are stored under their keys.
    pub(super) async fn commit_with(
        mut self,
        attempts: &[store::AttemptRow],
        outcomes: &[store::OutcomeRow<'_>],
    ) -> store::Result<()> {
        let events = i64::try_from(self.notes.len()).unwrap_or(i64::MAX);
        let tried = i64::try_from(attempts.len()).unwrap_or(i64::MAX);
        let mut head = None;
        if events + tried > 0 {
            let (first, first_attempt) = self.tx.take_numbers(events, tried).await?;
            let mut rows = Vec::with_capacity(self.notes.len());
            for (number, note) in (first..).zip(&self.notes) {
                rows.push(EventRow::of_round(number, self.rounds.nonce()?, note, self.view.now));
            }
            self.tx.insert_events(&rows).await?;
            let numbered = (first_attempt..).zip(attempts);
            let numbered: Vec<_> = numbered
                .map(|(number, attempt)| store::AttemptRow { number, ..attempt.clone() })
                .collect();
            self.tx.insert_attempts(&numbered).await?;
            head = (events > 0).then_some(first + events - 1);
        }
        self.tx.insert_outcomes(outcomes).await?;
        self.tx.commit().await?;
        if let Some(head) = head {
            self.rounds.executor.committed(head);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_desks_own_offer_names_the_round_that_it_belongs_to() {
        let alone = Alone { round: 7, rider: RiderId(3) };
        let offer = Act::Offer { rider: RiderId(3), seconds: None, round: Some(7) };
        assert_eq!(alone.act(), offer);
    }
}
