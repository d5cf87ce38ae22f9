//! What the rules say to a request, with facts that stand in nobody's way.

use super::violation::Said;
use crate::domain::{
    answer::role,
    command::{Act, Actor, Role, Verb},
    decide::{Decision, Denial, decide, right, source as source_of},
    event::{Change, Event},
    facts::{Duty, Facts, Rider, RunningRound, Staff},
    geo::{Area, Place},
    id::{RegionId, Revision, RiderId, StaffId, Timestamp},
    policy::{Policy, Region},
    refusal::Code,
    table,
    task::{OwnOffer, Task},
};

/// Facts beside the task, the same for every request of a run: the rider works here and has a free
/// place, the task is released, staff are supervisors of its region, no round runs.
pub(super) struct Rules {
    region: Region,
    rider: Rider,
    staff: Staff,
    round: RunningRound,
}

/// A command as it is judged.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) actor: &'a Actor,
    pub(super) named: Revision,
    pub(super) act: &'a Act,
    /// The fact that stands in its way, if it was refused because of one.
    pub(super) against: Option<Code>,
}

impl Rules {
    pub(super) fn new() -> Self {
        let region = RegionId(0);
        Self {
            region: Region {
                id: region,
                time_zone: chrono_tz::UTC,
                area: Area::Circle { centre: Place { lat: 0.0, lng: 0.0 }, radius_m: 0.0 },
                policy: Policy { hand_backs_per_day: u32::MAX, ..Policy::default() },
            },
            rider: Rider {
                id: RiderId(0),
                region,
                capacity: 1,
                held: Vec::new(),
                duty: Duty::On,
                disabled: false,
                vehicle: None,
                risk_rejected: false,
                last_fix_at: None,
            },
            staff: Staff {
                id: StaffId(0),
                role: Role::Supervisor,
                regions: vec![region],
                disabled: false,
            },
            round: RunningRound { round: 0, until: Timestamp(i64::MAX), nonce: None },
        }
    }

    /// What the rules say to `asked` on `task` at `now`.
    pub(super) fn say(
        &mut self,
        task: &Task,
        asked: Asked<'_>,
        own_offers: &[OwnOffer],
        now: Timestamp,
    ) -> Decision {
        let Asked { actor, named, act, against } = asked;
        if against == Some(Code::NotReleased) {
            let held_back = Task { release_at: Timestamp(i64::MAX), ..task.clone() };
            let facts = self.facts(&held_back, asked, own_offers);
            return decide(&held_back, actor, named, act, &facts, now);
        }
        let facts = self.facts(task, asked, own_offers);
        decide(task, actor, named, act, &facts, now)
    }

    /// Whether `actor` may ask for `verb` at all.
    pub(super) fn right(&mut self, task: &Task, actor: &Actor, verb: Verb) -> Result<(), Denial> {
        // Who has the right does not depend on what exactly is asked.
        let asked = Asked { actor, named: task.revision, act: &Act::Accept, against: None };
        let facts = self.facts(task, asked, &[]);
        right(Some(task), actor, verb, &facts)
    }

    fn facts<'a>(
        &'a mut self,
        task: &Task,
        asked: Asked<'_>,
        own_offers: &'a [OwnOffer],
    ) -> Facts<'a> {
        let against = |code| asked.against == Some(code);
        self.region.id = task.region;
        self.rider.region = task.region;
        self.rider.vehicle = task.vehicle;
        if let Some(rider) = asked.act.named_rider().or_else(|| asked.actor.rider()) {
            self.rider.id = rider;
        }
        self.rider.duty = if against(Code::RiderNotEligible) { Duty::Off } else { Duty::On };
        self.rider.capacity = u32::from(!against(Code::RiderAtCapacity));
        self.rider.risk_rejected = against(Code::RiskRejected);
        self.staff.role =
            if against(Code::ImmediateModeOff) { Role::Dispatcher } else { Role::Supervisor };
        if let [region] = self.staff.regions.as_mut_slice() {
            *region = task.region;
        }
        // A ticket is expired in a round after its own, and invalid in one before it.
        self.round.round = if against(Code::TicketExpired) { i64::MAX } else { i64::MIN };
        let round_runs = against(Code::TicketExpired) || against(Code::InvalidTicket);
        Facts {
            staff: Some(&self.staff),
            me: Some(&self.rider),
            rider: Some(&self.rider),
            region: &self.region,
            own_offers,
            round: round_runs.then_some(&self.round),
            alone: None,
            hand_backs_today: if against(Code::HandBackLimit) { u32::MAX } else { 0 },
        }
    }
}

/// What the rules say to the event that brings a task into being.
pub(super) fn on_creation(event: &Event) -> Said {
    let Event { action, actor, rider, reason, change, .. } = event;
    let role = role(actor, Some(Role::Supervisor));
    let is_plain = *action == Verb::Create && rider.is_none() && reason.is_none();
    match change {
        _ if !table::who(Verb::Create).contains(&role) => Denial::Forbidden.into(),
        Change::Created { source, .. } if is_plain && *source == source_of(actor) => Said::Done,
        Change::Created { .. }
        | Change::Open
        | Change::Offered { .. }
        | Change::Assigned { .. }
        | Change::Stage { .. }
        | Change::Cancelled => Said::DoneOtherwise,
    }
}

/// The command that must have led to `event`, as far as the event tells. `None` for a creation.
pub(super) fn act_of(event: &Event) -> Option<Act> {
    let reason = event.reason.clone();
    let seconds = None;
    Some(match event.action {
        Verb::Grab => Act::Grab { ticket: None },
        Verb::Offer => Act::Offer { rider: event.rider?, seconds, round: None },
        Verb::Assign => Act::Assign { rider: event.rider?, reason },
        Verb::Accept => Act::Accept,
        Verb::Decline => Act::Decline { reason },
        Verb::Withdraw => Act::Withdraw { reason },
        Verb::Expire => Act::Expire,
        Verb::Cancel => Act::Cancel { reason },
        Verb::Reassign => {
            Act::Reassign { rider: event.rider?, seconds, handover_confirmed: true, reason }
        }
        Verb::HandBack => Act::HandBack { reason },
        Verb::Arrive => Act::Arrive,
        Verb::PickUp => Act::PickUp,
        Verb::Deliver => Act::Deliver,
        Verb::Create | Verb::Edit => return None,
    })
}

/// Whether the rules make `ruled` where the log has `logged`. The place that a new holder takes and
/// the deadline that the policy sets rest on facts, and are not compared.
pub(super) fn is_same_event(ruled: &Event, logged: &Event) -> bool {
    let is_same_change = match (&ruled.change, &logged.change) {
        (Change::Offered { .. }, Change::Offered { .. }) => true,
        (Change::Assigned { slot, mode }, Change::Assigned { slot: place, mode: how }) => {
            // An accepted offer keeps the place that it held.
            mode == how && (slot == place || ruled.action != Verb::Accept)
        }
        (ruled, logged) => ruled == logged,
    };
    is_same_change
        && (ruled.from, ruled.action, &ruled.actor) == (logged.from, logged.action, &logged.actor)
        && (ruled.rider, &ruled.reason) == (logged.rider, &logged.reason)
}
