//! What is still possible: the verbs that an actor may ask for on a task as it stands.

use super::{
    command::{Actor, Role, Verb},
    id::Timestamp,
    policy::RegionMode,
    table::{self, Cell},
    task::{Stage, State, Task},
};

/// The verbs that can still succeed for `actor` in `role`, in the order of the table.
///
/// Facts about riders (places, duty, tickets) are not consulted: they belong to the rider who would
/// be named.
pub fn legal(
    task: &Task,
    actor: &Actor,
    role: Role,
    mode: RegionMode,
    now: Timestamp,
) -> Vec<Verb> {
    let mut verbs = Vec::new();
    for verb in Verb::ALL.iter().copied() {
        if table::who(verb).contains(&role) && possible(task, actor, role, mode, verb, now) {
            verbs.push(verb);
        }
    }
    verbs
}

fn possible(
    task: &Task,
    actor: &Actor,
    role: Role,
    mode: RegionMode,
    verb: Verb,
    now: Timestamp,
) -> bool {
    // Whoever touches a lapsed offer releases it first, so the task is as good as open.
    let state = if task.is_expiring(now) { &State::Open } else { &task.state };
    let applies = match table::cell(state.name(), verb) {
        None => {
            let finished = *state == State::Cancelled || state.stage() == Some(Stage::Delivered);
            return verb == Verb::Edit && !finished;
        }
        Some(Cell::Apply(_)) => true,
        Some(Cell::ForHolder(..)) => actor.rider().is_some_and(|rider| state.is_held_by(rider)),
        Some(Cell::Refuse(_)) => false,
    };
    let in_hand = state.stage() >= Some(Stage::PickedUp);
    applies
        && match verb {
            Verb::Arrive | Verb::PickUp | Verb::Deliver => {
                table::step(verb).map(|(from, _)| from) == state.stage()
            }
            Verb::Grab | Verb::Offer => now >= task.release_at,
            Verb::Assign => {
                now >= task.release_at
                    && (mode == RegionMode::Immediate || role == Role::Supervisor)
            }
            // The clock alone makes it possible, and then the task already counts as open.
            Verb::Expire => false,
            Verb::Create
            | Verb::Accept
            | Verb::Decline
            | Verb::Withdraw
            | Verb::Cancel
            | Verb::Reassign
            | Verb::HandBack
            | Verb::Edit => !in_hand,
        }
}
