//! What riders see of rounds, and answer: their tickets, "no, thanks", and when they saw it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Rounds, view::View, writing::Writing};
use crate::{
    domain::{
        actor::{Actor, RequestKey},
        answer::Outcome,
        command::Ticket,
        decide::Denial,
        fingerprint::{Fingerprint, key_hash},
        id::{RiderId, TaskId, Timestamp, rfc3339},
        refusal::{Code, Lang},
        round::{RoundAction, RoundAnswer, RoundDetail, RoundStatus},
        ticket::Seat,
    },
    engine::executor::{Error, Reply},
    store::{self, AttemptRow, HeldTicket, LedgerLine, OutcomeRow, Remedy, Tx},
};

/// The verb of the attempt.
const VERB: &str = "round-decline";

/// A ticket as its rider gets it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TicketOf {
    /// The round.
    pub round: i64,
    /// The signed part, for this rider alone.
    pub nonce: String,
    /// The first, second … round of the task.
    pub step: u32,
    /// From this instant on it is worth nothing.
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    pub until: Timestamp,
}

/// A task that a round asks a rider to take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    /// Which task.
    pub task: TaskId,
    /// The right to take it.
    pub ticket: TicketOf,
    /// Whether the rider's page has had it before.
    pub seen: bool,
}

impl TicketOf {
    /// The ticket as a grab names it.
    pub fn ticket(&self) -> Ticket {
        Ticket { round: self.round, nonce: self.nonce.clone() }
    }
}

/// The answer to "no, thanks".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DeclineReply {
    /// What became of it.
    pub outcome: Outcome,
    /// `TICKET_EXPIRED` if the round was over, `ALREADY_DONE`, or nothing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<String>,
    /// One sentence for people.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message: Option<String>,
    /// The round.
    pub round: i64,
    /// The store's time of the decision.
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    pub server_time: Timestamp,
}

impl Rounds {
    /// The tickets that a rider can use now, the most urgent first.
    ///
    /// # Errors
    /// Whatever the database says.
    pub async fn invitations(
        &self,
        tx: &mut Tx,
        rider: RiderId,
        now: Timestamp,
    ) -> store::Result<Vec<Invitation>> {
        let key = &self.executor.settings().ticket_key;
        let invitation = |held: HeldTicket| {
            let HeldTicket { task, round, step, nonce, until, shown_at } = held;
            let signed = key.sign(&Seat { task, rider, round, until, nonce: &nonce });
            let ticket = TicketOf { round, nonce: signed, step, until };
            Invitation { task, ticket, seen: shown_at.is_some() }
        };
        Ok(tx.tickets(rider, now).await?.into_iter().map(invitation).collect())
    }

    /// Notes that a rider's page has these invitations now. What was noted before stays.
    ///
    /// # Errors
    /// Whatever the database says.
    pub async fn note_shown(
        &self,
        rider: RiderId,
        invitations: &[Invitation],
        now: Timestamp,
    ) -> store::Result<()> {
        let fresh = invitations.iter().filter(|invitation| !invitation.seen);
        let shown: Vec<_> = fresh.map(|fresh| (fresh.ticket.round, rider, now)).collect();
        if shown.is_empty() {
            return Ok(());
        }
        let mut tx = self.executor.db().begin().await?;
        tx.note_shown(&shown).await?;
        tx.commit().await
    }

    /// A member of a round does not want its task, and is not asked again for it.
    ///
    /// # Errors
    /// As for commands. A rider who was not asked learns nothing of the round.
    pub async fn decline(
        &self,
        rider: RiderId,
        key: &RequestKey,
        lang: Lang,
        round: i64,
    ) -> Result<Reply, Error> {
        for _ in 0..3 {
            match self.try_decline(rider, key, lang, round).await {
                Ok(reply) => return reply,
                Err(error) if error.remedy() == Remedy::Again => {}
                Err(error) => {
                    tracing::error!(round, %error, "an answer to a round can not be kept");
                    return Err(Error::Unavailable { unknown: true });
                }
            }
        }
        Err(Error::Busy)
    }

    async fn try_decline(
        &self,
        rider: RiderId,
        key: &RequestKey,
        lang: Lang,
        round: i64,
    ) -> store::Result<Result<Reply, Error>> {
        let actor = Actor::Rider(rider);
        let principal = actor.principal();
        let print = Fingerprint::of_text(&format!("{VERB} {round}"));
        let mut tx = self.executor.db().begin().await?;
        let not_found = Ok(Err(Error::Denied(Denial::NotFound)));
        let Some(of) = tx.round(round).await? else { return not_found };
        // The task first, as everybody locks: an answer and a grab come one after the other.
        tx.wait_for_task(of.task).await?;
        let Some(view) = View::read(&mut tx, of.task).await? else { return not_found };
        let mine = |line: &&LedgerLine| line.round == round && line.rider == rider;
        let asked = view.ledger.iter().find(mine).and_then(|line| line.asked.as_ref().ok());
        let Some(asked) = asked.filter(|asked| asked.sent_at <= view.now) else {
            return not_found;
        };
        let stored = tx.outcomes(&[(principal.as_str(), key.as_str())]).await?.pop();
        if let Some(stored) = stored {
            return Ok(if stored.fingerprint == print.as_str() {
                Ok(Reply::stored(&stored, true))
            } else {
                Err(Error::KeyReused)
            });
        }
        let runs = view.running().is_some_and(|running| running.id == round);
        let (outcome, code) = match asked.answered {
            Some((RoundAnswer::Declined, _)) => (Outcome::AlreadyDone, Some("ALREADY_DONE")),
            _ if runs && view.now < asked.until => (Outcome::Done, None),
            _ => (Outcome::Refused, Some(Code::TicketExpired.as_str())),
        };
        let mut writing = Writing::new(self, tx, &view, actor.clone());
        writing.key_hash = Some(key_hash(&principal, key));
        if outcome == Outcome::Done {
            writing.tx.decline_round(round, rider, view.now).await?;
            let detail = RoundDetail { step: Some(of.step), ..RoundDetail::default() };
            writing.note_about(RoundAction::Declined, round, Some(rider), None, detail);
            if all_but(&view.ledger, round, rider) && of.status == RoundStatus::Running {
                // Nobody is left to wait for.
                writing.tx.hurry(&[(of.task, view.now)]).await?;
            }
        }
        let message = match outcome {
            Outcome::Refused => Some(Code::TicketExpired.sentence(lang).to_owned()),
            Outcome::Done | Outcome::AlreadyDone => None,
        };
        let code = code.map(str::to_owned);
        let reply =
            DeclineReply { outcome, code: code.clone(), message, round, server_time: view.now };
        let status = if outcome == Outcome::Refused { 409 } else { 200 };
        let body = serde_json::to_string(&reply).expect("an answer has only text keys");
        let attempt = AttemptRow {
            number: 0,
            actor_kind: actor.kind(),
            actor_id: actor.id(),
            key_hash: writing.key_hash.clone(),
            task: Some(of.task.0),
            verb: VERB,
            code: code.unwrap_or_else(|| outcome.as_str().to_owned()),
            revision_seen: None,
            at: view.now.0,
        };
        let row = OutcomeRow {
            principal: &principal,
            request_key: key.as_str(),
            fingerprint: print.as_str(),
            status,
            location: None,
            etag: None,
            body: &body,
            at: view.now.0,
        };
        writing.commit_with(&[attempt], &[row]).await?;
        let body = body.as_str().into();
        Ok(Ok(Reply { status, body, location: None, etag: None, replayed: false }))
    }
}

/// Whether everybody who was asked in a round has declined, with `rider`.
fn all_but(ledger: &[LedgerLine], round: i64, rider: RiderId) -> bool {
    ledger.iter().filter(|line| line.round == round && line.rider != rider).all(|line| {
        let answer = line.asked.as_ref().map(|asked| asked.answered);
        !matches!(answer, Ok(None | Some((RoundAnswer::Grabbed | RoundAnswer::Accepted, _))))
    })
}
