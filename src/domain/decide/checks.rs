//! The last step of a decision: the facts beside the task, and what the row becomes.

use crate::domain::{
    command::{Act, Actor, Role, Ticket, Verb},
    event::Change,
    facts::{Facts, Rider},
    id::{RiderId, Timestamp},
    policy::RegionMode,
    refusal::{Code, Ineligible, Refusal},
    table,
    task::{Mode, Slot, Stage, State, Task},
};

/// Checks the facts and says whom the event concerns and what the row becomes. The state and the
/// revision have been found right before.
pub(super) fn change(
    task: &Task,
    actor: &Actor,
    act: &Act,
    facts: &Facts<'_>,
    now: Timestamp,
) -> Result<(Option<RiderId>, Change), Refusal> {
    let holder = task.state.rider();
    match act {
        Act::Grab { ticket } => {
            released(task, now)?;
            let (rider, slot) = place(task, facts, now)?;
            ticket_fits(ticket.as_ref(), facts, now)?;
            if rider.risk_rejected {
                return Err(Code::RiskRejected.into());
            }
            Ok((Some(rider.id), Change::Assigned { slot, mode: mode(act.verb()) }))
        }
        Act::Offer { seconds, round, .. } => {
            released(task, now)?;
            asks_alone(*round, facts)?;
            let (rider, slot) = place(task, facts, now)?;
            Ok((Some(rider.id), offered(slot, *seconds, facts, now)))
        }
        Act::Assign { .. } => {
            released(task, now)?;
            let asks_first = facts.region.policy.mode == RegionMode::Reserve;
            let supervises = facts.staff.is_some_and(|staff| staff.role == Role::Supervisor);
            if asks_first && !supervises {
                return Err(Code::ImmediateModeOff.into());
            }
            let (rider, slot) = place(task, facts, now)?;
            Ok((Some(rider.id), Change::Assigned { slot, mode: mode(act.verb()) }))
        }
        Act::Reassign { rider, seconds, handover_confirmed, .. } => {
            if holder == Some(*rider) {
                return Err(Code::SameRider.into());
            }
            if !handover_confirmed {
                return Err(Code::HandoverNotConfirmed.into());
            }
            let (rider, slot) = place(task, facts, now)?;
            Ok((Some(rider.id), offered(slot, *seconds, facts, now)))
        }
        Act::Accept => {
            // The offer holds the place that the task will take: an accept can not fail for want of one.
            let slot = task.state.held().map(|(_, slot)| slot).ok_or(Code::NotInvited)?;
            Ok((actor.rider(), Change::Assigned { slot, mode: mode(act.verb()) }))
        }
        Act::Expire => {
            let due = task.is_expiring(now)
                || crate::fault::planted(crate::fault::Fault::SweeperWithoutRecheck);
            if due { Ok((holder, Change::Open)) } else { Err(Code::NotOffered.into()) }
        }
        Act::Decline { .. } | Act::Withdraw { .. } => Ok((holder, Change::Open)),
        Act::HandBack { .. } => {
            if facts.hand_backs_today >= facts.region.policy.hand_backs_per_day {
                return Err(Code::HandBackLimit.into());
            }
            Ok((holder, Change::Open))
        }
        Act::Cancel { .. } => Ok((holder, Change::Cancelled)),
        Act::Arrive | Act::PickUp | Act::Deliver => {
            let State::Assigned { stage: present, .. } = &task.state else {
                return Err(Code::NotOwner.into());
            };
            Ok((holder, step(*present, act)?))
        }
    }
}

fn step(present: Stage, act: &Act) -> Result<Change, Refusal> {
    match table::step(act.verb()) {
        Some((from, to)) if from == present => Ok(Change::Stage { stage: to }),
        Some(_) | None => Err(Code::WrongStage.into()),
    }
}

fn released(task: &Task, now: Timestamp) -> Result<(), Refusal> {
    if now >= task.release_at { Ok(()) } else { Err(Code::NotReleased.into()) }
}

/// The rider whom the command puts in charge, if eligible, and the place that the task takes.
fn place<'a>(task: &Task, facts: &Facts<'a>, now: Timestamp) -> Result<(&'a Rider, Slot), Refusal> {
    // A rider who does not exist is told apart from one of another region by nobody.
    let rider = facts.rider.ok_or(Ineligible::OtherRegion)?;
    if let Some(reason) = rider.ineligible(task, facts.region, now) {
        return Err(reason.into());
    }
    let slot = rider.free_slot().ok_or(Code::RiderAtCapacity)?;
    Ok((rider, slot))
}

fn ticket_fits(ticket: Option<&Ticket>, facts: &Facts<'_>, now: Timestamp) -> Result<(), Refusal> {
    let Some(running) = facts.round else { return Ok(()) };
    let Some(ticket) = ticket else { return Err(Code::InvalidTicket.into()) };
    if ticket.round < running.round {
        return Err(Code::TicketExpired.into());
    }
    if ticket.round != running.round || running.nonce.as_ref() != Some(&ticket.nonce) {
        return Err(Code::InvalidTicket.into());
    }
    if now >= running.until {
        return Err(Code::TicketExpired.into());
    }
    Ok(())
}

/// An offer of a round needs that round, running, for the rider alone.
fn asks_alone(round: Option<i64>, facts: &Facts<'_>) -> Result<(), Refusal> {
    if round.is_none() || round == facts.alone { Ok(()) } else { Err(Code::TicketExpired.into()) }
}

fn offered(slot: Slot, seconds: Option<u32>, facts: &Facts<'_>, now: Timestamp) -> Change {
    let policy = &facts.region.policy;
    let seconds = seconds.unwrap_or(policy.offer_seconds);
    let until = now.plus_ms(i64::from(seconds) * 1000).plus_ms(policy.grace_ms);
    Change::Offered { slot, until, grace_ms: policy.grace_ms, policy_version: policy.version }
}

/// What the mode of an assignment is, by the verb that made it.
const fn mode(verb: Verb) -> Mode {
    match verb {
        Verb::Accept => Mode::Confirmed,
        Verb::Assign => Mode::Direct,
        Verb::Create
        | Verb::Grab
        | Verb::Offer
        | Verb::Decline
        | Verb::Withdraw
        | Verb::Expire
        | Verb::Cancel
        | Verb::Reassign
        | Verb::HandBack
        | Verb::Arrive
        | Verb::PickUp
        | Verb::Deliver
        | Verb::Edit => Mode::Grabbed,
    }
}
