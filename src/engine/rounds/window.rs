//! Fair windows: grabs of a round are collected for a moment, then the best of them goes first (seed 002 §14.3).
//!
//! A collected grab is kept in the database as it came, and executed under its own key when the window ends. So its
//! answer waits under that key like any other, whoever executed it, and nothing that was taken in is forgotten.

use std::collections::BTreeSet;

use super::Rounds;
use crate::{
    domain::{
        command::{Act, Command, What},
        fingerprint::Fingerprint,
        id::Timestamp,
        round::RoundStatus,
    },
    engine::executor::{Error, Reply},
    store::{self, Intent, Remedy},
};

/// How many grabs are executed in one look.
const PAGE: i64 = 256;
/// A kept grab is executed so long before its ticket ends, in milliseconds: the loop wakes a little late, and commands
/// wait in a queue.
const TIME_TO_DECIDE_MS: i64 = 500;

/// What became of a grab.
#[derive(Clone, Debug)]
pub enum Grabbed {
    /// It is decided.
    Decided(Reply),
    /// It waits for the end of its round's window: ask again under the same key.
    Waits {
        /// When the window ends.
        until: Timestamp,
    },
}

impl Rounds {
    /// Takes a grab: decides it, or keeps it for the end of its round's window. Anything else is simply executed.
    ///
    /// # Errors
    /// As for commands.
    pub async fn grab(&self, command: Command) -> Result<Grabbed, Error> {
        match self.collect(&command).await {
            Ok(Some(grabbed)) => grabbed,
            Ok(None) => self.executor.execute(command).await.map(Grabbed::Decided),
            Err(error) if error.remedy() == Remedy::Again => Err(Error::Busy),
            Err(error) => {
                tracing::error!(%error, "a grab can not be kept");
                Err(Error::Unavailable { unknown: true })
            }
        }
    }

    /// Keeps a grab for the end of its round's window, if that has one.
    async fn collect(&self, command: &Command) -> store::Result<Option<Result<Grabbed, Error>>> {
        let What::Change { task, act: Act::Grab { ticket: Some(ticket) }, .. } = &command.what
        else {
            return Ok(None);
        };
        let (Some(rider), Some(key)) = (command.actor.rider(), &command.key) else {
            return Ok(None);
        };
        if command.malformed().is_some() {
            return Ok(None);
        }
        let (principal, print) = (command.actor.principal(), Fingerprint::of(&command.what));
        let mut tx = self.executor.db().read().await?;
        let now = tx.now().await?;
        let round = tx.round(ticket.round).await?.filter(|round| {
            let open = round.status == RoundStatus::Running && now < round.until;
            open && round.fair_window_ms > 0 && round.task == *task
        });
        let Some(round) = round else { return Ok(None) };
        // A ticket that is not good, and a key that has its answer, are for the executor.
        let key_of_tickets = &self.executor.settings().ticket_key;
        let members = tx.running_rounds(&[(*task, rider)]).await?;
        let good = members
            .first()
            .map(|member| member.running(key_of_tickets, now))
            .is_some_and(|running| running.nonce.as_ref() == Some(&ticket.nonce));
        let answered = !tx.outcomes(&[(principal.as_str(), key.as_str())]).await?.is_empty();
        tx.rollback().await?;
        if !good || answered {
            return Ok(None);
        }
        // The grab of a ticket is decided while the ticket is good: a window that would reach to its end is cut, and where
        // no time is left for one, the grab is decided at once.
        let last = round.until.plus_ms(-TIME_TO_DECIDE_MS);
        if last <= now {
            return Ok(None);
        }
        let mut tx = self.executor.db().begin().await?;
        let due = now.plus_ms(i64::from(round.fair_window_ms)).min(last);
        let intent = Intent {
            round: round.id,
            rider,
            command: command.clone(),
            principal: principal.clone(),
            request_key: key.as_str().to_owned(),
        };
        tx.intend(&intent, print.as_str(), now, due).await?;
        let kept = tx.intent(&principal, key.as_str()).await?;
        tx.commit().await?;
        Ok(Some(match kept {
            Some((known, until)) if known == print.as_str() => Ok(Grabbed::Waits { until }),
            Some(_) => Err(Error::KeyReused),
            None => return Ok(None),
        }))
    }

    /// Executes the grabs whose window has ended, the best of each round first.
    pub(super) async fn close_windows(&self) -> store::Result<usize> {
        let mut tx = self.executor.db().read().await?;
        let now = tx.now().await?;
        let due = tx.due_intents(now, PAGE).await?;
        tx.rollback().await?;
        let mut closed = 0;
        let mut waiting = BTreeSet::new();
        for intent in due {
            // One after another: the order is the point of it. While the best of a round can not be decided, nor can the
            // second.
            if waiting.contains(&intent.round) {
                continue;
            }
            let answer = self.executor.execute(intent.command).await;
            if matches!(answer, Err(Error::Busy | Error::Unavailable { .. })) {
                waiting.insert(intent.round);
                continue;
            }
            let mut tx = self.executor.db().begin().await?;
            tx.intent_done(&intent.principal, &intent.request_key).await?;
            tx.commit().await?;
            closed += 1;
        }
        Ok(closed)
    }
}
