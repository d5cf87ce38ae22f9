//! A task on the rider's page.

use super::super::{
    chip::{Chip, distance, money, span},
    desk::Desk,
    forms::Typed,
    page::{When, Zone},
    people::Seat,
};
use crate::{
    domain::{
        command::Verb,
        geo::Place,
        id::{TaskId, Timestamp},
        legal::legal,
        order::Stop,
        policy::RegionMode,
        task::StateName,
    },
    engine::rounds::TicketOf,
    store::Card,
};

/// A form with one button.
pub(super) struct Step {
    pub(super) verb: Verb,
    pub(super) key: String,
}

/// A task as its rider sees it.
pub(super) struct TaskCard {
    pub(super) id: TaskId,
    pub(super) chip: Chip,
    pub(super) revision: i64,
    pub(super) pickup: Stop,
    pub(super) dropoff: Stop,
    /// From the rider's last position to the pickup.
    pub(super) away: Option<String>,
    pub(super) trip: String,
    pub(super) fee: Option<String>,
    pub(super) due: Option<When>,
    pub(super) until: Option<When>,
    pub(super) left: Option<String>,
    pub(super) expiring: bool,
    pub(super) note: Option<String>,
    /// The reason that was chosen before.
    pub(super) reason: String,
    /// What can be done, the likely thing first.
    pub(super) steps: Vec<Step>,
    /// A round asks for it: the ticket as a form sends it, and the round's number.
    pub(super) ticket: Option<(String, i64)>,
}

/// What all cards of a page need.
pub(super) struct Cards<'a> {
    pub(super) desk: &'a Desk,
    pub(super) seat: &'a Seat,
    pub(super) zone: Zone,
    pub(super) mode: RegionMode,
    pub(super) now: Timestamp,
    pub(super) from: Option<Place>,
    pub(super) before: Option<(TaskId, Typed)>,
}

impl Cards<'_> {
    /// The card of a task.
    pub(super) fn card(&self, card: &Card) -> TaskCard {
        let (task, detail) = (&card.task, &card.detail);
        let mine = self.seat.actor().rider().is_some_and(|me| task.state.is_held_by(me));
        let whom = mine && task.state.name() == StateName::Assigned;
        let stop = |stop: &Stop| Stop {
            name: stop.name.clone().filter(|_| whom),
            phone: stop.phone.clone().filter(|_| whom),
            ..stop.clone()
        };
        let mut can = legal(task, self.seat.actor(), self.seat.caller.role, self.mode, self.now);
        // The way on comes first, the way out last.
        can.sort_by_key(|verb| matches!(verb, Verb::Decline | Verb::HandBack));
        let key = |verb: Verb| Step {
            verb,
            key: self.desk.token().map_or_else(|_| String::new(), |token| format!("page-{token}")),
        };
        let until = task.state.offer_until();
        TaskCard {
            id: task.id,
            chip: Chip::of(task, self.now, self.seat.lang()),
            revision: task.revision.0,
            pickup: stop(&detail.pickup),
            dropoff: stop(&detail.dropoff),
            away: self.from.map(|from| distance(from.metres_to(detail.pickup.place()))),
            trip: distance(detail.pickup.place().metres_to(detail.dropoff.place())),
            fee: detail.fee.map(money),
            due: detail.due_at.map(|at| self.zone.when(at)),
            until: until.map(|at| self.zone.when(at)),
            left: until.map(|at| span(at.ms_since(self.now))),
            expiring: task.is_expiring(self.now),
            note: detail.note.clone().filter(|_| whom),
            reason: match &self.before {
                Some((about, typed)) if *about == task.id => typed.get("reason").to_owned(),
                Some(_) | None => String::new(),
            },
            steps: can.into_iter().map(key).collect(),
            ticket: None,
        }
    }

    /// A card of a round: with the ticket, and until when it is good.
    pub(super) fn asked(&self, card: &Card, ticket: &TicketOf) -> TaskCard {
        TaskCard {
            until: Some(self.zone.when(ticket.until)),
            left: Some(span(ticket.until.ms_since(self.now))),
            ticket: Some((format!("{}.{}", ticket.round, ticket.nonce), ticket.round)),
            ..self.card(card)
        }
    }
}
