//! A task whose taker is looked for, as one reading transaction sees it; and what comes next for it.

use std::collections::BTreeSet;

use crate::{
    domain::{
        geo::Place,
        id::{RiderId, TaskId, Timestamp},
        policy::Region,
        round::{Next, Progress, RoundAnswer, RoundKind, RoundStatus, next},
        task::{State, Task},
    },
    store::{self, Asked, LedgerLine, Offered, Round, Tx},
};

/// An exclusive round without an offer after this time, in milliseconds, is one whose node died between the two.
const OFFER_WITHIN_MS: i64 = 5_000;

/// All that a look at a task's search rests on.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub(super) task: Task,
    pub(super) pickup: Place,
    pub(super) region: Region,
    pub(super) rounds: Vec<Round>,
    pub(super) ledger: Vec<LedgerLine>,
    /// The last offer that was made for it.
    pub(super) last_offer: Option<Offered>,
    /// When the search has to do something, and how often it has begun; none if nobody is looked for.
    pub(super) search: Option<(Timestamp, u32)>,
    pub(super) pooled: bool,
    pub(super) now: Timestamp,
}

/// What a search that is due has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// There is nobody to be looked for any more.
    End,
    /// Look again at this instant.
    Wait(Timestamp),
    /// The offer has lapsed and is released first.
    Expire,
    /// End the round that runs, if any, and do what comes next.
    Act(Next),
}

impl View {
    /// Reads a task; none if there is no such task.
    pub(super) async fn read(tx: &mut Tx, task: TaskId) -> store::Result<Option<Self>> {
        let Some(card) = tx.card(task).await? else { return Ok(None) };
        let now = tx.now().await?;
        let region = tx.regions(now).await?.into_iter().map(|found| found.region);
        let Some(region) = region.into_iter().find(|region| region.id == card.task.region) else {
            return Ok(None);
        };
        Ok(Some(Self {
            pickup: card.detail.pickup.place(),
            rounds: tx.rounds_of(task).await?,
            ledger: tx.ledger_of(task).await?,
            last_offer: tx.offers_of(task).await?.pop(),
            search: tx.search_of(task).await?,
            pooled: tx.pooled(task).await?.is_some(),
            task: card.task,
            region,
            now,
        }))
    }

    /// Whether all that a plan rests on is still so. Call it with the task locked: nobody changes it any more then.
    pub(super) async fn stands(&self, tx: &mut Tx) -> store::Result<bool> {
        let task = self.task.id;
        // Another node may have had the same turn; and whoever has declined meanwhile is not asked again.
        Ok(tx.search_of(task).await? == self.search
            && tx.rounds_of(task).await? == self.rounds
            && answers(&tx.ledger_of(task).await?) == answers(&self.ledger))
    }

    /// The round that runs.
    pub(super) fn running(&self) -> Option<&Round> {
        self.rounds.last().filter(|round| round.status == RoundStatus::Running)
    }

    /// How often the search has begun, this time included.
    pub(super) fn search_number(&self) -> u32 {
        let last = self.rounds.last().map_or(1, |round| round.search);
        self.search.map_or(last, |(_, search)| search)
    }

    /// Whether all who were asked in `round` have declined; not if nobody was asked.
    pub(super) fn all_declined(&self, round: &Round) -> bool {
        let mut asked = self.asked_in(round).peekable();
        asked.peek().is_some() && asked.all(|answer| answer == Some(RoundAnswer::Declined))
    }

    fn asked_in(&self, round: &Round) -> impl Iterator<Item = Option<RoundAnswer>> {
        self.members_of(round).map(|(_, asked)| asked.answered.map(|(answer, _)| answer))
    }

    fn members_of(&self, round: &Round) -> impl Iterator<Item = (RiderId, &Asked)> {
        let id = round.id;
        let lines = self.ledger.iter().filter(move |line| line.round == id);
        lines.filter_map(|line| Some((line.rider, line.asked.as_ref().ok()?)))
    }

    /// Who has had an exclusive offer in this search.
    pub(super) fn asked_alone(&self) -> BTreeSet<RiderId> {
        let search = self.search_number();
        let exclusive =
            |round: &&Round| round.search == search && round.kind == RoundKind::Exclusive;
        let rounds: BTreeSet<_> =
            self.rounds.iter().filter(exclusive).map(|round| round.id).collect();
        let asked = |line: &&LedgerLine| line.asked.is_ok() && rounds.contains(&line.round);
        self.ledger.iter().filter(asked).map(|line| line.rider).collect()
    }

    /// What has been done in this search, the running round included.
    pub(super) fn progress(&self) -> Progress {
        let searches = self.search_number();
        let mut done = Progress { searches, ..Progress::default() };
        let (mut asked, mut declined) = (BTreeSet::new(), BTreeSet::new());
        for round in self.rounds.iter().filter(|round| round.search == searches) {
            match round.kind {
                RoundKind::Broadcast => {
                    done.broadcasts += 1;
                    done.last_rung = Some(round.rung);
                }
                RoundKind::Exclusive => done.offers += 1,
            }
            for line in self.ledger.iter().filter(|line| line.round == round.id) {
                let Ok(member) = &line.asked else { continue };
                asked.insert(line.rider);
                if matches!(member.answered, Some((RoundAnswer::Declined, _))) {
                    declined.insert(line.rider);
                }
            }
        }
        let count = |set: &BTreeSet<RiderId>| u32::try_from(set.len()).unwrap_or(u32::MAX);
        (done.asked, done.declined) = (count(&asked), count(&declined));
        done
    }

    /// What the search has to do now.
    pub(super) fn step(&self) -> Step {
        let Some((due, _)) = self.search else { return Step::End };
        let running = self.running();
        let exclusive = running.filter(|round| round.kind == RoundKind::Exclusive);
        match &self.task.state {
            State::Assigned { .. } | State::Cancelled => Step::End,
            State::Offered { until, .. } => match exclusive {
                // Somebody has taken the task in hand.
                None => Step::End,
                Some(_) if *until <= self.now => Step::Expire,
                Some(_) => Step::Wait(*until),
            },
            State::Open if self.task.release_at > self.now => Step::Wait(self.task.release_at),
            State::Open if self.stopped_by_hand() || self.pooled => Step::End,
            State::Open => match running {
                Some(round) if self.waits(round) => {
                    Step::Wait(self.next_shown(round).map_or(round.until, |at| at.min(round.until)))
                }
                Some(round) if self.offer_is_on_its_way(round) => {
                    Step::Wait(round.started_at.plus_ms(OFFER_WITHIN_MS))
                }
                None if due > self.now => Step::Wait(due),
                Some(_) | None => Step::Act(next(&self.region.policy.rounds, &self.progress())),
            },
        }
    }

    /// Whether a dispatcher ended the last round of this search.
    fn stopped_by_hand(&self) -> bool {
        let search = self.search_number();
        self.rounds
            .last()
            .is_some_and(|round| round.status == RoundStatus::Stopped && round.search == search)
    }

    /// Whether a round still waits for answers.
    fn waits(&self, round: &Round) -> bool {
        round.kind == RoundKind::Broadcast && round.until > self.now && !self.all_declined(round)
    }

    /// When the next members of a staggered round see it; none if all do.
    fn next_shown(&self, round: &Round) -> Option<Timestamp> {
        let seen = self.members_of(round).map(|(_, asked)| asked.sent_at);
        seen.filter(|sent_at| *sent_at > self.now).min()
    }

    /// The members of the running round who see it since the search was due, and were not told when it began.
    pub(super) fn just_shown(&self) -> Option<(&Round, Vec<RiderId>)> {
        let (round, (due, _)) = (self.running()?, self.search?);
        let since = due.max(round.started_at.plus_ms(1));
        let now = self.now;
        let shown =
            self.members_of(round).filter(|(_, asked)| (since..=now).contains(&asked.sent_at));
        let shown: Vec<_> = shown.map(|(rider, _)| rider).collect();
        (!shown.is_empty()).then_some((round, shown))
    }

    /// Whether an exclusive round has just begun, so that its offer may come any moment.
    fn offer_is_on_its_way(&self, round: &Round) -> bool {
        let made = self.last_offer.as_ref().is_some_and(|offer| {
            let to_its_rider = self.members_of(round).any(|(rider, _)| rider == offer.rider);
            to_its_rider && offer.at >= round.started_at
        });
        round.kind == RoundKind::Exclusive
            && !made
            && self.now < round.started_at.plus_ms(OFFER_WITHIN_MS)
    }
}

/// Who was asked in which round, and what they said. When their pages had it is nothing that a plan rests on.
fn answers(ledger: &[LedgerLine]) -> Vec<(i64, RiderId, Option<RoundAnswer>)> {
    let asked = ledger.iter().filter_map(|line| Some((line, line.asked.as_ref().ok()?)));
    let answer = |(line, asked): (&LedgerLine, &Asked)| {
        (line.round, line.rider, asked.answered.map(|(answer, _)| answer))
    };
    asked.map(answer).collect()
}
