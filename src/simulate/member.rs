//! Riders whom a round asks: they take it, decline it, or let it pass, in the shares of those who answer offers.

use super::{
    Next, World,
    agenda::{Deed, Turn},
    draw::lognormal_ms,
};
use crate::{
    client::TaskItem,
    domain::{
        answer::Outcome,
        command::{Act, Ticket, Verb},
        id::{Revision, TaskId, Timestamp},
    },
};

impl World {
    /// A rider reads what rounds ask of him or her, and makes up his or her mind about what is new.
    pub(super) async fn heed(&self, turn: &mut Turn, rider: usize) -> Next {
        let mut next = Vec::new();
        let pause = self.manners.every(self.manners.heed_ms.unwrap_or(i64::MAX));
        let pause = pause / 2 + turn.chance.i64(0..=pause);
        next.push((turn.at.plus_ms(pause), Deed::Heed(rider)));
        let Some(pool) = self.read(self.riders[rider].seat.client.pool(None)).await else {
            return next;
        };
        for item in &pool.items {
            next.extend(self.consider(turn, rider, item, pool.server_time));
        }
        next
    }

    /// What the rider is going to do about a ticket that was not known before.
    fn consider(
        &self,
        turn: &mut Turn,
        rider: usize,
        item: &TaskItem,
        now: Timestamp,
    ) -> Option<(Timestamp, Deed)> {
        let ticket = item.ticket.as_ref()?;
        if !self.riders[rider].is_new_round(ticket.round) {
            return None;
        }
        let manners = &self.manners;
        let left_ms = ticket.until.ms_since(now);
        let drawn = turn.chance.f64();
        if drawn >= manners.accepted + manners.declined {
            return None;
        }
        let wait = lognormal_ms(&mut turn.chance, manners.answer_ms / manners.pace, 1.44);
        let at = turn.at.plus_ms(wait.clamp(1, (left_ms - left_ms / 8).max(1)));
        let (task, revision) = (item.task.id, item.task.revision);
        let deed = if drawn < manners.accepted {
            let ticket = Ticket { round: ticket.round, nonce: ticket.nonce.clone() };
            Deed::Take { rider, task, revision, ticket }
        } else {
            Deed::NoThanks { rider, round: ticket.round }
        };
        Some((at, deed))
    }

    /// A rider grabs with a ticket.
    pub(super) async fn take(
        &self,
        turn: &mut Turn,
        rider: usize,
        (task, revision): (TaskId, Revision),
        ticket: Ticket,
    ) -> Next {
        let who = &self.riders[rider].seat;
        let Some(key) = self.manners.key(turn.number, 0) else { return Vec::new() };
        let act = Act::Grab { ticket: Some(ticket) };
        let answer = self.noted(Verb::Grab, who.client.act(&key, task, revision, &act)).await;
        let won = answer.filter(|answer| answer.outcome != Outcome::Refused);
        if won.is_none() {
            return Vec::new();
        }
        vec![(turn.at.plus_ms(1), Deed::Look { rider, again: false })]
    }

    /// A rider says no to a round.
    pub(super) async fn no_thanks(&self, turn: &Turn, rider: usize, round: i64) -> Next {
        if let Some(key) = self.manners.key(turn.number, 0) {
            self.read(self.riders[rider].seat.client.decline_round(&key, round)).await;
        }
        Vec::new()
    }
}
